//===- driver/Foresight.cpp - What kernels' code tells of remedies --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Foresight.h"

#include "driver/ProgramModules.h"
#include "remedies/Table.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace reconverge::driver {

static Foresight foreseenOf(const KernelProfile &K, StringRef Bitcode) {
  LLVMContext Context;
  auto M = parseBitcodeFile({Bitcode, "device code"}, Context);
  if (!M) {
    consumeError(M.takeError());
    return {};
  }
  const Function *F = (*M)->getFunction(K.Info.Name);
  if (!F || F->isDeclaration())
    return {};
  return {remedies::foreseen(*F, K), remedies::asked(*F)};
}

std::vector<Foresight> foresee(const Profile &Counted, StringRef Program) {
  std::vector<Foresight> All(Counted.Kernels.size());
  auto Modules = modulesOf(Program);
  if (!Modules) {
    consumeError(Modules.takeError());
    return All;
  }
  for (size_t K = 0; K != All.size(); ++K)
    if (auto Code = Modules->find(Counted.Kernels[K].Info.Module);
        Code != Modules->end())
      All[K] = foreseenOf(Counted.Kernels[K], Code->second);
  return All;
}

} // namespace reconverge::driver
