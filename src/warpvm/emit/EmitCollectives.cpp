//===- warpvm/emit/EmitCollectives.cpp - Operations of a warp or a block --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives need no code of their own to synchronise: the plan either proved
// that all remaining lanes are here, or put the call at the head of a region
// that the scheduler enters once the named lanes have come. PTX's formulas for
// shuffles speak of 32 lanes; with a warp of 64 each half is on its own.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
struct ShuffleKind {
  enum { Up, Down, Butterfly, Index } Mode;
  bool Predicate;
};
} // namespace

static std::optional<ShuffleKind> shuffleKind(Intrinsic::ID Id) {
#define SHUFFLE(NAME, MODE)                                                    \
  case Intrinsic::nvvm_shfl_sync_##NAME##_i32:                                 \
  case Intrinsic::nvvm_shfl_sync_##NAME##_f32:                                 \
    return ShuffleKind{ShuffleKind::MODE, false};                              \
  case Intrinsic::nvvm_shfl_sync_##NAME##_i32p:                                \
  case Intrinsic::nvvm_shfl_sync_##NAME##_f32p:                                \
    return ShuffleKind{ShuffleKind::MODE, true};
  switch (Id) {
    SHUFFLE(up, Up)
    SHUFFLE(down, Down)
    SHUFFLE(bfly, Butterfly)
    SHUFFLE(idx, Index)
  default:
    return std::nullopt;
  }
#undef SHUFFLE
}

/// PTX ISA, shfl.sync: operands (members, value, b, c).
void RegionEmitter::emitShuffle(IntrinsicInst &I) {
  auto Kind = *shuffleKind(I.getIntrinsicID());
  Value *X = vec(I.getArgOperand(1));
  auto K = [&](uint32_t N) { return splat(B.getInt32(N)); };
  Value *Lane = B.CreateAnd(laneIds(I32), K(31));
  Value *Offset = B.CreateAnd(vec(I.getArgOperand(2)), K(31));
  Value *Clamp = vec(I.getArgOperand(3));
  Value *Segment = B.CreateAnd(B.CreateLShr(Clamp, K(8)), K(31));
  Clamp = B.CreateAnd(Clamp, K(31));
  Value *Min = B.CreateAnd(Lane, Segment);
  Value *Max = B.CreateOr(Min, B.CreateAnd(Clamp, B.CreateNot(Segment)));
  Value *From = nullptr, *InRange = nullptr;
  switch (Kind.Mode) {
  case ShuffleKind::Up:
    From = B.CreateSub(Lane, Offset);
    InRange = B.CreateICmpSGE(From, Max);
    break;
  case ShuffleKind::Down:
    From = B.CreateAdd(Lane, Offset);
    InRange = B.CreateICmpSLE(From, Max);
    break;
  case ShuffleKind::Butterfly:
    From = B.CreateXor(Lane, Offset);
    InRange = B.CreateICmpSLE(From, Max);
    break;
  case ShuffleKind::Index:
    From = B.CreateOr(Min, B.CreateAnd(Offset, B.CreateNot(Segment)));
    InRange = B.CreateICmpSLE(From, Max);
    break;
  }
  From = B.CreateSelect(InRange, From, Lane);
  From = B.CreateAdd(From, B.CreateAnd(laneIds(I32), K(~31u)));
  Value *Result;
  if (auto *Fixed = dyn_cast<Constant>(From)) {
    SmallVector<int> Order;
    for (unsigned L = 0; L < W; ++L)
      Order.push_back(
          cast<ConstantInt>(Fixed->getAggregateElement(L))->getZExtValue());
    Result = B.CreateShuffleVector(X, Order);
  } else {
    Type *T = X->getType()->getScalarType();
    Value *Array = spill(X);
    From = B.CreateSelect(maskVector(M), From, K(0));
    Result = B.CreateMaskedGather(
        cast<VectorType>(X->getType()),
        B.CreateGEP(T, Array,
                    B.CreateSExt(B.CreateFreeze(From), vectorOf(I64))),
        Align(4), maskVector(M));
  }
  if (Kind.Predicate)
    define(&I, {false, {Result, InRange}});
  else
    define(&I, {false, {Result}});
}

/// The member mask is the constant that names every lane.
static bool namesAll(const Value *Members) {
  auto *K = dyn_cast<ConstantInt>(Members);
  return K && K->isMinusOne();
}

static std::optional<ReductionKind> reductionKind(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_redux_sync_add:
    return ReductionKind{Reduction::Add, Intrinsic::vector_reduce_add, 0};
  case Intrinsic::nvvm_redux_sync_and:
    return ReductionKind{Reduction::And, Intrinsic::vector_reduce_and, ~0u};
  case Intrinsic::nvvm_redux_sync_or:
    return ReductionKind{Reduction::Or, Intrinsic::vector_reduce_or, 0};
  case Intrinsic::nvvm_redux_sync_xor:
    return ReductionKind{Reduction::Xor, Intrinsic::vector_reduce_xor, 0};
  case Intrinsic::nvvm_redux_sync_umin:
    return ReductionKind{Reduction::UMin, Intrinsic::vector_reduce_umin, ~0u};
  case Intrinsic::nvvm_redux_sync_umax:
    return ReductionKind{Reduction::UMax, Intrinsic::vector_reduce_umax, 0};
  case Intrinsic::nvvm_redux_sync_min:
    return ReductionKind{Reduction::Min, Intrinsic::vector_reduce_smin,
                         uint32_t(INT32_MAX)};
  case Intrinsic::nvvm_redux_sync_max:
    return ReductionKind{Reduction::Max, Intrinsic::vector_reduce_smax,
                         uint32_t(INT32_MIN)};
  default:
    return std::nullopt;
  }
}

/// <W x i1>: lanes 32 to 63.
Value *RegionEmitter::inSecondGroup() {
  return B.CreateICmpUGE(laneIds(I32), splat(B.getInt32(32)));
}

/// The part of \p Bits, one a lane, that is group \p G of 32 lanes.
Value *RegionEmitter::groupBits(Value *Bits, unsigned G) {
  return W == 32 ? Bits
                 : B.CreateTrunc(B.CreateLShr(Bits, uint64_t(32 * G)), I32);
}

/// For each lane, the part of \p Bits that is its group.
Value *RegionEmitter::ownGroupBits(Value *Bits) {
  if (W == 32)
    return splat(Bits);
  return B.CreateSelect(inSecondGroup(), splat(groupBits(Bits, 1)),
                        splat(groupBits(Bits, 0)));
}

/// Defines \p I by a result for each group, which \p Of makes of the group's
/// number and its active lanes.
void RegionEmitter::definePerGroup(
    IntrinsicInst &I, function_ref<Value *(unsigned, Value *)> Of) {
  if (W == 32) {
    define(&I, {true, {Of(0, M)}});
    return;
  }
  Value *Low = Of(0, groupBits(M, 0)), *High = Of(1, groupBits(M, 1));
  define(&I,
         {false, {B.CreateSelect(inSecondGroup(), splat(High), splat(Low))}});
}

/// \p Of makes the vote of the members whose predicate is true and of the
/// members: a lane's own, or all that are here if the mask names all.
void RegionEmitter::emitVote(IntrinsicInst &I,
                             function_ref<Value *(Value *, Value *)> Of) {
  Value *P = B.CreateAnd(maskBits(vec(I.getArgOperand(1))), M);
  if (namesAll(membersOf(I)))
    return definePerGroup(
        I, [&](unsigned G, Value *Here) { return Of(groupBits(P, G), Here); });
  Value *Members = vec(membersOf(I));
  define(&I, {false,
              {Of(B.CreateAnd(ownGroupBits(P), Members),
                  B.CreateAnd(ownGroupBits(M), Members))}});
}

void RegionEmitter::emitReduction(IntrinsicInst &I, const ReductionKind &Kind) {
  Value *X = vec(I.getArgOperand(0));
  if (!namesAll(membersOf(I))) {
    Value *Values = spill(X), *Members = spill(vec(membersOf(I)));
    Value *Result = spill(Constant::getNullValue(vectorOf(I32)));
    B.CreateCall(
        helper("rcvm_redux", B.getVoidTy(), {I32, PtrTy, PtrTy, PtrTy, I64}),
        {B.getInt32(uint32_t(Kind.Operation)), Result, Values, Members,
         B.CreateZExt(M, I64)});
    define(&I,
           {false, {B.CreateAlignedLoad(vectorOf(I32), Result, Align(64))}});
    return;
  }
  X = B.CreateSelect(maskVector(M), X, splat(B.getInt32(Kind.Neutral)));
  definePerGroup(I, [&](unsigned G, Value *) -> Value * {
    SmallVector<int> Half;
    for (unsigned L = 0; L < 32; ++L)
      Half.push_back(32 * G + L);
    Value *Y = W == 32 ? X : B.CreateShuffleVector(X, Half);
    return B.CreateUnaryIntrinsic(Kind.OnVectors, Y);
  });
}

/// match.any, or match.all, which also says whether there is a match.
void RegionEmitter::emitMatch(IntrinsicInst &I) {
  bool All = I.getType()->isStructTy();
  Value *Members = spill(vec(membersOf(I)));
  Value *Keys = spill(B.CreateZExt(vec(I.getArgOperand(1)), vectorOf(I64)));
  Value *Result = spill(Constant::getNullValue(vectorOf(I32)));
  B.CreateCall(helper(All ? "rcvm_match_all" : "rcvm_match_any", B.getVoidTy(),
                      {PtrTy, PtrTy, PtrTy, I64}),
               {Result, Keys, Members, B.CreateZExt(M, I64)});
  Value *Masks = B.CreateAlignedLoad(vectorOf(I32), Result, Align(64));
  if (All)
    define(&I, {false, {Masks, B.CreateIsNotNull(Masks)}});
  else
    define(&I, {false, {Masks}});
}

bool RegionEmitter::emitCollective(IntrinsicInst &I) {
  const Intrinsic::ID Id = I.getIntrinsicID();
  if (shuffleKind(Id)) {
    emitShuffle(I);
    return true;
  }
  if (std::optional<ReductionKind> Kind = reductionKind(Id)) {
    emitReduction(I, *Kind);
    return true;
  }
  switch (Id) {
  case Intrinsic::nvvm_bar_warp_sync:
    return true;
  case Intrinsic::nvvm_activemask:
    definePerGroup(I, [&](unsigned, Value *Active) { return Active; });
    return true;
  case Intrinsic::nvvm_vote_ballot_sync:
    emitVote(I, [&](Value *True, Value *) { return True; });
    return true;
  case Intrinsic::nvvm_vote_all_sync:
    emitVote(I, [&](Value *True, Value *Members) {
      return B.CreateICmpEQ(True, Members);
    });
    return true;
  case Intrinsic::nvvm_vote_any_sync:
    emitVote(I, [&](Value *True, Value *) { return B.CreateIsNotNull(True); });
    return true;
  case Intrinsic::nvvm_vote_uni_sync:
    emitVote(I, [&](Value *True, Value *Members) {
      return B.CreateOr(B.CreateICmpEQ(True, Members), B.CreateIsNull(True));
    });
    return true;
  case Intrinsic::nvvm_match_any_sync_i32:
  case Intrinsic::nvvm_match_any_sync_i64:
  case Intrinsic::nvvm_match_all_sync_i32p:
  case Intrinsic::nvvm_match_all_sync_i64p:
    emitMatch(I);
    return true;
  default:
    return false;
  }
}

/// The product of matrices over the lanes (Tiles.h): registers of idle lanes
/// are zero.
void RegionEmitter::emitTileProduct(CallInst &I, uint64_t Form) {
  auto Array = [&](unsigned Count, Type *Register) {
    IRBuilder<> Entry(EntryBB, EntryBB->begin());
    auto *A = Entry.CreateAlloca(ArrayType::get(vectorOf(Register), Count));
    A->setAlignment(Align(64));
    return A;
  };
  Type *Register = I.getArgOperand(0)->getType();
  auto Slot = [&](Value *A, unsigned N) {
    return B.CreateConstInBoundsGEP1_64(vectorOf(Register), A, N);
  };
  const unsigned Results = cast<StructType>(I.getType())->getNumElements();
  Value *In = Array(I.arg_size(), Register), *Out = Array(Results, Register);
  for (auto [N, Arg] : enumerate(I.args())) {
    Value *X = vec(Arg);
    X = B.CreateSelect(maskVector(M), X, Constant::getNullValue(X->getType()));
    B.CreateAlignedStore(X, Slot(In, N), Align(64));
  }
  B.CreateCall(
      helper("rcvm_tile_product", B.getVoidTy(), {I64, I32, PtrTy, PtrTy}),
      {B.getInt64(Form), B.getInt32(W), Out, In});
  Lanes D;
  for (unsigned N = 0; N != Results; ++N)
    D.Parts.push_back(
        B.CreateAlignedLoad(vectorOf(Register), Slot(Out, N), Align(64)));
  define(&I, D);
}

/// The barrier itself is the edge out of this block. A reduction leaves the
/// lanes' predicates for the scheduler and is read behind the barrier.
void RegionEmitter::emitBarrier(IntrinsicInst &I) {
  if (I.arg_empty())
    return;
  if (I.getType()->isVoidTy()) {
    // A named barrier: which one, and for how many threads.
    Value *Named = B.CreateAnd(vec(I.getArgOperand(0)),
                               splat(B.getInt32(NumBarriers - 1)));
    if (I.arg_size() > 1)
      Named = B.CreateOr(Named, B.CreateMul(vec(I.getArgOperand(1)),
                                            splat(B.getInt32(NumBarriers))));
    Value *Slot = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Ctx,
                                               offsetof(WarpContext, Barriers));
    Value *Old = B.CreateAlignedLoad(vectorOf(I32), Slot, Align(4));
    B.CreateAlignedStore(B.CreateSelect(maskVector(M), Named, Old), Slot,
                         Align(4));
    return;
  }
  Value *P = B.CreateConstInBoundsGEP1_64(
      B.getInt8Ty(), Ctx, offsetof(WarpContext, BarrierPredicate));
  Value *True = B.CreateIsNotNull(vec(I.getArgOperand(0)));
  Value *Bits = B.CreateZExt(B.CreateAnd(maskBits(True), M), I64);
  Value *Others =
      B.CreateAnd(B.CreateLoad(I64, P), B.CreateNot(B.CreateZExt(M, I64)));
  B.CreateStore(B.CreateOr(Others, Bits), P);
}

} // namespace reconverge::warpvm
