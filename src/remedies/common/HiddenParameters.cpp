//===- remedies/common/HiddenParameters.cpp - Of kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's type cannot change, so a new function takes the body. NVVM's
// notes name the function and so follow when its uses are replaced; notes on
// parameters count them from the front, and what is new comes last. The types
// that debug information tells stay those of the source.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/HiddenParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace reconverge::remedies {

/// Without a body, right before \p Kernel.
static Function &declareWith(Function &Kernel, ArrayRef<Type *> Types) {
  assert(!Kernel.isVarArg() && "what is hidden would be among the variable");
  SmallVector<Type *> All(Kernel.getFunctionType()->params());
  append_range(All, Types);
  auto *New = Function::Create(
      FunctionType::get(Kernel.getReturnType(), All, /*isVarArg=*/false),
      Kernel.getLinkage(), Kernel.getAddressSpace());
  Kernel.getParent()->getFunctionList().insert(Kernel.getIterator(), New);
  New->copyAttributesFrom(&Kernel);
  New->setComdat(Kernel.getComdat());
  New->copyMetadata(&Kernel, 0);
  return *New;
}

/// Gives \p New the body of \p Kernel.
static void moveBody(Function &Kernel, Function &New) {
  New.splice(New.begin(), &Kernel);
  ValueToValueMapTy Map;
  for (auto [Old, Own] : zip(Kernel.args(), New.args())) {
    Own.takeName(&Old);
    Map[&Old] = &Own;
  }
  // Replacing uses would lose those in debug records.
  RemapFunction(New, Map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
}

Function &addParameters(Function &Kernel, ArrayRef<Type *> Types,
                        ArrayRef<StringRef> Names) {
  assert(Types.size() == Names.size() && "a name for each");
  Function &New = declareWith(Kernel, Types);
  Kernel.clearMetadata(); // a subprogram has one function
  moveBody(Kernel, New);
  for (auto [Own, Name] : zip(drop_begin(New.args(), Kernel.arg_size()), Names))
    Own.setName(Name);
  New.takeName(&Kernel);
  Kernel.replaceAllUsesWith(&New);
  Kernel.eraseFromParent();
  return New;
}

} // namespace reconverge::remedies
