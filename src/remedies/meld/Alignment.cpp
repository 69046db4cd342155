//===- remedies/meld/Alignment.cpp - Which code goes together ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dynamic program aligns two sequences (Needleman-Wunsch); it calls itself
// for regions, whose nodes are sequences. A score is the number of issue slots
// saved against running one arm after the other:
//
//   pair of instructions   its weight, less a select for each operand on which
//                          the sides differ
//   pair of regions        of the same shape (isomorphic, two-way branches also
//                          with their successors swapped): the sum over paired
//                          nodes, times four in a loop
//   run along a region     a straight run of one side within one node of the
//                          other side's region; its lanes are sent past the
//                          other nodes
//   no partner             0 within a guard, less a part of its weight if all
//                          lanes run it: if it is harmless, or a load that the
//                          other side's lanes can do from an address at hand
//   opening a guard        less Options.Guard, however long it gets; the price
//                          of the whole plan then knows which are short
//
//           state 0 (no guard)  <-- pair --  state 1 (in a guard)
//                               -- open -->
//
// Two states and three moves make n * m steps.
//
// Whether operands differ depends on the alignment that is being made. The
// first round hopes: values of the same kind from within the arms count as
// equal. The next rounds know the pairs of the round before. The plan that is
// best when priced with its own pairs is kept, and that price decides.
//
// Paper: C. Saumya, K. Sundararajah, M. Kulkarni, "CFM: SIMT Thread Divergence
// Reduction by Melding Similar Control-Flow Regions in GPGPU Programs",
// sections IV-C and IV-D. There, subgraphs are chosen greedily by opcode
// histograms and only then aligned; here one alignment does both, so that its
// price is real.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Alignment.h"
#include "analysis/device/AddressSpace.h"
#include "remedies/meld/Pairing.h"
#include "remedies/meld/Shape.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace reconverge::remedies::meld {

static constexpr double Never = -1e30;

namespace {

class Aligner {
public:
  Aligner(const MeldPlan &Arms, const MeldOptions &Options)
      : Options(Options), Pairs(Arms) {}

  SequencePlan align(ArrayRef<Item> A, ArrayRef<Item> B);
  /// Takes what \p Plan pairs as known for the next round; counts them.
  unsigned learn(const SequencePlan &Plan);
  double priceOf(const SequencePlan &Plan) const {
    return Pairs.priceOf(Plan, Options);
  }
  double weightOf(ArrayRef<Item> Items) const { return Pairs.weightOf(Items); }
  bool tooLarge() const { return Steps > Options.Limit; }

private:
  // Operands.
  double selects(const Instruction &A, const Instruction &B,
                 const Fit &F) const;
  double pairScore(const Instruction &A, const Instruction &B, Fit &Best) const;

  // Regions.
  std::shared_ptr<const RegionPlan> regions(const Region &A, const Region &B);
  std::shared_ptr<const RegionPlan> along(ArrayRef<Item> Run, const Region &R,
                                          unsigned Side);
  SmallVector<PhiPair, 4>
  pairPhis(BasicBlock *A, BasicBlock *B,
           const DenseMap<const BasicBlock *, const BasicBlock *> &Meets,
           double &Saved) const;

  const MeldOptions &Options;
  Pairing Pairs;
  uint64_t Steps = 0;
  double Times = 1; ///< that the code which is being aligned runs
  DenseMap<std::pair<const Region *, const Region *>,
           std::shared_ptr<const RegionPlan>>
      Known;
  /// By the first item of the run.
  DenseMap<std::pair<const Item *, const Region *>,
           std::shared_ptr<const RegionPlan>>
      KnownRuns;
};

} // namespace

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

double Aligner::selects(const Instruction &A, const Instruction &B,
                        const Fit &F) const {
  double Sum = F.Invert ? 0.5 : 0;
  for (unsigned K = 0; K != A.getNumOperands(); ++K) {
    const Value &X = *operandOf(A, K, B), &Y = *operandOf(B, F.Operand[K], A);
    if (!Pairs.same(X, Y))
      Sum += selectWeight(*X.getType()) / (Pairs.areEarly(X, Y) ? Times : 1);
  }
  return Sum;
}

/// A value without a partner costs its user a select, most often, so one with a
/// partner is worth most of that.
double Aligner::pairScore(const Instruction &A, const Instruction &B,
                          Fit &Best) const {
  double Score = Never;
  for (Fit &F : fitsOf(A, B)) {
    double This =
        Pairs.weightOf(A) - selects(A, B, F) +
        (A.getType()->isVoidTy() ? 0 : 0.75 * selectWeight(*A.getType()));
    if (This > Score) {
      Score = This;
      Best = std::move(F);
    }
  }
  return Score >= 0 ? Score : Never;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// The place of the last plain load before each place of \p Items.
static std::vector<unsigned> lastLoads(ArrayRef<Item> Items) {
  std::vector<unsigned> Last{~0u};
  for (auto [At, It] : enumerate(Items)) {
    const auto *Load = dyn_cast_or_null<LoadInst>(It.I);
    Last.push_back(Load && Load->isSimple() ? unsigned(At) : Last.back());
  }
  return Last;
}

/// An address for lanes that do not need \p I but run it: that of \p Other,
/// which they have run. Null if it does not do. Loads of shared memory need
/// none: ptxas predicates them.
static Value *elsewhere(const Instruction &I, Instruction *Other) {
  const auto *Load = dyn_cast<LoadInst>(&I);
  auto *From = dyn_cast_or_null<LoadInst>(Other);
  if (!Load || !From || !Load->isSimple() ||
      Load->getPointerAddressSpace() > analysis::GlobalSpace ||
      Load->getType() != From->getType() ||
      Load->getPointerOperandType() != From->getPointerOperandType() ||
      Load->getAlign() > From->getAlign() ||
      !sameHome(*Load->getPointerOperand(), *From->getPointerOperand()))
    return nullptr;
  return From->getPointerOperand();
}

SequencePlan Aligner::align(ArrayRef<Item> A, ArrayRef<Item> B) {
  const unsigned N = A.size(), M = B.size();
  Steps += uint64_t(N) * M;
  SequencePlan Plan;
  const bool Compare = !tooLarge();

  // Best score on arrival at (I, J) in a state, and the step that got there.
  struct Cell {
    double Score = Never;
    uint8_t From = 0; ///< state before the step
    Step::Kind What = Step::Alone;
    uint8_t Side = 0;
    unsigned Count = 1;
  };
  const unsigned Width = M + 1;
  std::vector<std::array<Cell, 2>> Table;
  if (!Compare) { // everything behind one guard
    for (unsigned Side : {0u, 1u})
      for (unsigned I = 0; I != (Side ? M : N); ++I) {
        Step S;
        S.Side = Side;
        S.Item[Side] = I;
        S.Guarded = true;
        Plan.Steps.push_back(std::move(S));
      }
    Plan.Saved = -Options.Guard;
    return Plan;
  }
  Table.resize(size_t(N + 1) * Width);
  auto At = [&](unsigned I, unsigned J) -> std::array<Cell, 2> & {
    return Table[size_t(I) * Width + J];
  };
  auto Offer = [](Cell &To, double Score, unsigned From, Step::Kind What,
                  unsigned Side = 0, unsigned Count = 1) {
    if (Score > To.Score)
      To = {Score, uint8_t(From), What, uint8_t(Side), Count};
  };
  auto Kinds = [](ArrayRef<Item> Items) {
    std::vector<uint64_t> K;
    for (const Item &It : Items)
      K.push_back(It.R ? 0 : kindOf(*It.I));
    return K;
  };
  const std::vector<uint64_t> KindA = Kinds(A), KindB = Kinds(B);
  const std::vector<unsigned> LoadA = lastLoads(A), LoadB = lastLoads(B);
  /// For the item of \p Side at (I, J), which has no partner.
  auto Elsewhere = [&](unsigned I, unsigned J, unsigned Side) -> Value * {
    const unsigned At = Side ? LoadA[I] : LoadB[J];
    const Item &It = Side ? B[J] : A[I];
    return !It.I || At == ~0u ? nullptr
                              : elsewhere(*It.I, (Side ? A : B)[At].I);
  };
  /// The straight run that ends before an item, if another region or the end
  /// comes next.
  auto RunBefore = [](ArrayRef<Item> Items, unsigned End) {
    unsigned Count = 0;
    if (End == Items.size() || Items[End].R)
      while (Count != End && !Items[End - 1 - Count].R)
        ++Count;
    return Count;
  };

  At(0, 0)[0].Score = 0;
  Fit Ignored;
  for (unsigned I = 0; I <= N; ++I)
    for (unsigned J = 0; J <= M; ++J)
      for (unsigned State : {0u, 1u}) {
        const double Here = At(I, J)[State].Score;
        if (Here == Never)
          continue;
        if (I < N && J < M && !A[I].R && !B[J].R && KindA[I] == KindB[J])
          if (double S = pairScore(*A[I].I, *B[J].I, Ignored); S != Never)
            Offer(At(I + 1, J + 1)[0], Here + S, State, Step::Both);
        if (I < N && J < M && A[I].R && B[J].R)
          if (auto R = regions(*A[I].R, *B[J].R))
            Offer(At(I + 1, J + 1)[0], Here + R->Saved, State, Step::Regions);
        // The step of a run starts at its first item.
        if (J < M && B[J].R && I < N && !A[I].R && (!I || A[I - 1].R)) {
          unsigned End = I;
          while (End != N && !A[End].R)
            ++End;
          if (RunBefore(A, End) == End - I)
            if (auto R = along(A.slice(I, End - I), *B[J].R, 0))
              Offer(At(End, J + 1)[0], Here + R->Saved, State, Step::Along, 0,
                    End - I);
        }
        if (I < N && A[I].R && J < M && !B[J].R && (!J || B[J - 1].R)) {
          unsigned End = J;
          while (End != M && !B[End].R)
            ++End;
          if (auto R = along(B.slice(J, End - J), *A[I].R, 1))
            Offer(At(I + 1, End)[0], Here + R->Saved, State, Step::Along, 1,
                  End - J);
        }
        for (unsigned Side : {0u, 1u}) {
          if (Side ? J == M : I == N)
            continue;
          const Item &It = Side ? B[J] : A[I];
          auto &To = Side ? At(I, J + 1) : At(I + 1, J);
          Offer(To[1], Here - (State ? 0 : Options.Guard), State, Step::Alone,
                Side);
          if (!State && !It.R && isHarmless(*It.I))
            Offer(To[0], Here - Speculation * Pairs.weightOf(*It.I), State,
                  Step::Alone, Side);
          else if (Value *At = State ? nullptr : Elsewhere(I, J, Side))
            Offer(To[0],
                  Here - SafeLoad * Pairs.weightOf(*It.I) -
                      selectWeight(*At->getType()),
                  State, Step::Alone, Side);
        }
      }

  unsigned I = N, J = M;
  unsigned State = At(N, M)[1].Score > At(N, M)[0].Score;
  Plan.Saved = At(N, M)[State].Score;
  while (I || J) {
    const Cell &C = At(I, J)[State];
    Step S;
    S.What = C.What;
    S.Side = C.Side;
    S.Count = C.Count;
    S.Guarded = State == 1;
    switch (C.What) {
    case Step::Both:
      --I, --J;
      pairScore(*A[I].I, *B[J].I, S.How);
      break;
    case Step::Regions:
      --I, --J;
      S.Inner = regions(*A[I].R, *B[J].R);
      break;
    case Step::Along:
      I -= C.Side ? 1 : C.Count;
      J -= C.Side ? C.Count : 1;
      S.Inner = C.Side ? along(B.slice(J, C.Count), *A[I].R, 1)
                       : along(A.slice(I, C.Count), *B[J].R, 0);
      break;
    case Step::Alone:
      --(C.Side ? J : I);
      if (!S.Guarded && !isHarmless(*(C.Side ? B[J] : A[I]).I))
        S.Elsewhere = Elsewhere(I, J, C.Side);
      break;
    }
    S.Item = {I, J};
    State = C.From;
    Plan.Steps.push_back(std::move(S));
  }
  std::reverse(Plan.Steps.begin(), Plan.Steps.end());
  // An address that is known behind a guard or on a path only is none.
  std::array<DenseSet<unsigned>, 2> Hidden;
  for (Step &S : Plan.Steps) {
    const auto [X, Y] = S.Item;
    if (S.What == Step::Along)
      for (unsigned K = 0; K != S.Count; ++K)
        Hidden[S.Side].insert(S.Item[S.Side] + K);
    if (S.What != Step::Alone)
      continue;
    if (S.Elsewhere &&
        Hidden[1 - S.Side].contains(S.Side ? LoadA[X] : LoadB[Y])) {
      S.Elsewhere = nullptr;
      S.Guarded = true;
    }
    if (S.Guarded)
      Hidden[S.Side].insert(S.Item[S.Side]);
  }
  return Plan;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

SmallVector<PhiPair, 4>
Aligner::pairPhis(BasicBlock *A, BasicBlock *B,
                  const DenseMap<const BasicBlock *, const BasicBlock *> &Meets,
                  double &Saved) const {
  SmallVector<PhiPair, 4> Result;
  SmallVector<PHINode *, 8> Left;
  if (B)
    for (PHINode &Q : B->phis())
      Left.push_back(&Q);
  if (A)
    for (PHINode &P : A->phis()) {
      int Best = -1;
      unsigned BestSame = 0;
      for (auto [At, Q] : enumerate(Left)) {
        if (Q->getType() != P.getType() || !sameHome(P, *Q))
          continue;
        unsigned Same = 0;
        for (unsigned K = 0; K != P.getNumIncomingValues(); ++K) {
          const BasicBlock *Other = Meets.lookup(P.getIncomingBlock(K));
          int At = Other ? Q->getBasicBlockIndex(Other) : -1;
          Same += At >= 0 &&
                  Pairs.same(*P.getIncomingValue(K), *Q->getIncomingValue(At));
        }
        if (Best < 0 || Same > BestSame) {
          Best = int(At);
          BestSame = Same;
        }
      }
      Result.push_back({&P, Best < 0 ? nullptr : Left[Best]});
      if (Best < 0)
        continue;
      Left.erase(Left.begin() + Best);
      // Selects before the branches that come in.
      Saved -=
          (P.getNumIncomingValues() - BestSame) * selectWeight(*P.getType());
      Saved += 0.25;
    }
  for (PHINode *Q : Left)
    Result.push_back({nullptr, Q});
  return Result;
}

std::shared_ptr<const RegionPlan> Aligner::regions(const Region &A,
                                                   const Region &B) {
  auto [Entry, New] = Known.try_emplace({&A, &B}, nullptr);
  if (!New)
    return Entry->second;
  const Shape Found = sameShape(A, B);
  if (Found.empty())
    return nullptr;
  auto Plan = std::make_shared<RegionPlan>();
  for (const NodePair &Pair : Found) {
    Plan->Nodes.emplace_back();
    Plan->Nodes.back().Number = Pair.Number;
    Plan->Nodes.back().Swapped = Pair.Swapped;
  }
  const auto Meets = meetingBlocks(*Plan, A, B);
  const double Outside = Times;
  if (A.Cyclic)
    Times *= LoopFactor;
  for (NodePlan &This : Plan->Nodes) {
    const Node &N = A.Nodes[This.Number[0]], &M = B.Nodes[This.Number[1]];
    This.Phis = pairPhis(N.Code.First, M.Code.First, Meets, Plan->Saved);
    This.Code = align(N.Code.Items, M.Code.Items);
    Plan->Saved += This.Code.Saved;
    if (N.Succs.size() < 2)
      continue;
    Plan->Saved += BranchWeight;
    const Value &X = *conditionOf(*N.Code.terminator()),
                &Y = *conditionOf(*M.Code.terminator());
    if (!Pairs.sameCondition(X, Y, This.Swapped))
      Plan->Saved -= selectWeight(*X.getType());
  }
  Times = Outside;
  if (A.Cyclic)
    Plan->Saved *= LoopFactor;
  Plan->ExitPhis = pairPhis(A.After, B.After, Meets, Plan->Saved);
  return Known[{&A, &B}] = Plan;
}

/// Of the nodes of \p R, the one whose code is most like the run's.
std::shared_ptr<const RegionPlan>
Aligner::along(ArrayRef<Item> Run, const Region &R, unsigned Side) {
  auto [Entry, New] = KnownRuns.try_emplace({Run.data(), &R}, nullptr);
  if (!New)
    return Entry->second;
  if (R.Cyclic || R.Nodes.size() > MaxNodes)
    return nullptr;
  auto Both = [&](ArrayRef<Item> Mine, ArrayRef<Item> Regions) {
    return Side ? align(Regions, Mine) : align(Mine, Regions);
  };
  const unsigned Count = R.Nodes.size(), Other = 1 - Side;
  // The first way to each node, and from it to the exit; no node twice, as
  // there are no cycles.
  constexpr unsigned None = ~0u - 1;
  std::vector<std::pair<unsigned, unsigned>> From(Count, {None, 0});
  std::vector<unsigned> Out(Count, None), Depth;
  SmallVector<unsigned, 16> Order{0};
  for (unsigned At = 0; At != Order.size(); ++At)
    for (auto [K, To] : enumerate(R.Nodes[Order[At]].Succs))
      if (To != Node::Exit && To && From[To].first == None) {
        From[To] = {Order[At], unsigned(K)};
        Order.push_back(To);
      }
  std::vector<bool> Leads(Count, false);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned N : reverse(Order))
      for (auto [K, To] : enumerate(R.Nodes[N].Succs))
        if (!Leads[N] && (To == Node::Exit || Leads[To])) {
          Leads[N] = Changed = true;
          Out[N] = unsigned(K);
        }
  }

  std::shared_ptr<RegionPlan> Best;
  for (unsigned N : Order) {
    if (!Leads[N] || R.Nodes[N].Code.Items.empty() || tooLarge())
      continue;
    auto Plan = std::make_shared<RegionPlan>();
    Plan->RunNode = N;
    Plan->Nodes.resize(Count);
    for (unsigned K = 0; K != Count; ++K)
      Plan->Nodes[K].Number[Other] = K;
    auto Pass = [&](unsigned K, unsigned By) {
      Plan->Nodes[K].OnPath = true;
      Plan->Nodes[K].Forced = By;
      const size_t Ways = R.Nodes[K].Succs.size();
      Plan->Saved -= Ways > 1 ? 1 : 0;
      return Ways <= 2; // a switch cannot be forced by one more test
    };
    bool Possible = true;
    for (unsigned K = N; K; K = From[K].first)
      Possible &= Pass(From[K].first, From[K].second);
    for (unsigned K = N; K != Node::Exit; K = R.Nodes[K].Succs[Out[K]])
      Possible &= Pass(K, Out[K]);
    if (!Possible)
      continue;
    for (unsigned K = 0; K != Count; ++K) {
      NodePlan &This = Plan->Nodes[K];
      if (!This.OnPath)
        continue;
      This.Code = Both(K == N ? Run : ArrayRef<Item>(), R.Nodes[K].Code.Items);
      Plan->Saved += This.Code.Saved;
    }
    if (!Best || Plan->Saved > Best->Saved)
      Best = std::move(Plan);
  }
  if (Best && Best->Saved <= 0)
    return nullptr;
  return KnownRuns[{Run.data(), &R}] = Best;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

unsigned Aligner::learn(const SequencePlan &Plan) {
  Steps = 0;
  Known.clear();
  KnownRuns.clear();
  return Pairs.learn(Plan);
}

bool alignArms(MeldPlan &Plan, const MeldOptions &Options) {
  ArrayRef<Item> A = Plan.Arms[0].Items, B = Plan.Arms[1].Items;
  Aligner Align(Plan, Options);
  Plan.Before = Align.weightOf(A) + Align.weightOf(B);
  double Best = Never;
  for (int Round = 0; Round != 4; ++Round) {
    SequencePlan Next = Align.align(A, B);
    if (Align.tooLarge())
      return false;
    const unsigned Melded = Align.learn(Next);
    Next.Saved = Align.priceOf(Next);
    if (Next.Saved < Best) // of equals, the one that knew more
      continue;
    Best = Next.Saved;
    Plan.Code = std::move(Next);
    Plan.Melded = Melded;
  }
  return true;
}

} // namespace reconverge::remedies::meld
