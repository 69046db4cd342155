//===- frontend/ptx/Compare.cpp - setp and set ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, {!}c};
//   set.cmp{.bool}{.ftz}.dtype.stype d, a, b{, {!}c};
//
// p is (a cmp b) and q its complement, each combined with c if .bool is there.
// `set` writes all ones (or 1.0 for a floating-point dtype) for true; packed
// types compare lane by lane.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Numeric.h"
#include "frontend/ptx/Table.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr StringRef Comparisons[] = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

static CmpInst::Predicate floatPredicate(StringRef Name) {
  return StringSwitch<CmpInst::Predicate>(Name)
      .Case("eq", CmpInst::FCMP_OEQ)
      .Case("ne", CmpInst::FCMP_ONE)
      .Case("lt", CmpInst::FCMP_OLT)
      .Case("le", CmpInst::FCMP_OLE)
      .Case("gt", CmpInst::FCMP_OGT)
      .Case("ge", CmpInst::FCMP_OGE)
      .Case("equ", CmpInst::FCMP_UEQ)
      .Case("neu", CmpInst::FCMP_UNE)
      .Case("ltu", CmpInst::FCMP_ULT)
      .Case("leu", CmpInst::FCMP_ULE)
      .Case("gtu", CmpInst::FCMP_UGT)
      .Case("geu", CmpInst::FCMP_UGE)
      .Case("num", CmpInst::FCMP_ORD)
      .Case("nan", CmpInst::FCMP_UNO)
      .Default(CmpInst::BAD_FCMP_PREDICATE);
}

static CmpInst::Predicate intPredicate(StringRef Name, Type T) {
  auto Order = [&](CmpInst::Predicate Unsigned, CmpInst::Predicate Signed) {
    return T.K == Type::Bits ? CmpInst::BAD_ICMP_PREDICATE
           : T.isSigned()    ? Signed
                             : Unsigned;
  };
  // lo, ls, hi and hs are the unsigned orders by another name.
  auto Unsigned = [&](CmpInst::Predicate P) {
    return T.K == Type::Unsigned ? P : CmpInst::BAD_ICMP_PREDICATE;
  };
  return StringSwitch<CmpInst::Predicate>(Name)
      .Case("eq", CmpInst::ICMP_EQ)
      .Case("ne", CmpInst::ICMP_NE)
      .Case("lt", Order(CmpInst::ICMP_ULT, CmpInst::ICMP_SLT))
      .Case("le", Order(CmpInst::ICMP_ULE, CmpInst::ICMP_SLE))
      .Case("gt", Order(CmpInst::ICMP_UGT, CmpInst::ICMP_SGT))
      .Case("ge", Order(CmpInst::ICMP_UGE, CmpInst::ICMP_SGE))
      .Case("lo", Unsigned(CmpInst::ICMP_ULT))
      .Case("ls", Unsigned(CmpInst::ICMP_ULE))
      .Case("hi", Unsigned(CmpInst::ICMP_UGT))
      .Case("hs", Unsigned(CmpInst::ICMP_UGE))
      .Default(CmpInst::BAD_ICMP_PREDICATE);
}

/// a cmp b as an i1, or <2 x i1>; refuses what does not exist.
static Value *compare(Lowering &L, StringRef Name, Type T, bool Flush) {
  Value *A = L.read(1, T), *Other = L.read(2, T);
  CmpInst::Predicate P =
      T.isFloat() ? floatPredicate(Name) : intPredicate(Name, T);
  bool Supported = T.isFloat() ? CmpInst::isFPPredicate(P)
                               : CmpInst::isIntPredicate(P) && T.Lanes == 1 &&
                                     T.K != Type::Pred && T.Width >= 16 &&
                                     T.Width <= 64;
  if (!Supported || (Flush && (!T.isFloat() || T.Width == 64))) {
    L.refuse("the comparison does not exist for the type");
    return Constant::getNullValue(CmpInst::makeCmpResultType(A->getType()));
  }
  if (Flush) {
    A = flush(L, A);
    Other = flush(L, Other);
  }
  return L.B.CreateCmp(P, A, Other);
}

/// V combined with the third source, if the instruction has one.
static Value *combine(Lowering &L, StringRef Operation, Value *V) {
  if (Operation.empty())
    return V;
  Value *C = L.readPredicate(3);
  if (auto *Vector = dyn_cast<FixedVectorType>(V->getType()))
    C = L.B.CreateVectorSplat(Vector->getNumElements(), C);
  return Operation == "and"  ? L.B.CreateAnd(V, C)
         : Operation == "or" ? L.B.CreateOr(V, C)
                             : L.B.CreateXor(V, C);
}

static void emitSetp(Lowering &L) {
  StringRef Name = L.takeOneOf(Comparisons);
  StringRef Operation = L.takeOneOf({"and", "or", "xor"});
  bool Flush = L.take("ftz");
  Type T = L.type();
  L.arity(Operation.empty() ? 3 : 4);
  Value *V = compare(L, Name, T, Flush);
  const Operand &To = L.operand(0);
  bool Both = To.K == Operand::Pair;
  if (T.Lanes == 2) {
    // One predicate a lane.
    if (!Both)
      return L.refuse("packed types need two predicates");
    V = combine(L, Operation, V);
    for (uint64_t N = 0; N != 2; ++N)
      L.writePredicate(To.Parts[N], L.B.CreateExtractElement(V, N));
    return;
  }
  Value *P = combine(L, Operation, V);
  Value *Q = Both ? combine(L, Operation, L.B.CreateNot(V)) : nullptr;
  L.writePredicate(Both ? To.Parts[0] : To, P);
  if (Both)
    L.writePredicate(To.Parts[1], Q);
}

static void emitSet(Lowering &L) {
  StringRef Name = L.takeOneOf(Comparisons);
  StringRef Operation = L.takeOneOf({"and", "or", "xor"});
  bool Flush = L.take("ftz");
  Type To = L.type(), From = L.type();
  L.arity(Operation.empty() ? 3 : 4);
  auto &B = L.B;
  Value *V = combine(L, Operation, compare(L, Name, From, Flush));
  if (From.Lanes == 2 && To.isInt() && To.Width == 32 && To.K != Type::Bits) {
    // A mask of 16 bits for each lane.
    V = B.CreateSExt(V, FixedVectorType::get(B.getInt16Ty(), 2));
    return L.write(0, To, B.CreateBitCast(V, B.getInt32Ty()));
  }
  if (From.Lanes != To.Lanes || To.K == Type::Bits || To.K == Type::Pred ||
      (To.isInt() && To.Width != 32 && To.Width != 16))
    return L.refuse("the destination's type is not supported");
  llvm::Type *LT = L.llvmType(To);
  L.write(0, To,
          To.isFloat() ? B.CreateSelect(V, ConstantFP::get(LT, 1.0),
                                        ConstantFP::get(LT, 0.0))
                       : B.CreateSExt(V, LT));
}

ArrayRef<Row> compareRows() {
  static const Row Rows[] = {
      {"setp", IntClass, false, emitSetp,
       ".{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}{.and,.or,.xor}.{b,u,s}{16,32,64}; p|q",
       "icmp"},
      {"setp", FloatClass | HalfClass, false, emitSetp,
       ".{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{.bool}{.ftz}."
       "{f32,f64,f16{x2},bf16{x2}}; p|q",
       "fcmp"},
      {"set", AnyClass, false, emitSet,
       ".cmp{.bool}{.ftz}.{u32,s32,u16,s16,f32,f16{x2},bf16{x2}}.type",
       "icmp or fcmp; sext or select"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
