//===- analysis/UniformityPrinter.cpp - print<reconverge-uniformity> ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line a value, in program order, arguments first:
//
//   uniformity of 'kernel':
//     grid: i32 %n
//   block %entry:
//     affine(thread id, stride 1): %tid = tail call i32 @llvm.nvvm...
//     divergent(load): %v = load float, ptr %p, align 4
//     divergent branch: br i1 %c, label %then, label %end
//   block %end:
//     divergent(sync): %r = add i32 %i, 1
//       temporal use of %i
//
// "temporal use" follows an instruction that reads a value from inside a loop
// whose lanes leave it in different iterations. Void instructions that are no
// branches are not printed.
//
//===----------------------------------------------------------------------===//

#include "analysis/Uniformity.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::analysis {

StringRef describe(Cause Why) {
  switch (Why) {
  case Cause::None:
    return "";
  case Cause::ThreadId:
    return "thread id";
  case Cause::Load:
    return "load";
  case Cause::Atomic:
    return "atomic";
  case Cause::Sync:
    return "divergent control";
  case Cause::Call:
    return "call";
  case Cause::Local:
    return "local memory";
  case Cause::Argument:
    return "argument";
  case Cause::Shuffle:
    return "shuffle";
  case Cause::Clock:
    return "clock";
  case Cause::Asm:
    return "inline assembly";
  }
  llvm_unreachable("every cause has its words");
}

static void printLevel(raw_ostream &OS, const Uniformity &U) {
  switch (U.L) {
  case Level::Grid:
    OS << "grid";
    return;
  case Level::Block:
    OS << "block";
    return;
  case Level::Warp:
    OS << "warp";
    return;
  case Level::Affine:
    OS << "affine(" << describe(U.Why);
    if (U.Stride)
      OS << ", stride " << *U.Stride;
    OS << ')';
    return;
  case Level::Divergent:
    OS << "divergent(" << describe(U.Why) << ')';
    return;
  }
}

void UniformityResult::print(raw_ostream &OS, const Function &F) const {
  ModuleSlotTracker Slots(F.getParent());
  Slots.incorporateFunction(F);
  OS << "uniformity of '" << F.getName() << "':\n";
  for (const Argument &A : F.args()) {
    OS << "  ";
    printLevel(OS, of(A));
    OS << ": ";
    A.printAsOperand(OS, /*PrintType=*/true, Slots);
    OS << '\n';
  }
  for (const BasicBlock &BB : F) {
    OS << "block ";
    BB.printAsOperand(OS, /*PrintType=*/false, Slots);
    OS << ":\n";
    for (const Instruction &I : BB) {
      bool Branches = I.isTerminator() && I.getNumSuccessors() > 1;
      if (I.getType()->isVoidTy() && !Branches)
        continue;
      OS << "  ";
      if (Branches)
        OS << (isDivergentBranch(BB) ? "divergent" : "uniform") << " branch";
      else
        printLevel(OS, of(I));
      std::string Text;
      raw_string_ostream Stream(Text);
      I.print(Stream, Slots);
      OS << ": " << StringRef(Text).ltrim() << '\n';
      for (const Use &U : I.operands())
        if (TemporalUses.contains(&U)) {
          OS << "    temporal use of ";
          U->printAsOperand(OS, /*PrintType=*/false, Slots);
          OS << '\n';
        }
    }
  }
}

PreservedAnalyses UniformityPrinterPass::run(Function &F,
                                             FunctionAnalysisManager &) {
  computeUniformity(F).print(OS, F);
  return PreservedAnalyses::all();
}

} // namespace reconverge::analysis
