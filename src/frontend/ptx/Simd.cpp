//===- frontend/ptx/Simd.cpp - Bytes and halves of a word -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   v<op>{2,4}.dtype.atype.btype{.sat} d, a, b, c;      d = lanes of a op b
//   v<op>{2,4}.dtype.atype.btype.add   d, a, b, c;      d = c + their sum
//   vset{2,4}.atype.btype.cmp{.add}    d, a, b, c;
//
// which is what clang's __vadd2, __vabsdiffu4, __vcmpeq4 and the like are made
// of. Lanes are taken out, extended by the sign of their type, computed in 32
// bits, clamped or cut, and put back. c matters to .add alone as long as no
// lane is masked out; masks and lane selectors are refused by the parser.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

/// One lane's result in 32 bits.
static Value *laneResult(Lowering &L, StringRef Op, Value *A, Value *Other) {
  auto &B = L.B;
  if (Op == "vadd")
    return B.CreateAdd(A, Other);
  if (Op == "vsub")
    return B.CreateSub(A, Other);
  if (Op == "vmin")
    return B.CreateBinaryIntrinsic(Intrinsic::smin, A, Other);
  if (Op == "vmax")
    return B.CreateBinaryIntrinsic(Intrinsic::smax, A, Other);
  if (Op == "vabsdiff")
    return B.CreateBinaryIntrinsic(Intrinsic::abs, B.CreateSub(A, Other),
                                   B.getFalse());
  // vavrg rounds halves away from zero... of a sum that is not negative, and
  // down otherwise.
  Value *Sum = B.CreateAdd(A, Other);
  Value *NotNegative = B.CreateICmpSGE(Sum, B.getInt32(0));
  return B.CreateAShr(
      B.CreateAdd(Sum, B.CreateZExt(NotNegative, B.getInt32Ty())), 1);
}

static CmpInst::Predicate comparison(Lowering &L) {
  return StringSwitch<CmpInst::Predicate>(
             L.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge"}))
      .Case("eq", CmpInst::ICMP_EQ)
      .Case("ne", CmpInst::ICMP_NE)
      .Case("lt", CmpInst::ICMP_SLT)
      .Case("le", CmpInst::ICMP_SLE)
      .Case("gt", CmpInst::ICMP_SGT)
      .Case("ge", CmpInst::ICMP_SGE)
      .Default(CmpInst::BAD_ICMP_PREDICATE);
}

static void emitSimd(Lowering &L) {
  auto &B = L.B;
  StringRef Op = L.opcode().drop_back();
  unsigned Lanes = L.opcode().back() - '0', Width = 32 / Lanes;
  bool Compares = Op == "vset";
  constexpr Type U32{Type::Unsigned, 32, 1};
  Type To = Compares ? U32 : L.type();
  Type TA = L.type(), TB = L.type();
  CmpInst::Predicate P = Compares ? comparison(L) : CmpInst::ICMP_EQ;
  bool Saturate = L.take("sat"), Add = L.take("add");
  L.arity(4);
  for (Type T : {To, TA, TB}) {
    if (!L.requireInt(T, {32}))
      return;
    if (T.K == Type::Bits)
      return L.refuse("the type is not supported");
  }
  if ((Saturate && (Add || Compares)) || P == CmpInst::BAD_ICMP_PREDICATE)
    return L.refuse("the form is not supported");
  Value *A = L.read(1, TA), *Other = L.read(2, TB), *C = L.read(3, To);
  llvm::Type *LaneType = B.getIntNTy(Width);
  auto Lane = [&](Value *V, unsigned N, bool Signed) {
    V = B.CreateTrunc(B.CreateLShr(V, N * Width), LaneType);
    return Signed ? B.CreateSExt(V, B.getInt32Ty())
                  : B.CreateZExt(V, B.getInt32Ty());
  };
  Value *Result = Add ? C : B.getInt32(0);
  for (unsigned N = 0; N != Lanes; ++N) {
    Value *X = Lane(A, N, TA.isSigned()), *Y = Lane(Other, N, TB.isSigned());
    Value *V = Compares ? B.CreateZExt(B.CreateICmp(P, X, Y), B.getInt32Ty())
                        : laneResult(L, Op, X, Y);
    if (Saturate) {
      int32_t Least = To.isSigned() ? -(1 << (Width - 1)) : 0;
      int32_t Most = (1 << (To.isSigned() ? Width - 1 : Width)) - 1;
      V = B.CreateBinaryIntrinsic(Intrinsic::smax, V, B.getInt32(Least));
      V = B.CreateBinaryIntrinsic(Intrinsic::smin, V, B.getInt32(Most));
    }
    if (Add) {
      Result = B.CreateAdd(Result, V);
      continue;
    }
    V = B.CreateZExt(B.CreateTrunc(V, LaneType), B.getInt32Ty());
    Result = B.CreateOr(Result, B.CreateShl(V, N * Width));
  }
  L.write(0, To, Result);
}

ArrayRef<Row> simdRows() {
#define SIMD(NAME, LANES)                                                      \
  {NAME LANES,                                                                 \
   IntClass,                                                                   \
   false,                                                                      \
   emitSimd,                                                                   \
   ".{u,s}32.{u,s}32.{u,s}32{.sat,.add}",                                      \
   "a lane at a time"}
  static const Row Rows[] = {
      SIMD("vadd", "2"),
      SIMD("vadd", "4"),
      SIMD("vsub", "2"),
      SIMD("vsub", "4"),
      SIMD("vavrg", "2"),
      SIMD("vavrg", "4"),
      SIMD("vabsdiff", "2"),
      SIMD("vabsdiff", "4"),
      SIMD("vmin", "2"),
      SIMD("vmin", "4"),
      SIMD("vmax", "2"),
      SIMD("vmax", "4"),
      {"vset2", IntClass, false, emitSimd,
       ".{u,s}32.{u,s}32.{eq,ne,lt,le,gt,ge}{.add}", "a lane at a time"},
      {"vset4", IntClass, false, emitSimd,
       ".{u,s}32.{u,s}32.{eq,ne,lt,le,gt,ge}{.add}", "a lane at a time"},
  };
#undef SIMD
  return Rows;
}

} // namespace reconverge::frontend::ptx
