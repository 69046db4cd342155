//===- instrument/JoinAccesses.cpp - Accesses as the GPU makes them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of a float4 are loaded one by one in LLVM's code, and at once by
// the GPU's: the code generator joins them. It could not any more with probes
// between them, and each would be counted as a request. So they are joined
// first, by the same pass:
//
//   load float %p, 7           load <4 x float> %p, 7
//   load float %p + 4, 8
//   ...
//
// The pass keeps no metadata that it does not know, but the pointer of the
// lowest access, in the same block; by that the number is found again.
//
//===----------------------------------------------------------------------===//

#include "instrument/JoinAccesses.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Numbering.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::instrument {

void joinAccesses(Function &F) {
  struct Before {
    WeakVH Access; ///< null once the pass has deleted it
    MDNode *Number;
  };
  using Place = std::tuple<const BasicBlock *, const Value *, bool>;
  auto PlaceOf = [](Instruction &I) {
    return Place(I.getParent(), getLoadStorePointerOperand(&I),
                 isa<LoadInst>(I));
  };
  std::map<Place, std::vector<Before>> Had; // only looked up: no order is made
  for (Instruction &I : instructions(F))
    if (isa<LoadInst, StoreInst>(I))
      if (MDNode *Number = I.getMetadata(analysis::AccessNumberKind))
        Had[PlaceOf(I)].push_back({&I, Number});

  analysis::AnalysisManagers Analyses;
  FunctionPassManager Passes;
  Passes.addPass(LoadStoreVectorizerPass());
  Passes.run(F, Analyses.Functions);

  for (Instruction &I : instructions(F)) {
    if (!isa<LoadInst, StoreInst>(I) ||
        I.getMetadata(analysis::AccessNumberKind))
      continue;
    auto Found = Had.find(PlaceOf(I));
    if (Found == Had.end())
      continue;
    for (Before &B : Found->second)
      if (!B.Access && B.Number) {
        I.setMetadata(analysis::AccessNumberKind, B.Number);
        B.Number = nullptr;
        break;
      }
  }
}

} // namespace reconverge::instrument
