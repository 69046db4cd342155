//===- runtime/gpu/MachinePrices.cpp - Kernels by machine code ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/MachinePrices.h"

#include "analysis/MachineCode.h"
#include "frontend/DevicePipeline.h"
#include "remedies/common/KernelCopy.h"
#include "runtime/gpu/Build.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ThreadPool.h"

using namespace llvm;

namespace reconverge::gpu {

/// The same of one, the only kernel in \p Bitcode.
static Error priceAlone(StringRef Bitcode, const ToPrice &What,
                        const Options &O, const analysis::MachineModel &Costs) {
  LLVMContext Context; // of this thread
  auto M = parseBitcodeFile({Bitcode, "counted"}, Context);
  if (!M)
    return M.takeError();
  auto Made = machineCodeFor(**M, O);
  if (!Made)
    return Made.takeError();
  return analysis::priceByMachineCode(
      *What.Info, *(*M)->getFunction(What.Kernel), *Made, Costs);
}

void priceByMachineCode(const Module &M, ArrayRef<ToPrice> All,
                        const Options &O, const analysis::MachineModel &Costs) {
  if (O.Bitcode)
    return; // there is none on the warp VM
  DefaultThreadPool Pool;
  for (const ToPrice &What : All) {
    const Function &F = *M.getFunction(What.Kernel);
    Pool.async(
        [&What, &O, &Costs,
         Bitcode = frontend::writeBitcode(*remedies::copyAlone(F).first)] {
          consumeError(
              priceAlone({Bitcode.data(), Bitcode.size()}, What, O, Costs));
        });
  }
}

} // namespace reconverge::gpu
