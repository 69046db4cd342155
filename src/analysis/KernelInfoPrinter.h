//===- analysis/KernelInfoPrinter.h - print<reconverge-branches> -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_KERNELINFOPRINTER_H
#define RECONVERGE_ANALYSIS_KERNELINFOPRINTER_H

#include "core/Profile.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::analysis {

void print(llvm::raw_ostream &OS, const KernelInfo &Info);

/// Prints the KernelInfo of every kernel, numbering the module first if it is
/// not. Costs are not printed: they depend on a machine file.
class KernelInfoPrinterPass
    : public llvm::PassInfoMixin<KernelInfoPrinterPass> {
public:
  explicit KernelInfoPrinterPass(llvm::raw_ostream &OS) : OS(OS) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);

private:
  llvm::raw_ostream &OS;
};

} // namespace reconverge::analysis

#endif
