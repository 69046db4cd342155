//===- warpvm/emit/EmitMath.cpp - Intrinsics that compute -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same intrinsic on vectors where LLVM has one that means the same for each
// lane; what NVVM's own stand for, likewise on vectors (Math.cpp); for directed
// roundings, a call of the library a lane.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Emitter.h"
#include "warpvm/emit/Math.h"

using namespace llvm;

namespace reconverge::warpvm {

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
  else if (Id == Intrinsic::minnum || Id == Intrinsic::maxnum)
    Name = Id == Intrinsic::minnum ? "fmin.f" : "fmax.f";
  else if (!Name.consume_front("llvm.nvvm."))
    return false;
  auto Rounded = [&](StringRef Op, StringRef Mode, ArrayRef<Value *> Operands,
                     Type *Result) -> Value * {
    Type *T = Result->getScalarType();
    SmallVector<Type *> Types;
    for (Value *X : Operands)
      Types.push_back(X->getType()->getScalarType());
    FunctionCallee F = helper(
        ("rcvm_" + Op + "_" + Mode + (T->isFloatTy() ? "_f32" : "_f64")).str(),
        T, Types);
    if (Uniform)
      return B.CreateCall(F, Operands);
    SmallVector<Value *> Arrays;
    for (Value *X : Operands)
      Arrays.push_back(spill(X));
    Value *Results = spill(Constant::getNullValue(Result));
    forEachLane([&](Value *Lane) {
      SmallVector<Value *> One;
      for (auto [Array, Part] : zip(Arrays, Types))
        One.push_back(lanePart(Array, Part, Lane));
      B.CreateStore(B.CreateCall(F, One), B.CreateGEP(T, Results, Lane));
    });
    return B.CreateAlignedLoad(Result, Results, Align(64));
  };
  Value *X = emitNvvmMath(B, Name, Args, Rounded);
  if (!X)
    return false;
  define(&I, {Uniform, {X}});
  return true;
}

} // namespace reconverge::warpvm
