//===- analysis/Counting.cpp - What becomes a machine instruction ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// n(b), the weight of a block in every metric, counts the IR instructions that
// a GPU would issue. IR is close to the machine after -O3, except for what the
// code generator drops. The rules, each after what ptxas does:
//
//   * no instruction: PHIs (registers are coalesced), allocas (the frame),
//     markers (debug, lifetime, assume, annotations), freeze, unreachable,
//     reads and writes of parts of aggregates and vectors at constant places
//     (registers are named one by one);
//   * casts without effect: bitcast, pointer casts of any kind, an integer
//     trunc (the low register is read); a zext from i1 or any other change of
//     value does count;
//   * an unconditional branch: most fall through once blocks are laid out;
//   * address computations that fold: a GEP with constant indices that only
//     feeds accesses (the access has an immediate offset), one without any
//     offset, and the sext or zext of an index that only feeds GEPs (the
//     multiply-add of the address is a widening one). A GEP with a variable
//     index is one multiply-add and counts, unless there is one of the same
//     array at that index less a constant: a[i + 1] is at an offset from a[i].
//     Nor does an addition count that only makes such indices;
//   * the halves of 64 bits, put together or taken apart, as for a shuffle of a
//     double: they are two registers;
//   * divisions, remainders and exact square roots are short programs: as many
//     as ptxas of CUDA 13.0 makes of one for sm_90 on the way that usual
//     operands take. By a constant it is a multiplication and a shift or two.
//     Of 64 bits the usual way is that of operands that fit into 32, for which
//     the code generator tests.
//
// All else counts as one, of 64 bits too: half of those instructions compute
// addresses and fold.
//
// Limitation: operand modifiers (fneg, fabs fold on the GPU) and if-conversion
// by ptxas are not foreseen; both move a count by a few percent.
//
//===----------------------------------------------------------------------===//

#include "analysis/Costs.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::analysis {

/// Whether every use of the address \p V is an access through it or a further
/// address computation, into which an immediate offset folds.
static bool feedsOnlyAccesses(const Value &V) {
  return all_of(V.uses(), [](const Use &U) {
    const auto *I = dyn_cast<Instruction>(U.getUser());
    if (!I)
      return false;
    switch (I->getOpcode()) {
    case Instruction::Load:
      return true;
    case Instruction::Store:
      return U.getOperandNo() == StoreInst::getPointerOperandIndex();
    case Instruction::AtomicRMW:
      return U.getOperandNo() == AtomicRMWInst::getPointerOperandIndex();
    case Instruction::AtomicCmpXchg:
      return U.getOperandNo() == AtomicCmpXchgInst::getPointerOperandIndex();
    case Instruction::GetElementPtr:
      return U.getOperandNo() == GetElementPtrInst::getPointerOperandIndex();
    default:
      return false;
    }
  });
}

static bool feedsOnlyIndices(const Value &V) {
  return !V.use_empty() && all_of(V.uses(), [](const Use &U) {
    return isa<GetElementPtrInst>(U.getUser()) &&
           U.getOperandNo() != GetElementPtrInst::getPointerOperandIndex();
  });
}

/// The index of \p Gep without what widens it, if it has one index alone.
static const Value *onlyIndex(const GetElementPtrInst &Gep) {
  if (Gep.getNumIndices() != 1)
    return nullptr;
  const Value *Index = Gep.getOperand(1);
  return isa<SExtInst, ZExtInst>(Index)
             ? cast<Instruction>(Index)->getOperand(0)
             : Index;
}

/// Whether \p Gep is a constant away from one of the same array.
static bool hasNeighbour(const GetElementPtrInst &Gep) {
  const auto *Sum = dyn_cast_or_null<BinaryOperator>(onlyIndex(Gep));
  if (!Sum || Sum->getOpcode() != Instruction::Add ||
      !isa<ConstantInt>(Sum->getOperand(1)) || !feedsOnlyAccesses(Gep))
    return false;
  const auto IsNeighbour = [&](const User *U) {
    const auto *Other = dyn_cast<GetElementPtrInst>(U);
    return Other && Other->getPointerOperand() == Gep.getPointerOperand() &&
           Other->getSourceElementType() == Gep.getSourceElementType() &&
           onlyIndex(*Other) == Sum->getOperand(0);
  };
  return any_of(Sum->getOperand(0)->users(), [&](const User *U) {
    return IsNeighbour(U) ||
           (isa<SExtInst, ZExtInst>(U) && any_of(U->users(), IsNeighbour));
  });
}

/// An addition that only makes indices of addresses with a neighbour.
static bool feedsOnlyNeighbours(const Value &V) {
  return !V.use_empty() && all_of(V.users(), [](const User *U) {
    if (isa<SExtInst, ZExtInst>(U))
      return feedsOnlyNeighbours(*U);
    const auto *Gep = dyn_cast<GetElementPtrInst>(U);
    return Gep && hasNeighbour(*Gep);
  });
}

/// (uint64_t(high) << 32) | low
static bool isPair(const Value *V) {
  const Value *High = nullptr, *Low = nullptr;
  return match(V, m_c_Or(m_Shl(m_ZExt(m_Value(High)), m_SpecificInt(32)),
                         m_ZExt(m_Value(Low)))) &&
         High->getType()->isIntegerTy(32) && Low->getType()->isIntegerTy(32);
}

/// Whether \p I is part of making a pair of registers, or of reading one.
static bool namesHalves(const Instruction &I) {
  if (!I.getType()->isIntegerTy(64) || I.use_empty())
    return false;
  if (match(&I, m_LShr(m_Value(), m_SpecificInt(32))))
    return all_of(I.users(), [](const User *U) {
      return isa<TruncInst>(U) && U->getType()->getIntegerBitWidth() <= 32;
    });
  if (I.getOpcode() == Instruction::Or)
    return isPair(&I);
  return all_of(I.users(), [](const User *U) {
    return isPair(U) || (match(U, m_Shl(m_Value(), m_SpecificInt(32))) &&
                         namesHalves(*cast<Instruction>(U)));
  });
}

static bool isMarker(const IntrinsicInst &I) {
  if (I.isDebugOrPseudoInst() || I.isLifetimeStartOrEnd() ||
      I.isAssumeLikeIntrinsic())
    return true;
  switch (I.getIntrinsicID()) {
  case Intrinsic::donothing:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::is_constant:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
    return true;
  default:
    return false;
  }
}

bool countsAsInstruction(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::PHI:
  case Instruction::Alloca:
  case Instruction::Freeze:
  case Instruction::Unreachable:
  case Instruction::ExtractValue:
  case Instruction::InsertValue:
  case Instruction::ShuffleVector:
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::Trunc:
    return false;
  case Instruction::ExtractElement:
    return !isa<Constant>(I.getOperand(1));
  case Instruction::InsertElement:
    return !isa<Constant>(I.getOperand(2));
  case Instruction::Br:
    return cast<BranchInst>(I).isConditional();
  case Instruction::GetElementPtr: {
    const auto &Gep = cast<GetElementPtrInst>(I);
    if (Gep.hasAllZeroIndices())
      return false;
    return Gep.hasAllConstantIndices() ? !feedsOnlyAccesses(I)
                                       : !hasNeighbour(Gep);
  }
  case Instruction::Add:
    return !feedsOnlyNeighbours(I);
  case Instruction::SExt:
  case Instruction::ZExt:
    return I.getOperand(0)->getType()->isIntOrIntVectorTy(1) ||
           (!feedsOnlyIndices(I) && !namesHalves(I));
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::Or:
    return !namesHalves(I);
  case Instruction::Call: {
    const auto &Call = cast<CallInst>(I);
    if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
      return !StringRef(Asm->getAsmString()).trim(" \t\n;").empty();
    const auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
    return !Intrinsic || !isMarker(*Intrinsic);
  }
  default:
    return true;
  }
}

unsigned machineInstructions(const Instruction &I) {
  if (!countsAsInstruction(I))
    return 0;
  const bool ByConstant = I.isIntDivRem() && isa<Constant>(I.getOperand(1));
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  const bool Approximate =
      (isa<FPMathOperator>(I) && I.hasApproxFunc()) ||
      (Call &&
       Intrinsic::getBaseName(Call->getIntrinsicID()).contains(".approx"));
  if (Approximate)
    return 1;
  return StringSwitch<unsigned>(classOf(I))
      .Cases("div.u32", "rem.u32", ByConstant ? 3 : 18)
      .Cases("div.s32", "rem.s32", ByConstant ? 3 : 23)
      .Cases("div.u64", "rem.u64", "div.s64", "rem.s64", ByConstant ? 10 : 26)
      .Cases("div.f32", "rcp.f32", "sqrt.f32", 10)
      .Cases("div.f64", "rcp.f64", "sqrt.f64", 16)
      .Default(1);
}

unsigned machineInstructions(const BasicBlock &BB) {
  unsigned Sum = 0;
  for (const Instruction &I : BB)
    Sum += machineInstructions(I);
  return Sum;
}

} // namespace reconverge::analysis
