//===- warpvm/memory/DeviceHeap.cpp - malloc and free in kernels ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First fit over a map of free spans, which merge with their neighbours when
// they are freed. The bookkeeping lies apart from the memory: a kernel that
// writes past its block spoils another block, as on a GPU, but not the heap.
//
// Limitation: blocks lie side by side. An access past the end of one is
// noticed only where it leaves the heap.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/DeviceHeap.h"

#include "warpvm/memory/DeviceMemory.h"

#include <algorithm>

namespace reconverge::warpvm {

DeviceHeap &DeviceHeap::instance() {
  static DeviceHeap *Heap = new DeviceHeap; // exit handlers may launch
  return *Heap;
}

bool DeviceHeap::setLimit(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Base)
    return false;
  Limit = Bytes;
  return true;
}

void *DeviceHeap::allocate(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Bytes > Limit)
    return nullptr;
  if (!Base) {
    auto Memory = DeviceMemory::instance().allocate(Limit, MemoryKind::Heap,
                                                    DeviceMemory::Alignment);
    if (!Memory) { // malloc says so by a null pointer
      llvm::consumeError(Memory.takeError());
      return nullptr;
    }
    Base = static_cast<uint8_t *>(*Memory);
    Now.Free[0] = Limit;
  }
  Bytes =
      (std::max<uint64_t>(Bytes, 1) + Alignment - 1) / Alignment * Alignment;
  auto Fit = std::find_if(Now.Free.begin(), Now.Free.end(),
                          [&](auto &Span) { return Span.second >= Bytes; });
  if (Fit == Now.Free.end())
    return nullptr;
  const auto [Offset, Size] = *Fit;
  Now.Free.erase(Fit);
  if (Size > Bytes)
    Now.Free[Offset + Bytes] = Size - Bytes;
  Now.Used[Offset] = Bytes;
  if (WriteShadow *Writes = DeviceMemory::instance().writes())
    Writes->clear(Base + Offset, Bytes);
  return Base + Offset;
}

bool DeviceHeap::release(void *Block) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto Found = Now.Used.find(uint64_t(Block) - uint64_t(Base));
  if (!Base || Found == Now.Used.end())
    return false;
  auto [Offset, Bytes] = *Found;
  Now.Used.erase(Found);
  auto After = Now.Free.lower_bound(Offset);
  if (After != Now.Free.end() && After->first == Offset + Bytes) {
    Bytes += After->second;
    After = Now.Free.erase(After);
  }
  if (After != Now.Free.begin()) {
    auto Before = std::prev(After);
    if (Before->first + Before->second == Offset) {
      Before->second += Bytes;
      return true;
    }
  }
  Now.Free[Offset] = Bytes;
  return true;
}

DeviceHeap::State DeviceHeap::state() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Now;
}

void DeviceHeap::restore(const State &Then) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Now = Then;
  // The heap may have come into being since.
  if (Base && Now.Used.empty() && Now.Free.empty())
    Now.Free[0] = Limit;
}

void DeviceHeap::reset() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Base)
    DeviceMemory::instance().release(Base);
  Base = nullptr;
  Limit = DefaultBytes;
  Now = State();
}

} // namespace reconverge::warpvm
