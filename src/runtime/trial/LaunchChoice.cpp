//===- runtime/trial/LaunchChoice.cpp - Which launches are tried ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/LaunchChoice.h"

#include "analysis/Numbering.h"
#include "analysis/device/LibraryCalls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <bit>

using namespace llvm;

namespace reconverge::runtime {

bool LaunchChoice::wants(const LaunchShape &Shape, uint64_t Most) {
  ++Launches;
  if (Tried >= Most)
    return false;
  const bool IsNew = !is_contained(Shapes, Shape);
  if (Expected) {
    // How many should have been tried by now, this one included.
    const uint64_t Due =
        Expected > 1 ? 1 + (Launches - 1) * (Most - 1) / (Expected - 1) : Most;
    if (Tried >= Due && (!IsNew || 2 * Tried >= Most))
      return false;
  } else if (2 * Launches > Most && !IsNew && !std::has_single_bit(Launches)) {
    return false;
  }
  ++Tried;
  if (IsNew)
    Shapes.push_back(Shape);
  return true;
}

/// Whether \p Kernel, or what it can call, calls one of CUDA's own functions for
/// which \p Is holds.
static bool callsLibrary(const Function &Kernel,
                         function_ref<bool(analysis::LibraryCall)> Is) {
  const auto IsCalled = [&](const Function &Callee) {
    return Is(analysis::libraryCall(&Callee));
  };
  // A pointer: to whatever has its address taken. functionsOf knows those with a
  // body; CUDA's own have none.
  const auto IsReached = [&](const Function &Other) {
    return Other.isDeclaration() && Other.hasAddressTaken() && IsCalled(Other);
  };
  for (const Function *Part : analysis::functionsOf(Kernel))
    for (const Instruction &I : instructions(*Part)) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      const Function *Callee = Call->getCalledFunction();
      if (Callee ? IsCalled(*Callee) : any_of(*Kernel.getParent(), IsReached))
        return true;
    }
  return false;
}

std::string hindrance(const Function &Kernel) {
  using analysis::LibraryCall;
  const bool Allocates = callsLibrary(Kernel, [](LibraryCall Call) {
    return Call == LibraryCall::Allocate || Call == LibraryCall::Free;
  });
  return Allocates ? "it takes or frees memory itself" : "";
}

bool mayPrint(const Function &Kernel) {
  return callsLibrary(Kernel, [](analysis::LibraryCall Call) {
    return Call == analysis::LibraryCall::Print;
  });
}

} // namespace reconverge::runtime
