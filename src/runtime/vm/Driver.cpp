//===- runtime/vm/Driver.cpp - CUDA's driver, over the runtime's functions ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's API for programs that call it beside the runtime's or in its
// place. Each function is one of the runtime's under another name, with what
// differs seen to here and in Driver.h:
//
//   1. The driver has to be initialized first, by cuInit or by a call of the
//      runtime that needs a device.
//   2. Most calls need a current context (Contexts.cpp).
//   3. Codes: one number for both where both have the error.
//   4. Errors of the driver are not the runtime's last error.
//
// What a call returned was asked of an H200 with a driver 580.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Driver.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Device.h"
#include "warpvm/memory/DeviceMemory.h"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// Whether, and how it ends
//===----------------------------------------------------------------------===//

static std::atomic<int (*)()> IsReady{nullptr};

void setDriverReady(int (*Ready)()) { IsReady = Ready; }

bool isDriverReady() {
  int (*Ready)() = IsReady;
  return isDriverInitialized() || (Ready && Ready());
}

KeptLastError::KeptLastError() : Error(api::cudaPeekAtLastError()) {}

KeptLastError::~KeptLastError() {
  (void)api::cudaGetLastError();
  recorded(Error);
}

namespace {
struct DriverErrorText {
  int Code;
  const char *Name, *Text; ///< Text: null: the runtime's
};
} // namespace

static constexpr DriverErrorText Texts[] = {
#define RECONVERGE_DRIVER_ERROR(Code, Name) {Code, #Name, nullptr},
#define RECONVERGE_DRIVER_ERROR_TEXT(Code, Name, Text) {Code, #Name, Text},
#include "runtime/vm/DriverErrors.def"
};

static const DriverErrorText *textOf(int Code) {
  for (const DriverErrorText &T : Texts)
    if (T.Code == Code)
      return &T;
  return nullptr;
}

CUresult driverCode(cudaError_t Error) {
  if (textOf(int(Error)))
    return CUresult(Error);
  switch (Error) {
  case cudaErrorInvalidSymbol:
    return CUDA_ERROR_NOT_FOUND;
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_INVALID_HANDLE;
  default: // a pitch, a direction, a pointer, a configuration
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult api::cuGetErrorName(CUresult Error, const char **Name) {
  const DriverErrorText *T = textOf(int(Error));
  if (!Name)
    return CUDA_ERROR_INVALID_VALUE;
  *Name = T ? T->Name : nullptr;
  return T ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult api::cuGetErrorString(CUresult Error, const char **Text) {
  const DriverErrorText *T = textOf(int(Error));
  if (!Text)
    return CUDA_ERROR_INVALID_VALUE;
  *Text = !T        ? nullptr
          : T->Text ? T->Text
                    : api::cudaGetErrorString(cudaError_t(Error));
  return T ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

/// Ends a call that asks about \p Device; \p B with a device that there is.
template <typename Body>
static CUresult aboutDevice(CUdevice Device, Body &&B) {
  return driverCall([&]() -> CUresult {
    if (Device != 0)
      return CUDA_ERROR_INVALID_DEVICE;
    return driverCode(B());
  });
}

static int attribute(CUdevice_attribute Attribute) {
  int Value = 0;
  (void)api::cudaDeviceGetAttribute(&Value, cudaDeviceAttr(Attribute), 0);
  return Value;
}

CUresult api::cuDeviceGet(CUdevice *Device, int Ordinal) {
  return aboutDevice(Ordinal, [&] {
    if (!Device)
      return CUDA_ERROR_INVALID_VALUE;
    *Device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDeviceGetCount(int *Count) {
  return driverCall([&] { return api::cudaGetDeviceCount(Count); });
}

CUresult api::cuDeviceGetName(char *Name, int Length, CUdevice Device) {
  return aboutDevice(Device, [&] {
    if (!Name || Length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(Name, size_t(Length), "%s", DeviceName);
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDeviceGetUuid(CUuuid *Out, CUdevice Device) {
  return aboutDevice(Device, [&]() -> cudaError_t {
    cudaDeviceProp P;
    if (!Out)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = api::cudaGetDeviceProperties(&P, 0))
      return Failed;
    *Out = P.uuid;
    return cudaSuccess;
  });
}

CUresult api::cuDeviceTotalMem(size_t *Bytes, CUdevice Device) {
  return aboutDevice(Device, [&] {
    if (!Bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *Bytes = warpvm::DeviceMemory::instance().capacity();
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute,
                                   CUdevice Device) {
  return aboutDevice(Device, [&] {
    // The driver's later attributes are of what the VM has not.
    if (Value && Attribute >= CUdevice_attribute(cudaDevAttrMax) &&
        Attribute < CU_DEVICE_ATTRIBUTE_MAX) {
      *Value = 0;
      return cudaSuccess;
    }
    return api::cudaDeviceGetAttribute(Value, cudaDeviceAttr(Attribute), 0);
  });
}

CUresult api::cuDeviceComputeCapability(int *Major, int *Minor,
                                        CUdevice Device) {
  return aboutDevice(Device, [&] {
    if (!Major || !Minor)
      return CUDA_ERROR_INVALID_VALUE;
    *Major = limits::Major;
    *Minor = limits::Minor;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDeviceGetProperties(CUdevprop *Out, CUdevice Device) {
  return aboutDevice(Device, [&] {
    using namespace limits;
    if (!Out)
      return CUDA_ERROR_INVALID_VALUE;
    *Out = {};
    Out->maxThreadsPerBlock = int(ThreadsPerBlock);
    Out->maxThreadsDim[0] = int(BlockX);
    Out->maxThreadsDim[1] = int(BlockY);
    Out->maxThreadsDim[2] = int(BlockZ);
    Out->maxGridSize[0] = int(GridX);
    Out->maxGridSize[1] = int(GridY);
    Out->maxGridSize[2] = int(GridZ);
    Out->sharedMemPerBlock = int(SharedPerBlock);
    Out->totalConstantMemory = int(ConstantMemory);
    Out->SIMDWidth = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    Out->memPitch = int(MaxPitch);
    Out->regsPerBlock = int(RegistersPerMultiprocessor);
    Out->clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    Out->textureAlign = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDeviceGetPCIBusId(char *Id, int Length, CUdevice Device) {
  return driverCall(
      [&] { return api::cudaDeviceGetPCIBusId(Id, Length, Device); });
}

CUresult api::cuDeviceGetByPCIBusId(CUdevice *Device, const char *Id) {
  return driverCall([&] { return api::cudaDeviceGetByPCIBusId(Device, Id); });
}

CUresult api::cuDeviceCanAccessPeer(int *Can, CUdevice Device, CUdevice Peer) {
  return driverCall(
      [&] { return api::cudaDeviceCanAccessPeer(Can, Device, Peer); });
}

CUresult api::cuModuleGetLoadingMode(CUmoduleLoadingMode *Mode) {
  return driverCall([&] {
    if (!Mode)
      return CUDA_ERROR_INVALID_VALUE;
    *Mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuProfilerStart() {
  return contextCall([] { return CUDA_SUCCESS; });
}

CUresult api::cuProfilerStop() {
  return contextCall([] { return CUDA_SUCCESS; });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

#define RECONVERGE_TEXT_(X) #X
#define RECONVERGE_TEXT(X) RECONVERGE_TEXT_(X)
#define RECONVERGE_ENTRY(Name, Suffix)                                         \
  {RECONVERGE_TEXT(Name) Suffix, reinterpret_cast<void *>(&api::Name)},

static const reconverge_backend_symbol Symbols[] = {
#define RECONVERGE_DRIVER(Name) RECONVERGE_ENTRY(Name, "")
#define RECONVERGE_DRIVER_PTSZ(Name)                                           \
  RECONVERGE_ENTRY(Name, "") RECONVERGE_ENTRY(Name, "_ptsz")
#define RECONVERGE_DRIVER_PTDS(Name)                                           \
  RECONVERGE_ENTRY(Name, "") RECONVERGE_ENTRY(Name, "_ptds")
#include "runtime/vm/DriverTable.def"
#undef RECONVERGE_DRIVER
    RECONVERGE_ENTRY(cuCtxCreate_v2, "")
#if CUDA_VERSION >= 12080
    // The same with other promises of accuracy.
    {"cuEventElapsedTime", reinterpret_cast<void *>(&api::cuEventElapsedTime)},
#endif
    {"cuDeviceGetUuid", reinterpret_cast<void *>(&api::cuDeviceGetUuid)},
};

llvm::ArrayRef<reconverge_backend_symbol> driverTable() { return Symbols; }

} // namespace reconverge::runtime
