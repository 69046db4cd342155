//===- runtime/vm/Registry.h - The program's device code --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_REGISTRY_H
#define RECONVERGE_RUNTIME_VM_REGISTRY_H

#include "warpvm/Machine.h"

#include "llvm/ADT/StringRef.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace reconverge::runtime {

/// Held by whoever reads or changes what is declared here, runs a kernel, or
/// changes, takes or gives back device memory: images are loaded, kernels
/// compiled and run, launches tried and bytes copied one at a time.
std::recursive_mutex &deviceLock();

struct DeviceFunction;
struct DeviceVariable;

/// The device code of one translation unit, as a compiler registered it.
struct Image {
  const void *Data = nullptr; ///< the container; null: the wrapper was foreign
  enum { Unopened, Loaded, Broken } State = Unopened;
  cudaError_t WhyBroken = cudaSuccess;
  bool IsDamaged = false; ///< seen when its bitcode was to be read
  std::unique_ptr<warpvm::Program> Code; ///< once loaded
  std::vector<std::unique_ptr<DeviceFunction>> Functions;
  std::vector<std::unique_ptr<DeviceVariable>> Variables;
};

/// A kernel. Its address is what cudaKernel_t and cudaFunction_t point to.
struct DeviceFunction {
  Image *Home = nullptr;
  const void *Stub = nullptr;     ///< the host function that launches it
  std::string Name;               ///< mangled
  warpvm::Kernel *Code = nullptr; ///< once resolved
  uint64_t MaxDynamicShared = 0;  ///< bytes; set when resolved
  int Carveout = cudaSharedmemCarveoutDefault;
  unsigned MaxThreads = 0;    ///< a block, by launch bounds; set when resolved
  int Architecture = 0;       ///< 90 for sm_90; set when resolved
  bool LargeClusters = false; ///< opted in
  unsigned clusterLimit() const; ///< blocks
};

struct DeviceVariable {
  Image *Home = nullptr;
  const void *Symbol = nullptr; ///< the host's stand-in
  std::string Name;
  uint64_t Size = 0; ///< bytes
  bool Constant = false;
  void **ManagedPointer = nullptr; ///< what the host reads a managed one by
  void *Address = nullptr;         ///< once resolved
};

/// All of these take the device lock themselves.

Image *registerImage(const void *Wrapper);
void unregisterImage(Image *I);
void registerFunction(Image *I, const void *Stub, llvm::StringRef Name);
void registerVariable(Image *I, DeviceVariable V);

/// The function that \p Stub (a stub's address, or a cudaKernel_t) names, with
/// its code compiled. \p Unknown is what to return if there is none.
cudaError_t findFunction(const void *Stub, DeviceFunction *&F,
                         cudaError_t Unknown);

/// The same without a look at the device code.
DeviceFunction *knownFunction(const void *Stub);

/// The variable that \p Symbol names, with its address.
cudaError_t findVariable(const void *Symbol, DeviceVariable *&V);

/// Gives the variables of all loaded images their initial values again.
void resetVariables();

/// Gives the managed variables of \p I their memory. False if that failed.
bool initializeManaged(Image *I);

} // namespace reconverge::runtime

#endif
