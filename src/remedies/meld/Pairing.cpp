//===- remedies/meld/Pairing.cpp - What a plan makes equal ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The price of a plan follows what Rewrite.cpp will do:
//
//   + the weight of every pair of instructions, once instead of twice
//   + a conditional branch for every pair of them
//   - a select for every operand, PHI value and branch condition on which the
//     sides differ; the same two values are selected once, and before all loops
//     if both are known there
//   - a guard for each run of instructions that only one side's lanes may run
//   - a part of what all lanes run although one side alone needs it, and the
//     select of an address where the others must not use that one
//
// Whatever stands in a loop counts LoopFactor times.
//
// ptxas predicates few instructions instead of branching around them (13.0 for
// sm_90: one-sided, 9 arithmetic ones, 8 stores, 5 loads of shared memory with
// their uses, but no load of global memory and no atomic; with two sides, 8, 7,
// 5, and 13 loads of global memory with their uses, a side). A guard around so
// few costs next to nothing, if there has to be one: what does no harm needs
// none. Nor do arms so short wait one after the other: both have their accesses
// under way before either waits, and melding them saves an access's slots, not
// its time.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Pairing.h"

#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::meld {

/// Of predicates it is a logic operation that often folds into a comparison.
double selectWeight(const Type &T) {
  if (T.isIntOrIntVectorTy(1))
    return 0.5;
  return T.isPtrOrPtrVectorTy() || T.getScalarSizeInBits() > 32 ? 2 : 1;
}

/// Instructions that ptxas predicates: more are branched around.
static constexpr double MostPredicated = 8;

/// \p Both: there are items on the other side as well.
static bool arePredicated(ArrayRef<const Item *> Items, bool Both) {
  double Count = 0;
  for (const Item *It : Items) {
    if (It->R || It->I->isAtomic() ||
        (isa<CallBase>(It->I) && !isa<IntrinsicInst>(It->I)))
      return false;
    const auto *Load = dyn_cast<LoadInst>(It->I);
    if (Load && !Both &&
        Load->getPointerAddressSpace() <= analysis::GlobalSpace)
      return false;
    Count += It->I->mayReadOrWriteMemory() ? 1 : meld::weightOf(*It->I);
  }
  return Count <= MostPredicated;
}

double guardPrice(ArrayRef<const Item *> A, ArrayRef<const Item *> B,
                  const MeldOptions &Options) {
  const bool Both = !A.empty() && !B.empty();
  auto Harmless = [](const Item *It) { return It->I && isHarmless(*It->I); };
  const bool Needed = !all_of(A, Harmless) || !all_of(B, Harmless);
  return Needed && arePredicated(A, Both) && arePredicated(B, Both)
             ? Options.Guard / 4
             : Options.Guard;
}

/// A condition that a PHI brings together comes from several branches.
static bool arePredicated(const MeldPlan &Arms) {
  const auto *Br = cast<BranchInst>(Arms.Branch->getTerminator());
  const auto *Phi = dyn_cast<PHINode>(Br->getCondition());
  return !(Phi && Phi->getParent() == Arms.Branch) &&
         all_of(Arms.Arms, [](const Sequence &S) {
           SmallVector<const Item *, 16> Items;
           for (const Item &It : S.Items)
             Items.push_back(&It);
           return arePredicated(Items, /*Both=*/true);
         });
}

Pairing::Pairing(const MeldPlan &Arms)
    : Arms(Arms), Predicated(arePredicated(Arms)) {}

double Pairing::weightOf(const Instruction &I) const {
  const double Weight = meld::weightOf(I);
  return Predicated && I.mayReadOrWriteMemory() ? Weight / 3 : Weight;
}

double Pairing::weightOf(const Region &R) const {
  double Sum = 0;
  for (const Node &N : R.Nodes)
    Sum += weightOf(N.Code.Items) + (N.Succs.size() > 1 ? BranchWeight : 0);
  return R.Cyclic ? LoopFactor * Sum : Sum;
}

double Pairing::weightOf(ArrayRef<Item> Items) const {
  double Sum = 0;
  for (const Item &It : Items)
    Sum += It.R ? weightOf(*It.R) : weightOf(*It.I);
  return Sum;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

bool Pairing::inArms(const Value &V) const {
  const auto *I = dyn_cast<Instruction>(&V);
  auto *BB = I ? const_cast<BasicBlock *>(I->getParent()) : nullptr;
  return BB && (Arms.Blocks[0].contains(BB) || Arms.Blocks[1].contains(BB));
}

bool Pairing::same(const Value &A, const Value &B) const {
  if (&A == &B || Pairs.lookup(&A) == &B)
    return true;
  if (!Hopeful || !inArms(A) || !inArms(B) || A.getType() != B.getType())
    return false;
  const auto &X = cast<Instruction>(A), &Y = cast<Instruction>(B);
  return kindOf(X) == kindOf(Y) || (isa<PHINode>(X) && isa<PHINode>(Y));
}

bool Pairing::sameCondition(const Value &A, const Value &B,
                            bool Negated) const {
  return Negated && !Hopeful ? Inverse.lookup(&A) == &B : same(A, B);
}

void Pairing::learn(ArrayRef<PhiPair> Phis) {
  for (const PhiPair &P : Phis)
    if (P[0] && P[1])
      Pairs[P[0]] = P[1];
}

unsigned Pairing::learn(const SequencePlan &Plan, ArrayRef<Item> A,
                        ArrayRef<Item> B) {
  unsigned Count = 0;
  for (const Step &S : Plan.Steps) {
    const auto [I, J] = S.Item;
    switch (S.What) {
    case Step::Alone:
      break;
    case Step::Both:
      (S.How.Invert ? Inverse : Pairs)[A[I].I] = B[J].I;
      ++Count;
      break;
    case Step::Regions:
      for (const NodePlan &N : S.Inner->Nodes) {
        learn(N.Phis);
        Count += learn(N.Code, A[I].R->Nodes[N.Number[0]].Code.Items,
                       B[J].R->Nodes[N.Number[1]].Code.Items);
      }
      learn(S.Inner->ExitPhis);
      break;
    case Step::Along: {
      const NodePlan &N = S.Inner->Nodes[S.Inner->RunNode];
      Count += S.Side ? learn(N.Code, A[I].R->Nodes[N.Number[0]].Code.Items,
                              B.slice(J, S.Count))
                      : learn(N.Code, A.slice(I, S.Count),
                              B[J].R->Nodes[N.Number[1]].Code.Items);
      break;
    }
    }
  }
  return Count;
}

unsigned Pairing::learn(const SequencePlan &Plan) {
  Hopeful = false;
  Pairs.clear();
  Inverse.clear();
  return learn(Plan, Arms.Arms[0].Items, Arms.Arms[1].Items);
}

DenseMap<const BasicBlock *, const BasicBlock *>
meetingBlocks(const RegionMeld &Plan, const Region &A, const Region &B) {
  DenseMap<const BasicBlock *, const BasicBlock *> Meets;
  Meets[A.Before] = B.Before;
  for (const NodePlan &N : Plan.Nodes)
    Meets[A.Nodes[N.Number[0]].Code.Last] = B.Nodes[N.Number[1]].Code.Last;
  return Meets;
}

//===----------------------------------------------------------------------===//
// The price
//===----------------------------------------------------------------------===//

namespace {

class Pricing {
public:
  Pricing(const Pairing &Pairs, const MeldOptions &Options)
      : Pairs(Pairs), Options(Options) {}

  double Saved = 0, Extra = 0;

  void sequence(const SequencePlan &Plan, ArrayRef<Item> A, ArrayRef<Item> B,
                double Times);
  void select(const Value &A, const Value &B, double Times) {
    if (Pairs.same(A, B) || !Selected.insert({&A, &B}).second)
      return;
    pay(selectWeight(*A.getType()) * (Pairs.areEarly(A, B) ? 1 : Times));
  }

private:
  /// By every warp.
  void pay(double Slots) {
    Saved -= Slots;
    Extra += Slots;
  }
  void regions(const RegionMeld &Plan, const Region &A, const Region &B,
               double Times);
  void along(const RegionMeld &Plan, const Region &R, ArrayRef<Item> Run,
             unsigned Side, double Times);
  void phis(ArrayRef<PhiPair> Phis,
            const DenseMap<const BasicBlock *, const BasicBlock *> &Meets,
            double Times);

  const Pairing &Pairs;
  const MeldOptions &Options;
  DenseSet<std::pair<const Value *, const Value *>> Selected;
};

} // namespace

void Pricing::sequence(const SequencePlan &Plan, ArrayRef<Item> A,
                       ArrayRef<Item> B, double Times) {
  std::array<SmallVector<const Item *, 8>, 2> Guarded;
  auto EndGuard = [&] {
    if (!Guarded[0].empty() || !Guarded[1].empty())
      pay(guardPrice(Guarded[0], Guarded[1], Options) * Times);
    Guarded = {};
  };
  for (const Step &S : Plan.Steps) {
    const auto [I, J] = S.Item;
    if (S.What == Step::Alone && S.Guarded) {
      Guarded[S.Side].push_back(S.Side ? &B[J] : &A[I]);
      continue;
    }
    EndGuard();
    switch (S.What) {
    case Step::Both: {
      const Instruction &X = *A[I].I, &Y = *B[J].I;
      Saved += Pairs.weightOf(X) * Times;
      for (unsigned K = 0; K != X.getNumOperands(); ++K)
        select(*operandOf(X, K, Y), *operandOf(Y, S.How.Operand[K], X), Times);
      break;
    }
    case Step::Regions:
      regions(*S.Inner, *A[I].R, *B[J].R, Times);
      break;
    case Step::Along:
      if (S.Side)
        along(*S.Inner, *A[I].R, B.slice(J, S.Count), 1, Times);
      else
        along(*S.Inner, *B[J].R, A.slice(I, S.Count), 0, Times);
      break;
    case Step::Alone: {
      const Instruction &Only = *(S.Side ? B[J] : A[I]).I;
      const double Weight = Pairs.weightOf(Only) * Times;
      Saved -= (S.Elsewhere ? SafeLoad : Speculation) * Weight;
      Extra += Weight / 2; // of warps that go one way, half go the other
      if (const Value *At = getLoadStorePointerOperand(&Only); S.Elsewhere)
        S.Side ? select(*S.Elsewhere, *At, Times)
               : select(*At, *S.Elsewhere, Times);
    }
    }
  }
  EndGuard();
}

void Pricing::phis(
    ArrayRef<PhiPair> Phis,
    const DenseMap<const BasicBlock *, const BasicBlock *> &Meets,
    double Times) {
  for (const PhiPair &P : Phis)
    if (P[0] && P[1])
      for (unsigned K = 0; K != P[0]->getNumIncomingValues(); ++K) {
        const BasicBlock *Other = Meets.lookup(P[0]->getIncomingBlock(K));
        if (int At = Other ? P[1]->getBasicBlockIndex(Other) : -1; At >= 0)
          select(*P[0]->getIncomingValue(K), *P[1]->getIncomingValue(At),
                 Times);
      }
}

void Pricing::regions(const RegionMeld &Plan, const Region &A, const Region &B,
                      double Times) {
  const double Inside = A.Cyclic ? LoopFactor * Times : Times;
  const auto Meets = meetingBlocks(Plan, A, B);
  for (const NodePlan &N : Plan.Nodes) {
    const Node &X = A.Nodes[N.Number[0]], &Y = B.Nodes[N.Number[1]];
    phis(N.Phis, Meets, Inside);
    sequence(N.Code, X.Code.Items, Y.Code.Items, Inside);
    if (X.Succs.size() < 2)
      continue;
    Saved += BranchWeight * Inside;
    const Value &C = *conditionOf(*X.Code.terminator()),
                &D = *conditionOf(*Y.Code.terminator());
    if (!Pairs.sameCondition(C, D, N.Swapped))
      select(C, D, Inside);
  }
  phis(Plan.ExitPhis, Meets, Times);
}

void Pricing::along(const RegionMeld &Plan, const Region &R, ArrayRef<Item> Run,
                    unsigned Side, double Times) {
  for (auto [K, N] : enumerate(Plan.Nodes)) {
    if (!N.OnPath)
      continue;
    if (R.Nodes[K].Succs.size() > 1)
      pay(Times);
    ArrayRef<Item> Mine = K == Plan.RunNode ? Run : ArrayRef<Item>(),
                   Other = R.Nodes[K].Code.Items;
    if (Side)
      sequence(N.Code, Other, Mine, Times);
    else
      sequence(N.Code, Mine, Other, Times);
  }
}

void Pairing::price(SequencePlan &Plan, const MeldOptions &Options) const {
  Pricing P(*this, Options);
  P.sequence(Plan, Arms.Arms[0].Items, Arms.Arms[1].Items, 1);
  for (const PHINode &Phi : Arms.Join->phis())
    P.select(*Phi.getIncomingValueForBlock(Arms.Arms[0].Last),
             *Phi.getIncomingValueForBlock(Arms.Arms[1].Last), 1);
  Plan.Saved = P.Saved;
  Plan.Extra = P.Extra;
}

} // namespace reconverge::remedies::meld
