//===- instrument/ProbeWords.cpp - How counters are kept ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block outside all cycles runs at most once per call: a bit while the
// thread runs, 32 to a register, and a byte when it leaves. 32 lanes' sum still
// fits, so one reduction serves four counters.
//
// A block in a cycle needs 32 bits, and registers are few: what a thread takes,
// all warps of the multiprocessor have less of. So the counters of a cycle are
// kept in one of three ways:
//
//   whole    a register each
//   narrow   a byte of a register each, and a word in the thread's local memory
//            that takes over what the byte has before that overflows. Every way
//            back to a block leads through the header of the innermost cycle
//            around it, so there a byte has grown by one at most since it was
//            looked at
//   memory   a load and a store for each time that it counts. Local memory of
//            all threads together is more than the first cache has
//
// Registers go where they save most for one: a look at the header costs as much
// as two or three counters in memory do.
//
//===----------------------------------------------------------------------===//

#include "instrument/ProbeWords.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;

namespace reconverge::instrument {

/// Registers for counters in cycles.
static constexpr unsigned MostRegisters = 10;

namespace {
/// The counters that stand in a cycle and in none within.
struct CycleCounters {
  const Cycle *Where;
  double Runs; ///< about how often, for one run of the function
  SmallVector<std::pair<ProbeCounter *, unsigned>> Counters; ///< and the site
  enum { Memory, Narrow, Whole } Kept = Memory;
  unsigned NarrowCounters = 0; ///< of a Narrow one, the first so many

  unsigned size() const { return Counters.size(); }
  unsigned registers() const {
    return Kept == Whole
               ? size()
               : divideCeil(NarrowCounters, ProbePlan::BytesOfRegister);
  }
  /// What counting costs in a round: instructions, and what they wait for.
  static unsigned cost(unsigned InMemory, bool AnyNarrow) {
    return 4 * InMemory + (AnyNarrow ? 9 : 0);
  }
  unsigned cost() const {
    return Kept == Whole ? 0 : cost(size() - NarrowCounters, NarrowCounters);
  }
};
} // namespace

/// Hands out \p Left registers, one step after the other.
static void handOutRegisters(MutableArrayRef<CycleCounters> Cycles,
                             unsigned Left) {
  while (true) {
    CycleCounters *Best = nullptr, Next = {};
    double BestGain = 0;
    for (CycleCounters &C : Cycles) {
      auto Try = [&](CycleCounters Step) {
        const int More = int(Step.registers()) - int(C.registers());
        const double Gain = C.Runs * (int(C.cost()) - int(Step.cost())) / More;
        if (More > 0 && unsigned(More) <= Left && Gain > BestGain) {
          BestGain = Gain;
          Best = &C;
          Next = std::move(Step);
        }
      };
      CycleCounters Step = C;
      Step.Kept = CycleCounters::Narrow;
      Step.NarrowCounters = std::min(
          C.size(), C.NarrowCounters + Left * ProbePlan::BytesOfRegister);
      if (C.Kept != CycleCounters::Whole && C.Where->isReducible())
        Try(Step);
      Step.Kept = CycleCounters::Whole;
      Step.NarrowCounters = 0;
      if (C.Kept != CycleCounters::Whole)
        Try(Step);
    }
    if (!Best)
      return;
    Left -= Next.registers() - Best->registers();
    *Best = std::move(Next);
  }
}

/// Numbers wide words.
static void assignWide(ProbePlan &P, std::vector<CycleCounters> &Deep,
                       function_ref<unsigned(const BasicBlock *)> At) {
  for (CycleCounters &C : Deep)
    if (C.Kept == CycleCounters::Whole)
      for (auto &[Counter, Site] : C.Counters)
        *Counter = {P.WholeWords++, 0};
  for (CycleCounters &C : Deep) {
    if (!C.NarrowCounters)
      continue;
    const unsigned First = P.NarrowWords / ProbePlan::BytesOfRegister;
    for (auto &[Counter, Site] :
         ArrayRef(C.Counters).take_front(C.NarrowCounters))
      *Counter = {P.WholeWords + P.NarrowWords++, 0};
    P.Carries.push_back({At(C.Where->getHeader()), First,
                         (P.NarrowWords - 1) / ProbePlan::BytesOfRegister});
  }
  P.Words = P.WholeWords + P.NarrowWords;
  for (CycleCounters &C : Deep)
    if (C.Kept != CycleCounters::Whole)
      for (auto &[Counter, Site] : drop_begin(C.Counters, C.NarrowCounters))
        *Counter = {P.Words++, 0};
}

void assignWords(ProbePlan &P, const Function &F, const CycleInfo &Cycles,
                 const DominatorTree &Dominators) {
  DenseMap<const BasicBlock *, unsigned> Index;
  for (auto [Position, BB] : enumerate(P.Code))
    Index[BB] = Position;
  auto At = [&](const BasicBlock *BB) { return Index.lookup(BB); };

  SmallVector<std::pair<ProbeCounter *, unsigned>> All; // and where it stands
  for (FlowEdge &E : P.Edges)
    if (E.Probe)
      All.push_back({&*E.Probe, E.Site});
  for (WarpGroup &G : P.Groups)
    All.push_back({&G.Probe, G.Site});
  for (SplitProbe &S : P.Splits)
    All.push_back({&S.Probe, S.Side.value_or(S.Block)});

  const LoopInfo Loops(Dominators);
  const BranchProbabilityInfo Probabilities(F, Loops);
  const BlockFrequencyInfo Frequencies(F, Probabilities, Loops);
  auto Runs = [&](unsigned B) {
    return Frequencies.getBlockFreq(P.Code[B]).getFrequency();
  };
  // Those that run most first; those of a site side by side: one addition to a
  // register counts in several of its bytes.
  auto Order = to_vector(seq<unsigned>(0, All.size()));
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    const unsigned AtA = All[A].second, AtB = All[B].second;
    return std::tuple(Runs(AtB), AtA, A) < std::tuple(Runs(AtA), AtB, B);
  });
  MapVector<const Cycle *, CycleCounters> ByCycle;
  for (unsigned I : Order)
    if (const Cycle *C = Cycles.getCycle(P.Code[All[I].second]))
      ByCycle[C].Counters.push_back(All[I]);
  std::vector<CycleCounters> Deep;
  for (auto &[C, Own] : ByCycle) {
    Own.Where = C;
    // 32 rounds of each loop are LLVM's guess; four are enough to prefer it.
    Own.Runs = std::pow(double(Runs(At(C->getHeader()))), 0.4);
    Deep.push_back(std::move(Own));
  }
  handOutRegisters(Deep, MostRegisters);
  assignWide(P, Deep, At);
  unsigned Bytes = 0;
  for (auto &[Counter, Site] : All)
    if (!Cycles.getCycle(P.Code[Site])) {
      *Counter = {P.Words + Bytes / 4, Bytes % 4};
      ++Bytes;
    }
  P.PackedWords = (Bytes + 3) / 4;
  P.Words += P.PackedWords;
}

} // namespace reconverge::instrument
