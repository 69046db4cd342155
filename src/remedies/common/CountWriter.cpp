//===- remedies/common/CountWriter.cpp - For the host to compute ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the device code, as it stands or as SCEV sees it: integers of 8 to 64
// bits, made of arguments, of members of structures that are passed by value,
// and of the launch's sizes, by arithmetic alone. launch/Trips.cpp computes
// them.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/CountWriter.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::remedies {

static constexpr size_t MostTerms = 32;

static std::optional<TripCount::Kind> kindOf(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::Add:
    return TripCount::Add;
  case Instruction::Sub:
    return TripCount::Sub;
  case Instruction::Mul:
    return TripCount::Mul;
  case Instruction::UDiv:
    return TripCount::UDiv;
  case Instruction::SDiv:
    return TripCount::SDiv;
  case Instruction::Shl:
    return TripCount::Shl;
  case Instruction::LShr:
    return TripCount::LShr;
  case Instruction::AShr:
    return TripCount::AShr;
  case Instruction::Trunc:
    return TripCount::Trunc;
  case Instruction::ZExt:
    return TripCount::ZExt;
  case Instruction::SExt:
    return TripCount::SExt;
  default:
    break;
  }
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::umin:
    return TripCount::UMin;
  case Intrinsic::umax:
    return TripCount::UMax;
  case Intrinsic::smin:
    return TripCount::SMin;
  case Intrinsic::smax:
    return TripCount::SMax;
  default:
    return std::nullopt;
  }
}

static std::optional<TripCount::Kind> kindOf(SCEVTypes Of) {
  switch (Of) {
  case scAddExpr:
    return TripCount::Add;
  case scMulExpr:
    return TripCount::Mul;
  case scUDivExpr:
    return TripCount::UDiv;
  case scUMinExpr:
    return TripCount::UMin;
  case scUMaxExpr:
    return TripCount::UMax;
  case scSMinExpr:
    return TripCount::SMin;
  case scSMaxExpr:
    return TripCount::SMax;
  case scTruncate:
    return TripCount::Trunc;
  case scZeroExtend:
    return TripCount::ZExt;
  case scSignExtend:
    return TripCount::SExt;
  default:
    return std::nullopt;
  }
}

/// Of \p T; 0: the host does not compute with it.
static unsigned bitsOf(const Type *T) {
  const unsigned Bits = T->isIntegerTy() ? T->getIntegerBitWidth() : 0;
  return Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64 ? Bits : 0;
}

void CountWriter::add(TripCount::Term T) { Count.Terms.push_back(T); }

std::optional<TripCount> CountWriter::count() const {
  return Good && Count.Terms.size() <= MostTerms ? std::optional(Count)
                                                 : std::nullopt;
}

std::pair<const Argument *, uint64_t> memberOf(const LoadInst &Load,
                                               const DataLayout &Layout) {
  const Value *From = Load.getPointerOperand();
  APInt At(Layout.getIndexTypeSizeInBits(From->getType()), 0);
  const auto *A = dyn_cast<Argument>(From->stripAndAccumulateConstantOffsets(
      Layout, At, /*AllowNonInbounds=*/true));
  const bool Is = A && A->hasByValAttr() && Load.isSimple() &&
                  !At.isNegative() &&
                  (A->onlyReadsMemory() ||
                   Load.hasMetadata(LLVMContext::MD_invariant_load));
  if (!Is)
    return {nullptr, 0};
  return {A, At.getZExtValue()};
}

bool CountWriter::add(const Value &V) {
  const unsigned Bits = bitsOf(V.getType());
  if (!Bits || Count.Terms.size() >= MostTerms)
    return fail();
  if (const auto *C = dyn_cast<ConstantInt>(&V)) {
    add({TripCount::Constant, Bits, 0, C->getZExtValue()});
    return true;
  }
  if (const auto *A = dyn_cast<Argument>(&V)) {
    add({TripCount::Argument, Bits, A->getArgNo(), 0});
    return true;
  }
  if (const auto *Load = dyn_cast<LoadInst>(&V)) {
    const auto [A, At] = memberOf(*Load, Layout);
    if (!A)
      return fail();
    add({TripCount::Argument, Bits, A->getArgNo(), At});
    return true;
  }
  const auto *I = dyn_cast<Instruction>(&V);
  if (const auto *Read = dyn_cast_or_null<IntrinsicInst>(I)) {
    const Intrinsic::ID Id = Read->getIntrinsicID();
    const auto OfGrid = analysis::gridSizeDimension(Id),
               OfBlock = analysis::blockSizeDimension(Id);
    if (OfGrid || OfBlock) {
      add({TripCount::Dimension, Bits, OfGrid ? *OfGrid : 3 + *OfBlock, 0});
      return true;
    }
  }
  const auto Kind = I ? kindOf(*I) : std::nullopt;
  if (!Kind)
    return fail();
  const bool IsCast = isa<CastInst>(I);
  const unsigned Operands = IsCast ? 1 : 2;
  for (unsigned Number = 0; Number != Operands; ++Number)
    if (!add(*I->getOperand(Number)))
      return false;
  add({*Kind, Bits,
       IsCast ? I->getOperand(0)->getType()->getIntegerBitWidth() : 0, 0});
  return true;
}

bool CountWriter::add(const SCEV &S) {
  if (const auto *Of = dyn_cast<SCEVUnknown>(&S))
    return add(*Of->getValue());
  if (const auto *C = dyn_cast<SCEVConstant>(&S))
    return add(*C->getValue());
  const unsigned Bits = bitsOf(S.getType());
  const auto Kind = kindOf(S.getSCEVType());
  if (!Bits || !Kind)
    return fail();
  const auto *Cast = dyn_cast<SCEVCastExpr>(&S);
  for (const auto &[Number, Operand] : enumerate(S.operands())) {
    if (!bitsOf(Operand->getType()) || !add(*Operand))
      return fail();
    if (Number)
      add({*Kind, Bits});
  }
  if (Cast)
    add({*Kind, Bits, Cast->getOperand()->getType()->getIntegerBitWidth()});
  return true;
}

} // namespace reconverge::remedies
