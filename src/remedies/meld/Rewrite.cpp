//===- remedies/meld/Rewrite.cpp - Two arms into one ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//      branch c               branch         New code is written from the top
//      /      \                 |            down. Map[side] holds for every
//   a1 a2    b1 b2     ->     meld: ab       value of an arm the new value
//     x                         br c -> g    that stands for it. An operand is
//   a3        b3                |    \       mapped for each side; where the two
//      \      /                 |     x      differ, a select on c chooses.
//       join                    |    /
//                             ab3 (phi x)
//                               |
//                             join
//
//   * Dominance. Alignment keeps order, and paired regions have the same shape:
//     whatever dominated a use still does. A value made in a guard gets a PHI
//     where the guard ends; one made along a path of the other side's region
//     gets the PHIs that SSAUpdater finds.
//   * Poison. Such a PHI has poison for the lanes that went past, and a
//     region's PHI of one side has whatever the other side's lanes bring.
//     Neither is used by a lane for which it is poison: an instruction that
//     both sides run takes it through a select that does not choose it, one
//     that a single side runs stands in a guard, is harmless for any operand,
//     or is a load that the others do from an address that they have loaded
//     from, and a select passes no poison on from what it does not choose. That
//     also holds for the selected conditions of inner branches, so that none
//     needs a freeze. The condition c itself was branched on, hence is neither
//     poison nor undef.
//   * A select of two values from before the arms stands at the top, outside
//     all loops. A select of a guard's PHI becomes a PHI of the guard's end,
//     where its other value is known there.
//   * A branch of both sides keeps the number and the place of side 0's: a
//     report has to name one.
//   * PHIs of both sides are one PHI, with selects at the ends of the blocks
//     that lead to it: a loop that both sides have keeps one counter.
//
// Guards carry !rc.guard, so that melding never looks at them again, and the
// number of the branch they come from, which the first of them keeps when the
// module is numbered anew.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Rewrite.h"

#include "remedies/common/Runs.h"
#include "remedies/meld/Legality.h"
#include "remedies/meld/Rewriter.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace reconverge::remedies::meld {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// If \p X or \p Y is known only in a guard that has ended, a PHI there that
/// has both, if it can be had.
Value *Rewriter::chooseAtGuard(Value *X, Value *Y) {
  auto GX = GuardValues.find(X), GY = GuardValues.find(Y);
  const bool HasX = GX != GuardValues.end(), HasY = GY != GuardValues.end();
  if (HasX == HasY) // two PHIs are cleanUp's business
    return nullptr;
  auto *Phi = cast<PHINode>(HasX ? X : Y);
  const GuardValue &G = HasX ? GX->second : GY->second;
  Value *Others = HasX ? Y : X;
  if (G.Side != (HasX ? 0 : 1))
    return nullptr;
  if (isNew(*Others) && cast<Instruction>(Others)->getParent() != G.Other)
    return nullptr; // may not be known yet where the guard is passed by
  auto *Joined = PHINode::Create(Phi->getType(), 2, "", Phi->getIterator());
  Joined->setDebugLoc(Phi->getDebugLoc());
  Joined->addIncoming(Phi->getIncomingValueForBlock(G.Mine), G.Mine);
  Joined->addIncoming(Others, G.Other);
  return Joined;
}

/// \p X for lanes of side 0, \p Y for the others, known at the end of \p Where.
Value *Rewriter::choose(Value *X, Value *Y, BasicBlock &Where) {
  if (X == Y)
    return X;
  const bool Early = !isNew(*X) && !isNew(*Y);
  BasicBlock &In = Early ? *Entry : Where;
  Value *&Known = Chosen[{&In, {X, Y}}];
  if (Known)
    return Known;
  if (Value *Joined = chooseAtGuard(X, Y))
    return Known = Joined;
  if (Options.PlantedBug && Early && X->getType()->isIntegerTy())
    std::swap(X, Y);
  auto *Select = SelectInst::Create(&Condition, X, Y);
  Select->setDebugLoc(Old.getDebugLoc());
  if (Early)
    Select->insertInto(Entry, Entry->begin());
  else if (Instruction *Term = In.getTerminator())
    Select->insertBefore(Term);
  else
    Select->insertInto(&In, In.end());
  return Known = Select;
}

Value *Rewriter::negate(Value *V) {
  if (Value *Plain = withoutNot(*V))
    return Plain;
  auto *Not = BinaryOperator::CreateNot(V);
  Not->setDebugLoc(Old.getDebugLoc());
  Not->insertInto(Current, Current->end());
  return Not;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Instruction *Rewriter::append(Instruction *I, const Instruction &From) {
  I->insertInto(Current, Current->end());
  if (!I->getType()->isVoidTy() && From.hasName())
    I->setName(From.getName());
  return I;
}

void Rewriter::jump(BasicBlock &To) {
  auto *Br = BranchInst::Create(&To, Current);
  Br->setDebugLoc(Old.getDebugLoc());
}

void Rewriter::both(const Instruction &A, const Instruction &B,
                    const Fit &How) {
  SmallVector<Value *, 4> Operands;
  for (unsigned K = 0; K != A.getNumOperands(); ++K)
    Operands.push_back(choose(map(0, operandOf(A, K, B)),
                              map(1, operandOf(B, How.Operand[K], A)),
                              *Current));
  Instruction *I = append(combine(A, B), A);
  for (auto [K, V] : enumerate(Operands))
    I->setOperand(unsigned(K), V);
  joinRuns(*I, A, B, Old);
  Map[0][&A] = I;
  Map[1][&B] = How.Invert ? negate(I) : I;
}

void Rewriter::alone(const Instruction &I, unsigned Side, bool AllLanes) {
  Instruction *Copy = append(I.clone(), I);
  for (Use &U : Copy->operands())
    U.set(map(Side, U.get()));
  if (AllLanes)
    Copy->dropUBImplyingAttrsAndMetadata();
  Map[Side][&I] = Copy;
}

/// The other side's lanes load from \p Elsewhere, and nobody uses that.
void Rewriter::aloneFrom(const Instruction &Load, unsigned Side,
                         Value *Elsewhere) {
  Value *Mine =
            map(Side, const_cast<Value *>(getLoadStorePointerOperand(&Load))),
        *Other = map(1 - Side, Elsewhere);
  Value *At =
      Side ? choose(Other, Mine, *Current) : choose(Mine, Other, *Current);
  Instruction *Copy = append(Load.clone(), Load);
  Copy->dropUnknownNonDebugMetadata();
  Copy->setOperand(LoadInst::getPointerOperandIndex(), At);
  Map[Side][&Load] = Copy;
}

void Rewriter::plain(const Item &It, unsigned Side) {
  if (It.I)
    return alone(*It.I, Side, /*AllLanes=*/false);
  Source S;
  S.R[Side] = It.R.get();
  region(S);
}

void Rewriter::sequence(ArrayRef<Item> A, ArrayRef<Item> B,
                        const SequencePlan &Code) {
  for (size_t At = 0; At != Code.Steps.size(); ++At) {
    const Step &S = Code.Steps[At];
    const auto [I, J] = S.Item;
    switch (S.What) {
    case Step::Both:
      both(*A[I].I, *B[J].I, S.How);
      break;
    case Step::Regions:
      region({{A[I].R.get(), B[J].R.get()}, S.Inner.get(), {}});
      break;
    case Step::Along:
      if (S.Side)
        region({{A[I].R.get(), nullptr}, S.Inner.get(), B.slice(J, S.Count)});
      else
        region({{nullptr, B[J].R.get()}, S.Inner.get(), A.slice(I, S.Count)});
      break;
    case Step::Alone: {
      if (!S.Guarded) {
        const Instruction &Only = *(S.Side ? B[J] : A[I]).I;
        if (S.Elsewhere)
          aloneFrom(Only, S.Side, S.Elsewhere);
        else
          alone(Only, S.Side, /*AllLanes=*/true);
        break;
      }
      Guarded Items;
      for (; At != Code.Steps.size() && Code.Steps[At].What == Step::Alone &&
             Code.Steps[At].Guarded;
           ++At) {
        const Step &G = Code.Steps[At];
        Items[G.Side].push_back(G.Side ? &B[G.Item[1]] : &A[G.Item[0]]);
      }
      --At;
      guard(Items);
    }
    }
  }
}

void collect(const Item &It, InstructionSet &Set) {
  if (It.I) {
    Set.insert(It.I);
    return;
  }
  for (const Node &N : It.R->Nodes) {
    if (N.Code.First)
      for (const PHINode &Phi : N.Code.First->phis())
        Set.insert(&Phi);
    for (const Item &Inner : N.Code.Items)
      collect(Inner, Set);
    Set.insert(N.Code.terminator());
  }
  for (const PHINode &Phi : It.R->After->phis())
    Set.insert(&Phi);
}

bool usedOutside(const Instruction &I, const InstructionSet &Set) {
  return any_of(I.users(), [&](const User *U) {
    return !Set.contains(cast<Instruction>(U));
  });
}

void Rewriter::guard(const Guarded &Items) {
  BasicBlock *Before = Current, *After = block("meld.after");
  std::array<BasicBlock *, 2> Start{After, After}, End{Before, Before};
  for (unsigned Side : {0u, 1u})
    if (!Items[Side].empty())
      Start[Side] = block("meld.only");
  auto *Br = BranchInst::Create(Start[0], Start[1], &Condition, Before);
  Br->setDebugLoc(Old.getDebugLoc());
  Br->copyMetadata(Old, {Old.getContext().getMDKindID("rc.branch"),
                         unsigned(LLVMContext::MD_prof)});
  Br->setMetadata(GuardKind, MDNode::get(F.getContext(), {}));
  for (unsigned Side : {0u, 1u}) {
    if (Items[Side].empty())
      continue;
    Current = Start[Side];
    Current->moveBefore(Plan.Join);
    for (const Item *It : Items[Side])
      plain(*It, Side);
    End[Side] = Current;
    jump(*After);
  }
  Current = After;
  After->moveBefore(Plan.Join);
  for (unsigned Side : {0u, 1u}) {
    InstructionSet Set;
    for (const Item *It : Items[Side])
      collect(*It, Set);
    // In program order, for the same code every time.
    SmallVector<const Instruction *, 16> Kept;
    for (BasicBlock *BB : Plan.Blocks[Side])
      for (const Instruction &I : *BB)
        if (Set.contains(&I) && usedOutside(I, Set))
          Kept.push_back(&I);
    for (const Instruction *I : Kept) {
      auto *Phi = PHINode::Create(I->getType(), 2, I->getName(), After);
      Phi->setDebugLoc(I->getDebugLoc());
      Phi->addIncoming(map(Side, const_cast<Instruction *>(I)), End[Side]);
      Phi->addIncoming(PoisonValue::get(I->getType()), End[1 - Side]);
      Map[Side][I] = Phi;
      GuardValues[Phi] = {Side, End[Side], End[1 - Side]};
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void Rewriter::finish() {
  for (PHINode &Phi : Plan.Join->phis()) {
    Value *V = choose(map(0, Phi.getIncomingValueForBlock(Plan.Arms[0].Last)),
                      map(1, Phi.getIncomingValueForBlock(Plan.Arms[1].Last)),
                      *Current);
    Phi.addIncoming(V, Current);
  }
  jump(*Plan.Join);
  auto *Br = BranchInst::Create(Entry, Old.getIterator());
  Br->setDebugLoc(Old.getDebugLoc());
  Old.eraseFromParent();
  SmallVector<BasicBlock *, 16> Dead(Plan.Blocks[0].begin(),
                                     Plan.Blocks[0].end());
  Dead.append(Plan.Blocks[1].begin(), Plan.Blocks[1].end());
  DeleteDeadBlocks(Dead, nullptr, /*KeepOneInputPHIs=*/true);
}

void Rewriter::run() {
  Entry = Current = block("meld");
  sequence(Plan.Arms[0].Items, Plan.Arms[1].Items, Plan.Code);
  finish();
}

void rewrite(const MeldPlan &Plan, const MeldOptions &Options) {
  Rewriter(Plan, Options).run();
}

} // namespace reconverge::remedies::meld
