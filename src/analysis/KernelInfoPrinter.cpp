//===- analysis/KernelInfoPrinter.cpp - print<reconverge-branches> --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel 'f' (_Z1fPi)
//     block 0: #0, 5 instructions, at app.cu:3:9 in f
//     branch #1 in block 0: if, to 1 2, region 1, thread id, leaves the kernel,
//       at app.cu:4:7 in f, from app.cu:9:3 in g
//
// Blocks and branches are numbered by position, as the lists index them; "#" is
// the module-wide number. A branch is one line.
//
//===----------------------------------------------------------------------===//

#include "analysis/KernelInfoPrinter.h"
#include "analysis/Costs.h"
#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::analysis {

static StringRef nameOf(BranchKind Kind) {
  switch (Kind) {
  case BranchKind::If:
    return "if";
  case BranchKind::IfElse:
    return "if-else";
  case BranchKind::LoopExit:
    return "loop exit";
  case BranchKind::Switch:
    return "switch";
  }
  llvm_unreachable("every kind has a name");
}

static void printPlace(raw_ostream &OS, const SourceChain &Where) {
  StringRef Before = ", at ";
  for (const SourceLoc &Loc : Where) {
    OS << Before << Loc.File << ':' << Loc.Line << ':' << Loc.Column << " in "
       << Loc.Function;
    Before = ", from ";
  }
}

static void printList(raw_ostream &OS, ArrayRef<uint32_t> Positions) {
  if (Positions.empty())
    OS << " none";
  for (uint32_t Position : Positions)
    OS << ' ' << Position;
}

void print(raw_ostream &OS, const KernelInfo &Info) {
  OS << "kernel '" << Info.Display << "' (" << Info.Name << ")\n";
  for (size_t I = 0; I < Info.Blocks.size(); ++I) {
    const BlockInfo &Block = Info.Blocks[I];
    OS << "  block " << I << ": #" << Block.Id << ", " << Block.Instructions
       << " instructions";
    printPlace(OS, Block.Where);
    OS << '\n';
  }
  for (const BranchInfo &Branch : Info.Branches) {
    OS << "  branch #" << Branch.Id << " in block " << Branch.Block << ": "
       << nameOf(Branch.Kind) << ", to";
    printList(OS, Branch.Successors);
    OS << ", region";
    printList(OS, Branch.Region);
    OS << ", " << Branch.Reason;
    if (Branch.LeavesKernel)
      OS << ", leaves the kernel";
    printPlace(OS, Branch.Where);
    OS << '\n';
  }
}

PreservedAnalyses KernelInfoPrinterPass::run(Module &M,
                                             ModuleAnalysisManager &) {
  bool Numbered = any_of(M, [](const Function &F) {
    return any_of(
        F, [](const BasicBlock &BB) { return blockNumber(BB).has_value(); });
  });
  if (!Numbered)
    numberBlocks(M);
  for (Function &F : M)
    if (!F.isDeclaration() && isKernel(F))
      print(OS, describeKernel(F, MachineModel::unit(), ""));
  return PreservedAnalyses::all();
}

} // namespace reconverge::analysis
