//===- runtime/vm/Driver.h - How a call of CUDA's driver ends ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of DriverTable.def, in namespace api, with the very types that
// cuda.h gives them; and what all of them do first and last.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_VM_DRIVER_H
#define RECONVERGE_RUNTIME_VM_DRIVER_H

#include "runtime/shim/Backend.h"
#include "runtime/vm/Contexts.h"
#include "runtime/vm/Errors.h"

#include "llvm/ADT/ArrayRef.h"

#include <cuda.h>
#include <cudaProfiler.h>

namespace reconverge::runtime {

namespace api {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#define RECONVERGE_DRIVER(Name) decltype(::Name) Name;
#include "runtime/vm/DriverTable.def"
#undef RECONVERGE_DRIVER
#pragma clang diagnostic pop

// What programs call that were compiled for earlier versions of CUDA.
CUresult cuCtxCreate_v2(CUcontext *Out, unsigned Flags, CUdevice Device);
} // namespace api

/// Every function of DriverTable.def under each name that libcuda has for it.
llvm::ArrayRef<reconverge_backend_symbol> driverTable();

/// Sets what tells whether the program has called cuInit.
void setDriverReady(int (*IsReady)());
bool isDriverReady();

/// The driver's code for the runtime's. Most are one number for both.
CUresult driverCode(cudaError_t Error);
inline CUresult driverCode(CUresult Error) { return Error; }

/// While one lives, this thread's last error of the runtime stays what it is: it
/// is the runtime's alone.
class KeptLastError {
public:
  KeptLastError();
  ~KeptLastError();
  KeptLastError(const KeptLastError &) = delete;
  KeptLastError &operator=(const KeptLastError &) = delete;

private:
  cudaError_t Error;
};

/// Ends a call that needs the driver, and no context.
template <typename Body> CUresult driverCall(Body &&B) {
  if (!isDriverReady())
    return CUDA_ERROR_NOT_INITIALIZED;
  KeptLastError Keep;
  return driverCode(std::forward<Body>(B)());
}

/// Ends a call that works in the current context.
template <typename Body> CUresult contextCall(Body &&B) {
  if (!isDriverReady())
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!currentContext())
    return CUDA_ERROR_INVALID_CONTEXT;
  KeptLastError Keep;
  return driverCode(std::forward<Body>(B)());
}

/// An address as the driver has it.
inline void *pointerTo(CUdeviceptr Address) {
  return reinterpret_cast<void *>(Address);
}

} // namespace reconverge::runtime

#endif
