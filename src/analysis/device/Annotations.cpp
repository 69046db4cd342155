//===- analysis/device/Annotations.cpp - NVVM's notes on kernels ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function may have several notes, and a note several keys. Launch bounds
// come as one value for each dimension ("maxntidx", "maxntidy", "maxntidz"), of
// which clang writes only the first, the product; a dimension without a value
// has 1. "reqntid", the size that a block must have, is stricter than
// "maxntid", the size that it may have: where both are there, it decides.
//
//===----------------------------------------------------------------------===//

#include "analysis/device/Annotations.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::analysis {

static constexpr uint64_t DeviceThreads = 1024; ///< of a block, at most

static NamedMDNode *annotationsOf(const Module *M) {
  return M ? M->getNamedMetadata(AnnotationsName) : nullptr;
}

static bool isOf(const MDNode &Note, const Function &F) {
  return Note.getNumOperands() &&
         mdconst::dyn_extract_or_null<Function>(Note.getOperand(0)) == &F;
}

/// Calls \p See(key, value) for each annotation of \p F.
static void forEach(const Function &F,
                    function_ref<void(StringRef Key, uint64_t Value)> See) {
  const NamedMDNode *Notes = annotationsOf(F.getParent());
  if (!Notes)
    return;
  for (const MDNode *Note : Notes->operands()) {
    if (!isOf(*Note, F))
      continue;
    for (unsigned I = 1; I + 1 < Note->getNumOperands(); I += 2) {
      const auto *Key = dyn_cast_or_null<MDString>(Note->getOperand(I));
      const auto *Value =
          mdconst::dyn_extract_or_null<ConstantInt>(Note->getOperand(I + 1));
      if (Key && Value)
        See(Key->getString(), Value->getZExtValue());
    }
  }
}

bool isKernel(const Function &F) {
  if (F.getCallingConv() == CallingConv::PTX_Kernel)
    return true;
  bool Kernel = false;
  forEach(F, [&](StringRef Key, uint64_t Value) {
    Kernel |= Key == "kernel" && Value != 0;
  });
  return Kernel;
}

unsigned launchBound(const Function &Kernel) {
  uint64_t Most = 0, Required = 0;
  forEach(Kernel, [&](StringRef Key, uint64_t Value) {
    if (Key.starts_with("maxntid"))
      Most = SaturatingMultiply(std::max<uint64_t>(Most, 1), Value);
    else if (Key.starts_with("reqntid"))
      Required = SaturatingMultiply(std::max<uint64_t>(Required, 1), Value);
  });
  return unsigned(std::min(Required ? Required : Most, DeviceThreads));
}

void copyAnnotations(const Function &From, Function &To) {
  NamedMDNode *Notes = annotationsOf(From.getParent());
  if (!Notes)
    return;
  SmallVector<MDNode *> Own;
  for (MDNode *Note : Notes->operands())
    if (isOf(*Note, From))
      Own.push_back(Note);
  for (const MDNode *Note : Own) {
    SmallVector<Metadata *> Operands(Note->operands());
    Operands[0] = ConstantAsMetadata::get(&To);
    Notes->addOperand(MDNode::get(To.getContext(), Operands));
  }
}

/// \p Note without the sizes of blocks that it names.
static MDNode *withoutBlockSizes(const MDNode &Note) {
  SmallVector<Metadata *> Kept{Note.getOperand(0)};
  for (unsigned I = 1; I < Note.getNumOperands(); I += 2) {
    const auto *Key = dyn_cast_or_null<MDString>(Note.getOperand(I));
    if (Key && (Key->getString().starts_with("maxntid") ||
                Key->getString().starts_with("reqntid")))
      continue;
    Kept.push_back(Note.getOperand(I));
    if (I + 1 < Note.getNumOperands())
      Kept.push_back(Note.getOperand(I + 1));
  }
  return MDNode::get(Note.getContext(), Kept);
}

void setLaunchBound(Function &Kernel, unsigned Threads) {
  NamedMDNode *Notes =
      Kernel.getParent()->getOrInsertNamedMetadata(AnnotationsName);
  SmallVector<MDNode *> Left;
  for (MDNode *Note : Notes->operands()) {
    MDNode *Now = isOf(*Note, Kernel) ? withoutBlockSizes(*Note) : Note;
    if (Now->getNumOperands() > 1) // it says something yet
      Left.push_back(Now);
  }
  Notes->clearOperands();
  for (MDNode *Note : Left)
    Notes->addOperand(Note);
  if (!Threads)
    return;
  LLVMContext &C = Kernel.getContext();
  auto *Value = ConstantInt::get(Type::getInt32Ty(C), Threads);
  Notes->addOperand(MDNode::get(C, {ConstantAsMetadata::get(&Kernel),
                                    MDString::get(C, "maxntidx"),
                                    ConstantAsMetadata::get(Value)}));
}

void setRegisterLimit(Function &Kernel, unsigned Registers) {
  LLVMContext &C = Kernel.getContext();
  auto *Value = ConstantInt::get(Type::getInt32Ty(C), Registers);
  Kernel.getParent()
      ->getOrInsertNamedMetadata(AnnotationsName)
      ->addOperand(MDNode::get(C, {ConstantAsMetadata::get(&Kernel),
                                   MDString::get(C, "maxnreg"),
                                   ConstantAsMetadata::get(Value)}));
}

unsigned registerLimit(const Function &Kernel) {
  unsigned Limit = 0;
  forEach(Kernel, [&](StringRef Key, uint64_t Value) {
    if (Key == "maxnreg")
      Limit = unsigned(Value);
  });
  return Limit;
}

} // namespace reconverge::analysis
