//===- frontend/Inlining.cpp - Say what is to be inlined ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc inlines nearly every device function, and a branch that is inlined at
// two call sites is two branches to the machine. LLVM's inliner weighs sizes
// and would leave some as calls; so we decide first:
//
//   inlined      every device function that is called, ...
//   not inlined  ... unless it is __noinline__ in the source, part of a
//                recursion, or so large and so often called that the result
//                would be unreasonable (HugeInstructions below); kernels never
//
// A function whose address is taken is inlined where it is called directly; its
// body stays for the pointer.
//
// libdevice has a few `noinline` helpers (slow paths of trigonometry). They
// come from a library, not from the user, and as calls they would be opaque to
// the analysis: they are inlined too. Library code is told from the user's by
// its missing line table, which every function of ours has.
//
// Sizes are those of unoptimised code, taken bottom-up with callees included.
//
//===----------------------------------------------------------------------===//

#include "frontend/Inlining.h"

#include "analysis/device/Annotations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend {

/// What one function may add to the program over all its call sites, in
/// unoptimised instructions; about ten times what CUB's largest agents take.
static constexpr uint64_t HugeInstructions = 400'000;

static bool callsItself(const CallGraphNode &Node) {
  for (const auto &[Site, Callee] : Node)
    if (Callee == &Node)
      return true;
  return false;
}

void markForInlining(Module &M) {
  CallGraph Graph(M);
  DenseMap<const Function *, uint64_t> SizeWithCallees;

  for (auto It = scc_begin(&Graph); !It.isAtEnd(); ++It) {
    const std::vector<CallGraphNode *> &Component = *It;
    bool Recursive = Component.size() > 1 || callsItself(*Component.front());
    for (CallGraphNode *Node : Component) {
      Function *F = Node->getFunction();
      if (!F || F->isDeclaration() || analysis::isKernel(*F))
        continue;
      uint64_t Size = F->getInstructionCount();
      for (const auto &[Site, Callee] : *Node)
        if (Function *G = Callee->getFunction();
            G && G->hasFnAttribute(Attribute::AlwaysInline))
          Size += SizeWithCallees.lookup(G);
      SizeWithCallees[F] = Size;

      bool Library = !F->getSubprogram();
      if (Recursive || (F->hasFnAttribute(Attribute::NoInline) && !Library))
        continue;
      if (Size * F->getNumUses() > HugeInstructions) {
        F->removeFnAttr(Attribute::AlwaysInline);
        continue;
      }
      F->removeFnAttr(Attribute::NoInline);
      F->removeFnAttr(Attribute::OptimizeNone);
      F->addFnAttr(Attribute::AlwaysInline);
    }
  }
}

} // namespace reconverge::frontend
