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
//     index is one multiply-add and counts.
//
// Limitation: operand modifiers (fneg, fabs fold on the GPU) and if-conversion
// by ptxas are not foreseen; both move a count by a few percent.
//
//===----------------------------------------------------------------------===//

#include "analysis/Costs.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

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
    return !Gep.hasAllConstantIndices() || !feedsOnlyAccesses(I);
  }
  case Instruction::SExt:
  case Instruction::ZExt:
    return I.getOperand(0)->getType()->isIntOrIntVectorTy(1) ||
           !feedsOnlyIndices(I);
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

} // namespace reconverge::analysis
