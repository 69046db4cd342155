//===- remedies/remap/Paths.cpp - From branches to a path, and back ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   path = leaf of the first tree, and of the others in order, as the digits of
//          a number: the first one counts most, so its groups are whole
//
// Leaves are numbered in the order of ways, so what is behind a way is a range:
// a branch asks whether its leaf is below the first of its second way.
//
// Conditions are frozen: the path must be the same each time that it is looked
// at, also where the branch on a poisoned one would not have been come to.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Paths.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace reconverge::remedies::remap {

namespace {
class Early {
public:
  Early(IRBuilder<> &B, const RoundPlan &Plan) : B(B), Plan(Plan) {}
  Value *leafOf(const Choice &C);

private:
  Value *make(Value &V);
  Value *leafBehind(const Choice &C, const BasicBlock *To);

  IRBuilder<> &B;
  const RoundPlan &Plan;
  DenseMap<const Value *, Value *> Made;
};
} // namespace

Value *Early::make(Value &V) {
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || !Plan.Early.contains(I))
    return &V;
  if (Value *Before = Made.lookup(I))
    return Before;
  if (isa<PHINode>(I))
    return make(*I->getOperand(0));
  Instruction *New = I->clone();
  New->dropUnknownNonDebugMetadata();
  for (Use &U : New->operands())
    U.set(make(*U));
  B.Insert(New, I->getName());
  return Made[I] = New;
}

/// Of a successor that is no way, any leaf will do: it is unreachable.
Value *Early::leafBehind(const Choice &C, const BasicBlock *To) {
  for (const Way &On : C.Ways)
    if (On.To == To)
      return On.Inner < 0 ? B.getInt32(On.FirstLeaf)
                          : leafOf(Plan.Choices[On.Inner]);
  return B.getInt32(C.Ways.back().FirstLeaf);
}

Value *Early::leafOf(const Choice &C) {
  Instruction &Term = *C.Block->getTerminator();
  Value *By = B.CreateFreeze(make(*Term.getOperand(0)));
  if (isa<BranchInst>(Term)) {
    Value *Then = leafBehind(C, Term.getSuccessor(0)),
          *Else = leafBehind(C, Term.getSuccessor(1));
    return B.CreateSelect(By, Then, Else);
  }
  auto &Switch = cast<SwitchInst>(Term);
  Value *Leaf = leafBehind(C, Switch.getDefaultDest());
  DenseMap<const BasicBlock *, Value *> Behind;
  for (auto Case : Switch.cases()) {
    Value *&Here = Behind[Case.getCaseSuccessor()];
    if (!Here)
      Here = leafBehind(C, Case.getCaseSuccessor());
    Leaf = B.CreateSelect(B.CreateICmpEQ(By, Case.getCaseValue()), Here, Leaf);
  }
  return Leaf;
}

Value *computePath(IRBuilder<> &B, const RoundPlan &Plan) {
  Early Before(B, Plan);
  Value *Path = nullptr;
  for (const Tree &T : Plan.Trees) {
    Value *Leaf = Before.leafOf(Plan.Choices[T.Root]);
    Path = Path ? B.CreateAdd(B.CreateMul(Path, B.getInt32(T.Leaves)), Leaf)
                : Leaf;
  }
  return Path;
}

/// The switch \p Old becomes one on the number of the way.
static void replaceSwitch(IRBuilder<> &B, SwitchInst &Old, const Choice &C,
                          Value &Leaf) {
  BasicBlock *BB = Old.getParent();
  B.SetInsertPoint(&Old);
  Value *Number = B.getInt32(0);
  for (const Way &On : drop_begin(C.Ways))
    Number = B.CreateAdd(
        Number, B.CreateZExt(B.CreateICmpUGE(&Leaf, B.getInt32(On.FirstLeaf)),
                             B.getInt32Ty()));
  BasicBlock *Default = Old.getDefaultDest();
  const bool IsWay =
      any_of(C.Ways, [&](const Way &On) { return On.To == Default; });
  auto *New =
      B.CreateSwitch(Number, IsWay ? C.Ways.back().To : Default, C.Ways.size());
  for (auto [I, On] : enumerate(C.Ways)) {
    if (!IsWay || &On != &C.Ways.back())
      New->addCase(B.getInt32(I), On.To);
    // One edge each, so one value in its PHIs.
    for (PHINode &Phi : On.To->phis())
      while (count(Phi.blocks(), BB) > 1)
        Phi.removeIncomingValue(BB, /*DeletePHIIfEmpty=*/false);
  }
  New->copyMetadata(Old);
  New->setMetadata(LLVMContext::MD_prof, nullptr);
  Old.eraseFromParent();
}

static void goBy(IRBuilder<> &B, const Choice &C, BasicBlock &BB, Value &Leaf) {
  Instruction *Term = BB.getTerminator();
  auto *Condition = dyn_cast<Instruction>(Term->getOperand(0));
  const IRBuilderBase::InsertPointGuard Keep(B);
  if (auto *Switch = dyn_cast<SwitchInst>(Term)) {
    replaceSwitch(B, *Switch, C, Leaf);
  } else {
    B.SetInsertPoint(Term);
    Term->setOperand(0,
                     B.CreateICmpULT(&Leaf, B.getInt32(C.Ways[1].FirstLeaf)));
  }
  BB.getTerminator()->setMetadata(RoundKind, MDNode::get(B.getContext(), {}));
  if (Condition)
    RecursivelyDeleteTriviallyDeadInstructions(Condition);
}

void followPath(IRBuilder<> &B, const RoundPlan &Plan, Value &Path,
                BasicBlock &Tail) {
  B.SetInsertPoint(&Tail, Tail.getFirstInsertionPt());
  std::vector<Value *> Leaves(Plan.Trees.size());
  Value *Rest = &Path;
  for (unsigned I = Plan.Trees.size(); I-- > 0;) {
    Value *Radix = B.getInt32(Plan.Trees[I].Leaves);
    Leaves[I] = I ? B.CreateURem(Rest, Radix) : Rest;
    Rest = I ? B.CreateUDiv(Rest, Radix) : Rest;
  }
  for (auto [T, Leaf] : zip(Plan.Trees, Leaves)) {
    SmallVector<unsigned, 8> Work{T.Root};
    Work.append(T.Also.begin(), T.Also.end());
    while (!Work.empty()) {
      const Choice &C = Plan.Choices[Work.pop_back_val()];
      for (const Way &On : C.Ways)
        if (On.Inner >= 0)
          Work.push_back(On.Inner);
      goBy(B, C, C.Block == Plan.Block ? Tail : *C.Block, *Leaf);
    }
  }
}

} // namespace reconverge::remedies::remap
