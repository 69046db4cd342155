//===- remedies/meld/Pressure.cpp - Registers of melded code -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Melded code keeps at once what both arms keep: what one arm's lanes need
// later lives on while the other arm's instructions run. Only ptxas knows the
// registers; here is an estimate of how the two compare.
//
//   1. The code is written down as a list of moments, one an instruction (a
//      pair is one), loops once.
//   2. A value lives from the moment that makes it, or from the start, to the
//      last moment that uses it; if that is in a loop and the value is older
//      than the loop, to the loop's end. Of a pair, both names are one value.
//      A choice between two values from before the branch is one value as well:
//      it is made at the top.
//   3. The most that live at one moment, by width, with what is live across the
//      branch and not used inside, is the pressure.
//
// Limitation: no scheduling, no rematerialisation; kernel arguments and
// constants take no registers, predicates neither.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Pressure.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies::meld {

namespace {

class Timeline {
public:
  explicit Timeline(const MeldPlan &Plan) : Plan(Plan) {}

  void melded();
  void apart(unsigned Side);
  unsigned most() const;

private:
  /// A value, or a choice between two.
  using Key = std::pair<const Value *, const Value *>;
  struct Life {
    unsigned From, To;
  };

  bool inArms(const Instruction &I) const {
    auto *BB = const_cast<BasicBlock *>(I.getParent());
    return Plan.Blocks[0].contains(BB) || Plan.Blocks[1].contains(BB);
  }
  const Value *name(const Value *V) const {
    const Value *First = FirstOf.lookup(V);
    return First ? First : V;
  }
  void use(Key K);
  void use(const Value *V) { use({name(V), nullptr}); }
  void make(const Value *V) { Lives[{name(V), nullptr}] = {Now, Now}; }
  void instruction(const Instruction &I);
  void pair(const Instruction &A, const Instruction &B, const Fit &How);
  void phis(BasicBlock *BB);
  void leave(const Sequence &S);
  void item(const Item &It);
  void region(const Region &R);
  void sequence(const SequencePlan &Code, ArrayRef<Item> A, ArrayRef<Item> B);
  void regions(const RegionMeld &P, const Region *A, const Region *B,
               ArrayRef<Item> Run);
  void endLoop(unsigned Start);

  const MeldPlan &Plan;
  unsigned Now = 1;
  MapVector<Key, Life> Lives;
  DenseMap<const Value *, const Value *> FirstOf; ///< side 1's to side 0's
};

} // namespace

static unsigned registersOf(const Type &T) {
  if (T.isPointerTy()) // of shared and local memory: 32 bits
    return T.getPointerAddressSpace() == analysis::SharedSpace ||
                   T.getPointerAddressSpace() == analysis::LocalSpace
               ? 1
               : 2;
  const unsigned Bits = T.getPrimitiveSizeInBits().getFixedValue();
  return T.getScalarSizeInBits() == 1 ? 0 : (Bits + 31) / 32;
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

void Timeline::use(Key K) {
  // Arguments and constants are no instructions.
  if (!isa<Instruction>(K.first) && !(K.second && isa<Instruction>(K.second)))
    return;
  Lives.try_emplace(K, Life{0, 0}).first->second.To = Now;
}

void Timeline::instruction(const Instruction &I) {
  for (const Value *V : I.operands())
    use(V);
  ++Now;
  make(&I);
}

void Timeline::pair(const Instruction &A, const Instruction &B,
                    const Fit &How) {
  for (unsigned K = 0; K != A.getNumOperands(); ++K) {
    const Value *X = name(operandOf(A, K, B)),
                *Y = name(operandOf(B, How.Operand[K], A));
    auto Late = [&](const Value *V) {
      const auto *I = dyn_cast<Instruction>(V);
      return I && inArms(*I);
    };
    if (X == Y || Late(X) || Late(Y)) {
      use(X);
      use(Y);
    } else {
      use(Key{X, Y});
    }
  }
  ++Now;
  FirstOf[&B] = &A;
  make(&A);
}

void Timeline::phis(BasicBlock *BB) {
  if (BB)
    for (const PHINode &Phi : BB->phis())
      make(&Phi);
}

/// What the successors' PHIs take from the end of \p S, and its condition.
void Timeline::leave(const Sequence &S) {
  for (const Value *V : S.terminator()->operands())
    if (!isa<BasicBlock>(V))
      use(V);
  for (const BasicBlock *Succ : successors(S.Last))
    for (const PHINode &Phi : Succ->phis())
      use(Phi.getIncomingValueForBlock(S.Last));
}

/// Values from before \p Start that a loop since then uses live to its end.
void Timeline::endLoop(unsigned Start) {
  for (auto &[K, L] : Lives)
    if (L.From < Start && L.To >= Start)
      L.To = Now;
}

void Timeline::item(const Item &It) {
  if (It.I)
    instruction(*It.I);
  else
    region(*It.R);
}

void Timeline::region(const Region &R) {
  const unsigned Start = Now;
  for (const Node &N : R.Nodes) {
    phis(N.Code.First);
    for (const Item &It : N.Code.Items)
      item(It);
    leave(N.Code);
  }
  if (R.Cyclic)
    endLoop(Start);
  phis(R.After);
}

void Timeline::sequence(const SequencePlan &Code, ArrayRef<Item> A,
                        ArrayRef<Item> B) {
  for (const Step &S : Code.Steps) {
    const auto [I, J] = S.Item;
    switch (S.What) {
    case Step::Both:
      pair(*A[I].I, *B[J].I, S.How);
      break;
    case Step::Alone:
      item(S.Side ? B[J] : A[I]);
      break;
    case Step::Regions:
      regions(*S.Inner, A[I].R.get(), B[J].R.get(), {});
      break;
    case Step::Along:
      if (S.Side)
        regions(*S.Inner, A[I].R.get(), nullptr, B.slice(J, S.Count));
      else
        regions(*S.Inner, nullptr, B[J].R.get(), A.slice(I, S.Count));
      break;
    }
  }
}

void Timeline::regions(const RegionMeld &P, const Region *A, const Region *B,
                       ArrayRef<Item> Run) {
  auto Meet = [&](ArrayRef<PhiPair> Pairs) {
    for (const PhiPair &Pair : Pairs) {
      if (Pair[0] && Pair[1])
        FirstOf[Pair[1]] = Pair[0];
      make(Pair[0] ? Pair[0] : Pair[1]);
    }
  };
  const Region &Lead = A ? *A : *B;
  const unsigned Start = Now;
  for (auto [K, N] : enumerate(P.Nodes)) {
    const Node *X = A ? &A->Nodes[N.Number[0]] : nullptr,
               *Y = B ? &B->Nodes[N.Number[1]] : nullptr;
    if (A && B)
      Meet(N.Phis);
    else
      phis((X ? X : Y)->Code.First);
    auto Items = [&, K = K](const Node *Of) {
      return Of               ? ArrayRef<Item>(Of->Code.Items)
             : K == P.RunNode ? Run
                              : ArrayRef<Item>();
    };
    if ((A && B) || N.OnPath)
      sequence(N.Code, Items(X), Items(Y));
    else
      for (const Item &It : (X ? X : Y)->Code.Items)
        item(It);
    for (const Node *Each : {X, Y})
      if (Each)
        leave(Each->Code);
  }
  if (Lead.Cyclic)
    endLoop(Start);
  if (A && B)
    Meet(P.ExitPhis);
  else
    phis(Lead.After);
}

void Timeline::melded() {
  sequence(Plan.Code, Plan.Arms[0].Items, Plan.Arms[1].Items);
  leave(Plan.Arms[0]);
  leave(Plan.Arms[1]);
}

void Timeline::apart(unsigned Side) {
  for (const Item &It : Plan.Arms[Side].Items)
    item(It);
  leave(Plan.Arms[Side]);
}

unsigned Timeline::most() const {
  std::vector<int> Change(Now + 2, 0);
  for (const auto &[K, L] : Lives) {
    if (L.To == L.From)
      continue;
    const int Width = int(registersOf(*K.first->getType()));
    Change[L.From] += Width;
    Change[L.To] -= Width;
  }
  int Sum = 0, Most = 0;
  for (int C : Change)
    Most = std::max(Most, Sum += C);
  return unsigned(Most);
}

//===----------------------------------------------------------------------===//
// Around the branch
//===----------------------------------------------------------------------===//

/// \p I, made before the arms, is used after them.
static bool livesAcross(const Instruction &I, const MeldPlan &Plan) {
  SmallVector<const BasicBlock *, 8> Work;
  SmallPtrSet<const BasicBlock *, 16> Seen;
  auto Reach = [&](const BasicBlock *BB) {
    if (BB != I.getParent() && Seen.insert(BB).second)
      Work.push_back(BB);
  };
  for (const Use &U : I.uses()) {
    const auto *User = cast<Instruction>(U.getUser());
    const auto *Phi = dyn_cast<PHINode>(User);
    Reach(Phi ? Phi->getIncomingBlock(U) : User->getParent());
  }
  while (!Work.empty() && !Seen.contains(Plan.Join))
    for (const BasicBlock *Pred : predecessors(Work.pop_back_val()))
      Reach(Pred);
  return Seen.contains(Plan.Join);
}

Pressure pressureOf(const MeldPlan &Plan) {
  const Function &F = *Plan.Branch->getParent();
  const DominatorTree Tree(const_cast<Function &>(F));
  unsigned Across = 0;
  for (const BasicBlock &BB : F) {
    if (!Tree.dominates(&BB, Plan.Branch))
      continue;
    for (const Instruction &I : BB) {
      auto UsedInArms = [&](const User *U) {
        auto *In = const_cast<BasicBlock *>(cast<Instruction>(U)->getParent());
        return Plan.Blocks[0].contains(In) || Plan.Blocks[1].contains(In);
      };
      if (I.getType()->isVoidTy() || I.use_empty() ||
          any_of(I.users(), UsedInArms))
        continue; // the timelines have those
      if (livesAcross(I, Plan))
        Across += registersOf(*I.getType());
    }
  }
  auto Most = [&](auto Write) {
    Timeline Line(Plan);
    Write(Line);
    return Across + Line.most();
  };
  return {std::max(Most([](Timeline &L) { L.apart(0); }),
                   Most([](Timeline &L) { L.apart(1); })),
          Most([](Timeline &L) { L.melded(); })};
}

unsigned warpsWith(unsigned Registers) {
  // 64 K registers a multiprocessor, in four parts, given out eight a thread.
  const unsigned EachWarp = 32 * std::max((Registers + 7) / 8 * 8, 8u);
  return std::clamp(65536 / 4 / EachWarp * 4, 4u, 64u);
}

} // namespace reconverge::remedies::meld
