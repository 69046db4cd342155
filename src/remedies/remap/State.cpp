//===- remedies/remap/State.cpp - What moves with a thread ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After a round a thread goes on with the state of another. That state is the
// values that are live at the branch and differ between threads. Of those, in
// program order,
//
//   threadIdx.x, y and z   move, 10 bits each, if they are read afterwards, or
//                          something is computed from them
//   cheap functions        of what moves and of uniform values are computed
//                          again (at most eight instructions; no division);
//                          also of one value that is not live, if it is smaller
//                          (an index, not an address): then that moves
//   all others             move
//
// With exits, threads come that have no values of the code that they left out:
// what is made there is not the same for all threads, even if uniform.
//
// Words: values of 32 bits and more have words of their own, the others share.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/State.h"
#include "remedies/remap/Refusals.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::remap {

static constexpr unsigned IdBits = 10, CheapInstructions = 8;

BlockSet blocksAfter(const BasicBlock &BB) {
  BlockSet After(succ_begin(&BB), succ_end(&BB));
  for (unsigned I = 0; I < After.size(); ++I)
    for (const BasicBlock *Succ : successors(After[I]))
      After.insert(Succ);
  return After;
}

std::optional<unsigned> threadIdDimension(const Instruction &I) {
  const auto *Read = dyn_cast<IntrinsicInst>(&I);
  if (!Read || Read->getMetadata(PlaceKind))
    return std::nullopt;
  return analysis::threadIndexDimension(Read->getIntrinsicID());
}

bool isCheap(const Instruction &I) {
  if (const auto *Op = dyn_cast<BinaryOperator>(&I))
    return !Op->isIntDivRem() && Op->getOpcode() != Instruction::FDiv &&
           Op->getOpcode() != Instruction::FRem;
  return isa<CastInst, GetElementPtrInst, CmpInst, SelectInst>(I);
}

bool followsFromId(const Value &V, const BasicBlock &At, const Facts &Now) {
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Value *, 16> Work{&V};
  bool Id = false;
  while (!Work.empty()) {
    const Value *Next = Work.pop_back_val();
    if (!Seen.insert(Next).second || isBlockUniform(*Next, At, Now))
      continue;
    const auto *I = dyn_cast<Instruction>(Next);
    if (I && threadIdDimension(*I)) {
      Id = true;
      continue;
    }
    if (!I || !(isCheap(*I) || isa<BinaryOperator>(I)))
      return false;
    Work.append(I->op_begin(), I->op_end());
  }
  return Id;
}

/// The bits of a value of \p T as words hold it; 0: it cannot move.
static unsigned bitsOf(const Type &T, const DataLayout &Layout) {
  if (T.isPointerTy())
    return Layout.getPointerTypeSizeInBits(const_cast<Type *>(&T));
  if (T.isIntegerTy() || T.isHalfTy() || T.isBFloatTy() || T.isFloatTy() ||
      T.isDoubleTy() ||
      (isa<FixedVectorType>(T) && !T.getScalarType()->isPointerTy())) {
    const unsigned Bits = T.getPrimitiveSizeInBits();
    return Bits <= 128 ? Bits : 0;
  }
  return 0;
}

namespace {
class State {
public:
  State(RoundPlan &Plan, const Facts &Now)
      : Plan(Plan), Now(Now), Layout(Plan.Block->getModule()->getDataLayout()),
        After(blocksAfter(*Plan.Block)) {}
  std::optional<Refusal> find();

private:
  bool isLive(const Instruction &V) const;
  bool isSame(const Value &V) const;
  bool canCompute(Instruction &V);
  void move(Instruction &V, unsigned Bits);
  Slot place(unsigned Bits);

  RoundPlan &Plan;
  const Facts &Now;
  const DataLayout &Layout;
  BlockSet After;
  SmallPtrSet<const Value *, 16> Moves;
  unsigned Free = 0; ///< bits left in the last word that is shared
  Slot Last;
};
} // namespace

/// \p V has a use that control can come to from the round before \p V itself.
bool State::isLive(const Instruction &V) const {
  const BasicBlock *Def = V.getParent();
  BlockSet Uses;
  for (const Use &U : V.uses()) {
    const auto *User = cast<Instruction>(U.getUser());
    const auto *Phi = dyn_cast<PHINode>(User);
    const BasicBlock *At = Phi ? Phi->getIncomingBlock(U) : User->getParent();
    if (Phi && At == Plan.Block)
      return true;
    if (Plan.Obsolete.contains(User)) // all it does is done before the round
      At = Plan.Block;
    if (At != Def && After.contains(At))
      Uses.insert(At);
  }
  if (Uses.empty())
    return false;
  SmallPtrSet<const BasicBlock *, 16> Seen;
  SmallVector<const BasicBlock *, 16> Work(successors(Plan.Block));
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (BB == Def || !Seen.insert(BB).second)
      continue;
    if (Uses.contains(BB))
      return true;
    Work.append(succ_begin(BB), succ_end(BB));
  }
  return false;
}

/// The same in all threads that come to the round.
bool State::isSame(const Value &V) const {
  if (!isBlockUniform(V, *Plan.Block, Now))
    return false;
  const auto *I = dyn_cast<Instruction>(&V);
  return !I || all_of(Plan.Exits, [&](const ExitEdge &E) {
    return Now.Dominance.dominates(I->getParent(), E.From);
  });
}

/// From what moves and what is the same. The numbers that it needs move then,
/// and so does one other value, if that is smaller.
bool State::canCompute(Instruction &V) {
  SmallSetVector<Value *, 16> Tree;
  SmallVector<Instruction *, CheapInstructions> Copies;
  Tree.insert(&V);
  std::array<bool, 3> Ids{};
  Instruction *From = nullptr;
  for (unsigned I = 0; I < Tree.size(); ++I) {
    auto *Op = dyn_cast<Instruction>(Tree[I]);
    if (isSame(*Tree[I]) || Moves.contains(Tree[I]))
      continue;
    if (!Op)
      return false;
    if (auto Dimension = threadIdDimension(*Op)) {
      Ids[*Dimension] = true;
      continue;
    }
    if (!isCheap(*Op)) {
      if (From || isa<AllocaInst>(Op))
        return false;
      From = Op;
      continue;
    }
    if (Copies.size() == CheapInstructions)
      return false;
    Copies.push_back(Op);
    Tree.insert(Op->op_begin(), Op->op_end());
  }
  if (From) {
    const unsigned Bits = bitsOf(*From->getType(), Layout);
    if (!Bits || Bits >= bitsOf(*V.getType(), Layout))
      return false;
    move(*From, Bits);
  }
  for (unsigned D : {0u, 1u, 2u})
    Plan.Ids[D] |= Ids[D];
  Plan.Copies.insert(Copies.begin(), Copies.end());
  return true;
}

void State::move(Instruction &V, unsigned Bits) {
  Plan.Values.push_back({&V, place(Bits)});
  Moves.insert(&V);
}

Slot State::place(unsigned Bits) {
  if (Bits >= 32) {
    const unsigned First = Plan.Words;
    Plan.Words += divideCeil(Bits, 32);
    return {First, 0, Bits};
  }
  if (Free < Bits) {
    Last = {Plan.Words++, 0, 0};
    Free = 32;
  }
  const Slot At{Last.Word, 32 - Free, Bits};
  Free -= Bits;
  return At;
}

std::optional<Refusal> State::find() {
  const Function &F = *Plan.Block->getParent();
  ReversePostOrderTraversal<Function *> Order(const_cast<Function *>(&F));
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB) {
      if (auto Dimension = threadIdDimension(I)) {
        // Its uses will be those of one read at the top of the kernel.
        Plan.Ids[*Dimension] |= After.contains(BB) || isLive(I);
        continue;
      }
      if (I.getType()->isVoidTy() || isa<AllocaInst>(I) ||
          !Now.Dominance.dominates(BB, Plan.Block) || isSame(I) || !isLive(I))
        continue;
      if (canCompute(I)) {
        Plan.Recompute.push_back(&I);
        continue;
      }
      const unsigned Bits = bitsOf(*I.getType(), Layout);
      if (!Bits)
        return refusal(refuse::Type, I);
      move(I, Bits);
    }
  for (unsigned D : {0u, 1u, 2u})
    if (Plan.Ids[D])
      Plan.IdAt[D] = place(IdBits);
  if (Plan.movesPath())
    Plan.PathAt = place(Log2_32_Ceil(Plan.groups()));
  return std::nullopt;
}

std::optional<Refusal> planState(RoundPlan &Plan, const Facts &Now) {
  return State(Plan, Now).find();
}

} // namespace reconverge::remedies::remap
