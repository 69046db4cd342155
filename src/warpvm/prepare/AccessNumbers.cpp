//===- warpvm/prepare/AccessNumbers.cpp - Who carries an access's number --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each access is one request, in the form in which a GPU makes it:
//
//   load i24 %p, 7      load i16 %p, 7, 3 bytes     split by us alone: one
//                       load i8  %p + 2             request, of all its bytes
//
//   load i32 %p, 7      load <2 x i32> %p, 7        joined by us as by a GPU's
//   load i32 %p + 4, 8                              compiler: 8 has none
//
// LLVM's pass keeps no metadata that it does not know. What it joins has the
// pointer of the lowest access, in the same block, and so the number is found
// again. What became of a restored load is found by its value.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/AccessNumbers.h"
#include "analysis/Accesses.h"
#include "analysis/Numbering.h"
#include "analysis/Places.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace reconverge::warpvm {

static constexpr StringLiteral BytesKind = "rcvm.bytes";

void takeAccessNumber(Instruction &To, const Instruction &From) {
  MDNode *Number = From.getMetadata(analysis::AccessNumberKind);
  if (!Number)
    return;
  To.setMetadata(analysis::AccessNumberKind, Number);
  MDNode *Bytes = From.getMetadata(BytesKind);
  const auto Was = analysis::accessOf(From);
  if (!Bytes && Was)
    Bytes = MDNode::get(From.getContext(),
                        ConstantAsMetadata::get(ConstantInt::get(
                            Type::getInt32Ty(From.getContext()), Was->Bytes)));
  To.setMetadata(BytesKind, Bytes);
}

uint32_t countedBytes(const Instruction &Access, uint32_t Own) {
  const MDNode *Node = Access.getMetadata(BytesKind);
  return Node ? uint32_t(mdconst::extract<ConstantInt>(Node->getOperand(0))
                             ->getZExtValue())
              : Own;
}

static uint32_t lowest(unsigned Bytes) {
  return uint32_t((uint64_t(1) << std::min(Bytes, 32u)) - 1);
}

uint32_t restoredBytes(const LoadInst &Load) {
  const MDNode *Node = Load.getMetadata(analysis::RestoredKind);
  if (!Node)
    return 0;
  if (!Node->getNumOperands())
    return lowest(Load.getDataLayout().getTypeStoreSize(Load.getType()));
  return uint32_t(
      mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue());
}

/// \p Value is that of a restored load: if it is now a part of a longer one,
/// which has no mark of its own, marks that part.
static void markPart(const Value *Value) {
  while (auto *Cast = dyn_cast_or_null<CastInst>(Value))
    Value = Cast->getOperand(0);
  SmallVector<int, 4> Elements;
  if (auto *One = dyn_cast_or_null<ExtractElementInst>(Value)) {
    if (auto *Index = dyn_cast<ConstantInt>(One->getIndexOperand()))
      Elements.push_back(int(Index->getZExtValue()));
  } else if (auto *Some = dyn_cast_or_null<ShuffleVectorInst>(Value)) {
    append_range(Elements, Some->getShuffleMask());
  } else {
    return;
  }
  auto *Load = const_cast<LoadInst *>(
      dyn_cast<LoadInst>(cast<Instruction>(Value)->getOperand(0)));
  if (!Load)
    return;
  const unsigned Bytes = Load->getType()->getScalarSizeInBits() / 8;
  uint32_t Mask = restoredBytes(*Load);
  for (const int Element : Elements)
    if (Element >= 0) // or none of it
      Mask |= lowest(Bytes) << unsigned(Element) * Bytes;
  LLVMContext &Context = Load->getContext();
  Load->setMetadata(
      analysis::RestoredKind,
      MDNode::get(Context, ConstantAsMetadata::get(ConstantInt::get(
                               Type::getInt32Ty(Context), Mask))));
}

JoinedAccesses::JoinedAccesses(Function &F) : F(F) {
  for (Instruction &I : instructions(F)) {
    if (I.hasMetadata(analysis::RestoredKind))
      Restored.push_back(&I);
    if (isa<LoadInst, StoreInst>(I))
      if (MDNode *Number = I.getMetadata(analysis::AccessNumberKind))
        Had.push_back({&I, I.getParent(), getLoadStorePointerOperand(&I),
                       Number, isa<LoadInst>(I)});
  }
}

void JoinedAccesses::number() {
  for (const Value *Now : Restored)
    markPart(Now);
  for (Instruction &I : instructions(F)) {
    if (!isa<LoadInst, StoreInst>(I) ||
        I.getMetadata(analysis::AccessNumberKind))
      continue;
    for (Before &B : Had)
      if (!B.Access && !B.Taken && B.In == I.getParent() &&
          B.IsLoad == isa<LoadInst>(I) &&
          B.Pointer == getLoadStorePointerOperand(&I)) {
        I.setMetadata(analysis::AccessNumberKind, B.Number);
        B.Taken = true;
        break;
      }
  }
}

} // namespace reconverge::warpvm
