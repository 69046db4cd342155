//===- frontend/ParameterLoads.cpp - Loads of kernels' parameters ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   struct Problem { int *Out; int Length; };
//   __global__ void k(Problem P) {
//     for (int I = 0; I < P.Length; ++I) P.Out[I] = I;
//   }
//
// A parameter that is a class lies in memory (byval), and LLVM reads P.Length
// and P.Out anew after each store for which it does not see that it goes
// elsewhere. Then the loop has no number of rounds that is known before, so each
// of its copies keeps its test. Nobody can write to parameters but the kernel
// itself, by their address: where it only reads, the loads are invariant.
//
// This runs behind each round of combining instructions: then functions that got
// the address by reference are inlined, and loops are still to come.
//
//===----------------------------------------------------------------------===//

#include "frontend/ParameterLoads.h"

#include "analysis/device/Annotations.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace reconverge::frontend {

/// Whether who gets \p Address there may only read by it, and does not keep it.
static bool onlyReads(const Use &Address) {
  const auto *Call = dyn_cast<CallBase>(Address.getUser());
  if (!Call || !Call->isArgOperand(&Address))
    return false;
  if (const auto *Known = dyn_cast<IntrinsicInst>(Call);
      Known && Known->isAssumeLikeIntrinsic())
    return true;
  const unsigned N = Call->getArgOperandNo(&Address);
  return Call->isByValArgument(N) ||
         (Call->onlyReadsMemory(N) && Call->doesNotCapture(N));
}

/// All loads of \p Parameter; none if somebody may write to it.
static SmallVector<LoadInst *> loadsOf(Argument &Parameter) {
  SmallVector<LoadInst *> Loads;
  SmallSetVector<Value *, 16> Addresses;
  Addresses.insert(&Parameter);
  for (size_t N = 0; N != Addresses.size(); ++N)
    for (Use &U : Addresses[N]->uses()) {
      User *By = U.getUser();
      if (auto *Load = dyn_cast<LoadInst>(By)) {
        if (Load->isSimple())
          Loads.push_back(Load);
      } else if (isa<GetElementPtrInst, AddrSpaceCastInst>(By)) {
        Addresses.insert(By);
      } else if (!onlyReads(U)) {
        return {};
      }
    }
  return Loads;
}

namespace {
struct ParameterLoadsPass : PassInfoMixin<ParameterLoadsPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    if (!analysis::isKernel(F))
      return PreservedAnalyses::all();
    for (Argument &A : F.args())
      if (A.hasByValAttr())
        for (LoadInst *Load : loadsOf(A))
          Load->setMetadata(LLVMContext::MD_invariant_load,
                            MDNode::get(F.getContext(), {}));
    return PreservedAnalyses::all();
  }
};
} // namespace

void settleParameterLoads(PassBuilder &PB) {
  PB.registerPeepholeEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel) {
        FPM.addPass(ParameterLoadsPass());
      });
}

} // namespace reconverge::frontend
