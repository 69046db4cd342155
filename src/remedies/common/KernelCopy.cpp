//===- remedies/common/KernelCopy.cpp - A kernel to try things on ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/KernelCopy.h"

#include "analysis/device/Annotations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::remedies {

std::pair<std::unique_ptr<Module>, Function *> copyAlone(const Function &F) {
  ValueToValueMapTy Map;
  auto Alone = CloneModule(*F.getParent(), Map, [&](const GlobalValue *V) {
    const auto *Other = dyn_cast<Function>(V);
    return !Other || Other == &F || !analysis::isKernel(*Other);
  });
  for (Function &Other : make_early_inc_range(*Alone))
    if (Other.isDeclaration() && Other.use_empty())
      Other.eraseFromParent();
  auto *Copy = cast<Function>(Map[&F]);
  return {std::move(Alone), Copy};
}

} // namespace reconverge::remedies
