//===- frontend/Choices.cpp - Branches or selects -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which value is chosen by a branch and which by a select, LLVM decides by a
// CPU's measure, which is off for a GPU both ways.
//
//   by select    if (X < Least) Least = X;   LLVM leaves every branch on a
//                comparison of floats alone, as selects of floats are dear on
//                some CPUs. Here a select is one instruction; a branch that
//                diverges takes four, and both arms run anyway.
//
//   by the way   if (Far) break; ++Count;   LLVM computes Count + (Far ? 0 : 1)
//   taken        before the branch, three instructions for one. On either way
//                it is known which of the two it is.
//
//   by branch    if (K > 1) B /= K;   LLVM takes a division for two additions,
//                so it divides always and selects. Here an IEEE division is ten
//                instructions with a call behind them, twenty and more in
//                double. The branch is put back.
//
// By select: of a branch with one arm or two of one block each, whose
// instructions are few, have no effect and cannot fault, the arms move before
// the branch, and each PHI where they meet becomes a select. It starts with the
// innermost, so that a chain of else-ifs becomes a chain of selects.
//
//      head                               head
//     /    \                              x = ...
//    |    x = ...     ->                  z = select c, x, y
//     \    /                              meet
//      meet: z = phi(y, x)
//
// By the way taken: a select, or a sum with a bool, whose condition is that of
// the branch at the end of its block, if every use lies on one of the two ways.
// A sum is computed on the way where the bool is one.
//
// By branch: the first, backwards, for a select in the block of the division
// that is its only user, with what only the division needs.
//
//===----------------------------------------------------------------------===//

#include "frontend/Choices.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::frontend {

/// What a branch that diverges takes, in machine instructions, and a little
/// for the time that it takes to arrive.
static constexpr unsigned CheapInstructions = 6;

static bool isCostly(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
    return !I.hasApproxFunc() && !I.getType()->isVectorTy();
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return !isa<Constant>(I.getOperand(1));
  default:
    break;
  }
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::sqrt:
  case Intrinsic::nvvm_sqrt_rn_f:
  case Intrinsic::nvvm_sqrt_rn_ftz_f:
  case Intrinsic::nvvm_sqrt_rn_d:
  case Intrinsic::nvvm_div_rn_f:
  case Intrinsic::nvvm_div_rn_ftz_f:
  case Intrinsic::nvvm_div_rn_d:
  case Intrinsic::nvvm_rcp_rn_d:
    return true;
  default:
    return false;
  }
}

/// Machine instructions of \p T's size: registers have 32 bits.
static unsigned wordsOf(const Type &T) {
  return std::max(1u, T.getScalarSizeInBits() / 32);
}

static unsigned costOf(const Instruction &I) {
  if (I.isDebugOrPseudoInst() || isa<BitCastInst, FreezeInst>(I))
    return 0;
  if (isa<GetElementPtrInst>(I))
    return 2;
  return wordsOf(*I.getType());
}

/// What the instructions of \p Arm cost, or nothing if they must stay.
static std::optional<unsigned> costOfMoving(const BasicBlock &Arm) {
  unsigned Cost = 0;
  for (const Instruction &I : Arm.instructionsWithoutDebug()) {
    if (I.isTerminator())
      break;
    if (I.mayReadOrWriteMemory() || isa<PHINode>(I) || isCostly(I) ||
        I.getType()->isVectorTy() || !isSafeToSpeculativelyExecute(&I))
      return std::nullopt;
    Cost += costOf(I);
    if (Cost > CheapInstructions)
      return std::nullopt;
  }
  return Cost;
}

static bool isArm(const BasicBlock &Block, const BasicBlock &Head) {
  return Block.getSinglePredecessor() == &Head && Block.getSingleSuccessor() &&
         !isa<PHINode>(Block.front());
}

namespace {
/// A branch at the end of Head to Meet over blocks that lead nowhere else: of
/// the two, one may be missing and then is Head itself.
struct Fork {
  BasicBlock *Head, *IfTrue, *IfFalse, *Meet;
};
} // namespace

static std::optional<Fork> forkAt(BasicBlock &Head) {
  auto *Branch = dyn_cast<BranchInst>(Head.getTerminator());
  if (!Branch || !Branch->isConditional())
    return std::nullopt;
  BasicBlock *A = Branch->getSuccessor(0), *B = Branch->getSuccessor(1);
  if (A == B)
    return std::nullopt;
  const bool ArmA = isArm(*A, Head), ArmB = isArm(*B, Head);
  Fork Found{&Head, &Head, &Head, nullptr};
  if (ArmA && A->getSingleSuccessor() == B)
    Found = {&Head, A, &Head, B};
  else if (ArmB && B->getSingleSuccessor() == A)
    Found = {&Head, &Head, B, A};
  else if (ArmA && ArmB && A->getSingleSuccessor() == B->getSingleSuccessor())
    Found = {&Head, A, B, A->getSingleSuccessor()};
  else
    return std::nullopt;
  if (Found.Meet == &Head)
    return std::nullopt;
  return Found;
}

static bool isCheap(const Fork &F) {
  unsigned Cost = 0;
  for (const BasicBlock *Arm : {F.IfTrue, F.IfFalse}) {
    if (Arm == F.Head)
      continue;
    std::optional<unsigned> Moving = costOfMoving(*Arm);
    if (!Moving)
      return false;
    Cost += *Moving;
  }
  for (const PHINode &Phi : F.Meet->phis())
    if (Phi.getIncomingValueForBlock(F.IfTrue) !=
        Phi.getIncomingValueForBlock(F.IfFalse))
      Cost += wordsOf(*Phi.getType());
  return Cost <= CheapInstructions;
}

static void flatten(const Fork &F) {
  auto *Branch = cast<BranchInst>(F.Head->getTerminator());
  for (BasicBlock *Arm : {F.IfTrue, F.IfFalse})
    if (Arm != F.Head)
      for (Instruction &I : make_early_inc_range(*Arm)) {
        if (I.isTerminator())
          break;
        I.moveBefore(Branch);
        I.dropUBImplyingAttrsAndMetadata();
      }
  IRBuilder<> B(Branch);
  for (PHINode &Phi : F.Meet->phis()) {
    Value *Yes = Phi.getIncomingValueForBlock(F.IfTrue),
          *No = Phi.getIncomingValueForBlock(F.IfFalse);
    Value *Chosen =
        Yes == No ? Yes : B.CreateSelect(Branch->getCondition(), Yes, No);
    if (Phi.getBasicBlockIndex(F.Head) < 0)
      Phi.addIncoming(Chosen, F.Head);
    else
      Phi.setIncomingValueForBlock(F.Head, Chosen);
  }
  B.CreateBr(F.Meet);
  Branch->eraseFromParent();
  for (BasicBlock *Arm : {F.IfTrue, F.IfFalse})
    if (Arm != F.Head)
      DeleteDeadBlock(Arm);
}

void chooseBySelect(Function &F) {
  SmallVector<WeakVH> Innermost;
  for (BasicBlock *Block : post_order(&F))
    Innermost.push_back(Block);
  for (const WeakVH &Block : Innermost)
    if (Value *Head = Block) {
      while (std::optional<Fork> Found = forkAt(*cast<BasicBlock>(Head))) {
        if (!isCheap(*Found))
          break;
        flatten(*Found);
        MergeBlockIntoPredecessor(Found->Meet);
      }
    }
}

namespace {
/// A value that hangs on the condition of the branch at its block's end.
struct Settled {
  Instruction *Whole;
  /// What it is where the condition holds, and where not.
  Value *On[2];
  /// Where nothing stands in On: this and one.
  Value *LessOne = nullptr;
};
} // namespace

/// Whether \p D is \p C, or if \p Inverted comes back set, its opposite.
static bool isCondition(const Value *D, const Value *C, bool &Inverted) {
  Inverted = D != C;
  if (D == C)
    return true;
  auto *A = dyn_cast<CmpInst>(D), *B = dyn_cast<CmpInst>(C);
  return A && B && A->getOperand(0) == B->getOperand(0) &&
         A->getOperand(1) == B->getOperand(1) &&
         A->getPredicate() == B->getInversePredicate();
}

static std::optional<Settled> settledBy(Instruction &I, const Value *C) {
  bool Inverted;
  Value *X, *D;
  if (auto *Select = dyn_cast<SelectInst>(&I);
      Select && isCondition(Select->getCondition(), C, Inverted)) {
    Settled S{&I, {Select->getTrueValue(), Select->getFalseValue()}};
    if (Inverted)
      std::swap(S.On[0], S.On[1]);
    return S;
  }
  if (match(&I, m_c_Add(m_Value(X), m_ZExt(m_Value(D)))) &&
      D->getType()->isIntegerTy(1) && isCondition(D, C, Inverted)) {
    Settled S{&I, {nullptr, X}, X};
    if (Inverted)
      std::swap(S.On[0], S.On[1]);
    return S;
  }
  return std::nullopt;
}

/// Puts in \p S where each user knows the way that was taken. Nothing changes
/// unless all do.
static void settle(const Settled &S, BranchInst &Branch,
                   const DominatorTree &Tree) {
  SmallVector<Use *> Uses[2];
  for (Use &U : S.Whole->uses()) {
    auto Knows = [&](unsigned Way) {
      return Tree.dominates(
          BasicBlockEdge(Branch.getParent(), Branch.getSuccessor(Way)), U);
    };
    if (Knows(0))
      Uses[0].push_back(&U);
    else if (Knows(1))
      Uses[1].push_back(&U);
    else
      return;
  }
  for (unsigned Way : {0, 1})
    if (!S.On[Way] && !Branch.getSuccessor(Way)->getSinglePredecessor())
      return;
  for (unsigned Way : {0, 1}) {
    Value *V = S.On[Way];
    if (!V && !Uses[Way].empty()) {
      BasicBlock *To = Branch.getSuccessor(Way);
      V = IRBuilder<>(To, To->getFirstInsertionPt())
              .CreateAdd(S.LessOne, ConstantInt::get(S.LessOne->getType(), 1));
    }
    for (Use *U : Uses[Way])
      U->set(V);
  }
  RecursivelyDeleteTriviallyDeadInstructions(S.Whole);
}

void settleOnWays(Function &F) {
  const DominatorTree Tree(F);
  for (BasicBlock &Block : F) {
    auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
    if (!Branch || !Branch->isConditional() ||
        Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    SmallVector<Settled> Found;
    for (Instruction &I : Block)
      if (std::optional<Settled> S = settledBy(I, Branch->getCondition()))
        Found.push_back(*S);
    for (const Settled &S : reverse(Found)) // users before what they use
      settle(S, *Branch, Tree);
  }
}

/// \p I and what only it needs, in the order of the block.
static SmallVector<Instruction *> withOwnOperands(Instruction &I) {
  SmallVector<Instruction *> Group = {&I};
  for (size_t At = 0; At < Group.size(); ++At)
    for (Value *Operand : Group[At]->operands())
      if (auto *Own = dyn_cast<Instruction>(Operand);
          Own && Own->hasOneUse() && Own->getParent() == I.getParent() &&
          !isa<PHINode>(Own) && !Own->mayReadOrWriteMemory() &&
          (!isa<CallBase>(Own) || isSafeToSpeculativelyExecute(Own)))
        Group.push_back(Own);
  sort(Group, [](Instruction *A, Instruction *B) { return A->comesBefore(B); });
  return Group;
}

static void branchAround(SelectInst &Select, Instruction &Costly, bool IfTrue) {
  BasicBlock *Head = Select.getParent();
  Value *Other = IfTrue ? Select.getFalseValue() : Select.getTrueValue();
  SmallVector<Instruction *> Group = withOwnOperands(Costly);
  IRBuilder<> B(&Select);
  Value *Needed =
      IfTrue ? Select.getCondition() : B.CreateNot(Select.getCondition());
  Instruction *End =
      SplitBlockAndInsertIfThen(Needed, Select.getIterator(), false);
  for (Instruction *I : Group)
    I->moveBefore(End);
  PHINode *Phi = PHINode::Create(Select.getType(), 2, "", Select.getIterator());
  Phi->addIncoming(&Costly, End->getParent());
  Phi->addIncoming(Other, Head);
  Phi->takeName(&Select);
  Select.replaceAllUsesWith(Phi);
  Select.eraseFromParent();
}

void branchAroundCostly(Function &F) {
  SmallVector<SelectInst *> Selects;
  for (Instruction &I : instructions(F))
    if (auto *Select = dyn_cast<SelectInst>(&I);
        Select && !Select->getCondition()->getType()->isVectorTy())
      Selects.push_back(Select);
  for (SelectInst *Select : Selects)
    for (bool IfTrue : {true, false}) {
      auto *Costly = dyn_cast<Instruction>(IfTrue ? Select->getTrueValue()
                                                  : Select->getFalseValue());
      if (Costly && Costly->hasOneUse() && isCostly(*Costly) &&
          Costly->getParent() == Select->getParent()) {
        branchAround(*Select, *Costly, IfTrue);
        break;
      }
    }
}

} // namespace reconverge::frontend
