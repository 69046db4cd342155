//===- remedies/common/Mixing.cpp - Accesses of mixed warps ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that lie side by side mostly ask for data that lie side by side. If
// others share their warps, or they are in other rounds of a loop, each lane has
// a sector of its own. Of an access that was counted, over all its executions:
//
//   L      lanes
//   now    sectors a lane, counted
//   full   sectors a request, over 32: a lane's, if all had been active
//   most   a lane alone: its bytes in sectors; of k lanes no more than
//          distinct(k, G) / k of that, as a launch has but G sectors
//
//   sectors    L (then - now), `then` being the remedy's, within [now, most]
//   wavefronts w = max(1, x / 4 + sqrt(x) / 2) of x = k then lines: each has its
//              tag in one of four banks, and the fullest decides
//              (core/Memory.h; the root is what the fullest of four has beyond
//              the mean when x fall at random)
//   chains     a warp waits for its own wavefronts
//
// Limitation: bank conflicts in shared memory, and local memory, are left as they
// are.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Mixing.h"

#include "analysis/Accesses.h"
#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace reconverge::remedies {

/// Whether \p Address is made from what \p L, or one of \p Depth - 1 loops around
/// it, carries from round to round.
static bool isOfRound(const Value &Address, const Loop &L,
                      unsigned Depth = ~0u) {
  SmallPtrSet<const Value *, 16> Seen{&Address};
  SmallVector<const Value *> Open{&Address};
  while (!Open.empty()) {
    const auto *I = dyn_cast<Instruction>(Open.pop_back_val());
    if (!I)
      continue;
    if (isa<PHINode>(I))
      for (const Loop *Around = &L;
           Around && L.getLoopDepth() - Around->getLoopDepth() < Depth;
           Around = Around->getParentLoop())
        if (I->getParent() == Around->getHeader())
          return true;
    for (const Value *Operand : I->operands())
      if (Seen.insert(Operand).second)
        Open.push_back(Operand);
  }
  return false;
}

CommonAddresses commonAddresses(Function &Kernel, const BasicBlock *Header) {
  const auto Known = analysis::computeUniformity(Kernel);
  const DominatorTree Dominance(Kernel);
  const LoopInfo Loops(Dominance);
  const Loop *L = Header ? Loops.getLoopFor(Header) : nullptr;
  CommonAddresses Found;
  for (const Instruction &I : instructions(Kernel)) {
    const auto A = analysis::accessOf(I);
    const auto Number = analysis::accessNumber(I);
    if (!A || !Number || Known.of(*A->Pointer).L != analysis::Level::Grid)
      continue;
    Found.InStep.insert(*Number);
    if (!L || !isOfRound(*A->Pointer, *L))
      Found.InAnyRound.insert(*Number);
  }
  return Found;
}

DenseSet<uint32_t> sameInRounds(Function &Kernel, const BasicBlock &Header,
                                unsigned Depth) {
  const DominatorTree Dominance(Kernel);
  const LoopInfo Loops(Dominance);
  const Loop &L = *Loops.getLoopFor(&Header);
  DenseSet<uint32_t> Found;
  for (const Instruction &I : instructions(Kernel)) {
    const auto A = analysis::accessOf(I);
    const auto Number = analysis::accessNumber(I);
    if (A && Number && !isOfRound(*A->Pointer, L, Depth))
      Found.insert(*Number);
  }
  return Found;
}

double distinct(double Drawn, double Of) {
  return Of <= 1 ? 1 : Of * -std::expm1(Drawn * std::log1p(-1 / Of));
}

static double wavefronts(double Lines) {
  return std::max(1.0, Lines / 4 + std::sqrt(Lines) / 2);
}

/// Sectors that a launch of \p K can ask for by \p Use.
static double sectorsOf(const KernelProfile &K, MemoryUse Use) {
  const uint64_t All =
      Use == MemoryUse::Load ? K.Touched.GridLoads : K.Touched.GridStores;
  return All ? double(All) / double(std::max<uint64_t>(K.Launches, 1))
             : HUGE_VAL;
}

AddedWork mixed(const KernelProfile &K, double Lanes, SectorsThen Then) {
  AddedWork Sum;
  if (K.Accesses.empty())
    return Sum;
  double Loads = 0, LoadsApart = 0, Places = 0; // requests, and of them all
  for (auto [A, C] : zip_equal(K.Info.Accesses, K.Accesses)) {
    if (!C.Requests || !C.Lanes || A.Space == MemorySpace::Shared ||
        A.Space == MemorySpace::Local || !C.Sectors)
      continue;
    LaneSectors S;
    S.Now = double(C.Sectors) / double(C.Lanes);
    S.Full = double(C.Sectors) / double(C.Requests) / K.WarpSize;
    const double Alone = std::ceil(double(A.Bytes) / double(SectorBytes));
    const double Of = sectorsOf(K, A.Use);
    S.Most = Alone * (std::isinf(Of) ? 1 : distinct(Lanes, Of) / Lanes);
    const double Later = std::min(Then(A, S), S.Most);
    // Executions for each that was looked at.
    const double Each = double(K.Blocks[A.Block].Warps) / double(C.Requests);
    const double All = Each * double(C.Lanes), Requests = All / Lanes;
    if (A.Use == MemoryUse::Load)
      Loads += Requests;
    if (Later <= S.Now)
      continue;
    if (A.Use == MemoryUse::Load) {
      LoadsApart += Requests;
      Places += Requests * (1 + Lanes * (Later - S.Now) / Alone);
    }
    (A.Use == MemoryUse::Load ? Sum.LoadSectors : Sum.StoreSectors) +=
        All * (Later - S.Now);
    const double Passes = wavefronts(Lanes * Later);
    Sum.Wavefronts +=
        std::max(0.0, Requests * Passes - Each * double(C.Wavefronts));
    Sum.PathCycles += Requests * std::max(0.0, Passes - double(C.Wavefronts) /
                                                            double(C.Requests));
  }
  if (LoadsApart > 0) {
    Sum.ApartLoads = LoadsApart / Loads;
    Sum.Apart = Places / LoadsApart;
  }
  return Sum;
}

} // namespace reconverge::remedies
