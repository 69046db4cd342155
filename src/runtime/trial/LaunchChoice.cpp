//===- runtime/trial/LaunchChoice.cpp - Which launches are tried ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/trial/LaunchChoice.h"

#include "analysis/Numbering.h"
#include "analysis/device/LibraryCalls.h"

#include "llvm/ADT/STLExtras.h"
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

/// The same of a call of \p Callee, one of CUDA's own functions or any other.
static std::string hindranceOfCall(const Function &Callee) {
  switch (analysis::libraryCall(&Callee)) {
  case analysis::LibraryCall::Print:
    return "it prints";
  case analysis::LibraryCall::Allocate:
  case analysis::LibraryCall::Free:
    return "it takes or frees memory itself";
  case analysis::LibraryCall::Assert:
    return "it asserts";
  default:
    return "";
  }
}

std::string hindrance(const Function &Kernel) {
  for (const Function *Part : analysis::functionsOf(Kernel))
    for (const Instruction &I : instructions(*Part)) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || Call->isInlineAsm())
        continue;
      if (const Function *Callee = Call->getCalledFunction()) {
        if (std::string Why = hindranceOfCall(*Callee); !Why.empty())
          return Why;
        continue;
      }
      // A pointer: to whatever has its address taken. functionsOf knows those
      // with a body; CUDA's own have none.
      for (const Function &Other : *Kernel.getParent())
        if (Other.isDeclaration() && Other.hasAddressTaken())
          if (std::string Why = hindranceOfCall(Other); !Why.empty())
            return Why;
    }
  return "";
}

} // namespace reconverge::runtime
