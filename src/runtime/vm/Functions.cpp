//===- runtime/vm/Functions.cpp - What is known of a kernel ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and occupancy. Occupancy is the device's that we claim to be
// (Device.h), by threads, blocks and shared memory:
//
//   blocks = min(32, 64 warps / warps a block, 228 KiB / shared a block)
//
// with a block's shared memory rounded up to 128 bytes after the system's share
// of 1 KiB. The VM allocates no registers, so these never limit. The numbers
// agree with an H200's for kernels of up to 32 registers.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Functions.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Registry.h"
#include "runtime/vm/Work.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::runtime {

static constexpr cudaError_t BadHandle = CUDART_VERSION >= 13000
                                             ? cudaErrorInvalidResourceHandle
                                             : cudaErrorInvalidDeviceFunction;

/// Finds \p Stub's kernel, then does \p B with it.
template <typename Body>
static cudaError_t withFunction(const void *Stub, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    std::lock_guard<std::recursive_mutex> Lock(deviceLock());
    DeviceFunction *F = nullptr;
    if (cudaError_t Failed = findFunction(Stub, F, BadHandle))
      return Failed;
    return B(*F);
  });
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

cudaError_t api::cudaFuncGetAttributes(cudaFuncAttributes *Attributes,
                                       const void *Stub) {
  if (!Attributes)
    return recorded(cudaErrorInvalidValue);
  return withFunction(Stub, [&](DeviceFunction &F) {
    cudaFuncAttributes A = {};
    A.sharedSizeBytes = F.Code->staticShared();
    for (const auto &V : F.Home->Variables)
      A.constSizeBytes += V->Constant ? V->Size : 0;
    A.localSizeBytes = F.Code->localBytes();
    A.maxThreadsPerBlock = int(F.MaxThreads);
    A.numRegs = limits::RegistersPerThread;
    A.ptxVersion = F.Architecture;
    A.binaryVersion = F.Architecture;
    A.maxDynamicSharedSizeBytes = int(F.MaxDynamicShared);
    A.preferredShmemCarveout = F.Carveout;
    A.nonPortableClusterSizeAllowed = F.LargeClusters;
    if (const ArrayRef<uint64_t> Size = F.Code->cluster(); !Size.empty()) {
      A.clusterDimMustBeSet = 1;
      A.requiredClusterWidth = int(Size[0]);
      A.requiredClusterHeight = int(Size[1]);
      A.requiredClusterDepth = int(Size[2]);
    }
    *Attributes = A;
    return cudaSuccess;
  });
}

cudaError_t api::cudaFuncSetAttribute(const void *Stub,
                                      cudaFuncAttribute Attribute, int Value) {
  return withFunction(Stub, [&](DeviceFunction &F) -> cudaError_t {
    switch (Attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (Value < 0 || uint64_t(Value) + F.Code->staticShared() >
                           limits::SharedPerBlockOptIn)
        return cudaErrorInvalidValue;
      F.MaxDynamicShared = uint64_t(Value);
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (Value < cudaSharedmemCarveoutDefault ||
          Value > cudaSharedmemCarveoutMaxShared)
        return cudaErrorInvalidValue;
      F.Carveout = Value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      F.LargeClusters = Value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess; // a hint
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
      return unsupported("a size of clusters that a kernel requires");
    default:
      return cudaErrorInvalidValue;
    }
  });
}

cudaError_t api::cudaFuncSetCacheConfig(const void *Stub,
                                        cudaFuncCache Preference) {
  return deviceCall([&]() -> cudaError_t {
    if (!knownFunction(Stub))
      return BadHandle;
    const bool Known = Preference >= cudaFuncCachePreferNone &&
                       Preference <= cudaFuncCachePreferEqual;
    return Known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t api::cudaFuncGetName(const char **Name, const void *Stub) {
  return deviceCall([&]() -> cudaError_t {
    DeviceFunction *F = knownFunction(Stub);
    if (!F || !Name)
      return F ? cudaErrorInvalidValue : BadHandle;
    *Name = F->Name.c_str();
    return cudaSuccess;
  });
}

cudaError_t api::cudaFuncGetParamInfo(const void *Stub, size_t Index,
                                      size_t *Offset, size_t *Size) {
  return withFunction(Stub, [&](DeviceFunction &F) -> cudaError_t {
    auto Parameters = F.Code->parameters();
    if (!Offset || Index >= Parameters.size())
      return cudaErrorInvalidValue;
    *Offset = Parameters[Index].first;
    if (Size)
      *Size = Parameters[Index].second;
    return cudaSuccess;
  });
}
#endif

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

/// Blocks of \p Threads > 0 threads that a multiprocessor holds by threads
/// alone.
static unsigned blocksByThreads(unsigned Threads) {
  const unsigned Warps = unsigned(divideCeil(Threads, 32));
  return std::min(limits::BlocksPerMultiprocessor,
                  limits::ThreadsPerMultiprocessor / 32 / Warps);
}

static unsigned blocksByShared(const warpvm::Kernel &K, uint64_t Dynamic) {
  const uint64_t Bytes =
      alignTo(K.staticShared() + Dynamic + limits::SharedReserved, 128);
  return unsigned(limits::SharedPerMultiprocessor / Bytes);
}

unsigned blocksAtOnce(const warpvm::Kernel &K, unsigned Threads,
                      uint64_t Dynamic) {
  return std::min(blocksByThreads(Threads), blocksByShared(K, Dynamic));
}

unsigned blocksAtOnce(const DeviceFunction &F, unsigned Threads,
                      uint64_t Dynamic) {
  if (Threads > limits::ThreadsPerBlock || Dynamic > F.MaxDynamicShared)
    return 0;
  return blocksAtOnce(*F.Code, Threads, Dynamic);
}

static cudaError_t occupancy(int *Blocks, const void *Stub, int Threads,
                             size_t Dynamic) {
  if (!Blocks || Threads <= 0)
    return recorded(cudaErrorInvalidValue);
  return withFunction(Stub, [&](DeviceFunction &F) {
    *Blocks = int(blocksAtOnce(F, unsigned(Threads), Dynamic));
    return cudaSuccess;
  });
}

cudaError_t api::cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks,
                                                               const void *Stub,
                                                               int Threads,
                                                               size_t Dynamic) {
  return occupancy(Blocks, Stub, Threads, Dynamic);
}

cudaError_t api::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, const void *Stub, int Threads, size_t Dynamic,
    unsigned Flags) {
  if (Flags > cudaOccupancyDisableCachingOverride)
    return recorded(cudaErrorInvalidValue);
  return occupancy(Blocks, Stub, Threads, Dynamic);
}

unsigned DeviceFunction::clusterLimit() const {
  return LargeClusters ? limits::BlocksPerClusterOptIn
                       : limits::BlocksPerCluster;
}

/// Calls \p Tell(kernel, what \p Config would launch, if a device takes that), in
/// clusters as it says or, unless \p InClusters, as the kernel does.
static cudaError_t withConfig(
    const void *Stub, const cudaLaunchConfig_t *Config, bool Answers,
    bool InClusters,
    function_ref<void(const DeviceFunction &, const LaunchShape &)> Tell) {
  if (!Config || !Answers)
    return recorded(cudaErrorInvalidValue);
  return withFunction(Stub, [&](DeviceFunction &) {
    KernelWork W;
    bool Cooperative = false;
    dim3 Cluster(0, 0, 0);
    readAttributes(*Config, Cooperative, Cluster);
    if (!InClusters)
      Cluster = dim3(0, 0, 0);
    const cudaError_t Failed =
        checkLaunch(Stub, Config->gridDim, Config->blockDim,
                    Config->dynamicSmemBytes, Cooperative, W, Cluster);
    if (!Failed)
      Tell(*W.Function, W.Shape);
    return Failed;
  });
}

/// As if all multiprocessors were one group, in which clusters may lie anywhere.
cudaError_t
api::cudaOccupancyMaxActiveClusters(int *Clusters, const void *Stub,
                                    const cudaLaunchConfig_t *Config) {
  return withConfig(
      Stub, Config, Clusters, /*InClusters=*/true,
      [&](const DeviceFunction &F, const LaunchShape &S) {
        const unsigned Blocks =
            blocksAtOnce(F, unsigned(S.blockThreads()), S.DynamicShared);
        *Clusters = int(uint64_t(Engine::get().options().Multiprocessors) *
                        Blocks / S.clusterBlocks());
      });
}

cudaError_t
api::cudaOccupancyMaxPotentialClusterSize(int *Blocks, const void *Stub,
                                          const cudaLaunchConfig_t *Config) {
  return withConfig(Stub, Config, Blocks, /*InClusters=*/false,
                    [&](const DeviceFunction &F, const LaunchShape &S) {
                      const bool Runs = blocksAtOnce(
                          F, unsigned(S.blockThreads()), S.DynamicShared);
                      *Blocks = !Runs          ? 0
                                : S.Cluster[0] ? int(S.clusterBlocks())
                                               : int(F.clusterLimit());
                    });
}

cudaError_t api::cudaOccupancyAvailableDynamicSMemPerBlock(size_t *Bytes,
                                                           const void *Stub,
                                                           int Blocks,
                                                           int Threads) {
  if (!Bytes || Blocks <= 0 || Threads <= 0)
    return recorded(cudaErrorInvalidValue);
  return withFunction(Stub, [&](DeviceFunction &F) -> cudaError_t {
    if (unsigned(Threads) > limits::ThreadsPerBlock ||
        unsigned(Blocks) > std::min(blocksByThreads(unsigned(Threads)),
                                    blocksByShared(*F.Code, 0)))
      return cudaErrorInvalidValue;
    const uint64_t Share = limits::SharedPerMultiprocessor / unsigned(Blocks);
    *Bytes =
        std::min<uint64_t>(Share - F.Code->staticShared(), F.MaxDynamicShared);
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
