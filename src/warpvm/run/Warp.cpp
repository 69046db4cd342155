//===- warpvm/run/Warp.cpp - The state of a warp --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A digest is a hash of all that decides what a warp does next: equal digests,
// and equal memory, mean that it goes round in a circle (Deadlock.cpp). What a
// clock has left in a frame would make each state a new one; it is blanked
// where nobody may read it any more (KernelPlan::Clocks).
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Warp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <memory>

namespace reconverge::warpvm {

uint64_t *Warp::newScalars() {
  if (Spare.empty()) {
    Owned.push_back(std::make_unique<uint64_t[]>(Plan->NumScalars));
    return Owned.back().get();
  }
  uint64_t *S = Spare.back();
  Spare.pop_back();
  return S;
}

Mask Warp::alive() const {
  Mask Alive = 0;
  for (const Split &S : Splits)
    if (!Plan->Regions[S.Region].Returns || S.Wait == EdgeKind::ClusterBarrier)
      Alive |= S.Lanes;
  return Alive;
}

static uint64_t hashOf(const void *Data, size_t Bytes, uint64_t Before) {
  const llvm::ArrayRef<uint8_t> All(static_cast<const uint8_t *>(Data), Bytes);
  return mixed(Before, llvm::xxh3_64bits(All));
}

void Warp::forgetClocks() const {
  const unsigned Lanes = Plan->WarpSize;
  for (uint32_t I = 0; I < Plan->NumClocks;) {
    uint8_t *Part = Frame + Plan->Clocks[I];
    const uint32_t Bits = Plan->Clocks[I + 1], Regions = Plan->Clocks[I + 2];
    const llvm::ArrayRef<uint32_t> LiveIn(Plan->Clocks + I + 3, Regions);
    I += 3 + Regions;
    Mask Live = 0;
    for (const Split &S : Splits)
      if (llvm::is_contained(LiveIn, S.Region))
        Live |= S.Lanes;
    for (unsigned L = 0; L < Lanes; ++L) {
      if (Live >> L & 1)
        continue;
      if (Bits == 1)
        Part[L / 8] &= uint8_t(~(1u << L % 8));
      else
        std::memset(Part + size_t(L) * (Bits / 8), 0, Bits / 8);
    }
  }
}

uint64_t Warp::digest() const {
  if (Finished)
    return 1;
  uint64_t H = Apart + 2 * Blocked + 4 * Ran;
  if (Caller) {
    forgetClocks();
    H = hashOf(Frame, Plan->FrameBytes, H);
    H = hashOf(Local, uint64_t(Plan->LocalBytes) * Plan->WarpSize, H);
  } else { // the block looks at a kernel's frame itself
    WarpContext C;
    std::memcpy(&C, &Context, sizeof(C)); // padding is zeroed, as Block does
    C.Budget = 0;
    H = hashOf(&C, sizeof(C), H);
  }
  for (const Split &S : Splits) {
    const uint64_t Words[] = {S.Region, uint64_t(S.Wait), S.Deferred, S.Lanes,
                              S.Reconverge};
    H = hashOf(Words, sizeof(Words), H);
    H = hashOf(S.Scalars, 8 * Plan->NumScalars, H);
    if (S.Callee)
      H = mixed(H, S.Callee->digest());
  }
  for (llvm::ArrayRef<LoopState> Loop : Loops) {
    H = mixed(H, Loop.size());
    for (const LoopState &State : Loop) {
      const uint64_t Words[] = {State.Lanes, State.Rounds};
      H = hashOf(Words, sizeof(Words), H);
    }
  }
  return H;
}

bool Warp::spins(uint32_t Region, Mask Lanes) {
  if (Loops.size() <= Region)
    Loops.resize(Plan->NumRegions);
  auto &Loop = Loops[Region];
  if (Free) // lanes part all the time
    Lanes = Context.Valid;
  auto *Here = llvm::find_if(
      Loop, [&](const LoopState &State) { return State.Lanes == Lanes; });
  if (Here == Loop.end()) { // some have left, or met others
    llvm::erase_if(Loop,
                   [&](const LoopState &State) { return State.Lanes & Lanes; });
    Loop.push_back({Lanes, 0});
    Here = &Loop.back();
  }
  if (++Here->Rounds < BackEdgeLimit) {
    Tired |= Here->Rounds % PauseLimit == 0;
    return false;
  }
  Here->Rounds = 0;
  return true;
}

} // namespace reconverge::warpvm
