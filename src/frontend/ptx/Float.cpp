//===- frontend/ptx/Float.cpp - .f32 and .f64 -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three kinds of result, by what PTX promises:
//  * A rounding mode is named: the NVVM intrinsic of that mode, which nothing
//    folds or contracts; fma.rn alone is `llvm.fma`.
//  * None is named on add, sub and mul: round to nearest, and ptxas may
//    contract a mul with an add. That is fadd, fsub, fmul with `contract`.
//  * .approx: the NVVM intrinsic where LLVM 19 has one. It lacks rcp.approx
//    without .ftz, div.full and tanh.approx: these are fdiv and `llvm.tanh`
//    with the flag `afn`, which restoreInlinePtx turns back for the GPU.
// min and max are IEEE minNum and maxNum with -0 < +0, and .NaN's are minimum
// and maximum.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Numeric.h"
#include "frontend/ptx/Table.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

Value *flush(Lowering &L, Value *V) {
  auto &B = L.B;
  llvm::Type *T = V->getType();
  const fltSemantics &Format = T->getScalarType()->getFltSemantics();
  Value *Least = ConstantFP::get(T, APFloat::getSmallestNormalized(Format));
  Value *Small =
      B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, V), Least);
  Value *Zero =
      B.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(T, 0.0), V);
  return B.CreateSelect(Small, Zero, V);
}

Value *saturate(Lowering &L, Value *V) {
  auto &B = L.B;
  llvm::Type *T = V->getType();
  if (T->isFloatTy() || T->isDoubleTy())
    return nvvm(L, T->isFloatTy() ? "saturate.f" : "saturate.d", {V}, T);
  Value *Zero = ConstantFP::get(T, 0.0), *One = ConstantFP::get(T, 1.0);
  Value *Upper = B.CreateSelect(B.CreateFCmpOLT(V, One), V, One);
  return B.CreateSelect(B.CreateFCmpOGT(V, Zero), Upper, Zero);
}

Value *nvvm(Lowering &L, const Twine &Name, ArrayRef<Value *> Args,
            llvm::Type *Result) {
  Intrinsic::ID ID = Function::lookupIntrinsicID(("llvm.nvvm." + Name).str());
  if (ID == Intrinsic::not_intrinsic) {
    L.refuse("LLVM has no intrinsic nvvm." + Name);
    return Constant::getNullValue(Result);
  }
  return L.call(ID, Args);
}

static constexpr StringRef Roundings[] = {"rn", "rz", "rm", "rp"};

/// "f" or "d", with .ftz before it if asked, as NVVM ends its names.
static std::string suffix(Type T, bool Flush) {
  return std::string(Flush ? "ftz." : "") + (T.Width == 32 ? "f" : "d");
}

/// Checks what no .f64 has.
static bool refusesDouble(Lowering &L, Type T, bool Flag) {
  bool Wrong = T.Width == 64 && Flag;
  if (Wrong)
    L.refuse(".f64 has no such form");
  return Wrong;
}

/// Checks .ftz, which only .f32 and .f16 have.
static bool refusesFlush(Lowering &L, Type T, bool Flush) {
  bool Wrong = T.K == Type::BFloat && Flush;
  if (Wrong)
    L.refuse(".bf16 has no such form");
  return Wrong || refusesDouble(L, T, Flush);
}

static void emitAddMul(Lowering &L) {
  StringRef Rounding = L.takeOneOf(Roundings);
  bool Flush = L.take("ftz"), Saturate = L.take("sat");
  Type T = L.type();
  L.arity(3);
  if (refusesDouble(L, T, Flush || Saturate))
    return;
  auto &B = L.B;
  Value *A = L.read(1, T), *Other = L.read(2, T), *V;
  bool Multiply = L.opcode() == "mul", Subtract = L.opcode() == "sub";
  if (Rounding.empty() && !Flush) {
    IRBuilder<>::FastMathFlagGuard Keep(B);
    FastMathFlags Contract;
    Contract.setAllowContract();
    B.setFastMathFlags(Contract);
    V = Multiply   ? B.CreateFMul(A, Other)
        : Subtract ? B.CreateFSub(A, Other)
                   : B.CreateFAdd(A, Other);
  } else {
    // a - b is a + (-b), rounded alike in each mode.
    if (Subtract)
      Other = B.CreateFNeg(Other);
    V = nvvm(L,
             Twine(Multiply ? "mul." : "add.") +
                 (Rounding.empty() ? "rn" : Rounding) + "." + suffix(T, Flush),
             {A, Other}, A->getType());
  }
  L.write(0, T, Saturate ? saturate(L, V) : V);
}

static void emitFma(Lowering &L) {
  StringRef Rounding = L.takeOneOf(Roundings);
  bool Flush = L.take("ftz"), Saturate = L.take("sat");
  Type T = L.type();
  L.arity(4);
  if (Rounding.empty())
    return L.refuse("the rounding mode is missing");
  if (refusesDouble(L, T, Flush || Saturate))
    return;
  Value *A = L.read(1, T), *X = L.read(2, T), *C = L.read(3, T);
  Value *V = Rounding == "rn" && !Flush
                 ? L.call(Intrinsic::fma, {A, X, C}, {A->getType()})
                 : nvvm(L, Twine("fma.") + Rounding + "." + suffix(T, Flush),
                        {A, X, C}, A->getType());
  L.write(0, T, Saturate ? saturate(L, V) : V);
}

static Value *approximateDiv(Lowering &L, Value *A, Value *D) {
  IRBuilder<>::FastMathFlagGuard Keep(L.B);
  FastMathFlags Approximate;
  Approximate.setApproxFunc();
  L.B.setFastMathFlags(Approximate);
  return L.B.CreateFDiv(A, D);
}

static void emitDiv(Lowering &L) {
  StringRef Mode = L.takeOneOf({"approx", "full", "rn", "rz", "rm", "rp"});
  bool Flush = L.take("ftz");
  Type T = L.type();
  L.arity(3);
  if (Mode.empty())
    return L.refuse("the rounding mode is missing");
  if (refusesDouble(L, T, Flush || Mode == "approx" || Mode == "full"))
    return;
  Value *A = L.read(1, T), *D = L.read(2, T), *V;
  if (Mode != "full")
    V = nvvm(L, "div." + Mode + "." + suffix(T, Flush), {A, D}, A->getType());
  else if (Flush)
    V = flush(L, approximateDiv(L, flush(L, A), flush(L, D)));
  else
    V = approximateDiv(L, A, D);
  L.write(0, T, V);
}

static void emitRoot(Lowering &L) {
  StringRef Mode = L.takeOneOf({"approx", "rn", "rz", "rm", "rp"});
  bool Flush = L.take("ftz");
  Type T = L.type();
  L.arity(2);
  StringRef Op = L.opcode();
  bool Approximate = Mode == "approx";
  if (Mode.empty() || (Op == "rsqrt" && !Approximate))
    return L.refuse("the rounding mode is missing or not supported");
  // Of .f64 there are rcp.approx.ftz, rsqrt.approx{.ftz} and the rounded ones.
  if (refusesDouble(L, T,
                    (Approximate && Op == "sqrt") ||
                        (Approximate && Op == "rcp" && !Flush) ||
                        (!Approximate && Flush)))
    return;
  Value *A = L.read(1, T);
  if (Approximate && Op == "rcp" && !Flush)
    return L.write(0, T,
                   approximateDiv(L, ConstantFP::get(A->getType(), 1.0), A));
  L.write(0, T,
          nvvm(L, Op + "." + Mode + "." + suffix(T, Flush), {A}, A->getType()));
}

/// sin, cos, lg2, ex2: .approx only.
static void emitApproximate(Lowering &L) {
  bool Approximate = L.take("approx"), Flush = L.take("ftz");
  Type T = L.type();
  L.arity(2);
  if (!Approximate || T.Width != 32)
    return L.refuse("the form is not supported");
  Value *A = L.read(1, T);
  L.write(
      0, T,
      nvvm(L, L.opcode() + ".approx." + suffix(T, Flush), {A}, A->getType()));
}

static void emitTanh(Lowering &L) {
  bool Approximate = L.take("approx");
  Type T = L.type();
  L.arity(2);
  if (!Approximate || !T.isFloat() || T.Width == 64)
    return L.refuse("the form is not supported");
  FastMathFlags Flags;
  Flags.setApproxFunc();
  IRBuilder<>::FastMathFlagGuard Keep(L.B);
  L.B.setFastMathFlags(Flags);
  Value *A = L.read(1, T);
  L.write(0, T, L.call(Intrinsic::tanh, {A}, {A->getType()}));
}

void emitFloatSign(Lowering &L) {
  bool Flush = L.take("ftz");
  Type T = L.type();
  L.arity(2);
  if (refusesFlush(L, T, Flush))
    return;
  Value *A = L.read(1, T);
  if (Flush)
    A = flush(L, A);
  L.write(0, T,
          L.opcode() == "abs" ? L.B.CreateUnaryIntrinsic(Intrinsic::fabs, A)
                              : L.B.CreateFNeg(A));
}

void emitFloatMinMax(Lowering &L) {
  auto &B = L.B;
  bool Min = L.opcode() == "min", Flush = L.take("ftz"), NaN = L.take("NaN");
  bool Signs = L.take("xorsign") && L.take("abs");
  Type T = L.type();
  L.arity(3);
  if (refusesFlush(L, T, Flush) || refusesDouble(L, T, NaN || Signs))
    return;
  Value *A = L.read(1, T), *Other = L.read(2, T);
  if (Flush) {
    A = flush(L, A);
    Other = flush(L, Other);
  }
  Intrinsic::ID ID = NaN ? (Min ? Intrinsic::minimum : Intrinsic::maximum)
                         : (Min ? Intrinsic::minnum : Intrinsic::maxnum);
  if (!Signs)
    return L.write(0, T, B.CreateBinaryIntrinsic(ID, A, Other));
  // Of the magnitudes, with the product's sign.
  Value *Best =
      B.CreateBinaryIntrinsic(ID, B.CreateUnaryIntrinsic(Intrinsic::fabs, A),
                              B.CreateUnaryIntrinsic(Intrinsic::fabs, Other));
  llvm::Type *Bits = A->getType()->getWithNewType(B.getIntNTy(T.Width));
  Value *Sign =
      B.CreateXor(B.CreateBitCast(A, Bits), B.CreateBitCast(Other, Bits));
  Sign = B.CreateAnd(Sign, ConstantInt::get(Bits, APInt::getSignMask(T.Width)));
  L.write(0, T,
          B.CreateBitCast(B.CreateOr(B.CreateBitCast(Best, Bits), Sign),
                          A->getType()));
}

static void emitCopysign(Lowering &L) {
  Type T = L.type();
  L.arity(3);
  // d takes the sign of the first source and the magnitude of the second.
  L.write(0, T,
          L.B.CreateBinaryIntrinsic(Intrinsic::copysign, L.read(2, T),
                                    L.read(1, T)));
}

static void emitTestp(Lowering &L) {
  StringRef What = L.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type T = L.type();
  L.arity(2);
  if (What.empty())
    return L.refuse("the property is missing");
  auto &B = L.B;
  Value *A = L.read(1, T), *V;
  llvm::Type *LT = A->getType();
  const fltSemantics &Format = LT->getFltSemantics();
  Value *Magnitude = B.CreateUnaryIntrinsic(Intrinsic::fabs, A);
  Value *Infinity = ConstantFP::getInfinity(LT);
  Value *Least = ConstantFP::get(LT, APFloat::getSmallestNormalized(Format));
  if (What == "finite")
    V = B.CreateFCmpOLT(Magnitude, Infinity);
  else if (What == "infinite")
    V = B.CreateFCmpOEQ(Magnitude, Infinity);
  else if (What == "number")
    V = B.CreateFCmpORD(A, A);
  else if (What == "notanumber")
    V = B.CreateFCmpUNO(A, A);
  else if (What == "normal")
    V = B.CreateAnd(B.CreateFCmpOGE(Magnitude, Least),
                    B.CreateFCmpOLT(Magnitude, Infinity));
  else
    V = B.CreateAnd(B.CreateFCmpOLT(Magnitude, Least),
                    B.CreateFCmpOGT(Magnitude, ConstantFP::get(LT, 0.0)));
  L.writePredicate(L.operand(0), V);
}

ArrayRef<Row> floatRows() {
  static const Row Rows[] = {
      {"add", FloatClass, false, emitAddMul,
       "{.rnd}{.ftz}{.sat}.f32, {.rnd}.f64",
       "fadd contract; `llvm.nvvm.add.rnd.*`"},
      {"sub", FloatClass, false, emitAddMul,
       "{.rnd}{.ftz}{.sat}.f32, {.rnd}.f64",
       "fsub contract; fneg and `llvm.nvvm.add.rnd.*`"},
      {"mul", FloatClass, false, emitAddMul,
       "{.rnd}{.ftz}{.sat}.f32, {.rnd}.f64",
       "fmul contract; `llvm.nvvm.mul.rnd.*`"},
      {"fma", FloatClass, false, emitFma, ".rnd{.ftz}{.sat}.f32, .rnd.f64",
       "`llvm.fma`; `llvm.nvvm.fma.rnd.*`"},
      {"mad", FloatClass, false, emitFma, ".rnd{.ftz}{.sat}.f32, .rnd.f64",
       "as fma"},
      {"div", FloatClass, false, emitDiv,
       ".{approx,full,rnd}{.ftz}.f32, .rnd.f64",
       "`llvm.nvvm.div.*`; fdiv afn for .full"},
      {"rcp", FloatClass, false, emitRoot,
       ".{approx,rnd}{.ftz}.f32, .{rnd,approx.ftz}.f64",
       "`llvm.nvvm.rcp.*`; fdiv afn for .approx.f32"},
      {"sqrt", FloatClass, false, emitRoot, ".{approx,rnd}{.ftz}.f32, .rnd.f64",
       "`llvm.nvvm.sqrt.*`"},
      {"rsqrt", FloatClass, false, emitRoot, ".approx{.ftz}.{f32,f64}",
       "`llvm.nvvm.rsqrt.approx.*`"},
      {"sin", FloatClass, false, emitApproximate, ".approx{.ftz}.f32",
       "`llvm.nvvm.sin.approx.*`"},
      {"cos", FloatClass, false, emitApproximate, ".approx{.ftz}.f32",
       "`llvm.nvvm.cos.approx.*`"},
      {"lg2", FloatClass, false, emitApproximate, ".approx{.ftz}.f32",
       "`llvm.nvvm.lg2.approx.*`"},
      {"ex2", FloatClass, false, emitApproximate, ".approx{.ftz}.f32",
       "`llvm.nvvm.ex2.approx.*`"},
      {"tanh", AnyClass, false, emitTanh, ".approx.{f32,f16,f16x2,bf16,bf16x2}",
       "`llvm.tanh` afn"},
      {"abs", FloatClass, false, emitFloatSign, "{.ftz}.f32, .f64",
       "`llvm.fabs`"},
      {"neg", FloatClass, false, emitFloatSign, "{.ftz}.f32, .f64", "fneg"},
      {"min", FloatClass, false, emitFloatMinMax,
       "{.ftz}{.NaN}{.xorsign.abs}.f32, .f64", "`llvm.minnum`, `llvm.minimum`"},
      {"max", FloatClass, false, emitFloatMinMax,
       "{.ftz}{.NaN}{.xorsign.abs}.f32, .f64", "`llvm.maxnum`, `llvm.maximum`"},
      {"copysign", FloatClass, false, emitCopysign, ".{f32,f64}",
       "`llvm.copysign`"},
      {"testp", FloatClass, false, emitTestp,
       ".{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}",
       "comparisons of the magnitude"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
