//===- frontend/KernelWords.cpp - __cluster_dims__, __maxnreg__ -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   __global__ void __cluster_dims__(2, 1, 1) f()   .entry f()
//                                                   .explicitcluster
//                                                   .reqnctapercluster 2, 1, 1
//   __global__ void __maxnreg__(64) g()             .entry g() .maxnreg 64
//
// clang 19 knows neither attribute. As plugin/KernelWords.cpp reads them, they
// come as annotations (SourceAnnotations.cpp), whose arguments clang has made
// constants, those of templates too.
//
//===----------------------------------------------------------------------===//

#include "frontend/KernelWords.h"

#include "analysis/device/Annotations.h"
#include "frontend/SourceAnnotations.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

static SmallVector<uint64_t, 3> numbersOf(const Constant *Arguments) {
  SmallVector<uint64_t, 3> Values;
  for (unsigned I = 0; Arguments; ++I) {
    const auto *Value =
        dyn_cast_or_null<ConstantInt>(Arguments->getAggregateElement(I));
    if (!Value)
      break;
    Values.push_back(Value->getZExtValue());
  }
  return Values;
}

void readKernelWords(Module &M) {
  takeAnnotations(M, [](Function &F, StringRef Name,
                        const Constant *Arguments) {
    if (Name != ClusterAnnotation && Name != RegistersAnnotation)
      return false;
    SmallVector<uint64_t, 3> Values = numbersOf(Arguments);
    if (!analysis::isKernel(F) || Values.empty())
      return true; // of a function that is no kernel it means nothing
    if (Name == RegistersAnnotation) {
      analysis::setRegisterLimit(F, unsigned(Values.front()));
      return true;
    }
    Values.resize(3, 1);
    F.addFnAttr(
        analysis::ClusterAttribute,
        join(map_range(Values, [](uint64_t N) { return utostr(N); }), ", "));
    return true;
  });
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
