//===- launch/CudaPlace.cpp - Launching by a recipe, on CUDA --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two launches in two streams have two pieces of scratch, and a stream that is
// captured into a graph gets nodes that take it and give it back. The pool is
// not the device's default one, whose settings and statistics are the program's
// affair.
//
//===----------------------------------------------------------------------===//

#include "launch/CudaPlace.h"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>

namespace reconverge::launch {

/// What a pool keeps for later launches when the device has nothing to do.
static constexpr uint64_t KeptBytes = uint64_t(256) << 20;

namespace {
/// By device; they live as long as the process.
struct Pools {
  std::mutex Lock;
  std::map<int, cudaMemPool_t> Known; ///< null: the device can have none
};
} // namespace

static Pools &pools() {
  static Pools &All = *new Pools;
  return All;
}

static cudaMemPool_t makePoolRelaxed(const CudaCalls &Calls, int Device) {
  int Can = 0;
  cudaMemPool_t Pool = nullptr;
  cudaMemPoolProps Properties = {};
  Properties.allocType = cudaMemAllocationTypePinned;
  Properties.location.type = cudaMemLocationTypeDevice;
  Properties.location.id = Device;
  if (Calls.DeviceGetAttribute(&Can, cudaDevAttrMemoryPoolsSupported, Device) ||
      !Can || Calls.MemPoolCreate(&Pool, &Properties))
    return nullptr;
  // Memory that a stream still uses is not for another one, which would wait.
  int Waits = 0;
  (void)Calls.MemPoolSetAttribute(
      Pool, cudaMemPoolReuseAllowInternalDependencies, &Waits);
  uint64_t Kept = KeptBytes;
  (void)Calls.MemPoolSetAttribute(Pool, cudaMemPoolAttrReleaseThreshold,
                                  &Kept); // without it, launches are slower
  return Pool;
}

/// A capture that is going on forbids calls that are no work of a stream, and
/// ends at one.
static cudaMemPool_t makePool(const CudaCalls &Calls, int Device) {
  cudaStreamCaptureMode Mode = cudaStreamCaptureModeRelaxed;
  if (Calls.ExchangeCaptureMode(&Mode))
    return nullptr;
  cudaMemPool_t Pool = makePoolRelaxed(Calls, Device);
  (void)Calls.ExchangeCaptureMode(&Mode); // back to what it was
  return Pool;
}

/// That of the current device.
static cudaMemPool_t findPool(const CudaCalls &Calls) {
  int Device = 0;
  if (Calls.GetDevice(&Device))
    return nullptr;
  Pools &All = pools();
  std::lock_guard<std::mutex> Guard(All.Lock);
  auto [Entry, IsNew] = All.Known.try_emplace(Device, nullptr);
  if (IsNew)
    Entry->second = makePool(Calls, Device);
  return Entry->second;
}

void trimPools(const CudaCalls &Calls) {
  Pools &All = pools();
  std::lock_guard<std::mutex> Guard(All.Lock);
  for (auto [Device, Pool] : All.Known)
    if (Pool)
      (void)Calls.MemPoolTrimTo(Pool, 0); // then it stays as it is
}

const void *CudaPlace::handleOf(const RecipeStep &Step) const {
  return Handles[&Step - R.Steps.data()];
}

void *CudaPlace::allocate(uint64_t Bytes, bool Zeroed) {
  cudaMemPool_t Pool = findPool(Calls);
  void *New = nullptr;
  if (!Pool || Calls.MallocFromPoolAsync(&New, Bytes, Pool, Stream))
    return nullptr;
  if (Zeroed && Calls.MemsetAsync(New, 0, Bytes, Stream)) {
    release(New);
    return nullptr;
  }
  return New;
}

void CudaPlace::release(void *Scratch) {
  (void)Calls.FreeAsync(Scratch, Stream); // it was taken in this stream
}

uint64_t CudaPlace::resident(const RecipeStep &Step, uint64_t BlockThreads,
                             uint64_t DynamicShared) {
  int Device = 0, Processors = 0, Blocks = 0;
  if (Calls.GetDevice(&Device) ||
      Calls.DeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount,
                               Device) ||
      Calls.MaxActiveBlocks(&Blocks, handleOf(Step), int(BlockThreads),
                            DynamicShared))
    return 0;
  return uint64_t(Processors) * uint64_t(Blocks);
}

using PointerAttribute = decltype(&::cuPointerGetAttribute);

/// The driver's, which the runtime has loaded; null: it has not yet.
static PointerAttribute pointerAttribute() {
  static std::atomic<PointerAttribute> Known = nullptr;
  if (PointerAttribute Found = Known)
    return Found;
  if (void *Driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD))
    Known = reinterpret_cast<PointerAttribute>(
        dlsym(Driver, "cuPointerGetAttribute"));
  return Known;
}

std::optional<MemoryRange> CudaPlace::rangeOf(uint64_t Address) {
  const PointerAttribute Ask = pointerAttribute();
  CUdeviceptr Begin = 0;
  size_t Size = 0;
  if (!Ask || Ask(&Begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, Address) ||
      Ask(&Size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, Address))
    return std::nullopt;
  return MemoryRange{Begin, Begin + Size};
}

bool CudaPlace::launch(const RecipeStep &Step, const LaunchShape &Shape,
                       void **Args) {
  return Calls.LaunchKernel(handleOf(Step),
                            {Shape.Grid[0], Shape.Grid[1], Shape.Grid[2]},
                            {Shape.Block[0], Shape.Block[1], Shape.Block[2]},
                            Args, Shape.DynamicShared, Stream) == cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Beside the stream
//===----------------------------------------------------------------------===//

/// What runs beside is short and the next launch needs it, so its blocks come first
/// where there is room. It does not wait for the legacy stream by itself.
bool SideStream::create(const CudaCalls &Calls) {
  int Lowest = 0, Highest = 0;
  if (!Calls.StreamCreate || !Calls.EventCreate || !Calls.StreamWaitEvent ||
      Calls.StreamPriorityRange(&Lowest, &Highest) ||
      Calls.StreamCreate(&Stream, cudaStreamNonBlocking, Highest))
    return false;
  if (Calls.EventCreate(&Forked, cudaEventDisableTiming) == cudaSuccess &&
      Calls.EventCreate(&Joined, cudaEventDisableTiming) == cudaSuccess)
    return true;
  destroy(Calls);
  return false;
}

void SideStream::destroy(const CudaCalls &Calls) {
  for (cudaEvent_t Event : {Forked, Joined})
    if (Event)
      (void)Calls.EventDestroy(Event);
  if (Stream)
    (void)Calls.StreamDestroy(Stream);
  *this = {};
}

bool CudaPlace::fork() {
  return Side && Side->Stream &&
         Calls.EventRecord(Side->Forked, Own) == cudaSuccess &&
         Calls.StreamWaitEvent(Side->Stream, Side->Forked, 0) == cudaSuccess;
}

void CudaPlace::beside() { Stream = Side->Stream; }

void CudaPlace::join() {
  Stream = Own;
  // Where one fails so does the program's next call: the device is lost.
  (void)Calls.EventRecord(Side->Joined, Side->Stream);
  (void)Calls.StreamWaitEvent(Own, Side->Joined, 0);
}

} // namespace reconverge::launch
