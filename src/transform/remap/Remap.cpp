//===- transform/remap/Remap.cpp - Thread-data remapping ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Right before a divergent branch, the threads of a block exchange their
// identities, so that warps take one side of it:
//
//   c = in[i] > 0;             c = in[i] > 0;
//   if (c) A(i, x);            round: threads with c first, then the others;
//   else   B(i, x);     ->            each takes over another's i and x
//   out[i] = x;                if (c) A(i, x); else B(i, x);
//                              out[i] = x;
//
// A thread is its new identity to the end of the kernel, or to the next round.
//
//   1. Control.cpp   which branches all threads of the block come to
//   2. Legality.cpp  what must not come after a round; a plan or a refusal
//      Fragment.cpp  which other branches the round can serve
//      State.cpp     which values move, and which are computed again
//      Budget.cpp    for how large a block there is shared memory
//   3. Rewrite.cpp   the round; Paths.cpp  the branches
//   4. again from 1., in program order, until no plan is left
//
// Threads that leave before the branch (`if (i >= n) return`) come to the round
// instead, as a path of their own, and leave after it. The next round may delay
// them once more.
//
// It ends: every round marks its branches, and new branches are marked.
//
// A branch that a pragma asks for (Pragmas.cpp) is taken whatever it costs, and
// a refusal is a warning (-Wpass-failed), not a remark.
//
// Limitation: loops whose number of trips differs between threads are not
// remapped from inside.
//
// Paper: H. Lin, C.-L. Wang, H. Liu, "On-GPU Thread-Data Remapping for Branch
// Divergence Reduction", ACM TACO 15(3), 2018; the algorithm of the round is
// that of include/reconverge/detail/block_algorithms.cuh, warp_aggregated.
//
//===----------------------------------------------------------------------===//

#include "transform/remap/Remap.h"

#include "analysis/Numbering.h"
#include "transform/remap/Legality.h"
#include "transform/remap/Pragmas.h"
#include "transform/remap/Rewrite.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace reconverge::transform::remap;

namespace reconverge::transform {

static constexpr const char *PassName = "reconverge-remap";

/// On a function that has rounds: code may have moved since, so that its reads
/// of the thread's number cannot be told apart.
static constexpr const char *DoneAttribute = "reconverge-remapped";

static bool isAsked(const BasicBlock &BB) {
  auto Pragma = pragmaOf(BB);
  return Pragma && Pragma->On;
}

/// To be remapped, or to be told why not.
static bool isChosen(const BasicBlock &BB, const Facts &Now,
                     const RemapOptions &Options) {
  if (isAsked(BB))
    return !BB.getTerminator()->getMetadata(RoundKind);
  if (Options.Marked || !isCandidate(BB, Now))
    return false;
  if (Options.Branches.empty())
    return true;
  auto Number = analysis::branchNumber(BB);
  return Number && is_contained(Options.Branches, *Number);
}

static void report(OptimizationRemarkEmitter &Remarks, const RoundPlan &Plan) {
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Remapped",
                              Plan.Block->getTerminator()->getDebugLoc(),
                              Plan.Block);
    Remark << "remapped: " << ore::NV("Values", Plan.Values.size())
           << " values move, " << ore::NV("Recomputed", Plan.Recompute.size())
           << " are computed again, " << ore::NV("Bytes", Plan.bytes())
           << " bytes of shared memory for blocks of up to "
           << ore::NV("Threads", Plan.Threads) << " threads" << Plan.Bound;
    if (Plan.paths() > 2)
      Remark << "; " << ore::NV("Paths", Plan.paths()) << " paths of "
             << ore::NV("Branches", Plan.Choices.size()) << " branches";
    if (!Plan.Exits.empty())
      Remark << "; threads that leave before come along";
    return Remark;
  });
}

/// Pragmas that have been followed, by their Id.
using Followed = SmallPtrSet<const void *, 4>;

static void reportRefusal(OptimizationRemarkEmitter &Remarks,
                          const BasicBlock &BB, const Refusal &Why,
                          const Followed &Done) {
  const Instruction &Branch = *BB.getTerminator();
  if (!isAsked(BB) || Done.contains(pragmaOf(BB)->Id))
    return reportMissed(Remarks, PassName, "not remapped", Branch, Why);
  DiagnosticInfoOptimizationFailure Failure(PassName, nameOf(Why.Code),
                                            Branch.getDebugLoc(), &BB);
  Failure << "not remapped, which a pragma asks for: " << sentenceOf(Why.Code);
  if (!Why.Detail.empty())
    Failure << " (" << Why.Detail << ")";
  Failure << " [" << nameOf(Why.Code) << "]";
  Remarks.emit(Failure);
}

/// A round for the first branch that can have one; false if none can.
static bool remapOne(Function &F, const RemapOptions &Options,
                     RoundMemory &Memory, OptimizationRemarkEmitter &Remarks,
                     Followed &Done, bool Report) {
  const Facts Now(F);
  ReversePostOrderTraversal<Function *> Order(&F);
  for (BasicBlock *BB : Order) {
    if (!isChosen(*BB, Now, Options))
      continue;
    auto Decision = planRound(*BB, Now, Options, Memory);
    if (const auto *Plan = std::get_if<RoundPlan>(&Decision)) {
      report(Remarks, *Plan);
      for (const Choice &C : Plan->Choices)
        if (auto Pragma = pragmaOf(*C.Block))
          Done.insert(Pragma->Id);
      rewrite(*Plan, Options, Memory);
      return true;
    }
    if (Report)
      reportRefusal(Remarks, *BB, std::get<Refusal>(Decision), Done);
  }
  return false;
}

unsigned remapFunction(Function &F, const RemapOptions &Options,
                       OptimizationRemarkEmitter &Remarks) {
  if (F.hasFnAttribute(DoneAttribute))
    return 0;
  RoundMemory Memory;
  Followed Done;
  unsigned Rounds = 0;
  while (remapOne(F, Options, Memory, Remarks, Done, /*Report=*/false))
    ++Rounds;
  remapOne(F, Options, Memory, Remarks, Done, /*Report=*/true);
  if (!Rounds)
    return 0;
  F.addFnAttr(DoneAttribute);
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
  return Rounds;
}

PreservedAnalyses RemapPass::run(Function &F, FunctionAnalysisManager &AM) {
  // A plugin is given the host's code as well.
  if (!Triple(F.getParent()->getTargetTriple()).isNVPTX())
    return PreservedAnalyses::all();
  auto &Remarks = AM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  return remapFunction(F, Options, Remarks) ? PreservedAnalyses::none()
                                            : PreservedAnalyses::all();
}

} // namespace reconverge::transform
