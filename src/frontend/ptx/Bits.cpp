//===- frontend/ptx/Bits.cpp - Logic, shifts, fields, permutation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX shifts clamp: an amount of the width or more leaves zeros (or signs),
// where LLVM's would be poison. Every shift here has its amount masked and the
// case beyond selected, so that no lane of the warp ever computes poison.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr Type U32{Type::Unsigned, 32, 1};
static constexpr Type B32{Type::Bits, 32, 1};

/// V shifted by the 32-bit amount N, which may be anything.
static Value *shift(Lowering &L, Value *V, Value *N,
                    llvm::Instruction::BinaryOps Op) {
  auto &B = L.B;
  unsigned Width = V->getType()->getIntegerBitWidth();
  Value *Beyond = B.CreateICmpUGE(N, B.getInt32(Width));
  Value *Masked = B.CreateZExtOrTrunc(B.CreateAnd(N, Width - 1), V->getType());
  if (Op == llvm::Instruction::AShr) {
    Masked = B.CreateSelect(Beyond, B.getIntN(Width, Width - 1), Masked);
    return B.CreateAShr(V, Masked);
  }
  Value *Shifted = B.CreateBinOp(Op, V, Masked);
  return B.CreateSelect(Beyond, B.getIntN(Width, 0), Shifted);
}

static void emitLogic(Lowering &L) {
  Type T = L.type();
  bool Unary = L.opcode() == "not" || L.opcode() == "cnot";
  L.arity(Unary ? 2 : 3);
  if (!(T.K == Type::Pred && L.opcode() != "cnot") &&
      !(T.K == Type::Bits && T.Width >= 16 && T.Width <= 64))
    return L.refuse("the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *V;
  if (L.opcode() == "not")
    V = B.CreateNot(A);
  else if (L.opcode() == "cnot")
    V = B.CreateZExt(B.CreateIsNull(A), A->getType());
  else if (L.opcode() == "and")
    V = B.CreateAnd(A, L.read(2, T));
  else if (L.opcode() == "or")
    V = B.CreateOr(A, L.read(2, T));
  else
    V = B.CreateXor(A, L.read(2, T));
  L.write(0, T, V);
}

/// One of the 16 functions of two bits; bit 2b+c of \p Table is its value.
static Value *logic2(Lowering &L, Value *X, Value *Y, unsigned Table) {
  auto &B = L.B;
  if (Table & 1) // complement, so that eight cases are left
    return B.CreateNot(logic2(L, X, Y, ~Table & 15));
  switch (Table) {
  case 0:
    return B.getInt32(0);
  case 2: // 01
    return B.CreateAnd(B.CreateNot(X), Y);
  case 4: // 10
    return B.CreateAnd(X, B.CreateNot(Y));
  case 6:
    return B.CreateXor(X, Y);
  case 8:
    return B.CreateAnd(X, Y);
  case 10:
    return Y;
  case 12:
    return X;
  default:
    return B.CreateOr(X, Y);
  }
}

/// Any function of three bits, by its value at a = 0 and at a = 1.
static void emitLop3(Lowering &L) {
  Type T = L.type();
  L.arity(5);
  std::optional<uint64_t> Table = L.literal(4);
  if (T != B32 || !Table || *Table > 255)
    return L.refuse("the table or the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *X = L.read(2, T), *Y = L.read(3, T);
  unsigned T0 = *Table & 15, T1 = *Table >> 4;
  Value *F0 = logic2(L, X, Y, T0), *V;
  if (T0 == T1)
    V = F0;
  else if (T0 == (~T1 & 15))
    V = B.CreateXor(A, F0);
  else if (T0 == 0)
    V = B.CreateAnd(A, logic2(L, X, Y, T1));
  else if (T1 == 0)
    V = B.CreateAnd(B.CreateNot(A), F0);
  else if (T1 == 15)
    V = B.CreateOr(A, F0);
  else
    V = B.CreateOr(B.CreateAnd(A, logic2(L, X, Y, T1)),
                   B.CreateAnd(B.CreateNot(A), F0));
  L.write(0, T, V);
}

static void emitShift(Lowering &L) {
  Type T = L.type();
  L.arity(3);
  if (!L.requireInt(T, {16, 32, 64}))
    return;
  bool Left = L.opcode() == "shl";
  if (Left && T.K != Type::Bits)
    L.refuse("the type is not supported");
  Value *A = L.read(1, T), *N = L.read(2, U32);
  L.write(0, T,
          shift(L, A, N,
                Left           ? llvm::Instruction::Shl
                : T.isSigned() ? llvm::Instruction::AShr
                               : llvm::Instruction::LShr));
}

/// shf.l d, a, b, c: the upper half of {b, a} shifted left; .r the lower half
/// of it shifted right.
static void emitFunnel(Lowering &L) {
  StringRef Way = L.takeOneOf({"l", "r"}),
            Mode = L.takeOneOf({"wrap", "clamp"});
  Type T = L.type();
  L.arity(4);
  if (Way.empty() || Mode.empty() || T != B32)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  Value *Low = L.read(1, T), *High = L.read(2, T), *N = L.read(3, U32);
  Value *V = L.call(Way == "l" ? Intrinsic::fshl : Intrinsic::fshr,
                    {High, Low, N}, {B.getInt32Ty()});
  if (Mode == "clamp")
    V = B.CreateSelect(B.CreateICmpUGE(N, B.getInt32(32)),
                       Way == "l" ? Low : High, V);
  L.write(0, T, V);
}

static void emitCount(Lowering &L) {
  Type T = L.type();
  L.arity(2);
  if (!L.requireInt(T, {32, 64}))
    return;
  if (T.K != Type::Bits)
    L.refuse("the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T);
  if (L.opcode() == "brev")
    return L.write(0, T, B.CreateUnaryIntrinsic(Intrinsic::bitreverse, A));
  Value *N = L.opcode() == "popc"
                 ? B.CreateUnaryIntrinsic(Intrinsic::ctpop, A)
                 : B.CreateBinaryIntrinsic(Intrinsic::ctlz, A, B.getFalse());
  L.write(0, U32, B.CreateTrunc(N, B.getInt32Ty()));
}

/// The position of the highest one, or of the highest bit that differs from
/// the sign; all ones if there is none. .shiftamt counts from the top.
static void emitBfind(Lowering &L) {
  bool FromTop = L.take("shiftamt");
  Type T = L.type();
  L.arity(2);
  if (!L.requireInt(T, {32, 64}))
    return;
  if (T.K == Type::Bits)
    L.refuse("the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T);
  if (T.isSigned())
    A = B.CreateXor(A, B.CreateAShr(A, T.Width - 1));
  Value *Zeros =
      B.CreateTrunc(B.CreateBinaryIntrinsic(Intrinsic::ctlz, A, B.getFalse()),
                    B.getInt32Ty());
  Value *V = FromTop ? Zeros : B.CreateSub(B.getInt32(T.Width - 1), Zeros);
  L.write(0, U32, B.CreateSelect(B.CreateIsNull(A), B.getInt32(-1), V));
}

/// A field's position or length. PTX allows 0 to 255; beyond, GPUs take the low
/// eight bits in fields of 32 bits, and the number as it is in those of 64.
static Value *fieldBound(Lowering &L, size_t N, Type T) {
  Value *V = L.read(N, U32);
  return T.Width == 32 ? L.B.CreateAnd(V, 0xff) : V;
}

static void emitBfe(Lowering &L) {
  Type T = L.type();
  L.arity(4);
  if (!L.requireInt(T, {32, 64}))
    return;
  if (T.K == Type::Bits)
    L.refuse("the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *Position = fieldBound(L, 2, T),
        *Length = fieldBound(L, 3, T);
  auto Right = T.isSigned() ? llvm::Instruction::AShr : llvm::Instruction::LShr;
  // Drop what lies below the field, then all above it by a shift up and down.
  Value *V = shift(L, A, Position, Right);
  Value *Whole = B.CreateICmpUGE(Length, B.getInt32(T.Width));
  Value *Above = B.CreateSelect(Whole, B.getInt32(0),
                                B.CreateSub(B.getInt32(T.Width), Length));
  V = shift(L, shift(L, V, Above, llvm::Instruction::Shl), Above, Right);
  Value *Empty = B.CreateIsNull(Length);
  L.write(0, T, B.CreateSelect(Empty, Constant::getNullValue(V->getType()), V));
}

/// 2^Length - 1 at Position; both may exceed the width.
static Value *fieldMask(Lowering &L, llvm::Type *T, Value *Position,
                        Value *Length) {
  Value *Ones = Constant::getAllOnesValue(T);
  Value *Mask = L.B.CreateNot(shift(L, Ones, Length, llvm::Instruction::Shl));
  return shift(L, Mask, Position, llvm::Instruction::Shl);
}

static void emitBfi(Lowering &L) {
  Type T = L.type();
  L.arity(5);
  if (!L.requireInt(T, {32, 64}))
    return;
  if (T.K != Type::Bits)
    L.refuse("the type is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *Into = L.read(2, T);
  Value *Position = fieldBound(L, 3, T), *Length = fieldBound(L, 4, T);
  Value *Mask = fieldMask(L, A->getType(), Position, Length);
  Value *Field = shift(L, A, Position, llvm::Instruction::Shl);
  L.write(0, T,
          B.CreateOr(B.CreateAnd(Field, Mask),
                     B.CreateAnd(Into, B.CreateNot(Mask))));
}

static void emitBmsk(Lowering &L) {
  StringRef Mode = L.takeOneOf({"clamp", "wrap"});
  Type T = L.type();
  L.arity(3);
  if (Mode.empty() || T != B32)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  Value *Position = L.read(1, U32), *Length = L.read(2, U32);
  if (Mode == "wrap") {
    Position = B.CreateAnd(Position, 31);
    Length = B.CreateAnd(Length, 31);
  }
  L.write(0, T, fieldMask(L, B.getInt32Ty(), Position, Length));
}

static void emitSzext(Lowering &L) {
  StringRef Mode = L.takeOneOf({"clamp", "wrap"});
  Type T = L.type();
  L.arity(3);
  if (!L.requireInt(T, {32}))
    return;
  if (Mode.empty() || T.K == Type::Bits)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *Bits = L.read(2, U32);
  if (Mode == "wrap")
    Bits = B.CreateAnd(Bits, 31);
  Value *Whole = B.CreateICmpUGE(Bits, B.getInt32(32));
  Value *Above =
      B.CreateSelect(Whole, B.getInt32(0), B.CreateSub(B.getInt32(32), Bits));
  Value *V = shift(L, A, Above, llvm::Instruction::Shl);
  V = shift(L, V, Above,
            T.isSigned() ? llvm::Instruction::AShr : llvm::Instruction::LShr);
  L.write(0, T, B.CreateSelect(B.CreateIsNull(Bits), B.getInt32(0), V));
}

/// The modes but the default one are four fixed selectors each, chosen by the
/// low two bits of c; 16 bits an entry, entry 0 lowest.
static void emitPrmt(Lowering &L) {
  struct Mode {
    StringRef Name;
    uint64_t Selectors;
  };
  static const Mode Modes[] = {
      {"f4e", 0x6543'5432'4321'3210}, {"b4e", 0x0123'7012'6701'5670},
      {"rc8", 0x3333'2222'1111'0000}, {"ecl", 0x3333'3222'3211'3210},
      {"ecr", 0x3210'2210'1110'0000}, {"rc16", 0x3232'1010'3232'1010},
  };
  Type T = L.type();
  L.arity(4);
  if (T != B32)
    return L.refuse("the type is not supported");
  auto &B = L.B;
  Value *Selector = L.read(3, T);
  for (const Mode &M : Modes)
    if (L.take(M.Name)) {
      Value *At = B.CreateShl(B.CreateAnd(Selector, 3), 4);
      Value *Table = B.CreateLShr(B.getInt64(M.Selectors),
                                  B.CreateZExt(At, B.getInt64Ty()));
      Selector = B.CreateAnd(B.CreateTrunc(Table, B.getInt32Ty()), 0xffff);
      break;
    }
  L.write(0, T,
          L.call(Intrinsic::nvvm_prmt, {L.read(1, T), L.read(2, T), Selector}));
}

static void emitFns(Lowering &L) {
  Type T = L.type();
  L.arity(4);
  if (T != B32)
    return L.refuse("the type is not supported");
  L.write(
      0, T,
      L.call(Intrinsic::nvvm_fns, {L.read(1, T), L.read(2, T), L.read(3, T)}));
}

ArrayRef<Row> bitRows() {
  static const Row Rows[] = {
      {"and", IntClass, false, emitLogic, ".pred .b{16,32,64}", "and"},
      {"or", IntClass, false, emitLogic, ".pred .b{16,32,64}", "or"},
      {"xor", IntClass, false, emitLogic, ".pred .b{16,32,64}", "xor"},
      {"not", IntClass, false, emitLogic, ".pred .b{16,32,64}", "xor"},
      {"cnot", IntClass, false, emitLogic, ".b{16,32,64}", "compare with zero"},
      {"lop3", IntClass, false, emitLop3, ".b32, constant table",
       "at most a few and, or, xor"},
      {"shl", IntClass, false, emitShift, ".b{16,32,64}", "shl, clamped"},
      {"shr", IntClass, false, emitShift, ".{b,u,s}{16,32,64}",
       "lshr or ashr, clamped"},
      {"shf", IntClass, false, emitFunnel, ".{l,r}.{wrap,clamp}.b32",
       "`llvm.fshl`, `llvm.fshr`"},
      {"popc", IntClass, false, emitCount, ".b{32,64}", "`llvm.ctpop`"},
      {"clz", IntClass, false, emitCount, ".b{32,64}", "`llvm.ctlz`"},
      {"brev", IntClass, false, emitCount, ".b{32,64}", "`llvm.bitreverse`"},
      {"bfind", IntClass, false, emitBfind, "{.shiftamt}.{u,s}{32,64}",
       "`llvm.ctlz`"},
      {"bfe", IntClass, false, emitBfe, ".{u,s}{32,64}", "shifts"},
      {"bfi", IntClass, false, emitBfi, ".b{32,64}", "shifts and masks"},
      {"bmsk", IntClass, false, emitBmsk, ".{clamp,wrap}.b32", "shifts"},
      {"szext", IntClass, false, emitSzext, ".{clamp,wrap}.{u,s}32", "shifts"},
      {"prmt", IntClass, false, emitPrmt,
       ".b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "`llvm.nvvm.prmt`"},
      {"fns", IntClass, false, emitFns, ".b32", "`llvm.nvvm.fns`"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
