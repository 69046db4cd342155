//===- frontend/KernelWords.cpp - __cluster_dims__, __maxnreg__ -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   __global__ void __cluster_dims__(2, 1, 1) f()   .entry f()
//                                                   .explicitcluster
//                                                   .reqnctapercluster 2, 1, 1
//   __global__ void __maxnreg__(64) g()             .entry g() .maxnreg 64
//
// clang 19 knows neither attribute. As plugin/KernelWords.cpp reads them, they
// come as annotations, whose arguments clang has made constants, those of
// templates too:
//
//   @llvm.global.annotations: { kernel, name, file, line, &{ i32 2, i32 1 } }
//
//===----------------------------------------------------------------------===//

#include "frontend/KernelWords.h"

#include "analysis/device/Annotations.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

static constexpr const char *ListName = "llvm.global.annotations";

/// The arguments of the annotation \p Entry.
static SmallVector<uint64_t, 3> argumentsOf(const Constant &Entry) {
  SmallVector<uint64_t, 3> Values;
  const Constant *Last = Entry.getAggregateElement(4u);
  const auto *Data =
      Last ? dyn_cast<GlobalVariable>(Last->stripPointerCasts()) : nullptr;
  if (!Data || !Data->hasInitializer())
    return Values;
  for (unsigned I = 0;; ++I) {
    const auto *Value = dyn_cast_or_null<ConstantInt>(
        Data->getInitializer()->getAggregateElement(I));
    if (!Value)
      return Values;
    Values.push_back(Value->getZExtValue());
  }
}

/// Whether \p Entry is one of ours; \p F then has what it says.
static bool take(const Constant &Entry) {
  StringRef Name;
  const Constant *Text = Entry.getAggregateElement(1u);
  if (!Text || !getConstantStringInfo(Text, Name) ||
      (Name != ClusterAnnotation && Name != RegistersAnnotation))
    return false;
  auto *F =
      dyn_cast<Function>(Entry.getAggregateElement(0u)->stripPointerCasts());
  SmallVector<uint64_t, 3> Values = argumentsOf(Entry);
  if (!F || !analysis::isKernel(*F) || Values.empty())
    return true; // of a function that is no kernel it means nothing
  if (Name == RegistersAnnotation) {
    analysis::setRegisterLimit(*F, unsigned(Values.front()));
    return true;
  }
  Values.resize(3, 1);
  F->addFnAttr(
      analysis::ClusterAttribute,
      join(map_range(Values, [](uint64_t N) { return utostr(N); }), ", "));
  return true;
}

void readKernelWords(Module &M) {
  GlobalVariable *List = M.getGlobalVariable(ListName);
  auto *Entries = List && List->hasInitializer()
                      ? dyn_cast<ConstantArray>(List->getInitializer())
                      : nullptr;
  if (!Entries)
    return;
  SmallVector<Constant *> Kept;
  for (Value *Each : Entries->operand_values())
    if (!take(*cast<Constant>(Each)))
      Kept.push_back(cast<Constant>(Each));
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

void addClusters(const Module &M, std::string &Ptx) {
  for (const Function &F : M) {
    const StringRef Size =
        F.getFnAttribute(analysis::ClusterAttribute).getValueAsString();
    if (Size.empty())
      continue;
    const size_t Entry = Ptx.find((".entry " + F.getName() + "(").str());
    const size_t Close =
        Entry == std::string::npos ? Entry : Ptx.find(')', Entry);
    if (Close != std::string::npos)
      Ptx.insert(Close + 1,
                 ("\n.explicitcluster\n.reqnctapercluster " + Size).str());
  }
}

} // namespace reconverge::frontend
