//===- remedies/remap/Places.cpp - Who goes where ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread needs the place that its state goes to, and the first place of
// each path. Which path a thread has become follows from its place and those.
//
// warp_aggregated, automatic (ours)
//
//     ballots of the paths                counts[path][warp], written by the
//     barrier, counts mixed warps         warp's first lane
//     sum                                 place = first place of my path
//                                           + its threads in warps before mine
//                                           + those in lanes before mine
//
//   With at most one warp of several paths no order is better, and `automatic`
//   moves nothing.
//
//   Of blocks of one size FullWarps.cpp has a shorter form.
//
// data_group_indexing (the paper's)
//
//     counts[path][part] = 0              parts of N threads
//     paths[thread] = mine
//     barrier
//     add 1 to my count                   an atomic operation a thread
//     barrier, counts who differs         from the first thread
//     sum                                 as above, of parts
//     walk                                paths[] of those before me in mine
//
//   In the paper a thread walks to the one whose data it takes over. Ours have
//   state to hand over, so each walks to the place of its own: the same counts,
//   sums and order, from the other end.
//
// head_or_tail (the paper's)
//
//     head = 0, tail = last               by thread 0
//     barrier, counts path 0
//     place = head++ or tail--            an atomic operation a thread
//
//   Two paths; the order of threads is lost. There is no sum: the barrier has
//   told where path 1 starts.
//
// Sums: each lane reads the count of one part (a warp, or N neighbours),
// and one addition over the warp (redux) makes two sums at once, for no count
// exceeds 1024. All go round until all counts are read; a partial last warp has
// fewer lanes. Where lanes of a warp are of several parts, and before sm_80,
// which lacks redux, each lane reads them all, as in the paper. Of the last
// path there are as many as are left.
//
// Counts are written, added to and read before the last barrier of the round,
// and not at all behind a vote that moves nothing. So the next round may reset
// them at once, of whatever algorithm both are, and all share memory.
//
// Paper: H. Lin, C.-L. Wang, H. Liu, "On-GPU Thread-Data Remapping for Branch
// Divergence Reduction", ACM TACO 15(3), 2018.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Places.h"

#include "analysis/device/Architecture.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::remap {

static constexpr unsigned Warps = 32, FirstWithRedux = 80;

Value *Places::pathAt(Value *Place) {
  Value *Path = B.getInt32(0);
  for (Value *First : Start)
    Path = B.CreateAdd(
        Path, B.CreateZExt(B.CreateICmpUGE(Place, First), B.getInt32Ty()));
  return Path;
}

namespace {
class HeadOrTail : public Places {
public:
  HeadOrTail(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
             Value *Counts)
      : Places(B, Plan, Mine, Counts) {}
  Value *vote() override;
  Value *place() override;

private:
  Value *Tail = nullptr, *IsFirst = nullptr;
};

/// By counts of the parts of a block, for each path but the last.
class Counted : public Places {
public:
  Value *place() override;

protected:
  Counted(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
          Value *Counts, Type *Count, unsigned PartThreads, unsigned Parts);
  Value *atCount(Value *Path, Value *Part) {
    return B.CreateGEP(Count, Counts,
                       B.CreateAdd(Part, B.CreateMul(Path, B.getInt32(Parts))));
  }
  /// Threads of this thread's path before it in its part.
  virtual Value *rank() = 0;

  Value *Part;           ///< this thread's
  Value *Lane, *Members; ///< of the warp
  std::vector<Value *> Is;

private:
  void sum();

  Type *Count;                 ///< of a count
  unsigned PartThreads, Parts; ///< Parts: those that there is memory for
  /// Of each path but the last: its count, and << 16 that of earlier parts.
  std::vector<Value *> Both;
};

class WarpAggregated : public Counted {
public:
  WarpAggregated(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
                 Value *Counts)
      : Counted(B, Plan, Mine, Counts, B.getInt8Ty(), 32, Warps) {}
  Value *vote() override;

private:
  Value *rank() override;
  Value *Same = nullptr; ///< lanes of this thread's path
};

class DataGroupIndexing : public Counted {
public:
  DataGroupIndexing(RoundBuilder &B, const RoundPlan &Plan,
                    const Standing &Mine, Value *Counts)
      : Counted(B, Plan, Mine, Counts, B.getInt32Ty(), Plan.Neighbours,
                Plan.neighbourhoods()) {}
  Value *vote() override;

private:
  void reset();
  Value *rank() override;
  Value *atPath(Value *Thread) {
    return B.CreateGEP(B.getInt8Ty(), Counts,
                       B.CreateAdd(Thread, B.getInt32(Plan.counterBytes())));
  }
};
} // namespace

Value *HeadOrTail::vote() {
  Tail = B.CreateGEP(B.getInt32Ty(), Counts, B.getInt32(1));
  BasicBlock *Ends = B.block("remap.ends"), *Vote = B.block("remap.vote");
  B.branch(B.CreateICmpEQ(Mine.Thread, B.getInt32(0)), Ends, Vote);

  B.SetInsertPoint(Ends);
  B.CreateStore(B.getInt32(0), Counts);
  B.CreateStore(B.CreateSub(Mine.Threads, B.getInt32(1)), Tail);
  B.CreateBr(Vote);

  B.SetInsertPoint(Vote);
  IsFirst = B.CreateICmpEQ(Mine.Path, B.getInt32(0));
  Value *Heads = B.call(Intrinsic::nvvm_barrier0_popc,
                        {B.CreateZExt(IsFirst, B.getInt32Ty())});
  Start.push_back(Heads);
  return B.CreateAnd(B.CreateICmpNE(Heads, B.getInt32(0)),
                     B.CreateICmpNE(Heads, Mine.Threads));
}

Value *HeadOrTail::place() {
  return B.CreateAtomicRMW(
      AtomicRMWInst::Add, B.CreateSelect(IsFirst, Counts, Tail),
      B.CreateSelect(IsFirst, B.getInt32(1), B.getInt32(-1)), Align(4),
      AtomicOrdering::Monotonic);
}

Counted::Counted(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
                 Value *Counts, Type *Count, unsigned PartThreads,
                 unsigned Parts)
    : Places(B, Plan, Mine, Counts), Count(Count), PartThreads(PartThreads),
      Parts(Parts) {
  Part = B.CreateLShr(Mine.Thread, Log2_32(PartThreads));
  Lane = B.CreateAnd(Mine.Thread, B.getInt32(31));
  Members = B.getInt32(~0u);
  // The last warp may have fewer lanes.
  if (!Plan.Exact) {
    Value *Left = B.CreateSub(Mine.Threads, B.CreateSub(Mine.Thread, Lane));
    Members = B.CreateSelect(
        B.CreateICmpULT(Left, B.getInt32(32)),
        B.CreateSub(B.CreateShl(B.getInt32(1), Left), B.getInt32(1)), Members);
  }
  for (unsigned P = 0; P + 1 < Plan.groups(); ++P)
    Is.push_back(B.CreateICmpEQ(Mine.Path, B.getInt32(P)));
}

static bool hasRedux(const Function &F) {
  return analysis::architectureOf(F).value_or(0) >= FirstWithRedux;
}

/// Adds up the counts of all parts, and of those before this thread's.
void Counted::sum() {
  const bool Together = PartThreads >= 32 && hasRedux(*B.Tail->getParent());
  Type *I32 = B.getInt32Ty();
  Value *Zero = B.getInt32(0);
  Value *There =
      B.CreateLShr(B.CreateAdd(Mine.Threads, B.getInt32(PartThreads - 1)),
                   Log2_32(PartThreads));
  Value *Step = Together ? B.count(Members) : B.getInt32(1);
  BasicBlock *Enter = B.GetInsertBlock(), *Sum = B.block("remap.sum"),
             *Give = B.block("remap.give");
  B.CreateBr(Sum);

  B.SetInsertPoint(Sum);
  PHINode *Base = B.CreatePHI(I32, 2);
  std::vector<PHINode *> Until;
  for (unsigned P = 0; P < Is.size(); ++P)
    Until.push_back(B.CreatePHI(I32, 2));
  Value *Of = Together ? B.CreateAdd(Base, Lane) : Base;
  Value *IsThere = B.CreateICmpULT(Of, There);
  Value *IsBefore = B.CreateICmpULT(Of, Part);
  Of = B.CreateSelect(IsThere, Of, Zero);
  Value *Next = B.CreateAdd(Base, Step);
  for (auto [P, Phi] : enumerate(Until)) {
    Value *Here = B.CreateZExtOrBitCast(
        B.CreateLoad(Count, atCount(B.getInt32(P), Of)), I32);
    Here = B.CreateSelect(IsThere, Here, Zero);
    Value *Too =
        B.CreateSelect(IsBefore, B.CreateShl(Here, B.getInt32(16)), Zero);
    Both.push_back(B.CreateAdd(Phi, B.CreateOr(Here, Too)));
    Phi->addIncoming(Zero, Enter);
    Phi->addIncoming(Both.back(), Sum);
  }
  Base->addIncoming(Zero, Enter);
  Base->addIncoming(Next, Sum);
  B.branch(B.CreateICmpULT(Next, There), Sum, Give);

  B.SetInsertPoint(Give);
  if (Together)
    for (Value *&Each : Both)
      Each = B.call(Intrinsic::nvvm_redux_sync_add, {Each, Members});
}

Value *Counted::place() {
  sum();
  Value *First = B.getInt32(0);
  // Threads in earlier parts: those of the last path are what is left.
  Value *Left = B.CreateShl(Part, Log2_32(PartThreads));
  std::vector<Value *> Places;
  for (Value *Each : Both) {
    Value *Earlier = B.CreateLShr(Each, B.getInt32(16));
    Places.push_back(B.CreateAdd(First, Earlier));
    Left = B.CreateSub(Left, Earlier);
    First = B.CreateAdd(First, B.CreateAnd(Each, B.getInt32(0xffff)));
    Start.push_back(First);
  }
  Value *Place = B.CreateAdd(First, Left);
  for (auto [Is, Here] : zip(Is, Places))
    Place = B.CreateSelect(Is, Here, Place);
  return B.CreateAdd(Place, rank());
}

Value *WarpAggregated::vote() {
  std::vector<Value *> Lanes;
  Value *Voted = B.getInt32(0);
  for (Value *Each : Is) {
    Lanes.push_back(B.call(Intrinsic::nvvm_vote_ballot_sync, {Members, Each}));
    Voted = B.CreateOr(Voted, Lanes.back());
  }
  Same = B.CreateXor(Members, Voted);
  for (auto [Is, Lanes] : zip(Is, Lanes))
    Same = B.CreateSelect(Is, Lanes, Same);
  Value *Pure = B.CreateICmpEQ(Same, Members);
  Value *First = B.CreateICmpEQ(Lane, B.getInt32(0));
  BasicBlock *Write = B.block("remap.count"), *Vote = B.block("remap.vote");
  B.branch(First, Write, Vote);

  B.SetInsertPoint(Write);
  for (auto [P, Lanes] : enumerate(Lanes))
    B.CreateStore(B.CreateTrunc(B.count(Lanes), B.getInt8Ty()),
                  atCount(B.getInt32(P), Part));
  B.CreateBr(Vote);

  B.SetInsertPoint(Vote);
  Value *Mixed = B.call(
      Intrinsic::nvvm_barrier0_popc,
      {B.CreateZExt(B.CreateAnd(First, B.CreateNot(Pure)), B.getInt32Ty())});
  const unsigned Good = Plan.Algorithm == RemapAlgorithm::Automatic;
  return B.CreateICmpUGT(Mixed, B.getInt32(Good));
}

Value *WarpAggregated::rank() {
  Value *Lower = B.CreateSub(B.CreateShl(B.getInt32(1), Lane), B.getInt32(1));
  return B.count(B.CreateAnd(Same, Lower));
}

/// All counts, by all threads.
void DataGroupIndexing::reset() {
  Type *I32 = B.getInt32Ty();
  Value *All = B.getInt32(Is.size() * Plan.neighbourhoods());
  BasicBlock *Enter = B.GetInsertBlock(), *Head = B.block("remap.more"),
             *Reset = B.block("remap.reset"), *Done = B.block("remap.count");
  B.CreateBr(Head);

  B.SetInsertPoint(Head);
  PHINode *At = B.CreatePHI(I32, 2);
  B.branch(B.CreateICmpULT(At, All), Reset, Done);

  B.SetInsertPoint(Reset);
  B.CreateStore(B.getInt32(0), B.CreateGEP(I32, Counts, At));
  At->addIncoming(Mine.Thread, Enter);
  At->addIncoming(B.CreateAdd(At, Mine.Threads), Reset);
  B.CreateBr(Head);
  B.SetInsertPoint(Done);
}

Value *DataGroupIndexing::vote() {
  reset();
  Value *Path = B.CreateTrunc(Mine.Path, B.getInt8Ty());
  B.CreateStore(Path, atPath(Mine.Thread));
  B.call(Intrinsic::nvvm_barrier0);
  Value *Differs =
      B.CreateICmpNE(B.CreateLoad(B.getInt8Ty(), atPath(B.getInt32(0))), Path);
  BasicBlock *Add = B.block("remap.add"), *Vote = B.block("remap.vote");
  B.branch(B.CreateICmpULT(Mine.Path, B.getInt32(Is.size())), Add, Vote);

  B.SetInsertPoint(Add);
  B.CreateAtomicRMW(AtomicRMWInst::Add, atCount(Mine.Path, Part), B.getInt32(1),
                    Align(4), AtomicOrdering::Monotonic);
  B.CreateBr(Vote);

  B.SetInsertPoint(Vote);
  return B.CreateICmpNE(B.call(Intrinsic::nvvm_barrier0_popc,
                               {B.CreateZExt(Differs, B.getInt32Ty())}),
                        B.getInt32(0));
}

Value *DataGroupIndexing::rank() {
  Type *I32 = B.getInt32Ty();
  Value *Path = B.CreateTrunc(Mine.Path, B.getInt8Ty());
  Value *First = B.CreateShl(Part, Log2_32(Plan.Neighbours));
  BasicBlock *Enter = B.GetInsertBlock(), *Head = B.block("remap.rank"),
             *Walk = B.block("remap.walk"), *Done = B.block("remap.walked");
  B.CreateBr(Head);

  B.SetInsertPoint(Head);
  PHINode *At = B.CreatePHI(I32, 2), *Rank = B.CreatePHI(I32, 2);
  B.branch(B.CreateICmpULT(At, Mine.Thread), Walk, Done);

  B.SetInsertPoint(Walk);
  Value *IsOne = B.CreateICmpEQ(B.CreateLoad(B.getInt8Ty(), atPath(At)), Path);
  At->addIncoming(First, Enter);
  At->addIncoming(B.CreateAdd(At, B.getInt32(1)), Walk);
  Rank->addIncoming(B.getInt32(0), Enter);
  Rank->addIncoming(B.CreateAdd(Rank, B.CreateZExt(IsOne, I32)), Walk);
  B.CreateBr(Head);
  B.SetInsertPoint(Done);
  return Rank;
}

std::unique_ptr<Places> makePlaces(RoundBuilder &B, const RoundPlan &Plan,
                                   const Standing &Mine, Value *Counts) {
  if (Plan.PathAt)
    return makeFullWarps(B, Plan, Mine, Counts);
  switch (Plan.Algorithm) {
  case RemapAlgorithm::HeadOrTail:
    return std::make_unique<HeadOrTail>(B, Plan, Mine, Counts);
  case RemapAlgorithm::DataGroupIndexing:
    return std::make_unique<DataGroupIndexing>(B, Plan, Mine, Counts);
  case RemapAlgorithm::Automatic:
  case RemapAlgorithm::WarpAggregated:
    break;
  }
  return std::make_unique<WarpAggregated>(B, Plan, Mine, Counts);
}

} // namespace reconverge::remedies::remap
