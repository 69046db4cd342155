//===- runtime/vm/Pools.cpp - Stream-ordered memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work is done when it is enqueued, so that cudaMallocAsync allocates and
// cudaFreeAsync frees at once. A pool keeps what it is asked for: its settings,
// and the bytes that were taken from it. It holds no memory back, which its
// counts of reserved memory say.
//
// Memory of graphs has its address from the moment that its node is made, and
// keeps it: what a graph's kernels are given was fixed then. The node and its
// clones hold the memory; so does, from an allocation to the next free of it,
// the program.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

namespace {
struct Pool {
  int Follow = 1, Opportunistic = 1, Internal = 1; ///< reuse policies
  uint64_t Threshold = 0;                          ///< bytes
  uint64_t Used = 0, High = 0;                     ///< bytes
  uint64_t Limit = 0; ///< bytes that may be taken; 0: no limit
};

struct Pools {
  std::mutex Mutex;
  std::map<cudaMemPool_t, std::unique_ptr<Pool>> Live;
  std::map<const void *, cudaMemPool_t> Taken; ///< which pool a block is of
  cudaMemPool_t Default = nullptr, Current = nullptr;

  cudaMemPool_t add(std::unique_ptr<Pool> P) {
    auto Handle = reinterpret_cast<cudaMemPool_t>(P.get());
    Live[Handle] = std::move(P);
    return Handle;
  }
  Pool *find(cudaMemPool_t Handle) {
    auto Found = Live.find(Handle);
    return Found == Live.end() ? nullptr : Found->second.get();
  }
};
} // namespace

static Pools &pools() {
  static Pools &P = *[] {
    auto *New = new Pools;
    New->Default = New->Current = New->add(std::make_unique<Pool>());
    return New;
  }();
  return P;
}

/// Does \p B with all pools and the one that \p Handle stands for.
template <typename Body>
static cudaError_t withPool(cudaMemPool_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Pools &All = pools();
    std::lock_guard<std::mutex> Lock(All.Mutex);
    Pool *P = All.find(Handle);
    return P ? B(All, *P) : cudaErrorInvalidValue;
  });
}

//===----------------------------------------------------------------------===//
// Allocating
//===----------------------------------------------------------------------===//

static cudaError_t take(void **Pointer, size_t Size, cudaMemPool_t Handle) {
  // First, as by who already holds it.
  std::lock_guard<std::recursive_mutex> Device(deviceLock());
  Pools &All = pools();
  std::lock_guard<std::mutex> Lock(All.Mutex);
  Pool *P = All.find(Handle ? Handle : All.Current);
  if (!P)
    return cudaErrorInvalidValue;
  if (P->Limit && Size > P->Limit - std::min(P->Used, P->Limit))
    return cudaErrorMemoryAllocation;
  if (cudaError_t Failed = allocate(Pointer, Size, MemoryKind::Pool))
    return Failed;
  if (*Pointer) {
    All.Taken[*Pointer] = Handle ? Handle : All.Current;
    P->Used += Size;
    P->High = std::max(P->High, P->Used);
  }
  return cudaSuccess;
}

/// In a stream that is being captured, memory of the graph.
static cudaError_t takeInStream(void **Pointer, size_t Size,
                                cudaMemPool_t Handle, cudaStream_t Stream) {
  return deviceCall([&]() -> cudaError_t {
    if (!isStream(Stream))
      return cudaErrorInvalidResourceHandle;
    bool Captured = false;
    if (anyCapture())
      if (cudaError_t Failed = enterStream(Stream, Captured))
        return Failed;
    if (!Captured)
      return take(Pointer, Size, Handle);
    AllocWork W;
    if (!Pointer || !Size)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = makeGraphMemory(Size, W))
      return Failed;
    *Pointer = W.Memory->At;
    return addToCapture(Stream, std::move(W));
  });
}

cudaError_t api::cudaMallocAsync(void **Pointer, size_t Size,
                                 cudaStream_t Stream) {
  return takeInStream(Pointer, Size, nullptr, Stream);
}

cudaError_t api::cudaMallocFromPoolAsync(void **Pointer, size_t Size,
                                         cudaMemPool_t Handle,
                                         cudaStream_t Stream) {
  if (!Handle)
    return recorded(cudaErrorInvalidValue);
  return takeInStream(Pointer, Size, Handle, Stream);
}

void forgetPoolMemory(const void *Pointer, uint64_t Size) {
  Pools &All = pools();
  std::lock_guard<std::mutex> Lock(All.Mutex);
  auto Found = All.Taken.find(Pointer);
  if (Found == All.Taken.end())
    return;
  // A destroyed pool may still have had memory out.
  if (Pool *P = All.find(Found->second))
    P->Used -= std::min(P->Used, Size);
  All.Taken.erase(Found);
}

cudaError_t api::cudaFreeAsync(void *Pointer, cudaStream_t Stream) {
  return deviceCall([&]() -> cudaError_t {
    // Memory of cudaMalloc may be freed this way too.
    return enqueue(
        Stream, [&] { return cudaFree(Pointer); },
        [&] { return FreeWork{Pointer}; });
  });
}

//===----------------------------------------------------------------------===//
// Memory of graphs
//===----------------------------------------------------------------------===//

using Guard = std::lock_guard<std::recursive_mutex>;

/// What the program has, by address; under deviceLock().
static std::map<void *, std::shared_ptr<GraphMemory>> &graphMemory() {
  static auto &Held = *new std::map<void *, std::shared_ptr<GraphMemory>>;
  return Held;
}

GraphMemory::~GraphMemory() {
  Guard Lock(deviceLock());
  warpvm::DeviceMemory::instance().release(At);
}

cudaError_t makeGraphMemory(size_t Size, AllocWork &Out) {
  void *At = nullptr;
  if (cudaError_t Failed = allocate(&At, Size, MemoryKind::Pool))
    return Failed;
  Out.Memory = std::make_shared<GraphMemory>(At, Size);
  return cudaSuccess;
}

bool isGraphMemory(void *At) {
  Guard Lock(deviceLock());
  return graphMemory().count(At);
}

cudaError_t allocateGraphMemory(AllocWork &What) {
  Guard Lock(deviceLock());
  // Nobody freed what the last launch allocated.
  return graphMemory().emplace(What.Memory->At, What.Memory).second
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t freeGraphMemory(FreeWork &What) {
  Guard Lock(deviceLock());
  return graphMemory().erase(What.At) ? cudaSuccess : cudaErrorInvalidValue;
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

static cudaError_t get(cudaMemPool_t *Out, int Device,
                       cudaMemPool_t Pools::*Which) {
  return deviceCall([&]() -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    if (Device)
      return cudaErrorInvalidDevice;
    std::lock_guard<std::mutex> Lock(pools().Mutex);
    *Out = pools().*Which;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceGetDefaultMemPool(cudaMemPool_t *Out, int Device) {
  return get(Out, Device, &Pools::Default);
}

cudaError_t api::cudaDeviceGetMemPool(cudaMemPool_t *Out, int Device) {
  return get(Out, Device, &Pools::Current);
}

cudaError_t api::cudaDeviceSetMemPool(int Device, cudaMemPool_t Handle) {
  if (Device)
    return recorded(cudaErrorInvalidDevice);
  return withPool(Handle, [&](Pools &All, Pool &) {
    All.Current = Handle;
    return cudaSuccess;
  });
}

cudaError_t api::cudaMemPoolCreate(cudaMemPool_t *Out,
                                   const cudaMemPoolProps *Wanted) {
  return deviceCall([&]() -> cudaError_t {
    if (!Out || !Wanted || Wanted->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (Wanted->location.type == cudaMemLocationTypeDevice &&
        Wanted->location.id != 0)
      return cudaErrorInvalidDevice;
    if (Wanted->location.type != cudaMemLocationTypeDevice)
      return unsupported("a memory pool outside the device");
    if (Wanted->handleTypes != cudaMemHandleTypeNone)
      return unsupported("a memory pool for other processes");
    auto New = std::make_unique<Pool>();
#if CUDART_VERSION >= 13000
    New->Limit = Wanted->maxSize;
#endif
    std::lock_guard<std::mutex> Lock(pools().Mutex);
    *Out = pools().add(std::move(New));
    return cudaSuccess;
  });
}

cudaError_t api::cudaMemPoolDestroy(cudaMemPool_t Handle) {
  return withPool(Handle, [&](Pools &All, Pool &) -> cudaError_t {
    if (Handle == All.Default)
      return cudaErrorInvalidValue;
    if (Handle == All.Current)
      All.Current = All.Default;
    All.Live.erase(Handle);
    return cudaSuccess;
  });
}

cudaError_t api::cudaMemPoolTrimTo(cudaMemPool_t Handle, size_t) {
  return withPool(Handle, [](Pools &, Pool &) { return cudaSuccess; });
}

cudaError_t api::cudaMemPoolGetAttribute(cudaMemPool_t Handle,
                                         cudaMemPoolAttr Attribute,
                                         void *Value) {
  return withPool(Handle, [&](Pools &, Pool &P) -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    auto Number = [&](int N) { *static_cast<int *>(Value) = N; };
    auto Bytes = [&](uint64_t N) { *static_cast<uint64_t *>(Value) = N; };
    switch (Attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      Number(P.Follow);
      return cudaSuccess;
    case cudaMemPoolReuseAllowOpportunistic:
      Number(P.Opportunistic);
      return cudaSuccess;
    case cudaMemPoolReuseAllowInternalDependencies:
      Number(P.Internal);
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      Bytes(P.Threshold);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      Bytes(P.Used);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      Bytes(P.High);
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
    }
  });
}

cudaError_t api::cudaMemPoolSetAttribute(cudaMemPool_t Handle,
                                         cudaMemPoolAttr Attribute,
                                         void *Value) {
  return withPool(Handle, [&](Pools &, Pool &P) -> cudaError_t {
    if (!Value)
      return cudaErrorInvalidValue;
    switch (Attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      P.Follow = *static_cast<int *>(Value);
      return cudaSuccess;
    case cudaMemPoolReuseAllowOpportunistic:
      P.Opportunistic = *static_cast<int *>(Value);
      return cudaSuccess;
    case cudaMemPoolReuseAllowInternalDependencies:
      P.Internal = *static_cast<int *>(Value);
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      P.Threshold = *static_cast<uint64_t *>(Value);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      if (*static_cast<uint64_t *>(Value) != 0)
        return cudaErrorInvalidValue; // it can be set to 0 only
      P.High = P.Used;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
    }
  });
}

cudaError_t api::cudaMemPoolGetAccess(cudaMemAccessFlags *Flags,
                                      cudaMemPool_t Handle,
                                      cudaMemLocation *Location) {
  return withPool(Handle, [&](Pools &, Pool &) -> cudaError_t {
    if (!Flags || !Location)
      return cudaErrorInvalidValue;
    if (Location->type != cudaMemLocationTypeDevice || Location->id != 0)
      return cudaErrorInvalidDevice;
    *Flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

cudaError_t api::cudaMemPoolSetAccess(cudaMemPool_t Handle,
                                      const cudaMemAccessDesc *List,
                                      size_t Count) {
  return withPool(Handle, [&](Pools &, Pool &) -> cudaError_t {
    if (Count && !List)
      return cudaErrorInvalidValue;
    for (size_t I = 0; I < Count; ++I)
      if (List[I].location.type != cudaMemLocationTypeDevice ||
          List[I].location.id != 0)
        return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
