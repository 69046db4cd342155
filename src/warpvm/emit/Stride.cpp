//===- warpvm/emit/Stride.cpp - How an address steps along a row ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The uniformity lattice calls base + threadIdx.x affine only if the base is
// uniform. With two-dimensional blocks a warp covers several rows, and the base
// (row * pitch) differs between them; within a row the address still steps by
// the element. That is what a vector access needs to know.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Stride.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::warpvm {

std::optional<int64_t> strideAlongRow(const Value &V,
                                      const analysis::UniformityResult &Uniform,
                                      unsigned Depth) {
  if (isa<Constant>(V) || Uniform.isUniform(V))
    return 0;
  auto *I = dyn_cast<Instruction>(&V);
  if (!I || Depth > 8)
    return std::nullopt;
  auto Of = [&](unsigned Operand) {
    return strideAlongRow(*I->getOperand(Operand), Uniform, Depth + 1);
  };
  switch (I->getOpcode()) {
  case Instruction::Call:
    if (analysis::intrinsicKind(*I) == analysis::IntrinsicKind::LaneId)
      return 1;
    if (auto Dimension =
            analysis::threadIndexDimension(cast<CallInst>(I)->getIntrinsicID()))
      return *Dimension == 0 ? 1 : 0;
    return std::nullopt;
  case Instruction::PHI:
    // In a loop: as on entry. The back edge's value leads here again and is cut
    // off by the depth.
    for (unsigned In = 0; In < I->getNumOperands(); ++In)
      if (auto S = strideAlongRow(*I->getOperand(In), Uniform, Depth + 4))
        return S;
    return std::nullopt;
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::Freeze:
  case Instruction::AddrSpaceCast:
    return Of(0);
  case Instruction::Or:
    if (!cast<PossiblyDisjointInst>(I)->isDisjoint())
      break;
    [[fallthrough]];
  case Instruction::Add: {
    auto A = Of(0), B = Of(1);
    if (A && B)
      return *A + *B;
    return std::nullopt;
  }
  case Instruction::Sub: {
    auto A = Of(0), B = Of(1);
    if (A && B)
      return *A - *B;
    return std::nullopt;
  }
  case Instruction::Mul:
  case Instruction::Shl:
    if (auto *K = dyn_cast<ConstantInt>(I->getOperand(1)))
      if (auto A = Of(0); A && K->getValue().getActiveBits() < 32)
        return *A * (I->getOpcode() == Instruction::Mul
                         ? K->getSExtValue()
                         : int64_t(1) << K->getZExtValue() % 32);
    break;
  case Instruction::GetElementPtr: {
    MapVector<Value *, APInt> Variable;
    APInt Fixed(64, 0);
    const DataLayout &DL = I->getModule()->getDataLayout();
    auto Sum = Of(0);
    if (!Sum || !cast<GEPOperator>(I)->collectOffset(DL, 64, Variable, Fixed))
      return std::nullopt;
    for (auto &[Index, Scale] : Variable) {
      auto A = strideAlongRow(*Index, Uniform, Depth + 1);
      if (!A)
        return std::nullopt;
      *Sum += *A * Scale.getSExtValue();
    }
    return Sum;
  }
  default:
    break;
  }
  // Any pure operation on values that do not change along the row.
  if (isa<BinaryOperator, CmpInst, SelectInst>(I) &&
      all_of(I->operands(), [&](const Use &U) {
        return strideAlongRow(*U, Uniform, Depth + 1) == 0;
      }))
    return 0;
  return std::nullopt;
}

} // namespace reconverge::warpvm
