//===- rewrite/Rounds.cpp - Which rounds to write -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass plans on device code (remedies/remap/Legality.cpp), where functions
// are inlined and values have no names. What the writer needs of that plan are
// places and names in the source:
//
//   the branch   its debug location, and those of the calls by which it came in
//   what moves   the kernel's local variables that debug information ties to a
//                value which moves or is computed again; and those that are tied to
//                values alone which are the same for the whole block
//
// The pass makes a round for one branch after the other, and each depends on those
// before. So does this: what is further to write is planned on a copy of the code
// that has the rounds which the text has by then.
//
// Values without a name, such as an index that the optimiser has made, say
// nothing, and are the writer's to find by what they are made of.
//
//===----------------------------------------------------------------------===//

#include "rewrite/Rounds.h"

#include "analysis/SharedMemory.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/common/Requests.h"
#include "remedies/remap/Legality.h"
#include "remedies/remap/Refusals.h"
#include "remedies/remap/Rewrite.h"
#include "rewrite/Origin.h"
#include "rewrite/Refusals.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::rewrite {

using namespace remedies::remap;
using remedies::Refusal;
using remedies::RemapOptions;

namespace {
/// The kernel's own variables, by "name:line".
class Variables {
public:
  explicit Variables(const Function &F);
  /// "a:2|b:3"; empty: no variable holds \p V.
  std::string of(const Value &V) const;
  std::vector<std::string> sameAt(const BasicBlock &At, const Facts &Now) const;

private:
  void add(const DILocalVariable &Variable, const DILocation &At,
           ArrayRef<Value *> Held);
  MapVector<const Value *, std::vector<std::string>> Names;
  std::map<std::string, std::vector<const Value *>> ByKey;
};
} // namespace

void Variables::add(const DILocalVariable &Variable, const DILocation &At,
                    ArrayRef<Value *> Held) {
  if (At.getInlinedAt() || Variable.getName().empty())
    return;
  const std::string Key =
      (Variable.getName() + ":" + Twine(Variable.getLine())).str();
  for (const Value *V : Held) {
    std::vector<const Value *> &All = ByKey[Key];
    if (!is_contained(All, V))
      All.push_back(V);
    std::vector<std::string> &Keys = Names[V];
    if (!is_contained(Keys, Key))
      Keys.push_back(Key);
  }
}

Variables::Variables(const Function &F) {
  for (const Instruction &I : instructions(F)) {
    for (const DbgVariableRecord &R : filterDbgVars(I.getDbgRecordRange()))
      add(*R.getVariable(), *R.getDebugLoc(),
          SmallVector<Value *>(R.location_ops()));
    if (const auto *R = dyn_cast<DbgVariableIntrinsic>(&I))
      add(*R->getVariable(), *R->getDebugLoc(),
          SmallVector<Value *>(R->location_ops()));
  }
}

std::string Variables::of(const Value &V) const {
  auto Found = Names.find(&V);
  return Found == Names.end() ? "" : join(Found->second, "|");
}

std::vector<std::string> Variables::sameAt(const BasicBlock &At,
                                           const Facts &Now) const {
  std::vector<std::string> Same;
  for (const auto &[Key, All] : ByKey) {
    const bool IsSame = all_of(All, [&](const Value *V) {
      if (isa<UndefValue>(V))
        return false;
      const auto *I = dyn_cast<Instruction>(V);
      if (I && !Now.Dominance.dominates(I->getParent(), &At))
        return false;
      return isBlockUniform(*V, At, Now);
    });
    if (IsSame)
      Same.push_back(Key);
  }
  return Same;
}

static std::string nameOf(remedies::RemapAlgorithm Which) {
  switch (Which) {
  case remedies::RemapAlgorithm::Automatic:
    return "";
  case remedies::RemapAlgorithm::WarpAggregated:
    return "warp_aggregated";
  case remedies::RemapAlgorithm::HeadOrTail:
    return "head_or_tail";
  case remedies::RemapAlgorithm::DataGroupIndexing:
    return "data_group_indexing";
  }
  llvm_unreachable("all algorithms are above");
}

static Order orderOf(const RoundPlan &Plan, const Facts &Now,
                     const RemapOptions &Options) {
  const Function &F = *Plan.Block->getParent();
  Order O;
  O.Kernel = F.getName().str();
  O.Chain = chainOf(*Plan.Block);
  O.Choices = choicesOf(Plan);
  O.Leaves = Plan.Trees.front().Leaves;
  for (const Tree &T : drop_begin(Plan.Trees))
    if (const auto Chain = chainOf(*Plan.Choices[T.Root].Block);
        T.Leaves == 2 && Chain.size() == 1)
      O.Later.push_back(Chain.front());
  O.IsAsked = isAsked(*Plan.Block);
  O.HasExits = !Plan.Exits.empty();
  const Variables Names(F);
  auto Add = [&](const Instruction &I) {
    if (std::string Held = Names.of(I); !Held.empty())
      O.Moves.push_back(std::move(Held));
  };
  for (const remedies::remap::Moved &M : Plan.Values)
    Add(*M.V);
  for (const Instruction *I : Plan.Recompute)
    Add(*I);
  O.Same = Names.sameAt(*Plan.Block, Now);
  const unsigned Bound = analysis::launchBound(F);
  O.IsBound = Bound && Bound <= Options.Threads;
  O.Threads = O.IsBound ? Bound : Options.Threads;
  O.IsSized = O.IsBound || Options.Threads < RemapOptions().Threads;
  O.SharedBytes = analysis::staticShared(F, {}) + Plan.countBytes();
  O.ThreadBytes = 4 * uint64_t(Plan.Words) + 2;
  O.Algorithm = nameOf(Plan.Algorithm);
  O.Neighbours = Plan.Neighbours;
  return O;
}

/// What is said of a kernel with rounds to write: not of copies of their
/// branches, which an unrolled loop has, nor of branches that are no loss.
static void addLeft(std::vector<Missed> Here, ArrayRef<Order> Made,
                    Ordered &Result) {
  for (Missed &M : Here) {
    const bool IsThere = any_of(Result.Left, [&](const Missed &Other) {
      return Other.Why == M.Why && Other.Line == M.Line &&
             Other.Column == M.Column && Other.File == M.File;
    });
    const bool IsCopy = any_of(Made, [&](const Order &O) {
      return M.Line == O.Chain.front().Line &&
             M.Column == O.Chain.front().Column;
    });
    const bool IsNoLoss =
        !Made.empty() &&
        (M.Why == &refuse::Trips || M.Why == &remedies::remap::refuse::Small ||
         M.Why == &remedies::remap::refuse::Ids);
    if (!IsThere && !IsCopy && !IsNoLoss)
      Result.Left.push_back(std::move(M));
  }
}

/// Whether threads part at \p BB by how often they run a loop.
static bool isTrips(const BasicBlock &BB, const Facts &Now) {
  const Cycle *Loop = Now.Cycles.getCycle(&BB);
  return Loop && any_of(successors(&BB), [&](const BasicBlock *To) {
           return !Loop->contains(To);
         });
}

/// Threads leave the kernel at \p BB, or nearly: a round at a branch behind it brings
/// them along.
static bool isWayOut(const BasicBlock &BB) {
  constexpr size_t Few = 16;
  return any_of(successors(&BB), [](const BasicBlock *To) {
    for (size_t Count = 0; To; To = To->getUniqueSuccessor()) {
      if (isa<ReturnInst>(To->getTerminator()))
        return true;
      if ((Count += To->sizeWithoutDebug()) > Few)
        return false;
    }
    return false;
  });
}

void orderRounds(Function &F, const RemapOptions &Options, Ordered &Result) {
  const Facts Now(F);
  // Of a kernel with a round nobody asks why branches in its sides have none.
  std::vector<Missed> Left, Inside;
  std::vector<Order> Made, Out;
  ReversePostOrderTraversal<Function *> Blocks(&F);
  for (BasicBlock *BB : Blocks) {
    if (!isWanted(*BB, Now, Options))
      continue;
    auto Decision = planRound(*BB, Now, Options, {});
    const auto *Plan = std::get_if<RoundPlan>(&Decision);
    if (!Plan) {
      auto Why = std::get<Refusal>(Decision);
      if (isTrips(*BB, Now) && (Why.Kind == &remedies::remap::refuse::Small ||
                                Why.Kind == &remedies::remap::refuse::Ids ||
                                Why.Kind == &remedies::remap::refuse::Apart))
        Why = remedies::refusal(refuse::Trips, *BB->getTerminator());
      const bool IsInside =
          Why.Kind == &remedies::remap::refuse::Apart && !isAsked(*BB);
      (IsInside ? Inside : Left).push_back(missedAt(*BB, Why));
      continue;
    }
    Order O = orderOf(*Plan, Now, Options);
    if (O.Chain.empty())
      Left.push_back(
          missedAt(*BB, remedies::refusal(refuse::Lost, *BB->getTerminator())));
    else if (none_of(concat<Order>(Made, Out), [&](const Order &Other) {
               return Other.Chain == O.Chain; // of another copy
             }))
      (isWayOut(*BB) ? Out : Made).push_back(std::move(O));
  }
  append_range(Made, Out);
  if (Made.empty())
    append_range(Left, Inside);
  addLeft(std::move(Left), Made, Result);
  append_range(Result.Orders, Made);
}

/// "a:2|b:3" as "a|b".
static std::string withoutLines(StringRef Held) {
  std::vector<std::string> Names;
  for (StringRef Name : split(Held, '|'))
    Names.push_back(Name.split(':').first.str());
  return join(Names, "|");
}

/// The branch of \p F that the round \p O is at; null: it is not found.
static BasicBlock *branchOf(Function &F, const Order &O) {
  for (BasicBlock &BB : F)
    if (BB.getTerminator()->getNumSuccessors() > 1 && chainOf(BB) == O.Chain)
      return &BB;
  return nullptr;
}

std::vector<Order> orderFurther(const Function &F, const RemapOptions &Options,
                                ArrayRef<Order> Done) {
  const auto [Alone, Copy] = remedies::copyAlone(F);
  RoundMemory Memory;
  for (const Order &O : Done) {
    BasicBlock *At = branchOf(*Copy, O);
    if (!At)
      return {};
    const Facts Now(*Copy);
    const auto Decision = planRound(*At, Now, Options, Memory);
    const auto *Plan = std::get_if<RoundPlan>(&Decision);
    if (!Plan)
      return {};
    remedies::remap::rewrite(*Plan, Options, Memory);
  }
  std::vector<Order> Made;
  const Facts Now(*Copy);
  ReversePostOrderTraversal<Function *> Blocks(Copy);
  for (BasicBlock *BB : Blocks) {
    if (!isWanted(*BB, Now, Options))
      continue;
    const auto Decision = planRound(*BB, Now, Options, Memory);
    const auto *Plan = std::get_if<RoundPlan>(&Decision);
    if (!Plan)
      continue;
    Order O = orderOf(*Plan, Now, Options);
    const auto Is = [&](const Order &Other) { return Other.Chain == O.Chain; };
    if (O.Chain.empty() || any_of(Done, Is) || any_of(Made, Is))
      continue;
    // Lines are no longer those of the declarations.
    O.Same.clear();
    for (std::string &Held : O.Moves)
      Held = withoutLines(Held);
    Made.push_back(std::move(O));
  }
  return Made;
}

} // namespace reconverge::rewrite
