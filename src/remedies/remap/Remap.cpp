//===- remedies/remap/Remap.cpp - Thread-data remapping ------------------===//
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
//   3. Rewrite.cpp   the round; Places.cpp  who goes where in it
//      Paths.cpp     the branches
//   4. again from 1., in program order, until no plan is left
//
// Where somebody can count registers (the driver, with ptxas), all of this is
// done to a copy first; and if fewer blocks would fit on a multiprocessor then,
// again with fewer paths a round, and in the end not at all.
//
// Threads that leave before the branch (`if (i >= n) return`) come to the round
// instead, as a path of their own, and leave after it. The next round may delay
// them once more.
//
// It ends: every round marks its branches, and new branches are marked.
//
// A branch that a pragma asks for (common/Requests.cpp) is taken whatever it
// costs, and a refusal is a warning (-Wpass-failed), not a remark. One that an
// attribute asks for (common/Attributes.cpp) is taken as if all were asked for.
//
// Limitation: loops whose number of trips differs between threads are not
// remapped from inside.
//
// Paper: H. Lin, C.-L. Wang, H. Liu, "On-GPU Thread-Data Remapping for Branch
// Divergence Reduction", ACM TACO 15(3), 2018.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Remap.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/common/Remedy.h"
#include "remedies/common/Requests.h"
#include "remedies/remap/Budget.h"
#include "remedies/remap/Legality.h"
#include "remedies/remap/Refusals.h"
#include "remedies/remap/Rewrite.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace reconverge::remedies::remap;

namespace reconverge::remedies {

static constexpr const char *PassName = "reconverge-remap";

/// On a function that has rounds: code may have moved since, so that its reads
/// of the thread's number cannot be told apart.
static constexpr const char *DoneAttribute = "reconverge-remapped";

static void report(OptimizationRemarkEmitter &Remarks, const RoundPlan &Plan) {
  Remarks.emit([&] {
    OptimizationRemark Remark(PassName, "Remapped",
                              Plan.Block->getTerminator()->getDebugLoc(),
                              Plan.Block);
    Remark << "remapped: " << ore::NV("Values", Plan.Values.size())
           << " values move, " << ore::NV("Recomputed", Plan.Recompute.size())
           << " are computed again, " << ore::NV("Bytes", Plan.bytes())
           << " bytes of shared memory for blocks of "
           << (Plan.Exact ? "" : "up to ") << ore::NV("Threads", Plan.Threads)
           << " threads" << Plan.Bound;
    if (Plan.paths() > 2)
      Remark << "; " << ore::NV("Paths", Plan.paths()) << " paths of "
             << ore::NV("Branches", Plan.Choices.size()) << " branches";
    if (!Plan.Exits.empty())
      Remark << "; threads that leave before come along";
    if (Plan.Algorithm == RemapAlgorithm::HeadOrTail)
      Remark << "; head_or_tail";
    if (Plan.Algorithm == RemapAlgorithm::DataGroupIndexing)
      Remark << "; data_group_indexing by "
             << ore::NV("Neighbours", Plan.Neighbours);
    if (Plan.Fell)
      Remark << ", as head_or_tail parts two groups, not "
             << ore::NV("Groups", Plan.groups());
    return Remark;
  });
}

/// Pragmas that have been followed, by their Id.
using Followed = SmallPtrSet<const void *, 4>;

static void reportRefusal(OptimizationRemarkEmitter &Remarks,
                          const BasicBlock &BB, const Refusal &Why,
                          const Followed &Done) {
  const Instruction &Branch = *BB.getTerminator();
  if (!isAsked(BB) || Done.contains(requestOf(BB, Name)->Id))
    return reportMissed(Remarks, PassName, "not remapped", Branch, Why);
  DiagnosticInfoOptimizationFailure Failure(PassName, Why.Kind->code(),
                                            Branch.getDebugLoc(), &BB);
  Failure << "not remapped, which a pragma asks for: " << Why.Kind->Sentence;
  if (!Why.Detail.empty())
    Failure << " (" << Why.Detail << ")";
  Failure << " [" << Why.Kind->code() << "]";
  Remarks.emit(Failure);
}

namespace {
/// How to remap a kernel.
struct Course {
  RemapOptions Options;
  /// If not empty, why only what a pragma asks for: the registers.
  std::string Short = {};
  bool takes(const RoundPlan &Plan) const {
    return Short.empty() || isAsked(*Plan.Block);
  }
};

/// What that came to.
struct Remapped {
  unsigned Rounds = 0;
  unsigned Paths = 0;   ///< most of a round that serves later branches
  bool Unasked = false; ///< there is a round that no pragma asks for
  std::vector<RoundMade> All;
  RoundMemory Memory;
  Followed Done;
  /// Branches that have no round because of Course::Short.
  SmallPtrSet<const Instruction *, 4> Left;
};
} // namespace

static RoundMade madeOf(const RoundPlan &Plan) {
  RoundMade Made{{},
                 Plan.groups(),
                 Plan.Words,
                 Plan.Threads,
                 Plan.Algorithm,
                 Plan.Neighbours,
                 !Plan.Exits.empty(),
                 Plan.Exact,
                 Plan.PathAt.has_value()};
  for (const Choice &C : Plan.Choices)
    if (auto Number = analysis::branchNumber(*C.Block))
      Made.Branches.push_back(*Number);
  return Made;
}

/// A round for the first branch that can have one; false if none can, for which
/// \p Report has remarks say why.
static bool remapOne(Function &F, const Course &Chosen, Remapped &Made,
                     OptimizationRemarkEmitter *Remarks, bool Report) {
  const Facts Now(F);
  ReversePostOrderTraversal<Function *> Order(&F);
  for (BasicBlock *BB : Order) {
    if (!isWanted(*BB, Now, Chosen.Options))
      continue;
    auto Decision = planRound(*BB, Now, Chosen.Options, Made.Memory);
    const auto *Plan = std::get_if<RoundPlan>(&Decision);
    const Instruction &Term = *BB->getTerminator();
    if (Plan && Chosen.takes(*Plan)) {
      ++Made.Rounds;
      Made.Unasked |= !isAsked(*BB);
      if (Plan->Trees.size() > 1)
        Made.Paths = std::max(Made.Paths, Plan->paths());
      Made.All.push_back(madeOf(*Plan));
      if (Remarks)
        report(*Remarks, *Plan);
      for (const Choice &C : Plan->Choices)
        if (auto Wished = requestOf(*C.Block, Name))
          Made.Done.insert(Wished->Id);
      rewrite(*Plan, Chosen.Options, Made.Memory);
      return true;
    }
    if (Plan)
      Made.Left.insert(&Term);
    if (Remarks && Report)
      reportRefusal(*Remarks, *BB,
                    Made.Left.contains(&Term)
                        ? refusal(refuse::Registers, Term, Chosen.Short)
                        : std::get<Refusal>(Decision),
                    Made.Done);
  }
  return false;
}

/// \p Remarks: null on a copy that is only for measuring.
static Remapped remapAll(Function &F, const Course &Chosen,
                         OptimizationRemarkEmitter *Remarks) {
  Remapped Result;
  while (remapOne(F, Chosen, Result, Remarks, /*Report=*/false))
    ;
  if (Remarks)
    remapOne(F, Chosen, Result, Remarks, /*Report=*/true);
  if (!Result.Rounds)
    return Result;
  F.addFnAttr(DoneAttribute);
  F.addFnAttr(Attribute::Convergent);
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Memory);
  return Result;
}

Rounds makeRounds(Function &Copy, const RemapOptions &Options) {
  if (Copy.hasFnAttribute(DoneAttribute))
    return {};
  const Remapped Made = remapAll(Copy, Course{Options}, nullptr);
  uint64_t Bytes = 0;
  for (const GlobalVariable *G : {Made.Memory.Counts, Made.Memory.Words})
    if (G)
      Bytes +=
          Copy.getParent()->getDataLayout().getTypeAllocSize(G->getValueType());
  return {Made.All, Bytes};
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Whether a count changes anything: what is asked for at any cost, it does
/// not.
static bool mayLessen(const Function &F, const RemapOptions &Options) {
  return Options.Occupancy &&
         (!Options.Marked || any_of(F, [](const BasicBlock &BB) {
           const auto Wished = requestOf(BB, Name);
           return Wished && Wished->On && !Wished->AtAnyCost;
         }));
}

/// Whether \p F will have a round, or would but for occupancy.
static bool mayHaveRound(Function &F, const RemapOptions &Options) {
  const Facts Now(F);
  return any_of(F, [&](BasicBlock &BB) {
    if (!isWanted(BB, Now, Options))
      return false;
    const auto Decision = planRound(BB, Now, Options, {});
    const auto *Why = std::get_if<Refusal>(&Decision);
    return !Why || Why->Kind == &refuse::Occupancy;
  });
}

/// Tries on copies of \p F what leaves as many blocks on a multiprocessor, by
/// registers, as there are without rounds.
static Course courseFor(const Function &F, const RemapOptions &Options,
                        OptimizationRemarkEmitter &Remarks) {
  Course Chosen{Options};
  auto Say = [&](const std::string &Text) {
    Remarks.emit([&] {
      return OptimizationRemark(PassName, "Registers",
                                DiagnosticLocation(F.getSubprogram()),
                                &F.getEntryBlock())
             << Text;
    });
    return Chosen;
  };
  const auto Before = Options.CountRegisters(*copyAlone(F).first);
  Chosen.Options.Registers = Before ? Before->Registers : 0;
  std::string Because;
  while (true) {
    auto [Alone, Copy] = copyAlone(F);
    const Remapped Result = remapAll(*Copy, Chosen, nullptr);
    if (!Result.Rounds)
      return Chosen;
    const auto After = Before ? Options.CountRegisters(*Alone) : std::nullopt;
    if (!After)
      return Say("its registers are not known: ptxas has not counted them");
    const RegisterCost Cost = registerCost(*Copy, Chosen.Options, *After);
    if (!Cost.Lowers || !Options.Occupancy || !Result.Unasked)
      return Say(Cost.Text + Because);
    // Fewer paths a round, then the algorithm that takes the fewest registers,
    // then nothing but what pragmas ask for.
    if (Result.Paths > 2) {
      Chosen.Options.Paths = std::max(2u, Result.Paths / 2);
      Because = "; at most " + std::to_string(Chosen.Options.Paths) +
                " paths a round, for more take " + Cost.Text;
    } else if (Chosen.Options.Algorithm == RemapAlgorithm::Automatic) {
      Chosen.Options.Algorithm = RemapAlgorithm::HeadOrTail;
      Because = "; by head_or_tail, for else it takes " + Cost.Text;
    } else {
      Chosen = {Options, Cost.Text};
      Chosen.Options.Registers = *Before;
      Because.clear();
    }
  }
}

unsigned remapFunction(Function &F, const RemapOptions &Options,
                       OptimizationRemarkEmitter &Remarks) {
  if (F.hasFnAttribute(DoneAttribute))
    return 0;
  const bool Counts =
      Options.CountRegisters &&
      (mayLessen(F, Options) || Remarks.allowExtraAnalysis(PassName)) &&
      mayHaveRound(F, Options);
  return remapAll(F, Counts ? courseFor(F, Options, Remarks) : Course{Options},
                  &Remarks)
      .Rounds;
}

} // namespace reconverge::remedies
