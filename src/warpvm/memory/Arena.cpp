//===- warpvm/memory/Arena.cpp - Guarded memory for thread blocks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   | guard | ... shared | guard | frames, locals ... | guard |
//
// The blocks of a cluster have a piece of shared memory and a guard each.
//
// An access a little past either part meets a page that faults, and becomes the
// kernel's fault instead of our heap's.
//
// Limitation: shared memory is guarded from its end rounded up to 64 bytes, and
// an offset larger than a guard can leap over it.
//
//===----------------------------------------------------------------------===//

#include "warpvm/memory/Arena.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include <sys/mman.h>

namespace reconverge::warpvm {

namespace {
constexpr uint64_t Page = 4096, Guard = 1 << 20;
constexpr uint64_t LeastShared = 256 << 10, LeastPrivate = 1 << 20;
constexpr size_t PoolSize = 64;

uint64_t roundUp(uint64_t X, uint64_t To) { return (X + To - 1) / To * To; }

struct Pool {
  std::mutex Lock;
  std::vector<Arena::Mapping> Free;
};

/// Lives as long as the process: launches may come from exit handlers.
Pool &pool() {
  static Pool *P = new Pool;
  return *P;
}

uint64_t sizeOf(const Arena::Mapping &M) {
  return 2 * Guard + M.Blocks * (M.SharedRoom + Guard) + M.PrivateRoom;
}
} // namespace

Arena::Arena(uint64_t SharedBytes, uint64_t PrivateBytes, unsigned Blocks)
    : Shared(roundUp(std::max<uint64_t>(SharedBytes, 1), 64)) {
  {
    std::lock_guard<std::mutex> Hold(pool().Lock);
    auto &Free = pool().Free;
    auto Fits = std::find_if(Free.begin(), Free.end(), [&](const Mapping &F) {
      return F.Blocks == Blocks && F.SharedRoom >= Shared &&
             F.PrivateRoom >= PrivateBytes;
    });
    if (Fits != Free.end()) {
      M = *Fits;
      Free.erase(Fits);
      return;
    }
  }
  M.SharedRoom = roundUp(std::max(Shared, LeastShared), Page);
  M.PrivateRoom = roundUp(std::max(PrivateBytes, LeastPrivate), Page);
  M.Blocks = Blocks;
  void *Base = mmap(nullptr, sizeOf(M), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Base == MAP_FAILED)
    return;
  M.Base = static_cast<uint8_t *>(Base);
  New = true;
  bool Failed = mprotect(privates(), M.PrivateRoom, PROT_READ | PROT_WRITE);
  for (unsigned B = 0; B < Blocks; ++B)
    Failed |= mprotect(M.Base + Guard + B * stride(), M.SharedRoom,
                       PROT_READ | PROT_WRITE) != 0;
  if (Failed) {
    munmap(Base, sizeOf(M));
    M.Base = nullptr;
  }
}

Arena::~Arena() {
  if (!M.Base)
    return;
  {
    std::lock_guard<std::mutex> Hold(pool().Lock);
    if (pool().Free.size() < PoolSize && M.PrivateRoom <= 16 * LeastPrivate) {
      pool().Free.push_back(M);
      return;
    }
  }
  munmap(M.Base, sizeOf(M));
}

uint8_t *Arena::shared() const {
  return M.Base ? M.Base + Guard + M.SharedRoom - Shared : nullptr;
}

uint64_t Arena::stride() const { return M.SharedRoom + Guard; }

uint8_t *Arena::privates() const {
  return M.Base + Guard + M.Blocks * stride();
}

} // namespace reconverge::warpvm
