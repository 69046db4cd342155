//===- remedies/remap/FullWarps.cpp - Who goes where, of one size ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Places.cpp says of warp_aggregated and automatic, for blocks that all have
// the same whole warps. Of a warp each of the first lanes looks after a path:
//
//     ballots of the paths' bits          counts[path][warp], written by the
//     barrier, counts mixed warps         path's lane in the warp
//     sum, by the path's lane             four counts of a word at a time
//     scan over the lanes                 first place of the path
//     shuffle                             from the lane of my path:
//                                         place = that + its threads in warps
//                                           before mine + those in lanes before
//
// There are as many ballots as a path's number has bits, and no thread asks for
// all paths. So none knows where each begins, and the path itself moves with the
// state. block_remap of the device library does the same.
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Places.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::remedies::remap {

namespace {
class FullWarps : public Places {
public:
  FullWarps(RoundBuilder &B, const RoundPlan &Plan, const Standing &Mine,
            Value *Counts)
      : Places(B, Plan, Mine, Counts), Warps(Plan.Threads / 32),
        Part(B.CreateLShr(Mine.Thread, 5)),
        Lane(B.CreateAnd(Mine.Thread, B.getInt32(31))) {}
  Value *vote() override;
  Value *place() override;

private:
  Value *lanesOf(Value *Path);
  void sum(Value *Row, Value *&All, Value *&Before);
  Value *shuffle(Intrinsic::ID How, Value *X, Value *By, unsigned Clamp) {
    return B.call(How, {B.getInt32(~0u), X, By, B.getInt32(Clamp)});
  }

  const unsigned Warps;
  Value *Part, *Lane, *Same = nullptr;
  std::vector<Value *> Bits; ///< of all lanes' paths
};
} // namespace

/// The lanes whose path is \p Path.
Value *FullWarps::lanesOf(Value *Path) {
  Value *Lanes = nullptr;
  for (auto [N, Voted] : enumerate(Bits)) {
    Value *Bit = B.CreateAnd(B.CreateLShr(Path, N), B.getInt32(1));
    // All ones turn the votes round for those that lack the bit.
    Value *Agree = B.CreateXor(Voted, B.CreateSub(Bit, B.getInt32(1)));
    Lanes = Lanes ? B.CreateAnd(Lanes, Agree) : Agree;
  }
  return Lanes;
}

Value *FullWarps::vote() {
  const unsigned Groups = Plan.groups();
  for (unsigned N = 0; N < Log2_32_Ceil(Groups); ++N) {
    Value *Has = B.CreateTrunc(B.CreateLShr(Mine.Path, N), B.getInt1Ty());
    Bits.push_back(
        B.call(Intrinsic::nvvm_vote_ballot_sync, {B.getInt32(~0u), Has}));
  }
  Same = lanesOf(Mine.Path);
  BasicBlock *Write = B.block("remap.count"), *Vote = B.block("remap.vote");
  B.branch(B.CreateICmpULT(Lane, B.getInt32(Groups)), Write, Vote);

  B.SetInsertPoint(Write);
  Value *At = B.CreateAdd(B.CreateMul(Lane, B.getInt32(Warps)), Part);
  B.CreateStore(B.CreateTrunc(B.count(lanesOf(Lane)), B.getInt8Ty()),
                B.CreateGEP(B.getInt8Ty(), Counts, At));
  B.CreateBr(Vote);

  B.SetInsertPoint(Vote);
  Value *IsMixed = B.CreateAnd(B.CreateICmpEQ(Lane, B.getInt32(0)),
                               B.CreateICmpNE(Same, B.getInt32(~0u)));
  Value *Mixed = B.call(Intrinsic::nvvm_barrier0_popc,
                        {B.CreateZExt(IsMixed, B.getInt32Ty())});
  const unsigned Good = Plan.Algorithm == RemapAlgorithm::Automatic;
  return B.CreateICmpUGT(Mixed, B.getInt32(Good));
}

/// Of a path's counts, one of a warp each from \p Row on: all, and those of warps
/// before this thread's.
void FullWarps::sum(Value *Row, Value *&All, Value *&Before) {
  Type *I8 = B.getInt8Ty(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  All = Before = B.getInt32(0);
  const Align RowAlign = commonAlignment(Align(16), Warps);
  unsigned W = 0;
  for (; W + 4 <= Warps; W += 4) {
    // A byte of the product is the sum of the word's up to there: 128 at most.
    Value *Word = B.CreateAlignedLoad(I32, B.CreateConstGEP1_32(I8, Row, W),
                                      commonAlignment(RowAlign, W));
    Value *Sums = B.CreateMul(Word, B.getInt32(0x01010101));
    All = B.CreateAdd(All, B.CreateLShr(Sums, 24));
    Value *Of = Part; // how many of the four are before
    if (W)
      Of = B.CreateSub(
          B.CreateBinaryIntrinsic(Intrinsic::umax, Of, B.getInt32(W)),
          B.getInt32(W));
    Of = B.CreateBinaryIntrinsic(Intrinsic::umin, Of, B.getInt32(4));
    Value *From0 = B.CreateShl(B.CreateZExt(Sums, I64), 8);
    Value *Here = B.CreateLShr(From0, B.CreateZExt(B.CreateShl(Of, 3), I64));
    Before = B.CreateAdd(
        Before, B.CreateAnd(B.CreateTrunc(Here, I32), B.getInt32(255)));
  }
  for (; W < Warps; ++W) {
    Value *One =
        B.CreateZExt(B.CreateLoad(I8, B.CreateConstGEP1_32(I8, Row, W)), I32);
    All = B.CreateAdd(All, One);
    Before =
        B.CreateAdd(Before, B.CreateSelect(B.CreateICmpULT(B.getInt32(W), Part),
                                           One, B.getInt32(0)));
  }
}

/// Each lane finds where its path's threads of this warp begin; each thread asks
/// the lane of its path.
Value *FullWarps::place() {
  const unsigned Groups = Plan.groups();
  Value *Path =
      B.CreateBinaryIntrinsic(Intrinsic::umin, Lane, B.getInt32(Groups - 1));
  Value *All, *Before;
  sum(B.CreateGEP(B.getInt8Ty(), Counts, B.CreateMul(Path, B.getInt32(Warps))),
      All, Before);
  Value *Until = All; // threads of paths up to this one
  for (unsigned Step = 1; Step < Groups; Step *= 2) {
    Value *Lower =
        shuffle(Intrinsic::nvvm_shfl_sync_up_i32, Until, B.getInt32(Step), 0);
    Until = B.CreateAdd(Until,
                        B.CreateSelect(B.CreateICmpULT(Lane, B.getInt32(Step)),
                                       B.getInt32(0), Lower));
  }
  Value *First = B.CreateAdd(B.CreateSub(Until, All), Before);
  Value *Lower = B.CreateSub(B.CreateShl(B.getInt32(1), Lane), B.getInt32(1));
  return B.CreateAdd(
      shuffle(Intrinsic::nvvm_shfl_sync_idx_i32, First, Mine.Path, 31),
      B.count(B.CreateAnd(Same, Lower)));
}

std::unique_ptr<Places> makeFullWarps(RoundBuilder &B, const RoundPlan &Plan,
                                      const Standing &Mine, Value *Counts) {
  return std::make_unique<FullWarps>(B, Plan, Mine, Counts);
}

} // namespace reconverge::remedies::remap
