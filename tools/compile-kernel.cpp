//===- tools/compile-kernel.cpp - The warp VM's compiler, apart -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libReconvergeVM.so runs this program for kernels that have run for some time,
// or may in later runs: warpvm/emit/CompilerProcess.cpp, LeftWork.cpp.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/CompilerProcess.h"

int main(int Count, char **Arguments) {
  return reconverge::warpvm::runCompiler(
      llvm::ArrayRef<const char *>(Arguments, Count).drop_front());
}
