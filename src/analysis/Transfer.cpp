//===- analysis/Transfer.cpp - Uniformity through instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction without a rule of its own is as divergent as its most
// divergent operand, and Divergent if one is Affine.
//
// Affine values keep their form under
//
//   add, sub       with a uniform or Affine operand: strides add
//   or disjoint    the same as add
//   mul, shl       by a uniform value: the stride is scaled, and known if both
//                  it and the factor are constants
//   xor -1         -1 - x: the stride is negated
//   sext, zext, trunc, freeze, pointer casts
//   getelementptr  the index's stride times the element's size, in bytes
//   select         on a uniform condition
//
// How far to trust it. Affine says: for lanes that run together,
// value = base + stride * threadIdx.x in the arithmetic of the value's width,
// base and stride equal for these lanes. Two things are left to the consumer,
// who must check what it relies on when the program runs:
//
//   * Lanes are consecutive in threadIdx.x only within a row of the block: if
//     blockDim.x is no multiple of the warp size, a warp covers several rows,
//     and the value jumps where a row begins. For the same reason a difference
//     of Affine values with stride 0 is Affine, not uniform (threadIdx.x minus
//     the lane id is not one number in a warp of two rows).
//   * sext and zext are taken to keep the form, although without nsw or nuw
//     some lane's narrow value may have wrapped (base near 2^31 or 2^32).
//
// Everything that decides what is uniform treats Affine as divergent.
//
//===----------------------------------------------------------------------===//

#include "analysis/Transfer.h"
#include "analysis/Sources.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::analysis {

using Stride = std::optional<int64_t>;

static bool isUniform(const Uniformity &U) { return U.L <= Level::Warp; }

/// Strides wrap as the values do: kept modulo 2^Bits, as a signed number.
static Stride wrapped(Stride S, unsigned Bits) {
  if (S && Bits < 64)
    return SignExtend64(static_cast<uint64_t>(*S), Bits);
  return S;
}

static int64_t addWrapping(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) +
                              static_cast<uint64_t>(B));
}

static int64_t mulWrapping(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) *
                              static_cast<uint64_t>(B));
}

/// The stride of any value: 0 for a uniform one.
static Stride strideOf(const Uniformity &U) {
  return isUniform(U) ? Stride(0) : U.Stride;
}

static Stride plus(Stride A, Stride B) {
  return A && B ? Stride(addWrapping(*A, *B)) : std::nullopt;
}

static Stride times(Stride A, Stride Factor) {
  return A && Factor ? Stride(mulWrapping(*A, *Factor)) : std::nullopt;
}

Uniformity meetOf(Uniformity A, Uniformity B) {
  const Uniformity &Higher = B.L > A.L ? B : A;
  Uniformity Result = Higher;
  if (Result.L == Level::Affine && strideOf(A) != strideOf(B))
    Result.Stride = std::nullopt;
  return Result;
}

/// A pure function of \p Operands without a form that we know.
static Uniformity following(ArrayRef<Uniformity> Operands) {
  Uniformity Result;
  for (const Uniformity &U : Operands)
    if (U.L > Result.L)
      Result = U;
  if (!isUniform(Result))
    Result.L = Level::Divergent;
  Result.Stride = std::nullopt;
  return Result;
}

/// A constant integer of at most 64 bits, signed.
static Stride constantOf(const Value &V) {
  const auto *C = dyn_cast<ConstantInt>(&V);
  if (!C || C->getBitWidth() > 64)
    return std::nullopt;
  return C->getSExtValue();
}

/// Whether \p T can carry the form base + stride * threadIdx.x.
static bool hasForm(const Type &T) {
  return T.isPointerTy() || (T.isIntegerTy() && T.getIntegerBitWidth() > 1 &&
                             T.getIntegerBitWidth() <= 64);
}

/// A result of stride \p S if no operand is Divergent.
static Uniformity affine(ArrayRef<Uniformity> Operands, Stride S,
                         const Type &T) {
  Uniformity Result = following(Operands);
  if (isUniform(Result) || any_of(Operands, [](const Uniformity &U) {
        return U.L == Level::Divergent;
      }))
    return Result;
  Result.L = Level::Affine;
  Result.Stride = wrapped(S, T.isIntegerTy() ? T.getIntegerBitWidth() : 64);
  return Result;
}

static Uniformity transferBinary(const Instruction &I,
                                 ArrayRef<Uniformity> Operands) {
  const Uniformity &A = Operands[0], &B = Operands[1];
  const Type &T = *I.getType();
  switch (I.getOpcode()) {
  case Instruction::Or:
    if (!cast<PossiblyDisjointInst>(I).isDisjoint())
      break;
    [[fallthrough]];
  case Instruction::Add:
    return affine(Operands, plus(strideOf(A), strideOf(B)), T);
  case Instruction::Sub:
    return affine(Operands, plus(strideOf(A), times(strideOf(B), -1)), T);
  case Instruction::Xor:
    if (match(&I, m_Not(m_Value())))
      return affine(Operands, times(strideOf(isUniform(A) ? B : A), -1), T);
    break;
  case Instruction::Mul:
    if (isUniform(B))
      return affine(Operands, times(A.Stride, constantOf(*I.getOperand(1))), T);
    if (isUniform(A))
      return affine(Operands, times(B.Stride, constantOf(*I.getOperand(0))), T);
    break;
  case Instruction::Shl:
    if (isUniform(B)) {
      Stride Amount = constantOf(*I.getOperand(1));
      Stride Factor;
      if (Amount && *Amount >= 0 && *Amount < 63)
        Factor = int64_t(1) << *Amount;
      return affine(Operands, times(A.Stride, Factor), T);
    }
    break;
  default:
    break;
  }
  return following(Operands);
}

static Uniformity transferGep(const GetElementPtrInst &Gep,
                              ArrayRef<Uniformity> Operands) {
  const DataLayout &DL = Gep.getModule()->getDataLayout();
  Stride Total = strideOf(Operands[0]);
  unsigned Index = 1;
  for (auto Step = gep_type_begin(Gep), End = gep_type_end(Gep); Step != End;
       ++Step, ++Index) {
    if (Step.isStruct())
      continue; // a constant offset
    TypeSize Size = Step.getSequentialElementStride(DL);
    Stride Bytes;
    if (!Size.isScalable())
      Bytes = static_cast<int64_t>(Size.getFixedValue());
    Total = plus(Total, times(strideOf(Operands[Index]), Bytes));
  }
  return affine(Operands, Total, *Gep.getType());
}

static Uniformity transferLoad(const LoadInst &Load, const Uniformity &Address,
                               const UniformityOptions &Options) {
  if (Load.isAtomic())
    return {Level::Divergent, Cause::Atomic, {}};
  if (!isUniform(Address)) {
    bool Local = Address.Why == Cause::Local;
    return {Level::Divergent, Local ? Cause::Local : Cause::Load, {}};
  }
  if (isInvariantLoad(Load))
    return Address;
  if (Options.UniformLoads)
    return {Level::Warp, Cause::None, {}};
  return {Level::Divergent, Cause::Load, {}};
}

static Uniformity transferCall(const CallBase &Call,
                               ArrayRef<Uniformity> Operands,
                               const UniformityOptions &Options) {
  CallLevel Rule = callLevel(Call, Options);
  ArrayRef<Uniformity> Arguments = Operands.take_front(Call.arg_size());
  switch (Rule.Rule) {
  case CallRule::Fixed:
    return Rule.Level;
  case CallRule::Operands:
    return following(Arguments);
  case CallRule::Value:
    return Arguments[0];
  case CallRule::ReadOnly:
    if (isUniform(Arguments[0]))
      return Arguments[0];
    return {Level::Divergent, Cause::Load, {}};
  }
  llvm_unreachable("every rule has its case");
}

static Uniformity transferAny(const Instruction &I,
                              ArrayRef<Uniformity> Operands,
                              const UniformityOptions &Options) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return transferLoad(*Load, Operands[0], Options);
  if (const auto *Call = dyn_cast<CallBase>(&I))
    return transferCall(*Call, Operands, Options);
  if (const auto *Gep = dyn_cast<GetElementPtrInst>(&I))
    return transferGep(*Gep, Operands);
  if (I.isBinaryOp())
    return transferBinary(I, Operands);
  switch (I.getOpcode()) {
  case Instruction::SExt:
  case Instruction::ZExt:
    if (!hasForm(*I.getOperand(0)->getType()))
      break; // an i1 has no room for a stride
    return Operands[0];
  case Instruction::Trunc:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::AddrSpaceCast:
    return affine(Operands, strideOf(Operands[0]), *I.getType());
  case Instruction::Freeze:
    return Operands[0];
  case Instruction::BitCast:
    if (I.getType() == I.getOperand(0)->getType())
      return Operands[0];
    break;
  case Instruction::Select:
    if (I.getOperand(1) == I.getOperand(2))
      return Operands[1];
    if (isUniform(Operands[0])) {
      Uniformity Result = meetOf(Operands[1], Operands[2]);
      if (Result.L < Operands[0].L)
        Result.L = Operands[0].L;
      return Result;
    }
    break;
  case Instruction::Alloca:
    return {Level::Divergent, Cause::Local, {}};
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    return {Level::Divergent, Cause::Atomic, {}};
  case Instruction::VAArg:
  case Instruction::LandingPad:
  case Instruction::CatchPad:
  case Instruction::CleanupPad:
  case Instruction::CatchSwitch:
    return {Level::Divergent, Cause::Call, {}};
  default:
    break;
  }
  return following(Operands);
}

Uniformity transfer(const Instruction &I, ArrayRef<Uniformity> Operands,
                    const UniformityOptions &Options) {
  Uniformity Result = transferAny(I, Operands, Options);
  if (Result.L == Level::Affine && !hasForm(*I.getType()))
    Result.L = Level::Divergent;
  if (Result.L != Level::Affine)
    Result.Stride = std::nullopt;
  if (isUniform(Result))
    Result.Why = Cause::None;
  return Result;
}

} // namespace reconverge::analysis
