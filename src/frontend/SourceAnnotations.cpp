//===- frontend/SourceAnnotations.cpp - __attribute__((annotate)) ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   @llvm.global.annotations: { function, name, file, line, &{ i32 2, i32 1 } }
//
//===----------------------------------------------------------------------===//

#include "frontend/SourceAnnotations.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

static constexpr const char *ListName = "llvm.global.annotations";

static const Constant *argumentsOf(const Constant &Entry) {
  const Constant *Last = Entry.getAggregateElement(4u);
  const auto *Data =
      Last ? dyn_cast<GlobalVariable>(Last->stripPointerCasts()) : nullptr;
  return Data && Data->hasInitializer() ? Data->getInitializer() : nullptr;
}

void takeAnnotations(
    Module &M,
    function_ref<bool(Function &, StringRef, const Constant *)> Take) {
  GlobalVariable *List = M.getGlobalVariable(ListName);
  auto *Entries = List && List->hasInitializer()
                      ? dyn_cast<ConstantArray>(List->getInitializer())
                      : nullptr;
  if (!Entries)
    return;
  SmallVector<Constant *> Kept;
  for (Value *Each : Entries->operand_values()) {
    auto *Entry = cast<Constant>(Each);
    auto *F =
        dyn_cast<Function>(Entry->getAggregateElement(0u)->stripPointerCasts());
    StringRef Name;
    if (!F || !getConstantStringInfo(Entry->getAggregateElement(1u), Name) ||
        !Take(*F, Name, argumentsOf(*Entry)))
      Kept.push_back(Entry);
  }
  if (Kept.size() == Entries->getNumOperands())
    return;
  List->setName("");
  if (!Kept.empty()) {
    auto *T = ArrayType::get(Kept.front()->getType(), Kept.size());
    auto *New = new GlobalVariable(M, T, false, List->getLinkage(),
                                   ConstantArray::get(T, Kept), ListName);
    New->setSection(List->getSection());
  }
  List->eraseFromParent();
  for (Function &F : M)
    F.removeDeadConstantUsers();
}

} // namespace reconverge::frontend
