//===- analysis/device/LibraryCalls.cpp - Functions of CUDA's own ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/device/LibraryCalls.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace reconverge::analysis {

LibraryCall libraryCall(StringRef Name) {
  return StringSwitch<LibraryCall>(Name)
      .Case("vprintf", LibraryCall::Print)
      .Case("malloc", LibraryCall::Allocate)
      .Case("free", LibraryCall::Free)
      .Cases("__assertfail", "__assert_fail", LibraryCall::Assert)
      .Case(NoFunction, LibraryCall::Trap)
      .Case("__nvvm_reflect", LibraryCall::Reflect)
      .StartsWith("__nv_", LibraryCall::Math)
      .Default(LibraryCall::None);
}

LibraryCall libraryCall(const Function *Callee) {
  return Callee ? libraryCall(Callee->getName()) : LibraryCall::None;
}

} // namespace reconverge::analysis
