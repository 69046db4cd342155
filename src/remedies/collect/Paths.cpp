//===- remedies/collect/Paths.cpp - The paths of many items ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides a path often reads what another read has brought (a pair, then
// the kinds of its two bodies). Were the slice there once for each item, behind
// branches, a thread would wait for each of these chains by itself. So it stands
// here once for all of them, without its branches, each instruction followed by
// the same one for the next item, and what may not be run in vain behind a
// branch of its own, which ptxas turns into a predicate:
//
//   slice                               for each item, line by line
//   entry: if (i >= n) return;          in = exists && !(i >= n)
//     a = p[i];                         if (in) a = p[i]
//     if (q[a]) path 0; else path 1;    if (in) c = q[a]
//                                       path = in && !c ? 1 : in && c ? 0 : none
//
//   - A block of the slice is come to if an edge to it is taken; an edge, if its
//     block is come to and the branch there leads along it.
//   - A phi is a choice by the edges; so is the path.
//   - Short paths are blocks like all others: their writes are behind branches.
//
// Why right: what a block that is not come to computes may be anything (it is
// chosen by selects, which let no poison through that is not chosen), and what
// has effects or might trap is not run. Items do not depend on each other, so
// the order of what two of them do does not matter.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Paths.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::collect {

namespace {
/// The slice for one item.
class ItemSlice {
public:
  ItemSlice(const Slice &Deciding, Value *Exists, IRBuilderBase &B)
      : Deciding(Deciding), Exists(Exists), B(B) {}
  void enter(BasicBlock &BB);
  void copy(const Instruction &I);
  void copyGuarded(ArrayRef<const Instruction *> Run);
  void leadOn(BasicBlock &BB);
  FoundPath found(BlockNow Now);

private:
  Value *copyOf(Value *V) const {
    Value *Copy = Copies.lookup(V);
    return Copy ? Copy : V;
  }
  Value *both(Value *X, Value *Y) { return B.CreateSelect(X, Y, B.getFalse()); }
  Value *either(Value *X, Value *Y) {
    return X ? B.CreateSelect(X, B.getTrue(), Y) : Y;
  }
  void addEdge(const BasicBlock *From, const BasicBlock *To, Value *Taken);
  Value *chosen(const PHINode &Phi);
  Instruction *clone(const Instruction &I);

  const Slice &Deciding;
  Value *Exists;
  IRBuilderBase &B;
  Value *Come = nullptr; ///< to the block at hand
  DenseMap<const Value *, Value *> Copies;
  /// By the block that an edge leads to: its own block, and whether it is taken.
  MapVector<const BasicBlock *, SmallMapVector<const BasicBlock *, Value *, 4>>
      Edges;
  SmallVector<CallBase *> Reads;
};
} // namespace

void ItemSlice::enter(BasicBlock &BB) {
  Come = Edges.empty() ? Exists : nullptr;
  for (auto [From, Taken] : Edges[&BB])
    Come = either(Come, Taken);
}

void ItemSlice::addEdge(const BasicBlock *From, const BasicBlock *To,
                        Value *Taken) {
  Value *&All = Edges[To][From];
  All = either(All, Taken);
}

void ItemSlice::leadOn(BasicBlock &BB) {
  Instruction *Ends = BB.getTerminator();
  if (auto *Switch = dyn_cast<SwitchInst>(Ends)) {
    Value *By = copyOf(Switch->getCondition()), *Other = Come;
    for (auto Case : Switch->cases()) {
      Value *Is = B.CreateICmpEQ(By, Case.getCaseValue());
      addEdge(&BB, Case.getCaseSuccessor(), both(Come, Is));
      Other = both(Other, B.CreateNot(Is));
    }
    addEdge(&BB, Switch->getDefaultDest(), Other);
  } else if (auto *Branch = dyn_cast<BranchInst>(Ends)) {
    if (Branch->isUnconditional())
      return addEdge(&BB, Branch->getSuccessor(0), Come);
    Value *If = copyOf(Branch->getCondition());
    addEdge(&BB, Branch->getSuccessor(0), both(Come, If));
    addEdge(&BB, Branch->getSuccessor(1), both(Come, B.CreateNot(If)));
  } // or a short path returns
}

Value *ItemSlice::chosen(const PHINode &Phi) {
  Value *Choice = nullptr;
  for (auto [From, Taken] : Edges[Phi.getParent()]) {
    Value *V = copyOf(Phi.getIncomingValueForBlock(From));
    Choice = Choice ? B.CreateSelect(Taken, V, Choice) : V;
  }
  return Choice;
}

Instruction *ItemSlice::clone(const Instruction &I) {
  Instruction *New = I.clone();
  for (Use &U : New->operands())
    U.set(copyOf(U.get()));
  B.Insert(New);
  Copies[&I] = New;
  if (auto *Call = dyn_cast<IntrinsicInst>(New)) {
    const Intrinsic::ID Id = Call->getIntrinsicID();
    if (analysis::blockIndexDimension(Id) ||
        analysis::threadIndexDimension(Id) ||
        analysis::blockSizeDimension(Id) || analysis::gridSizeDimension(Id))
      Reads.push_back(Call);
  }
  return New;
}

void ItemSlice::copy(const Instruction &I) {
  if (const auto *Phi = dyn_cast<PHINode>(&I))
    Copies[&I] = chosen(*Phi);
  else
    clone(I)->dropUBImplyingAttrsAndMetadata();
}

void ItemSlice::copyGuarded(ArrayRef<const Instruction *> Run) {
  Function *F = B.GetInsertBlock()->getParent();
  auto *Then = BasicBlock::Create(F->getContext(), "collect.read", F),
       *Behind = BasicBlock::Create(F->getContext(), "collect.slice", F);
  BasicBlock *From = B.GetInsertBlock();
  B.CreateCondBr(Come, Then, Behind);
  B.SetInsertPoint(Then);
  for (const Instruction *I : Run)
    clone(*I);
  B.CreateBr(Behind);
  B.SetInsertPoint(Behind);
  for (const Instruction *I : Run) {
    Type *T = I->getType();
    if (T->isVoidTy() || I->use_empty())
      continue;
    // Not poison: where a register is not written on one way, ptxas 13.0 may
    // have lanes that came the other way lose theirs, too.
    PHINode *Phi = B.CreatePHI(T, 2);
    Phi->addIncoming(Constant::getNullValue(T), From);
    Phi->addIncoming(Copies[I], Then);
    Copies[I] = Phi;
  }
}

FoundPath ItemSlice::found(BlockNow Now) {
  Value *Path = B.getInt32(Deciding.Paths);
  for (auto [End, Which] : Deciding.Ends)
    if (Which != NoWork && !Deciding.Short.contains(End))
      for (auto [From, Taken] : Edges[Now(End)])
        Path = B.CreateSelect(Taken, B.getInt32(unsigned(Which)), Path);
  return {Path, std::move(Reads)};
}

static bool mayRunInVain(const Instruction &I) {
  return isa<PHINode>(I) || isSafeToSpeculativelyExecute(&I);
}

unsigned itemsAtOnce(const Slice &Deciding) {
  static constexpr unsigned Most = 4, MostValues = 12, OfDimension = 3;
  unsigned Values = 0;
  std::array<bool, 3> Asked{};
  for (const Instruction *I : Deciding.Needed) {
    if (const auto *Call = dyn_cast<IntrinsicInst>(I)) {
      const Intrinsic::ID Id = Call->getIntrinsicID();
      for (auto D : {analysis::blockIndexDimension(Id),
                     analysis::threadIndexDimension(Id)})
        if (D)
          Asked[*D] = true;
    }
    Values +=
        !I->isTerminator() && !I->getType()->isVoidTy() && !mayRunInVain(*I);
  }
  Values += OfDimension * (Asked[1] + Asked[2]);
  return std::clamp(MostValues / std::max(Values, 1u), 1u, Most);
}

SmallVector<FoundPath> findPaths(const Slice &Deciding, ArrayRef<Value *> Exist,
                                 BlockNow Now, IRBuilderBase &B) {
  SmallVector<ItemSlice> Items;
  for (Value *Exists : Exist)
    Items.emplace_back(Deciding, Exists, B);
  for (BasicBlock *Planned :
       concat<BasicBlock *const>(Deciding.Blocks, Deciding.Short)) {
    BasicBlock &BB = *Now(Planned);
    for (ItemSlice &Mine : Items)
      Mine.enter(BB);
    // What is guarded waits for the next that is: both need one branch.
    SmallVector<const Instruction *, 8> Waiting;
    SmallPtrSet<const Value *, 8> OfThem;
    auto Flush = [&] {
      if (!Waiting.empty())
        for (ItemSlice &Mine : Items)
          Mine.copyGuarded(Waiting);
      Waiting.clear();
      OfThem.clear();
    };
    for (const Instruction &I : BB) {
      if (!Deciding.Needed.contains(&I) || I.isTerminator())
        continue;
      if (any_of(I.operands(),
                 [&](const Use &U) { return OfThem.contains(U.get()); }) ||
          (I.mayReadFromMemory() &&
           any_of(Waiting, [](const Instruction *Before) {
             return Before->mayWriteToMemory();
           })))
        Flush();
      if (mayRunInVain(I)) {
        for (ItemSlice &Mine : Items)
          Mine.copy(I);
      } else {
        Waiting.push_back(&I);
        OfThem.insert(&I);
      }
    }
    Flush();
    for (ItemSlice &Mine : Items)
      Mine.leadOn(BB);
  }
  SmallVector<FoundPath> All;
  for (ItemSlice &Mine : Items)
    All.push_back(Mine.found(Now));
  return All;
}

} // namespace reconverge::remedies::collect
