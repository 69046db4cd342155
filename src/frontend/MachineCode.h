//===- frontend/MachineCode.h - Device IR to machine code -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_MACHINECODE_H
#define RECONVERGE_FRONTEND_MACHINECODE_H

#include "analysis/MachineCode.h"
#include "frontend/Options.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::frontend {

/// What ptxas makes of \p M, which has been through the device pipeline.
llvm::Expected<analysis::MachineCode>
machineCodeOf(const llvm::Module &M, const CompileOptions &Options,
              const CudaToolkit &Cuda, const TempDir &Temp);

/// Prints each block with the opcodes that ptxas made for it, by the toolkit of
/// the environment; numbers the module first if it is not.
class MachineCodePrinterPass
    : public llvm::PassInfoMixin<MachineCodePrinterPass> {
public:
  explicit MachineCodePrinterPass(llvm::raw_ostream &OS) : OS(OS) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);

private:
  llvm::raw_ostream &OS;
};

} // namespace reconverge::frontend

#endif
