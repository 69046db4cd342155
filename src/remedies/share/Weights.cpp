//===- remedies/share/Weights.cpp - What a shared round takes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In instructions, about, of a warp whose longest lane has n iterations:
//
//   alone    n * body
//   shared   once + rounds * (body + deal + min(n, 32) * step)
//
// body      those of the loop, of inner loops eight times; an access to memory
//           counts as two: the warp waits for it, n times or once a round
// deal      18 for the owner, one for each word that is handed over, and the steps
//           that are done for nobody, as several are done at once
//           and for a sum six exchanges
// step      4, one for each word that the chain takes, and the chain's own
// once      40: the sums, and what decides
//
// Iterations are dealt out lane by lane, so most of those of a round are of one
// lane: the chain has as many steps in a round as that lane has iterations in it.
// Above, that is taken to be the longest lane.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Weights.h"

#include "remedies/share/Legality.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies::share {

static int64_t wordsOf(const Value &V, const DataLayout &Layout) {
  return int64_t(
      divideCeil(Layout.getTypeSizeInBits(V.getType()).getFixedValue(), 32));
}

unsigned stepsAtOnce(const Carried &Values) {
  return Values.Chain.size() + Values.Inputs.size() <= 6 ? 4 : 1;
}

Weights weightsOf(const Loop &L, const LoopInfo &Loops, const Carried &Values,
                  unsigned Percent) {
  const DataLayout &Layout = L.getHeader()->getDataLayout();
  int64_t Body = 0;
  for (const BasicBlock *BB : L.blocks()) {
    int64_t Here = 0;
    for (const Instruction &I : *BB)
      if (!isa<PHINode>(I) && !I.isDebugOrPseudoInst())
        Here += I.mayReadOrWriteMemory() ? 2 : 1;
    const unsigned Inner = Loops.getLoopDepth(BB) - L.getLoopDepth();
    Body += Here << 3 * std::min(Inner, 5u);
  }
  int64_t Deal = 18, Step = 0;
  for (const Value *V : neededBy(L, Values))
    if (!isa<Argument>(V))
      Deal += wordsOf(*V, Layout);
  if (!Values.Chain.empty() || !Values.Inputs.empty())
    Step = 4 + int64_t(Values.Chain.size());
  for (const Instruction *I : Values.Inputs)
    Step += wordsOf(*I, Layout);
  for (const Sum &S : Values.Sums)
    Deal += 6 * (2 + wordsOf(*S.Phi, Layout));
  Deal += Step * (stepsAtOnce(Values) - 1) / 2;
  return {100 * Body, int64_t(Percent) * (Body + Deal), int64_t(Percent) * Step,
          int64_t(Percent) * 40, Step};
}

uint32_t Weights::least() const {
  const int64_t Few = PerRound + Once, Saved = Alone - PerStep;
  if (Saved > 0 && Few <= 32 * Saved)
    return uint32_t(divideCeil(Few, Saved));
  return uint32_t(divideCeil(Few + 32 * PerStep, std::max<int64_t>(Alone, 1)));
}

} // namespace reconverge::remedies::share
