//===- frontend/ptx/Integer.cpp - Integer arithmetic ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carry chains. The flag is one bit of state of the asm text: `.cc` writes it,
// addc, subc and madc read it. After a subtraction it holds the borrow. A sum
// of three terms a + b + carry overflows at most once, in one of its two steps,
// so the carry out is the OR of both steps' carries:
//
//     s = a + b;  c1 = s < a;   t = s + carry;  c2 = t < s;   out = c1 | c2
//
// Division by zero, and the one signed quotient that overflows, are undefined
// in LLVM and an unspecified value in PTX. The divisor is replaced by one
// there, and division by zero gives what an H200 gives: all ones, as a
// remainder too.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

/// a + b or a - b, with the carry flag read and written as asked.
static Value *addWithCarry(Lowering &L, Value *A, Value *Other, bool Subtract,
                           bool In, bool Out) {
  auto &B = L.B;
  Value *Sum = Subtract ? B.CreateSub(A, Other) : B.CreateAdd(A, Other);
  Value *Carry = Subtract ? B.CreateICmpULT(A, Other) : B.CreateICmpULT(Sum, A);
  if (In) {
    Value *Flag = B.CreateZExt(L.readCarry(), A->getType());
    Value *Next = Subtract ? B.CreateSub(Sum, Flag) : B.CreateAdd(Sum, Flag);
    Value *Second =
        Subtract ? B.CreateICmpULT(Sum, Flag) : B.CreateICmpULT(Next, Sum);
    Carry = B.CreateOr(Carry, Second);
    Sum = Next;
  }
  if (Out)
    L.writeCarry(Carry);
  return Sum;
}

static void emitAdd(Lowering &L) {
  bool Subtract = L.opcode().starts_with("sub");
  bool In = L.opcode().ends_with("c");
  bool Out = L.take("cc"), Saturate = L.take("sat");
  Type T = L.type();
  L.arity(3);
  if (T.K == Type::Pred || T.Width < 16 || T.Width > 64 ||
      ((In || Out) && (T.Width < 32 || T.Lanes != 1)) ||
      (Saturate && (In || Out || T != Type{Type::Signed, 32, 1})))
    return L.refuse("the type is not supported");
  Value *A = L.read(1, T), *Other = L.read(2, T);
  if (Saturate)
    L.write(0, T,
            L.B.CreateBinaryIntrinsic(Subtract ? Intrinsic::ssub_sat
                                               : Intrinsic::sadd_sat,
                                      A, Other));
  else
    L.write(0, T, addWithCarry(L, A, Other, Subtract, In, Out));
}

/// The part of a * b that \p Part names: "lo", "hi" or "wide".
static Value *product(Lowering &L, Value *A, Value *Other, bool Signed,
                      StringRef Part) {
  auto &B = L.B;
  if (Part == "lo")
    return B.CreateMul(A, Other);
  unsigned Width = A->getType()->getIntegerBitWidth();
  llvm::Type *Wide = B.getIntNTy(2 * Width);
  auto Extend = [&](Value *V) {
    return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
  };
  Value *Full = B.CreateMul(Extend(A), Extend(Other));
  return Part == "wide"
             ? Full
             : B.CreateTrunc(B.CreateLShr(Full, Width), A->getType());
}

static void emitMul(Lowering &L) {
  bool Add = L.opcode().starts_with("mad"), In = L.opcode() == "madc";
  StringRef Part = L.takeOneOf({"lo", "hi", "wide"});
  bool Out = L.take("cc"), Saturate = L.take("sat");
  Type T = L.type();
  L.arity(Add ? 4 : 3);
  if (!L.requireInt(T, {16, 32, 64}))
    return;
  bool Wide = Part == "wide";
  if (Part.empty() || (Wide && (T.Width > 32 || In)) || T.K == Type::Bits ||
      ((In || Out) && (!Add || T.Width < 32 || Wide)) ||
      (Saturate &&
       (!Add || In || Out || Part != "hi" || T != Type{Type::Signed, 32, 1})))
    return L.refuse("the form is not supported");
  Type To{T.K, Wide ? 2 * T.Width : T.Width, 1};
  Value *V = product(L, L.read(1, T), L.read(2, T), T.isSigned(), Part);
  if (Add) {
    Value *C = L.read(3, To);
    V = Saturate ? L.B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, V, C)
                 : addWithCarry(L, V, C, false, In, Out);
  }
  L.write(0, To, V);
}

/// 24-bit products: bits 31..0 or 47..16 of 48.
static void emitMul24(Lowering &L) {
  bool Add = L.opcode() == "mad24";
  StringRef Part = L.takeOneOf({"lo", "hi"});
  bool Saturate = L.take("sat");
  Type T = L.type();
  L.arity(Add ? 4 : 3);
  if (!L.requireInt(T, {32}))
    return;
  if (Part.empty() || T.K == Type::Bits ||
      (Saturate && (!Add || Part != "hi" || !T.isSigned())))
    return L.refuse("the form is not supported");
  auto &B = L.B;
  auto Narrow = [&](Value *V) {
    V = B.CreateTrunc(V, B.getIntNTy(24));
    return T.isSigned() ? B.CreateSExt(V, B.getInt64Ty())
                        : B.CreateZExt(V, B.getInt64Ty());
  };
  Value *V = B.CreateMul(Narrow(L.read(1, T)), Narrow(L.read(2, T)));
  V = B.CreateTrunc(Part == "lo" ? V : B.CreateLShr(V, 16), B.getInt32Ty());
  if (Add) {
    Value *C = L.read(3, T);
    V = Saturate ? B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, V, C)
                 : B.CreateAdd(V, C);
  }
  L.write(0, T, V);
}

static void emitSad(Lowering &L) {
  Type T = L.type();
  L.arity(4);
  if (!L.requireInt(T, {16, 32, 64}))
    return;
  auto &B = L.B;
  Value *A = L.read(1, T), *Other = L.read(2, T), *C = L.read(3, T);
  Value *Less =
      T.isSigned() ? B.CreateICmpSLT(A, Other) : B.CreateICmpULT(A, Other);
  Value *Distance =
      B.CreateSelect(Less, B.CreateSub(Other, A), B.CreateSub(A, Other));
  L.write(0, T, B.CreateAdd(C, Distance));
}

static void emitDiv(Lowering &L) {
  bool Remainder = L.opcode() == "rem";
  Type T = L.type();
  L.arity(3);
  if (!L.requireInt(T, {16, 32, 64}))
    return;
  auto &B = L.B;
  Value *A = L.read(1, T), *D = L.read(2, T);
  llvm::Type *LT = A->getType();
  Constant *One = ConstantInt::get(LT, 1), *Zero = ConstantInt::get(LT, 0);
  Constant *AllOnes = Constant::getAllOnesValue(LT);
  Value *ByZero = B.CreateICmpEQ(D, Zero);
  Value *Unsafe = ByZero;
  if (T.isSigned()) {
    Constant *Least = ConstantInt::get(LT, APInt::getSignedMinValue(T.Width));
    Value *Overflow =
        B.CreateAnd(B.CreateICmpEQ(A, Least), B.CreateICmpEQ(D, AllOnes));
    Unsafe = B.CreateOr(ByZero, Overflow);
  }
  Value *Safe = B.CreateSelect(Unsafe, One, D);
  Value *V;
  // Least / 1 is Least and Least % 1 is 0: right for the overflow as well.
  if (Remainder)
    V = T.isSigned() ? B.CreateSRem(A, Safe) : B.CreateURem(A, Safe);
  else
    V = T.isSigned() ? B.CreateSDiv(A, Safe) : B.CreateUDiv(A, Safe);
  V = B.CreateSelect(ByZero, AllOnes, V);
  L.write(0, T, V);
}

static void emitAbs(Lowering &L) {
  bool Negate = L.opcode() == "neg";
  Type T = L.type();
  L.arity(2);
  if (!L.requireInt(T, {16, 32, 64}))
    return;
  if (!T.isSigned())
    L.refuse("the type is not supported");
  Value *A = L.read(1, T);
  L.write(0, T,
          Negate
              ? L.B.CreateNeg(A)
              : L.B.CreateBinaryIntrinsic(Intrinsic::abs, A, L.B.getFalse()));
}

static void emitMinMax(Lowering &L) {
  bool Min = L.opcode() == "min", Relu = L.take("relu");
  Type T = L.type();
  L.arity(3);
  if (!(T.K == Type::Signed || T.K == Type::Unsigned) || T.Width < 16 ||
      (Relu && !(T.isSigned() && (T.Width == 32 || T.Lanes == 2))))
    return L.refuse("the type is not supported");
  Intrinsic::ID ID = T.isSigned() ? (Min ? Intrinsic::smin : Intrinsic::smax)
                                  : (Min ? Intrinsic::umin : Intrinsic::umax);
  Value *V = L.B.CreateBinaryIntrinsic(ID, L.read(1, T), L.read(2, T));
  if (Relu)
    V = L.B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                  Constant::getNullValue(V->getType()));
  L.write(0, T, V);
}

/// dp4a.a.b d, a, b, c: c plus the four byte products; dp2a.{lo,hi}.a.b: two
/// halves of a by two bytes of b. The first type is a's, the second b's.
static void emitDotProduct(Lowering &L) {
  bool Four = L.opcode() == "dp4a";
  StringRef Half = Four ? "lo" : L.takeOneOf({"lo", "hi"});
  Type TA = L.type(), TB = L.type();
  L.arity(4);
  if (!L.requireInt(TA, {32}))
    return;
  if (!L.requireInt(TB, {32}))
    return;
  if (Half.empty() || TA.K == Type::Bits || TB.K == Type::Bits)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  auto Part = [&](Value *V, unsigned At, unsigned Width, bool Signed) {
    V = B.CreateTrunc(B.CreateLShr(V, At), B.getIntNTy(Width));
    return Signed ? B.CreateSExt(V, B.getInt32Ty())
                  : B.CreateZExt(V, B.getInt32Ty());
  };
  Value *A = L.read(1, TA), *Other = L.read(2, TB);
  Type TC{TA.isSigned() || TB.isSigned() ? Type::Signed : Type::Unsigned, 32,
          1};
  Value *Sum = L.read(3, TC);
  for (unsigned N = 0; N != (Four ? 4 : 2); ++N) {
    Value *X = Part(A, N * (Four ? 8 : 16), Four ? 8 : 16, TA.isSigned());
    Value *Y = Part(Other, N * 8 + (Half == "hi" ? 16 : 0), 8, TB.isSigned());
    Sum = B.CreateAdd(Sum, B.CreateMul(X, Y));
  }
  L.write(0, TC, Sum);
}

ArrayRef<Row> integerRows() {
  static const Row Rows[] = {
      {"add", IntClass, false, emitAdd,
       "{.cc}.{u,s,b}{32,64}, .{u,s}16{x2}, .sat.s32",
       "add; the carry by a compare; `llvm.sadd.sat`"},
      {"addc", IntClass, false, emitAdd, "{.cc}.{u,s,b}{32,64}", "two adds"},
      {"sub", IntClass, false, emitAdd,
       "{.cc}.{u,s,b}{32,64}, .{u,s}16{x2}, .sat.s32",
       "sub; the borrow by a compare; `llvm.ssub.sat`"},
      {"subc", IntClass, false, emitAdd, "{.cc}.{u,s,b}{32,64}", "two subs"},
      {"mul", IntClass, false, emitMul, ".{lo,hi,wide}.{u,s}{16,32,64}",
       "mul, of twice the width for .hi and .wide"},
      {"mad", IntClass, false, emitMul,
       ".{lo,hi,wide}{.cc}.{u,s}{16,32,64}, .hi.sat.s32", "mul and add"},
      {"madc", IntClass, false, emitMul, ".{lo,hi}{.cc}.{u,s}{32,64}",
       "mul and two adds"},
      {"mul24", IntClass, false, emitMul24, ".{lo,hi}.{u,s}32",
       "mul in 64 bits"},
      {"mad24", IntClass, false, emitMul24, ".{lo,hi}.{u,s}32, .hi.sat.s32",
       "mul in 64 bits and add"},
      {"sad", IntClass, false, emitSad, ".{u,s}{16,32,64}",
       "compare, sub, select, add"},
      {"div", IntClass, false, emitDiv, ".{u,s}{16,32,64}",
       "udiv or sdiv, guarded"},
      {"rem", IntClass, false, emitDiv, ".{u,s}{16,32,64}",
       "urem or srem, guarded"},
      {"abs", IntClass, false, emitAbs, ".s{16,32,64}", "`llvm.abs`"},
      {"neg", IntClass, false, emitAbs, ".s{16,32,64}", "sub"},
      {"min", IntClass, false, emitMinMax,
       ".{u,s}{16,32,64}, .{u,s}16x2, .relu.{s32,s16x2}",
       "`llvm.smin`, `llvm.umin`"},
      {"max", IntClass, false, emitMinMax,
       ".{u,s}{16,32,64}, .{u,s}16x2, .relu.{s32,s16x2}",
       "`llvm.smax`, `llvm.umax`"},
      {"dp4a", IntClass, false, emitDotProduct, ".{u,s}32.{u,s}32",
       "four muls and adds"},
      {"dp2a", IntClass, false, emitDotProduct, ".{lo,hi}.{u,s}32.{u,s}32",
       "two muls and adds"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
