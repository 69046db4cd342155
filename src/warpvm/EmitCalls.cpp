//===- warpvm/EmitCalls.cpp - Intrinsics and library calls ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives need no code of their own to synchronise: the plan either proved
// that all remaining lanes are here, or put the call at the head of a region
// that the scheduler enters once the named lanes have come. PTX's formulas for
// shuffles speak of 32 lanes; with a warp of 64 each half is on its own.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Emitter.h"
#include "warpvm/Library.h"
#include "warpvm/Math.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::warpvm {

FunctionCallee RegionEmitter::helper(StringRef Name, Type *Result,
                                     ArrayRef<Type *> Arguments) {
  auto Callee = Out.getOrInsertFunction(
      Name, FunctionType::get(Result, Arguments, false));
  cast<Function>(Callee.getCallee())->addFnAttr(Attribute::NoUnwind);
  return Callee;
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

bool RegionEmitter::emitSpecialRegister(IntrinsicInst &I) {
  auto Field = [&](size_t Offset) {
    define(&I, {true, {contextField(Offset, I32)}});
    return true;
  };
  auto PerLane = [&](function_ref<uint32_t(unsigned)> Of) {
    SmallVector<Constant *> Values;
    for (unsigned L = 0; L < W; ++L)
      Values.push_back(B.getInt32(Of(L % 32)));
    define(&I, {false, {ConstantVector::get(Values)}});
    return true;
  };
  auto Fixed = [&](uint32_t X) {
    define(&I, {true, {B.getInt32(X)}});
    return true;
  };
  switch (I.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return true; // recomputed where it is used
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    return Field(offsetof(WarpContext, BlockDim));
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    return Field(offsetof(WarpContext, BlockDim) + 4);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return Field(offsetof(WarpContext, BlockDim) + 8);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return Field(offsetof(WarpContext, BlockId));
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    return Field(offsetof(WarpContext, BlockId) + 4);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return Field(offsetof(WarpContext, BlockId) + 8);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return Field(offsetof(WarpContext, GridDim));
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    return Field(offsetof(WarpContext, GridDim) + 4);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return Field(offsetof(WarpContext, GridDim) + 8);
  case Intrinsic::nvvm_read_ptx_sreg_warpid:
    return Field(offsetof(WarpContext, WarpId));
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return Fixed(32);
  case Intrinsic::nvvm_read_ptx_sreg_smid:
  case Intrinsic::nvvm_read_ptx_sreg_gridid:
    return Fixed(0);
  case Intrinsic::nvvm_read_ptx_sreg_nsmid:
    return Fixed(1);
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return PerLane([](unsigned L) { return L; });
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq:
    return PerLane([](unsigned L) { return 1u << L; });
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
    return PerLane([](unsigned L) { return (1u << L) - 1; });
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_le:
    return PerLane([](unsigned L) { return (2u << L) - 1; });
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
    return PerLane([](unsigned L) { return ~((2u << L) - 1); });
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_ge:
    return PerLane([](unsigned L) { return ~((1u << L) - 1); });
  case Intrinsic::nvvm_read_ptx_sreg_clock:
  case Intrinsic::nvvm_read_ptx_sreg_clock64: {
    Value *T = B.CreateIntrinsic(Intrinsic::readcyclecounter, {}, {});
    define(&I, {true, {B.CreateTrunc(T, I.getType())}});
    return true;
  }
  case Intrinsic::nvvm_read_ptx_sreg_globaltimer:
    define(&I, {true, {B.CreateCall(helper("rcvm_global_timer", I64, {}))}});
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

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

static Reduction reductionOf(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::vector_reduce_add:
    return Reduction::Add;
  case Intrinsic::vector_reduce_and:
    return Reduction::And;
  case Intrinsic::vector_reduce_or:
    return Reduction::Or;
  case Intrinsic::vector_reduce_xor:
    return Reduction::Xor;
  case Intrinsic::vector_reduce_umin:
    return Reduction::UMin;
  case Intrinsic::vector_reduce_umax:
    return Reduction::UMax;
  case Intrinsic::vector_reduce_smin:
    return Reduction::Min;
  default:
    return Reduction::Max;
  }
}

/// <W x i1>: lanes 32 to 63.
Value *RegionEmitter::inSecondGroup() {
  return B.CreateICmpUGE(laneIds(I32), splat(B.getInt32(32)));
}

bool RegionEmitter::emitCollective(IntrinsicInst &I) {
  if (shuffleKind(I.getIntrinsicID())) {
    emitShuffle(I);
    return true;
  }
  // A result for each group of 32 lanes, from the group's part of a mask.
  auto GroupOf = [&](Value *Bits, unsigned G) {
    return W == 32 ? Bits
                   : B.CreateTrunc(B.CreateLShr(Bits, uint64_t(32 * G)), I32);
  };
  auto PerGroup = [&](function_ref<Value *(unsigned, Value *)> Of) {
    if (W == 32) {
      define(&I, {true, {Of(0, M)}});
      return;
    }
    Value *Low = Of(0, GroupOf(M, 0)), *High = Of(1, GroupOf(M, 1));
    define(&I,
           {false, {B.CreateSelect(inSecondGroup(), splat(High), splat(Low))}});
  };
  // A bit a lane -> for each lane, the bits of its group.
  auto Spread = [&](Value *Bits) -> Value * {
    if (W == 32)
      return splat(Bits);
    return B.CreateSelect(inSecondGroup(), splat(GroupOf(Bits, 1)),
                          splat(GroupOf(Bits, 0)));
  };
  // The members' predicates and the members, a lane's own; all that are here if
  // the mask names all.
  auto Vote = [&](function_ref<Value *(Value *, Value *)> Of) {
    Value *P = B.CreateAnd(maskBits(vec(I.getArgOperand(1))), M);
    if (namesAll(membersOf(I))) {
      PerGroup(
          [&](unsigned G, Value *Here) { return Of(GroupOf(P, G), Here); });
      return true;
    }
    Value *Members = vec(membersOf(I));
    define(&I, {false,
                {Of(B.CreateAnd(Spread(P), Members),
                    B.CreateAnd(Spread(M), Members))}});
    return true;
  };
  auto Reduce = [&](Intrinsic::ID Id, uint32_t Neutral) {
    Value *X = vec(I.getArgOperand(0));
    if (!namesAll(membersOf(I))) {
      Value *Values = spill(X), *Members = spill(vec(membersOf(I)));
      Value *Result = spill(Constant::getNullValue(vectorOf(I32)));
      B.CreateCall(
          helper("rcvm_redux", B.getVoidTy(), {I32, PtrTy, PtrTy, PtrTy, I64}),
          {B.getInt32(uint32_t(reductionOf(Id))), Result, Values, Members,
           B.CreateZExt(M, I64)});
      define(&I,
             {false, {B.CreateAlignedLoad(vectorOf(I32), Result, Align(64))}});
      return true;
    }
    X = B.CreateSelect(maskVector(M), X, splat(B.getInt32(Neutral)));
    PerGroup([&](unsigned G, Value *) -> Value * {
      SmallVector<int> Half;
      for (unsigned L = 0; L < 32; ++L)
        Half.push_back(32 * G + L);
      Value *Y = W == 32 ? X : B.CreateShuffleVector(X, Half);
      return B.CreateUnaryIntrinsic(Id, Y);
    });
    return true;
  };
  switch (I.getIntrinsicID()) {
  case Intrinsic::nvvm_bar_warp_sync:
    return true;
  case Intrinsic::nvvm_activemask:
    PerGroup([&](unsigned, Value *Active) { return Active; });
    return true;
  case Intrinsic::nvvm_vote_ballot_sync:
    return Vote([&](Value *True, Value *) { return True; });
  case Intrinsic::nvvm_vote_all_sync:
    return Vote([&](Value *True, Value *Members) {
      return B.CreateICmpEQ(True, Members);
    });
  case Intrinsic::nvvm_vote_any_sync:
    return Vote([&](Value *True, Value *) { return B.CreateIsNotNull(True); });
  case Intrinsic::nvvm_vote_uni_sync:
    return Vote([&](Value *True, Value *Members) {
      return B.CreateOr(B.CreateICmpEQ(True, Members), B.CreateIsNull(True));
    });
  case Intrinsic::nvvm_redux_sync_add:
    return Reduce(Intrinsic::vector_reduce_add, 0);
  case Intrinsic::nvvm_redux_sync_and:
    return Reduce(Intrinsic::vector_reduce_and, ~0u);
  case Intrinsic::nvvm_redux_sync_or:
    return Reduce(Intrinsic::vector_reduce_or, 0);
  case Intrinsic::nvvm_redux_sync_xor:
    return Reduce(Intrinsic::vector_reduce_xor, 0);
  case Intrinsic::nvvm_redux_sync_umin:
    return Reduce(Intrinsic::vector_reduce_umin, ~0u);
  case Intrinsic::nvvm_redux_sync_umax:
    return Reduce(Intrinsic::vector_reduce_umax, 0);
  case Intrinsic::nvvm_redux_sync_min:
    return Reduce(Intrinsic::vector_reduce_smin, INT32_MAX);
  case Intrinsic::nvvm_redux_sync_max:
    return Reduce(Intrinsic::vector_reduce_smax, INT32_MIN);
  case Intrinsic::nvvm_match_any_sync_i32:
  case Intrinsic::nvvm_match_any_sync_i64:
  case Intrinsic::nvvm_match_all_sync_i32p:
  case Intrinsic::nvvm_match_all_sync_i64p: {
    bool All = I.getType()->isStructTy();
    Value *Members = spill(vec(membersOf(I)));
    Value *Keys = spill(B.CreateZExt(vec(I.getArgOperand(1)), vectorOf(I64)));
    Value *Result = spill(Constant::getNullValue(vectorOf(I32)));
    B.CreateCall(helper(All ? "rcvm_match_all" : "rcvm_match_any",
                        B.getVoidTy(), {PtrTy, PtrTy, PtrTy, I64}),
                 {Result, Keys, Members, B.CreateZExt(M, I64)});
    Value *Masks = B.CreateAlignedLoad(vectorOf(I32), Result, Align(64));
    if (All)
      define(&I, {false, {Masks, B.CreateIsNotNull(Masks)}});
    else
      define(&I, {false, {Masks}});
    return true;
  }
  default:
    return false;
  }
}

/// The barrier itself is the edge out of this block. A reduction leaves the
/// lanes' predicates for the scheduler and is read behind the barrier.
void RegionEmitter::emitBarrier(IntrinsicInst &I) {
  if (I.arg_size() != 1 || I.getType()->isVoidTy())
    return;
  Value *P = B.CreateConstInBoundsGEP1_64(
      B.getInt8Ty(), Ctx, offsetof(WarpContext, BarrierPredicate));
  Value *True = B.CreateIsNotNull(vec(I.getArgOperand(0)));
  Value *Bits = B.CreateZExt(B.CreateAnd(maskBits(True), M), I64);
  Value *Others =
      B.CreateAnd(B.CreateLoad(I64, P), B.CreateNot(B.CreateZExt(M, I64)));
  B.CreateStore(B.CreateOr(Others, Bits), P);
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

/// Intrinsics whose vector form means the same for each lane. The value says
/// which operands are immediates that must stay scalar.
static bool hasVectorForm(Intrinsic::ID Id, unsigned &Immediate) {
  Immediate = ~0u;
  switch (Id) {
  case Intrinsic::abs:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::is_fpclass:
  case Intrinsic::powi:
    Immediate = 1;
    [[fallthrough]];
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::sqrt:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::copysign:
  case Intrinsic::canonicalize:
  case Intrinsic::exp2:
  case Intrinsic::log2:
  case Intrinsic::ctpop:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::sadd_sat:
  case Intrinsic::uadd_sat:
  case Intrinsic::ssub_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::usub_with_overflow:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
    return true;
  default:
    return false;
  }
}

bool RegionEmitter::emitMath(IntrinsicInst &I) {
  SmallVector<Lanes> Ops;
  bool Uniform = true;
  for (Value *Arg : I.args()) {
    if (Arg->getType()->isVectorTy() || Arg->getType()->isAggregateType() ||
        isa<MetadataAsValue>(Arg))
      return false;
    Ops.push_back(get(Arg));
    Uniform &= Ops.back().Uniform;
  }
  unsigned Immediate;
  Intrinsic::ID Id = I.getIntrinsicID();
  bool Generic = hasVectorForm(Id, Immediate);
  SmallVector<Value *> Args;
  for (auto [J, L] : enumerate(Ops))
    Args.push_back(
        Uniform || !L.Uniform || (Generic && J == Immediate) ? *L : splat(*L));
  if (Generic) {
    SmallVector<Type *> Overloads{Args[0]->getType()};
    if (Id == Intrinsic::fptosi_sat || Id == Intrinsic::fptoui_sat)
      Overloads.insert(Overloads.begin(),
                       Uniform ? I.getType() : vectorOf(I.getType()));
    if (Id == Intrinsic::powi)
      Overloads.push_back(I32);
    Value *X = B.CreateIntrinsic(Id, Overloads, Args);
    if (I.getType()->isStructTy())
      define(&I, {Uniform,
                  {B.CreateExtractValue(X, 0), B.CreateExtractValue(X, 1)}});
    else
      define(&I, {Uniform, {X}});
    return true;
  }
  StringRef Name = I.getCalledFunction()->getName();
  if (Id == Intrinsic::tanh) // what inline PTX's tanh.approx became
    Name = "tanh.approx.f";
  else if (!Name.consume_front("llvm.nvvm."))
    return false;
  auto Rounded = [&](StringRef Op, StringRef Mode,
                     ArrayRef<Value *> Operands) -> Value * {
    Type *T = Operands[0]->getType()->getScalarType();
    std::string Callee =
        ("rcvm_" + Op + "_" + Mode + (T->isFloatTy() ? "_f32" : "_f64")).str();
    FunctionCallee F =
        helper(Callee, T, SmallVector<Type *>(Operands.size(), T));
    if (Uniform)
      return B.CreateCall(F, Operands);
    SmallVector<Value *> Arrays;
    for (Value *X : Operands)
      Arrays.push_back(spill(X));
    Value *Result = spill(Constant::getNullValue(vectorOf(T)));
    forEachLane([&](Value *Lane) {
      SmallVector<Value *> One;
      for (Value *Array : Arrays)
        One.push_back(lanePart(Array, T, Lane));
      B.CreateStore(B.CreateCall(F, One), B.CreateGEP(T, Result, Lane));
    });
    return B.CreateAlignedLoad(vectorOf(T), Result, Align(64));
  };
  Value *X = emitNvvmMath(B, Name, Args, Rounded);
  if (!X)
    return false;
  define(&I, {Uniform, {X}});
  return true;
}

Error RegionEmitter::emitLibraryCall(CallInst &I, StringRef Name) {
  if (Name == "vprintf") {
    Value *Format = spill(vec(I.getArgOperand(0)));
    Value *Args = spill(vec(I.getArgOperand(1)));
    auto Print = helper("rcvm_printf", I32, {PtrTy, I64, PtrTy, PtrTy});
    Value *Result = spill(Constant::getNullValue(vectorOf(I32)));
    forEachLane([&](Value *Lane) {
      Value *N = B.CreateCall(Print, {Ctx, Lane, lanePart(Format, PtrTy, Lane),
                                      lanePart(Args, PtrTy, Lane)});
      B.CreateStore(N, B.CreateGEP(I32, Result, Lane));
    });
    define(&I,
           {false, {B.CreateAlignedLoad(vectorOf(I32), Result, Align(64))}});
    return Error::success();
  }
  if (Name == "__assertfail" || Name == "__assert_fail") {
    Value *Args[4];
    for (unsigned A = 0; A < 4; ++A)
      Args[A] = scalar(I.getArgOperand(A));
    B.CreateCall(
        helper("rcvm_assert", B.getVoidTy(),
               {PtrTy, I64, PtrTy, PtrTy, I32, PtrTy}),
        {Ctx, B.CreateZExt(M, I64), Args[0], Args[1], Args[2], Args[3]});
    return Error::success();
  }
  if (Name == BarrierResultName) {
    Value *P = B.CreateConstInBoundsGEP1_64(
        B.getInt8Ty(), Ctx, offsetof(WarpContext, BarrierResult));
    define(&I, {true, {B.CreateTrunc(B.CreateLoad(I64, P), I32)}});
    return Error::success();
  }
  return refuse(I, "a call of '" + Name + "'");
}

Error RegionEmitter::emitCall(CallInst &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  if (!II)
    return emitLibraryCall(I, I.getCalledFunction()->getName());
  if (isBarrier(I)) {
    emitBarrier(*II);
    return Error::success();
  }
  if (auto *Mem = dyn_cast<MemIntrinsic>(&I)) {
    emitMemIntrinsic(*Mem);
    return Error::success();
  }
  switch (II->getIntrinsicID()) {
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_label:
  case Intrinsic::dbg_assign:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::donothing:
  case Intrinsic::nvvm_nanosleep:
  case Intrinsic::prefetch:
    return Error::success();
  case Intrinsic::nvvm_membar_cta:
  case Intrinsic::nvvm_membar_gl:
  case Intrinsic::nvvm_membar_sys:
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return Error::success();
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
    B.CreateCall(helper("rcvm_trap", B.getVoidTy(), {PtrTy, I64}),
                 {Ctx, B.CreateZExt(M, I64)});
    return Error::success();
  case Intrinsic::expect:
  case Intrinsic::nvvm_ptr_gen_to_shared:
  case Intrinsic::nvvm_ptr_gen_to_global:
  case Intrinsic::nvvm_ptr_gen_to_local:
  case Intrinsic::nvvm_ptr_gen_to_constant:
  case Intrinsic::nvvm_ptr_shared_to_gen:
  case Intrinsic::nvvm_ptr_global_to_gen:
  case Intrinsic::nvvm_ptr_local_to_gen:
  case Intrinsic::nvvm_ptr_constant_to_gen:
  case Intrinsic::nvvm_ptr_param_to_gen:
    define(&I, get(I.getArgOperand(0)));
    return Error::success();
  case Intrinsic::nvvm_ldg_global_i:
  case Intrinsic::nvvm_ldg_global_f:
  case Intrinsic::nvvm_ldg_global_p:
  case Intrinsic::nvvm_ldu_global_i:
  case Intrinsic::nvvm_ldu_global_f:
  case Intrinsic::nvvm_ldu_global_p: {
    Lanes P = get(I.getArgOperand(0));
    Address A;
    (P.Uniform ? A.Base : A.Pointers) = *P;
    auto *Al = cast<ConstantInt>(I.getArgOperand(1));
    define(&I, loadLanes(A, laneType(I.getType()), Align(Al->getZExtValue()),
                         false));
    return Error::success();
  }
  case Intrinsic::nvvm_isspacep_shared: {
    Value *Base = B.CreatePtrToInt(
        contextField(offsetof(WarpContext, Shared), PtrTy), I64);
    Value *Bytes = contextField(offsetof(WarpContext, SharedBytes), I64);
    Value *P = B.CreatePtrToInt(vec(I.getArgOperand(0)), vectorOf(I64));
    define(&I, {false,
                {B.CreateICmpULT(B.CreateSub(P, splat(Base)), splat(Bytes))}});
    return Error::success();
  }
  default:
    break;
  }
  if (emitSpecialRegister(*II) || emitCollective(*II) || emitMath(*II))
    return Error::success();
  return refuse(I, "'" + I.getCalledFunction()->getName() + "'");
}

} // namespace reconverge::warpvm
