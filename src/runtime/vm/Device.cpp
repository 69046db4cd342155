//===- runtime/vm/Device.cpp - What the VM claims to be -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device, number 0, with the limits of an H200 (Device.h, Attributes.def).
// Its memory is the host's (DeviceMemory). Settings that change how a GPU does
// its work but not what it computes (flags, cache preferences, limits of stack
// and heap) are kept and given back, and change nothing here.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Device.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Registry.h"
#include "warpvm/memory/DeviceHeap.h"
#include "warpvm/memory/DeviceMemory.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace reconverge::runtime {

static constexpr char PciBusId[] = "0000:00:00.0"; ///< of no device there is

static int warpSize() { return int(Engine::get().options().Machine.WarpSize); }
static int multiprocessors() {
  return int(Engine::get().options().Multiprocessors);
}

//===----------------------------------------------------------------------===//
// Which device
//===----------------------------------------------------------------------===//

cudaError_t api::cudaGetDeviceCount(int *Count) {
  return call([&]() -> cudaError_t {
    if (!Count)
      return cudaErrorInvalidValue;
    initializeDriver();
    *Count = 1;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGetDevice(int *Device) {
  return call([&]() -> cudaError_t {
    if (!Device)
      return cudaErrorInvalidValue;
    *Device = 0;
    return cudaSuccess;
  });
}

static cudaError_t checkDevice(int Device) {
  initializeDriver();
  return Device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t api::cudaSetDevice(int Device) {
  return call([&] {
    usePrimaryContext();
    return checkDevice(Device);
  });
}

cudaError_t api::cudaInitDevice(int Device, unsigned, unsigned) {
  return call([&] { return checkDevice(Device); });
}

cudaError_t api::cudaSetValidDevices(int *Devices, int Count) {
  return call([&]() -> cudaError_t {
    if (Count < 0 || (Count && !Devices))
      return cudaErrorInvalidValue;
    for (int I = 0; I < Count; ++I)
      if (cudaError_t Failed = checkDevice(Devices[I]))
        return Failed;
    return cudaSuccess;
  });
}

cudaError_t api::cudaChooseDevice(int *Device, const cudaDeviceProp *Wanted) {
  return call([&]() -> cudaError_t {
    if (!Device || !Wanted)
      return cudaErrorInvalidValue;
    *Device = 0;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// What it is
//===----------------------------------------------------------------------===//

/// Sets *\p Value, which may be null, to the value of \p Attribute. False if
/// there is no such attribute.
static bool attribute(cudaDeviceAttr Attribute, int *Value) {
  if (Attribute < cudaDevAttrMaxThreadsPerBlock || Attribute >= cudaDevAttrMax)
    return false;
  switch (Attribute) {
#define RECONVERGE_ATTRIBUTE(Name, Number)                                     \
  case cudaDevAttr##Name:                                                      \
    *Value = int(Number);                                                      \
    return true;
#include "runtime/vm/Attributes.def"
  default:
    *Value = 0;
    return true;
  }
}

cudaError_t api::cudaDeviceGetAttribute(int *Value, cudaDeviceAttr Attribute,
                                        int Device) {
  return call([&]() -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = checkDevice(Device))
      return Failed;
    return attribute(Attribute, Value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t api::cudaGetDeviceProperties(cudaDeviceProp *Out, int Device) {
  return call([&]() -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = checkDevice(Device))
      return Failed;
    auto Get = [](cudaDeviceAttr A) {
      int Value = 0;
      attribute(A, &Value);
      return Value;
    };
    using namespace limits;
    cudaDeviceProp P;
    std::memset(&P, 0, sizeof(P));
    std::strcpy(P.name, DeviceName);
    std::memcpy(P.uuid.bytes, "Reconverge VM  0", sizeof(P.uuid.bytes));
    P.totalGlobalMem = warpvm::DeviceMemory::instance().capacity();
    P.sharedMemPerBlock = SharedPerBlock;
    P.sharedMemPerBlockOptin = SharedPerBlockOptIn;
    P.sharedMemPerMultiprocessor = SharedPerMultiprocessor;
    P.reservedSharedMemPerBlock = SharedReserved;
    P.regsPerBlock = RegistersPerMultiprocessor;
    P.regsPerMultiprocessor = RegistersPerMultiprocessor;
    P.warpSize = warpSize();
    P.memPitch = MaxPitch;
    P.maxThreadsPerBlock = ThreadsPerBlock;
    P.maxThreadsDim[0] = BlockX;
    P.maxThreadsDim[1] = BlockY;
    P.maxThreadsDim[2] = BlockZ;
    P.maxGridSize[0] = GridX;
    P.maxGridSize[1] = GridY;
    P.maxGridSize[2] = GridZ;
    P.totalConstMem = ConstantMemory;
    P.major = Major;
    P.minor = Minor;
    P.multiProcessorCount = multiprocessors();
    P.maxThreadsPerMultiProcessor = ThreadsPerMultiprocessor;
    P.maxBlocksPerMultiProcessor = BlocksPerMultiprocessor;
    P.maxTexture1D = Get(cudaDevAttrMaxTexture1DWidth);
    P.maxTexture1DLayered[0] = Get(cudaDevAttrMaxTexture1DLayeredWidth);
    P.maxTexture1DLayered[1] = Get(cudaDevAttrMaxTexture1DLayeredLayers);
    P.maxTexture2D[0] = Get(cudaDevAttrMaxTexture2DWidth);
    P.maxTexture2D[1] = Get(cudaDevAttrMaxTexture2DHeight);
    P.maxTexture2DLinear[0] = Get(cudaDevAttrMaxTexture2DLinearWidth);
    P.maxTexture2DLinear[1] = Get(cudaDevAttrMaxTexture2DLinearHeight);
    P.maxTexture2DLinear[2] = Get(cudaDevAttrMaxTexture2DLinearPitch);
    P.maxTexture2DGather[0] = Get(cudaDevAttrMaxTexture2DGatherWidth);
    P.maxTexture2DGather[1] = Get(cudaDevAttrMaxTexture2DGatherHeight);
    P.maxTexture2DLayered[0] = Get(cudaDevAttrMaxTexture2DLayeredWidth);
    P.maxTexture2DLayered[1] = Get(cudaDevAttrMaxTexture2DLayeredHeight);
    P.maxTexture2DLayered[2] = Get(cudaDevAttrMaxTexture2DLayeredLayers);
    P.maxTexture3D[0] = Get(cudaDevAttrMaxTexture3DWidth);
    P.maxTexture3D[1] = Get(cudaDevAttrMaxTexture3DHeight);
    P.maxTexture3D[2] = Get(cudaDevAttrMaxTexture3DDepth);
    P.maxSurface1D = Get(cudaDevAttrMaxSurface1DWidth);
    P.maxSurface2D[0] = Get(cudaDevAttrMaxSurface2DWidth);
    P.maxSurface2D[1] = Get(cudaDevAttrMaxSurface2DHeight);
    P.maxSurface3D[0] = Get(cudaDevAttrMaxSurface3DWidth);
    P.maxSurface3D[1] = Get(cudaDevAttrMaxSurface3DHeight);
    P.maxSurface3D[2] = Get(cudaDevAttrMaxSurface3DDepth);
    P.textureAlignment = size_t(Get(cudaDevAttrTextureAlignment));
    P.texturePitchAlignment = size_t(Get(cudaDevAttrTexturePitchAlignment));
    P.surfaceAlignment = size_t(Get(cudaDevAttrSurfaceAlignment));
    P.canMapHostMemory = Get(cudaDevAttrCanMapHostMemory);
    P.concurrentKernels = Get(cudaDevAttrConcurrentKernels);
    P.asyncEngineCount = Get(cudaDevAttrAsyncEngineCount);
    P.unifiedAddressing = Get(cudaDevAttrUnifiedAddressing);
    P.memoryBusWidth = Get(cudaDevAttrGlobalMemoryBusWidth);
    P.l2CacheSize = Get(cudaDevAttrL2CacheSize);
    P.streamPrioritiesSupported = Get(cudaDevAttrStreamPrioritiesSupported);
    P.globalL1CacheSupported = Get(cudaDevAttrGlobalL1CacheSupported);
    P.localL1CacheSupported = Get(cudaDevAttrLocalL1CacheSupported);
    P.managedMemory = Get(cudaDevAttrManagedMemory);
    P.concurrentManagedAccess = Get(cudaDevAttrConcurrentManagedAccess);
    P.computePreemptionSupported = Get(cudaDevAttrComputePreemptionSupported);
    P.canUseHostPointerForRegisteredMem =
        Get(cudaDevAttrCanUseHostPointerForRegisteredMem);
    P.hostRegisterSupported = Get(cudaDevAttrHostRegisterSupported);
    P.hostRegisterReadOnlySupported =
        Get(cudaDevAttrHostRegisterReadOnlySupported);
    P.cooperativeLaunch = Get(cudaDevAttrCooperativeLaunch);
    P.clusterLaunch = Get(cudaDevAttrClusterLaunch);
    P.memoryPoolsSupported = Get(cudaDevAttrMemoryPoolsSupported);
#if CUDART_VERSION < 13000
    P.clockRate = Get(cudaDevAttrClockRate);
    P.deviceOverlap = Get(cudaDevAttrGpuOverlap);
    P.memoryClockRate = Get(cudaDevAttrMemoryClockRate);
    P.singleToDoublePrecisionPerfRatio =
        Get(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#endif
    *Out = P;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceGetPCIBusId(char *Id, int Length, int Device) {
  return call([&]() -> cudaError_t {
    if (!Id || Length < int(sizeof(PciBusId)))
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = checkDevice(Device))
      return Failed;
    std::strcpy(Id, PciBusId);
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceGetByPCIBusId(int *Device, const char *Id) {
  return call([&]() -> cudaError_t {
    if (!Device || !Id || std::strcmp(Id, PciBusId) != 0)
      return cudaErrorInvalidValue;
    *Device = 0;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceCanAccessPeer(int *Can, int Device, int Peer) {
  return call([&]() -> cudaError_t {
    if (!Can)
      return cudaErrorInvalidValue;
    *Can = 0;
    return checkDevice(Device | Peer);
  });
}

cudaError_t api::cudaDeviceEnablePeerAccess(int Peer, unsigned) {
  return call([&] {
    return Peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
  });
}

cudaError_t api::cudaDeviceDisablePeerAccess(int Peer) {
  return call([&] {
    return Peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice;
  });
}

static cudaError_t version(int *Version) {
  return call([&]() -> cudaError_t {
    if (!Version)
      return cudaErrorInvalidValue;
    *Version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDriverGetVersion(int *Version) { return version(Version); }

cudaError_t api::cudaRuntimeGetVersion(int *Version) {
  return version(Version);
}

//===----------------------------------------------------------------------===//
// What it does
//===----------------------------------------------------------------------===//

namespace {
/// What the program set; under deviceLock().
struct Settings {
  unsigned Flags = cudaDeviceMapHost;
  cudaFuncCache Cache = cudaFuncCachePreferNone;
  /// By cudaLimit, as an H200 has them; bytes but for pending launches.
  size_t Limits[7] = {1024, 8650752, 8 << 20, 0, 2048, 64, 11796480};
};
} // namespace

static Settings &settings() {
  static Settings &S = *new Settings;
  return S;
}

cudaError_t api::cudaDeviceSynchronize() {
  return unsafeCall([&] {
    // Another thread's launch is over when it gives up the lock.
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    return stickyError();
  });
}

cudaError_t api::cudaDeviceReset() {
  return call([] {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    resetVariables();
    warpvm::DeviceMemory::instance().releaseAll();
    warpvm::DeviceHeap::instance().reset();
    settings() = Settings();
    return cudaSuccess;
  });
}

cudaError_t api::cudaProfilerStart() {
  return call([] { return cudaSuccess; });
}

cudaError_t api::cudaProfilerStop() {
  return call([] { return cudaSuccess; });
}

static cudaError_t checkLimit(cudaLimit Limit) {
  if (int(Limit) < 0 || int(Limit) >= int(std::size(settings().Limits)))
    return cudaErrorInvalidValue;
  // Of dynamic parallelism as it was before compute capability 9.0.
  return Limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit
                                               : cudaSuccess;
}

cudaError_t api::cudaDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (!Value)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = checkLimit(Limit))
      return Failed;
    *Value = settings().Limits[Limit];
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceSetLimit(cudaLimit Limit, size_t Value) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (cudaError_t Failed = checkLimit(Limit))
      return Failed;
    if (Limit == cudaLimitMallocHeapSize &&
        !warpvm::DeviceHeap::instance().setLimit(Value))
      return cudaErrorInvalidValue; // kernels use the heap already
    settings().Limits[Limit] = Value;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGetDeviceFlags(unsigned *Flags) {
  return call([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (!Flags)
      return cudaErrorInvalidValue;
    *Flags = settings().Flags;
    return cudaSuccess;
  });
}

cudaError_t api::cudaSetDeviceFlags(unsigned Flags) {
  return call([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    const unsigned Schedule = Flags & cudaDeviceScheduleMask;
    if ((Flags & ~unsigned(cudaDeviceMask)) || (Schedule & (Schedule - 1)))
      return cudaErrorInvalidValue;
    settings().Flags = Flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceGetCacheConfig(cudaFuncCache *Preference) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (!Preference)
      return cudaErrorInvalidValue;
    *Preference = settings().Cache;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceSetCacheConfig(cudaFuncCache Preference) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    if (Preference < cudaFuncCachePreferNone ||
        Preference > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    settings().Cache = Preference;
    return cudaSuccess;
  });
}

cudaChannelFormatDesc api::cudaCreateChannelDesc(int X, int Y, int Z, int W,
                                                 cudaChannelFormatKind Kind) {
  return {X, Y, Z, W, Kind};
}

} // namespace reconverge::runtime
