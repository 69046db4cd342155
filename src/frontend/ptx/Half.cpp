//===- frontend/ptx/Half.cpp - .f16, .bf16 and their packed forms ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's `half`, `bfloat` and <2 x ...> of them have these operations, and the
// back end emits the same PTX for them from sm_53 (.f16) and sm_90 (.bf16) on.
// LLVM has no .rn that forbids contraction for them; an operation without
// `contract` says the same, as nothing of ours contracts without that flag.
// .ftz and .sat, which headers hardly use, are spelt out in IR.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Numeric.h"
#include "frontend/ptx/Table.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static bool refusesBfloat(Lowering &L, Type T, bool Flag) {
  bool Wrong = T.K == Type::BFloat && Flag;
  if (Wrong)
    L.refuse(".bf16 has no such form");
  return Wrong;
}

static void emitAddMul(Lowering &L) {
  bool Rounded = L.take("rn"), Flush = L.take("ftz"), Saturate = L.take("sat");
  Type T = L.type();
  L.arity(3);
  if (refusesBfloat(L, T, Flush || Saturate))
    return;
  auto &B = L.B;
  Value *A = L.read(1, T), *Other = L.read(2, T);
  if (Flush) {
    A = flush(L, A);
    Other = flush(L, Other);
  }
  IRBuilder<>::FastMathFlagGuard Keep(B);
  FastMathFlags Flags;
  Flags.setAllowContract(!Rounded && !Flush && !Saturate);
  B.setFastMathFlags(Flags);
  Value *V = L.opcode() == "mul"   ? B.CreateFMul(A, Other)
             : L.opcode() == "sub" ? B.CreateFSub(A, Other)
                                   : B.CreateFAdd(A, Other);
  B.clearFastMathFlags();
  if (Flush)
    V = flush(L, V);
  L.write(0, T, Saturate ? saturate(L, V) : V);
}

static void emitFma(Lowering &L) {
  bool Rounded = L.take("rn"), Flush = L.take("ftz");
  bool Saturate = L.take("sat"), Relu = L.take("relu");
  Type T = L.type();
  L.arity(4);
  if (!Rounded || (Saturate && Relu))
    return L.refuse("the form is not supported");
  if (refusesBfloat(L, T, Flush || Saturate))
    return;
  Value *A = L.read(1, T), *X = L.read(2, T), *C = L.read(3, T);
  if (Flush) {
    A = flush(L, A);
    X = flush(L, X);
    C = flush(L, C);
  }
  Value *V = L.call(Intrinsic::fma, {A, X, C}, {A->getType()});
  if (Flush)
    V = flush(L, V);
  if (Saturate)
    V = saturate(L, V);
  if (Relu)
    V = L.B.CreateBinaryIntrinsic(Intrinsic::maximum, V,
                                  Constant::getNullValue(V->getType()));
  L.write(0, T, V);
}

/// Of bfloats by way of float, whose approximation is the better one.
static Value *bfloatEx2(Lowering &L, Value *A) {
  auto &B = L.B;
  auto One = [&](Value *X) {
    return B.CreateFPTrunc(nvvm(L, "ex2.approx.ftz.f",
                                {B.CreateFPExt(X, B.getFloatTy())},
                                B.getFloatTy()),
                           B.getBFloatTy());
  };
  if (!A->getType()->isVectorTy())
    return One(A);
  Value *V = PoisonValue::get(A->getType());
  for (uint64_t N = 0; N != 2; ++N)
    V = B.CreateInsertElement(V, One(B.CreateExtractElement(A, N)), N);
  return V;
}

static void emitEx2(Lowering &L) {
  bool Approximate = L.take("approx"), Flush = L.take("ftz");
  Type T = L.type();
  L.arity(2);
  if (!Approximate || Flush != (T.K == Type::BFloat))
    return L.refuse("the form is not supported");
  Value *A = L.read(1, T);
  if (T.K == Type::BFloat)
    return L.write(0, T, bfloatEx2(L, A));
  L.write(0, T,
          L.call(T.Lanes == 2 ? Intrinsic::nvvm_ex2_approx_f16x2
                              : Intrinsic::nvvm_ex2_approx_f16,
                 {A}));
}

ArrayRef<Row> halfRows() {
  static const Row Rows[] = {
      {"add", HalfClass, false, emitAddMul,
       "{.rn}{.ftz}{.sat}.f16{x2}, {.rn}.bf16{x2}",
       "fadd, contract without .rn"},
      {"sub", HalfClass, false, emitAddMul,
       "{.rn}{.ftz}{.sat}.f16{x2}, {.rn}.bf16{x2}",
       "fsub, contract without .rn"},
      {"mul", HalfClass, false, emitAddMul,
       "{.rn}{.ftz}{.sat}.f16{x2}, {.rn}.bf16{x2}",
       "fmul, contract without .rn"},
      {"fma", HalfClass, false, emitFma,
       ".rn{.ftz}{.sat,.relu}.f16{x2}, .rn{.relu}.bf16{x2}", "`llvm.fma`"},
      {"abs", HalfClass, false, emitFloatSign, "{.ftz}.f16{x2}, .bf16{x2}",
       "`llvm.fabs`"},
      {"neg", HalfClass, false, emitFloatSign, "{.ftz}.f16{x2}, .bf16{x2}",
       "fneg"},
      {"min", HalfClass, false, emitFloatMinMax,
       "{.ftz}{.NaN}{.xorsign.abs}.f16{x2}, {.NaN}{.xorsign.abs}.bf16{x2}",
       "`llvm.minnum`, `llvm.minimum`"},
      {"max", HalfClass, false, emitFloatMinMax,
       "{.ftz}{.NaN}{.xorsign.abs}.f16{x2}, {.NaN}{.xorsign.abs}.bf16{x2}",
       "`llvm.maxnum`, `llvm.maximum`"},
      {"ex2", HalfClass, false, emitEx2,
       ".approx.f16{x2}, .approx.ftz.bf16{x2}",
       "`llvm.nvvm.ex2.approx.f16{x2}`; that of f32, rounded"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
