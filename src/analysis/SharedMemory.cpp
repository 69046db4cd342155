//===- analysis/SharedMemory.cpp - What a kernel's blocks take ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/SharedMemory.h"

#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::analysis {

/// Whether \p V is used by code of \p Functions.
static bool isUsedBy(const Value &V, ArrayRef<const Function *> Functions,
                     SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(&V).second)
    return false;
  return any_of(V.users(), [&](const User *U) {
    if (const auto *I = dyn_cast<Instruction>(U))
      return is_contained(Functions, I->getFunction());
    return isUsedBy(*U, Functions, Seen);
  });
}

uint64_t staticShared(const Function &Kernel,
                      ArrayRef<const GlobalVariable *> Except) {
  const Module &M = *Kernel.getParent();
  const std::vector<const Function *> Functions = functionsOf(Kernel);
  uint64_t Bytes = 0;
  for (const GlobalVariable &G : M.globals()) {
    SmallPtrSet<const Value *, 8> Seen;
    if (G.getAddressSpace() == SharedSpace && !is_contained(Except, &G) &&
        isUsedBy(G, Functions, Seen))
      Bytes = alignTo(Bytes, 16) +
              M.getDataLayout().getTypeAllocSize(G.getValueType());
  }
  return Bytes;
}

} // namespace reconverge::analysis
