//===- frontend/GridConstants.cpp - __grid_constant__ parameters ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang 19 does not know them, its back end does. Our overlay's
// __grid_constant__ is an annotation of the parameter, for which clang calls
//
//   llvm.var.annotation(%table, "reconverge.grid_constant", ...)
//
// at the function's start. Here the calls go, and the kernel gets NVVM's note
// that says the same of parameters by their numbers, which begin at 1:
//
//   !{ptr @kernel, !"grid_constant", !{i32 3}}
//
// Such a parameter's address is then that of the parameter itself; without it,
// code that takes the address sees a copy in local memory.
//
// A parameter that is no class has been stored to a variable of its own by
// then, whose address is as good; nothing is said of it.
//
//===----------------------------------------------------------------------===//

#include "frontend/GridConstants.h"

#include "analysis/device/Annotations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

/// As the overlay has it (overlay/clang/__clang_cuda_runtime_wrapper.h).
static constexpr StringLiteral Annotation = "reconverge.grid_constant";

/// The numbers of \p Kernel's parameters that are grid constants. Their
/// annotations are gone.
static SmallVector<unsigned> takeGridConstants(Function &Kernel) {
  SmallVector<unsigned> Numbers;
  for (Instruction &I : make_early_inc_range(instructions(Kernel))) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    StringRef Text;
    if (!Call || Call->getIntrinsicID() != Intrinsic::var_annotation ||
        !getConstantStringInfo(Call->getArgOperand(1), Text) ||
        Text != Annotation)
      continue;
    const Value *Of = Call->getArgOperand(0)->stripPointerCasts();
    if (auto *A = dyn_cast<Argument>(Of); A && A->hasByValAttr())
      Numbers.push_back(A->getArgNo() + 1);
    Call->eraseFromParent();
  }
  sort(Numbers);
  return Numbers;
}

void markGridConstants(Module &M) {
  LLVMContext &C = M.getContext();
  for (Function &F : M) {
    SmallVector<Metadata *> Numbers;
    for (unsigned Number : takeGridConstants(F))
      Numbers.push_back(ConstantAsMetadata::get(
          ConstantInt::get(Type::getInt32Ty(C), Number)));
    if (!Numbers.empty() && analysis::isKernel(F))
      M.getOrInsertNamedMetadata(analysis::AnnotationsName)
          ->addOperand(MDNode::get(C, {ConstantAsMetadata::get(&F),
                                       MDString::get(C, "grid_constant"),
                                       MDNode::get(C, Numbers)}));
  }
}

} // namespace reconverge::frontend
