//===- driver/LoadHerding.cpp - What herding loads may come to ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/LoadHerding.h"

#include "driver/ProgramModules.h"
#include "remedies/herd/Loads.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace reconverge::driver {

/// Kernels with a smaller share of the run are not looked at.
static constexpr double LeastShare = 0.02;

std::vector<std::string> foreseeLoads(ArrayRef<HotKernel> Kernels,
                                      StringRef Program) {
  std::vector<std::string> Found;
  auto Modules = modulesOf(Program);
  if (!Modules) {
    consumeError(Modules.takeError()); // then nothing is foreseen
    return Found;
  }
  for (const HotKernel &K : Kernels) {
    const KernelInfo &Info = K.Counted->Info;
    const auto Code = Modules->find(Info.Module);
    if (Code == Modules->end() || !K.Limits || K.OfRun < LeastShare)
      continue;
    LLVMContext Context;
    auto M = parseBitcodeFile({Code->second, "device code"}, Context);
    if (!M) {
      consumeError(M.takeError());
      continue;
    }
    const Function *F = (*M)->getFunction(Info.Name);
    if (!F || F->isDeclaration())
      continue;
    if (const auto L = remedies::herdedLoads(*F, *K.Counted, *K.Limits))
      Found.push_back(remedies::textOf(*L, Info.Display));
  }
  return Found;
}

} // namespace reconverge::driver
