//===- analysis/Marks.cpp - Features that the source names ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Marks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::analysis {

std::optional<uint32_t> markNumber(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || Callee->getName() != MarkName)
    return std::nullopt;
  return uint32_t(cast<ConstantInt>(Call->getArgOperand(0))->getZExtValue());
}

Value &markedValue(const Instruction &Mark) {
  return *cast<CallBase>(Mark).getArgOperand(1);
}

Function *twinOf(const Function &Kernel) {
  const Attribute Name = Kernel.getFnAttribute(TwinAttribute);
  Function *Twin = Name.isValid() ? const_cast<Module *>(Kernel.getParent())
                                        ->getFunction(Name.getValueAsString())
                                  : nullptr;
  // A remedy may have given the kernel more parameters.
  return Twin && Twin->getFunctionType() == Kernel.getFunctionType() ? Twin
                                                                     : nullptr;
}

bool isTwin(const Function &F) { return F.hasFnAttribute(IsTwinAttribute); }

void eraseTwins(Module &M) {
  for (Function &F : make_early_inc_range(M))
    if (isTwin(F))
      F.eraseFromParent();
  // Of functions that were not inlined there may be calls left, which nobody
  // comes to.
  if (Function *Mark = M.getFunction(MarkName)) {
    for (User *U : make_early_inc_range(Mark->users()))
      cast<Instruction>(U)->eraseFromParent();
    Mark->eraseFromParent();
  }
}

} // namespace reconverge::analysis
