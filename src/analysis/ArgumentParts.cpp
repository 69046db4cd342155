//===- analysis/ArgumentParts.cpp - What a kernel's arguments hold --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/ArgumentParts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace reconverge::analysis {

/// Elements of an array that are parts of their own; of a longer one, all are one.
static constexpr uint64_t MostElements = 16;

static void add(Type &T, RecipePointer At, const DataLayout &Layout,
                std::vector<RecipeAhead::Part> &To) {
  const uint64_t Bytes = Layout.getTypeStoreSize(&T).getFixedValue();
  if (!Bytes)
    return;
  if (auto *Members = dyn_cast<StructType>(&T)) {
    const StructLayout &Of = *Layout.getStructLayout(Members);
    for (unsigned I = 0; I != Members->getNumElements(); ++I)
      add(*Members->getElementType(I),
          {At.Number, At.At + Of.getElementOffset(I).getFixedValue()}, Layout,
          To);
    return;
  }
  if (const auto *Elements = dyn_cast<ArrayType>(&T);
      Elements && Elements->getNumElements() <= MostElements) {
    Type &Of = *Elements->getElementType();
    const uint64_t Each = Layout.getTypeAllocSize(&Of).getFixedValue();
    for (uint64_t I = 0; I != Elements->getNumElements(); ++I)
      add(Of, {At.Number, At.At + I * Each}, Layout, To);
    return;
  }
  const bool IsNumber = T.isPointerTy() || T.isIntegerTy(8) ||
                        T.isIntegerTy(16) || T.isIntegerTy(32) ||
                        T.isIntegerTy(64);
  To.push_back({At, uint32_t(Bytes), IsNumber});
}

static Type &typeOf(const Argument &A) {
  return A.hasByValAttr() ? *A.getParamByValType() : *A.getType();
}

std::vector<uint32_t> argumentSizes(const Function &Kernel, unsigned Count) {
  std::vector<uint32_t> All;
  for (unsigned I = 0; I != Count; ++I)
    All.push_back(uint32_t(
        Kernel.getDataLayout().getTypeAllocSize(&typeOf(*Kernel.getArg(I)))));
  return All;
}

/// The bytes from first to last of \p A, passed by value, that each load reads;
/// none: that is not known.
static std::optional<SmallVector<std::pair<uint64_t, uint64_t>>>
bytesRead(const Argument &A, const DataLayout &Layout) {
  SmallVector<std::pair<uint64_t, uint64_t>> All;
  SmallVector<const Value *> Pointers = {&A};
  while (!Pointers.empty())
    for (const User *U : Pointers.pop_back_val()->users()) {
      if (isa<AddrSpaceCastOperator>(U) ||
          (isa<GEPOperator>(U) &&
           cast<GEPOperator>(U)->hasAllConstantIndices())) {
        Pointers.push_back(U);
        continue;
      }
      const auto *Load = dyn_cast<LoadInst>(U);
      if (!Load)
        return std::nullopt;
      APInt At(64, 0);
      Load->getPointerOperand()->stripAndAccumulateConstantOffsets(
          Layout, At, /*AllowNonInbounds=*/true);
      const uint64_t First = At.getZExtValue();
      All.push_back({First, First + Layout.getTypeStoreSize(Load->getType())});
    }
  return All;
}

std::vector<RecipeAhead::Part> usedParts(const Function &Kernel,
                                         unsigned Count) {
  std::vector<RecipeAhead::Part> All;
  const DataLayout &Layout = Kernel.getDataLayout();
  for (const Argument &A : Kernel.args()) {
    if (A.getArgNo() >= Count || A.use_empty())
      continue;
    const RecipePointer Whole = {A.getArgNo(), 0};
    std::vector<RecipeAhead::Part> Members;
    add(typeOf(A), Whole, Layout, Members);
    const auto Read = A.hasByValAttr() ? bytesRead(A, Layout) : std::nullopt;
    copy_if(Members, std::back_inserter(All), [&](const auto &P) {
      return !Read || any_of(*Read, [&](const auto &Bytes) {
        return Bytes.first < P.Of.At + P.Bytes && P.Of.At < Bytes.second;
      });
    });
  }
  return All;
}

} // namespace reconverge::analysis
