//===- frontend/Reflect.cpp - Settle __nvvm_reflect -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libdevice and the toolkit's headers ask __nvvm_reflect("NAME") how precise
// the build is to be. LLVM's own NVVMReflect pass knows __CUDA_FTZ and
// __CUDA_ARCH and answers 0 to the rest, which turns sqrtf into an
// approximation. We answer as nvcc does, before any pass has run:
//
//   __CUDA_FTZ        -ftz         0
//   __CUDA_PREC_DIV   -prec-div    1
//   __CUDA_PREC_SQRT  -prec-sqrt   1
//   __CUDA_ARCH       10 x sm      900 for sm_90
//   anything else                  0, as LLVM and NVVM do
//
//===----------------------------------------------------------------------===//

#include "frontend/Reflect.h"

#include "core/Error.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

static int answer(StringRef Name, const Numerics &Math, unsigned Arch) {
  return StringSwitch<int>(Name)
      .Case("__CUDA_FTZ", Math.FlushDenormals)
      .Case("__CUDA_PREC_DIV", Math.PreciseDivision)
      .Case("__CUDA_PREC_SQRT", Math.PreciseSqrt)
      .Case("__CUDA_ARCH", int(Arch * 10))
      .Default(0);
}

/// The string that \p V points to. Old libdevice wraps the pointer in a call
/// that changes its address space.
static bool stringAt(const Value *V, StringRef &Name) {
  while (auto *Call = dyn_cast<CallBase>(V)) {
    if (Call->arg_empty() || !Call->getArgOperand(0)->getType()->isPointerTy())
      return false;
    V = Call->getArgOperand(0);
  }
  return getConstantStringInfo(V, Name);
}

Error resolveReflect(Module &M, const Numerics &Math, unsigned Arch) {
  Function *Reflect = M.getFunction("__nvvm_reflect");
  if (!Reflect)
    return Error::success();
  for (User *U : make_early_inc_range(Reflect->users())) {
    auto *Call = dyn_cast<CallBase>(U);
    StringRef Name;
    if (!Call || Call->getCalledOperand() != Reflect || Call->arg_size() != 1 ||
        !stringAt(Call->getArgOperand(0), Name))
      return userError(M.getSourceFileName() +
                           ": __nvvm_reflect is used with something else than "
                           "a string literal",
                       "Pass the name as a literal.");
    Call->replaceAllUsesWith(
        ConstantInt::getSigned(Call->getType(), answer(Name, Math, Arch)));
    Call->eraseFromParent();
  }
  Reflect->eraseFromParent();
  return Error::success();
}

} // namespace reconverge::frontend
