//===- remedies/share/Round.cpp - 32 iterations at once -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warp's iterations are numbered: those of lane 0 first, then lane 1's.
//
//   for (base = 0; base < total; base += 32) {
//     k = base + lane
//     owner = the lane whose iteration k is      five shuffles, by bisection
//     what the loop's body needs of the owner    a shuffle for each word
//     if (k < total) body, as the owner's iteration k - its first
//     sums: of each owner, by five shuffles, to the owner
//     // The chain: each lane takes what became of its own iterations, which
//     // are neighbours' now, in order.
//     for (t = 0; any lane has more than t in this round; ++t)
//       inputs from lane (mine + t), and if that is mine: a step of the chain
//   }
//
// The chain's steps are done in all lanes, and kept where they count. Short ones
// are done four at a time, or the vote would be most of what they take.
//
//===----------------------------------------------------------------------===//

#include "remedies/share/Round.h"

#include "remedies/share/Hand.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace reconverge::remedies::share {

Rounds::Rounds(Loop &L, LoopInfo &Loops, const Carried &Values,
               ScalarEvolution &SE, std::function<bool(Value *)> Differs,
               std::function<AllocaInst *(Type *)> Slot, bool PlantedBug)
    : L(L), Loops(Loops), Values(Values), SE(SE), Differs(std::move(Differs)),
      Slot(std::move(Slot)), PlantedBug(PlantedBug),
      F(*L.getHeader()->getParent()) {}

BasicBlock *Rounds::block(const char *Name) {
  return BasicBlock::Create(F.getContext(), Twine("share.") + Name, &F);
}

static bool leaves(const Instruction &I, const Loop &L) {
  return any_of(I.users(), [&](const User *U) {
    return !L.contains(cast<Instruction>(U));
  });
}

void Rounds::prepare(BasicBlock *At, BasicBlock *Into) {
  Before = At;
  Own = Into;
  SCEVExpander Expander(SE, F.getDataLayout(), "share");
  for (PHINode *Phi : Values.Inductions)
    Steps[Phi] = Expander.expandCodeFor(
        cast<SCEVAddRecExpr>(SE.getSCEV(Phi))->getStepRecurrence(SE), nullptr,
        Before->getTerminator()->getIterator());
  IRBuilder<> B(Before->getTerminator());
  LoopBlocksRPO Order(&L);
  Order.perform(&Loops);
  for (BasicBlock *BB : Order)
    for (Instruction &I : *BB) {
      if (!Values.Chain.contains(&I))
        continue;
      Chain.push_back(&I);
      auto *Phi = dyn_cast<PHINode>(&I);
      if (Phi && BB == L.getHeader()) {
        AllocaInst *Here = Now[Phi] = Slot(Phi->getType());
        B.CreateStore(Phi->getIncomingValueForBlock(Own), Here);
      } else if (Phi) {
        CameFrom[Phi] = Slot(B.getInt32Ty());
      }
    }
  for (Instruction *I : Values.Inputs)
    Made[I] = Slot(I->getType());
  for (const Sum &S : Values.Sums) {
    Added.push_back(Slot(S.Phi->getType()));
    AllocaInst *Here = Now[S.Phi] = Slot(S.Phi->getType());
    B.CreateStore(S.Phi->getIncomingValueForBlock(Own), Here);
  }
  for (ArrayRef<Instruction *> All :
       {ArrayRef(Chain), Values.Inputs.getArrayRef()})
    for (Instruction *I : All)
      if (leaves(*I, L)) {
        Last[I] = Slot(I->getType());
        B.CreateStore(PoisonValue::get(I->getType()), Last[I]);
      }
}

Value *Rounds::own(Value *V, IRBuilderBase &B, Value *Owner) {
  return !isa<Constant>(V) && Differs(V) ? fromLane(B, V, Owner) : V;
}

static Value *load(IRBuilderBase &B, AllocaInst *From) {
  return B.CreateLoad(From->getAllocatedType(), From);
}

/// An induction of the owner's iteration \p Index.
static Value *inductionAt(IRBuilderBase &B, Value *Start, Value *Step,
                          Value *Index) {
  Type *T = Step->getType();
  Value *By = B.CreateMul(B.CreateZExtOrTrunc(Index, T), Step);
  return Start->getType()->isPointerTy() ? B.CreatePtrAdd(Start, By)
                                         : B.CreateAdd(Start, By);
}

/// The loop's blocks once more, as \p Map says; \p Join is where they lead.
void Rounds::cloneBlocks(ValueToValueMapTy &Map, BasicBlock *Join) {
  SmallVector<std::pair<PHINode *, Value *>> Inductions;
  for (PHINode *Phi : Values.Inductions)
    Inductions.push_back({Phi, Map[Phi]});
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *BB : L.blocks())
    Copies.push_back(
        cast<BasicBlock>(Map[BB] = CloneBasicBlock(BB, Map, ".share", &F)));
  SmallVector<Instruction *> Gone;
  for (auto [Phi, Here] : Inductions) {
    Gone.push_back(cast<Instruction>(Map[Phi]));
    Map[Phi] = Here;
  }
  IRBuilder<> B(F.getContext());
  for (auto [S, Kept] : zip_equal(Values.Sums, Added)) {
    Gone.push_back(cast<Instruction>(Map[S.Phi]));
    Map[S.Phi] = neutral(S);
    auto *Copy = cast<Instruction>(Map[S.result()]);
    for (Instruction *Step : S.Steps) // overflows from another start
      cast<Instruction>(Map[Step])->dropPoisonGeneratingFlags();
    B.SetInsertPoint(*Copy->getInsertionPointAfterDef());
    B.CreateStore(Copy, Kept);
  }
  for (auto [Chosen, From] : CameFrom) {
    auto *Phi = cast<PHINode>(Chosen);
    auto *Copy = cast<PHINode>(Map[Phi]);
    B.SetInsertPoint(Copy);
    PHINode *Way = B.CreatePHI(B.getInt32Ty(), Phi->getNumIncomingValues());
    for (BasicBlock *BB : Phi->blocks()) // a switch's may be there twice
      Way->addIncoming(B.getInt32(unsigned(Phi->getBasicBlockIndex(BB))),
                       BB); // remapped below
    B.SetInsertPoint(Copy->getParent(),
                     Copy->getParent()->getFirstInsertionPt());
    B.CreateStore(Way, From);
  }
  for (auto [Input, Kept] : Made) {
    auto *Copy = dyn_cast<Instruction>(Map[Input]);
    if (is_contained(Values.Inductions, Input))
      continue;
    B.SetInsertPoint(*Copy->getInsertionPointAfterDef());
    B.CreateStore(Copy, Kept);
  }
  for (Instruction *I : Values.Chain)
    Gone.push_back(cast<Instruction>(Map[I]));
  for (Instruction *I : Gone) {
    I->replaceAllUsesWith(PoisonValue::get(I->getType()));
    I->eraseFromParent();
  }
  for (Instruction *I : Values.Chain)
    Map[I] = PoisonValue::get(I->getType());
  remapInstructionsInBlocks(Copies, Map);
  for (BasicBlock *BB : Copies)
    for (Instruction &I : make_early_inc_range(*BB)) {
      I.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(I))
        I.eraseFromParent();
    }
  auto *End = cast<BasicBlock>(Map[L.getLoopLatch()]);
  End->getTerminator()->eraseFromParent();
  BranchInst::Create(Join, End);
}

void Rounds::writeBody(IRBuilderBase &B, BasicBlock *Join, Value *Owner,
                       Value *Index, Value *IsOne) {
  ValueToValueMapTy Map;
  for (Value *V : neededBy(L, Values))
    if (!isa<AllocaInst>(V))
      Map[V] = own(V, B, Owner);
  for (PHINode *Phi : Values.Inductions) {
    Value *Start = Phi->getIncomingValueForBlock(Own);
    auto Given = Map.find(Start);
    if (Given != Map.end())
      Start = Given->second;
    Map[Phi] = inductionAt(B, Start, own(Steps[Phi], B, Owner), Index);
  }
  for (const auto *Slots : {&Made, &CameFrom})
    for (auto [V, Kept] : *Slots)
      B.CreateStore(Constant::getNullValue(Kept->getAllocatedType()), Kept);
  for (auto [S, Kept] : zip_equal(Values.Sums, Added))
    B.CreateStore(neutral(S), Kept);
  for (PHINode *Phi : Values.Inductions)
    if (auto Found = Made.find(Phi); Found != Made.end())
      B.CreateStore(Map[Phi], Found->second);
  cloneBlocks(Map, Join);
  B.CreateCondBr(IsOne, cast<BasicBlock>(Map[L.getHeader()]), Join);
}

/// One step of the chain with what lane \p From has made, kept if \p Mine.
void Rounds::stepChain(IRBuilderBase &B, Value *From, Value *Mine) {
  DenseMap<Value *, Value *> Here;
  for (auto [Input, Kept] : Made)
    Here[Input] = fromLane(B, load(B, Kept), From);
  auto Of = [&](Value *V) {
    auto Found = Here.find(V);
    return Found == Here.end() ? V : Found->second;
  };
  for (Instruction *I : Chain) {
    auto *Phi = dyn_cast<PHINode>(I);
    if (Phi && Phi->getParent() == L.getHeader()) {
      Here[I] = load(B, Now[Phi]);
    } else if (Phi) {
      Value *Way = fromLane(B, load(B, CameFrom[Phi]), From);
      Value *V = Of(Phi->getIncomingValue(0));
      for (unsigned N = 1; N != Phi->getNumIncomingValues(); ++N)
        V = B.CreateSelect(B.CreateICmpEQ(Way, B.getInt32(N)),
                           Of(Phi->getIncomingValue(N)), V);
      Here[I] = V;
    } else {
      Instruction *Copy = B.Insert(I->clone());
      Copy->dropDbgRecords();
      for (Use &Operand : Copy->operands())
        Operand.set(Of(Operand.get()));
      Here[I] = Copy;
    }
  }
  for (auto [V, Kept] : Last)
    B.CreateStore(B.CreateSelect(Mine, Of(V), load(B, Kept)), Kept);
  for (auto [Phi, Kept] : Now)
    if (Values.Chain.contains(Phi))
      B.CreateStore(
          B.CreateSelect(Mine,
                         Of(Phi->getIncomingValueForBlock(L.getLoopLatch())),
                         Here[Phi]),
          Kept);
}

/// The first of a lane's iterations of a round gets what they add.
void Rounds::writeSums(IRBuilderBase &B, const Dealing &Of, Value *Base,
                       Value *EndOfOwner) {
  if (Values.Sums.empty())
    return;
  auto InRound = [&](Value *V) {
    return B.CreateBinaryIntrinsic(Intrinsic::smin, B.CreateSub(V, Base),
                                   B.getInt32(32));
  };
  Value *Last = B.CreateSub(InRound(EndOfOwner), B.getInt32(1));
  Value *Mine = B.CreateBinaryIntrinsic(
      Intrinsic::smax, B.CreateSub(Of.First, Base), B.getInt32(0));
  Value *HasAny = B.CreateICmpSLT(Mine, InRound(Of.End));
  for (auto [S, Kept] : zip_equal(Values.Sums, Added)) {
    Value *Here = sumBehind(B, S, load(B, Kept), Of.Lane, Last);
    Here = B.CreateSelect(HasAny, fromLane(B, Here, Mine), neutral(S));
    B.CreateStore(combine(B, S, load(B, Now[S.Phi]), Here), Now[S.Phi]);
  }
}

BasicBlock *Rounds::writeChain(BasicBlock *Join, const Dealing &Of,
                               Value *Base) {
  if (Chain.empty() && Last.empty())
    return Join;
  BasicBlock *Ask = block("ask"), *Step = block("step"),
             *Behind = block("kept");
  IRBuilder<> B(Join);
  Value *Mine = B.CreateBinaryIntrinsic(
      Intrinsic::smax, B.CreateSub(Of.First, Base), B.getInt32(0));
  Value *End = B.CreateBinaryIntrinsic(
      Intrinsic::smin, B.CreateSub(Of.End, Base), B.getInt32(32));
  B.CreateBr(Ask);
  B.SetInsertPoint(Ask);
  PHINode *From = B.CreatePHI(B.getInt32Ty(), 2);
  From->addIncoming(Mine, Join);
  B.CreateCondBr(inAnyLane(B, B.CreateICmpSLT(From, End)), Step, Behind);
  B.SetInsertPoint(Step);
  Value *Next = From;
  for (unsigned N = 0; N != stepsAtOnce(Values); ++N) {
    stepChain(B, Next, B.CreateICmpSLT(Next, End));
    Next = B.CreateAdd(Next, B.getInt32(1));
  }
  From->addIncoming(Next, Step);
  B.CreateBr(Ask);
  return Behind;
}

BasicBlock *Rounds::write(BasicBlock *Enter, const Dealing &Of) {
  BasicBlock *Round = block("round"), *Deal = block("deal"),
             *Join = block("join"), *Done = block("done");
  IRBuilder<> B(Enter);
  meetInMemory(B);
  B.CreateBr(Round);

  B.SetInsertPoint(Round);
  PHINode *Base = B.CreatePHI(B.getInt32Ty(), 2, "base");
  Base->addIncoming(B.getInt32(0), Enter);
  B.CreateCondBr(B.CreateICmpULT(Base, Of.Total), Deal, Done);

  B.SetInsertPoint(Deal);
  Value *Number = B.CreateAdd(Base, Of.Lane, "number");
  Value *Owner = firstAbove(B, Of.End, PlantedBug ? Base : Number);
  Value *Index = B.CreateSub(Number, fromLane(B, Of.First, Owner), "index");
  Value *EndOfOwner =
      Values.Sums.empty() ? nullptr : fromLane(B, Of.End, Owner);
  writeBody(B, Join, Owner, Index, B.CreateICmpULT(Number, Of.Total));

  B.SetInsertPoint(Join);
  writeSums(B, Of, Base, EndOfOwner);
  BasicBlock *Behind = writeChain(Join, Of, Base);
  B.SetInsertPoint(Behind);
  Base->addIncoming(B.CreateAdd(Base, B.getInt32(32)), Behind);
  B.CreateBr(Round);
  B.SetInsertPoint(Done);
  meetInMemory(B);
  return Done;
}

Value *Rounds::leftIn(IRBuilderBase &B, Instruction *V) {
  for (const Sum &S : Values.Sums)
    if (S.result() == V)
      return load(B, Now[S.Phi]);
  return load(B, Last[V]);
}

} // namespace reconverge::remedies::share
