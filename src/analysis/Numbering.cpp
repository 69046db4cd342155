//===- analysis/Numbering.cpp - Block and branch numbers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three metadata kinds on a terminator, each a node with one i32:
//
//   br i1 %c, label %a, label %b, !rc.block !0, !rc.count !1, !rc.branch !2
//
//   !rc.block   the block's number; every block has one
//   !rc.count   n(b), machine instructions of the block when it was numbered
//   !rc.branch  the branch's number; conditional branches and switches only
//
// and one on an access to memory, !rc.access.
//
// Blocks, branches and accesses are counted apart, each from 0, over the whole module, in
// the order of functions and blocks. An inlined or cloned block keeps its
// numbers, so that copies of a block add up to what the source block did. A
// list of numbers therefore has each number once, at its first place.
//
// Functions that a kernel can call: those named by a call, transitively, and if
// one of these calls through a pointer, every function whose address is taken.
//
//===----------------------------------------------------------------------===//

#include "analysis/Numbering.h"
#include "analysis/Accesses.h"
#include "analysis/Costs.h"
#include "analysis/device/Annotations.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::analysis {

static constexpr StringLiteral BranchKind = "rc.branch";

static void setNumber(Instruction &I, StringRef Kind, uint32_t Number) {
  LLVMContext &C = I.getContext();
  auto *Value = ConstantInt::get(Type::getInt32Ty(C), Number);
  I.setMetadata(Kind, MDNode::get(C, ConstantAsMetadata::get(Value)));
}

static std::optional<uint32_t> getNumber(const Instruction *I, StringRef Kind) {
  const MDNode *Node = I ? I->getMetadata(Kind) : nullptr;
  if (!Node || Node->getNumOperands() != 1)
    return std::nullopt;
  const auto *Value = mdconst::dyn_extract<ConstantInt>(Node->getOperand(0));
  if (!Value || Value->getValue().getActiveBits() > 32)
    return std::nullopt;
  return static_cast<uint32_t>(Value->getZExtValue());
}

static bool isBranch(const Instruction &Term) {
  const auto *Branch = dyn_cast<BranchInst>(&Term);
  return (Branch && Branch->isConditional()) || isa<SwitchInst>(Term);
}

/// Branches with a number in \p Kept, at its first place, keep it.
static void numberAll(Module &M, uint32_t NextBranch, DenseSet<uint32_t> Kept) {
  uint32_t NextBlock = 0, NextAccess = 0;
  for (Function &F : M)
    for (BasicBlock &BB : F) {
      for (Instruction &I : BB)
        if (accessOf(I))
          setNumber(I, AccessNumberKind, NextAccess++);
        else if (I.hasMetadata())
          I.setMetadata(AccessNumberKind, nullptr);
      Instruction &Term = *BB.getTerminator();
      setNumber(Term, BlockKind, NextBlock++);
      setNumber(Term, CountKind, machineInstructions(BB));
      if (!isBranch(Term))
        Term.setMetadata(BranchKind, nullptr);
      else if (auto Number = branchNumber(BB); !Number || !Kept.erase(*Number))
        setNumber(Term, BranchKind, NextBranch++);
    }
}

void numberBlocks(Module &M) { numberAll(M, 0, {}); }

void renumberBlocks(Module &M) {
  uint32_t NextBranch = 0;
  DenseSet<uint32_t> Kept;
  for (const Function &F : M)
    for (const BasicBlock &BB : F)
      if (auto Number = branchNumber(BB)) {
        NextBranch = std::max(NextBranch, *Number + 1);
        Kept.insert(*Number);
      }
  numberAll(M, NextBranch, std::move(Kept));
}

std::optional<uint32_t> blockNumber(const BasicBlock &BB) {
  return getNumber(BB.getTerminator(), BlockKind);
}

std::optional<uint32_t> branchNumber(const BasicBlock &BB) {
  return getNumber(BB.getTerminator(), BranchKind);
}

std::optional<uint32_t> accessNumber(const Instruction &I) {
  return getNumber(&I, AccessNumberKind);
}

std::optional<uint32_t> countedInstructions(const BasicBlock &BB) {
  return getNumber(BB.getTerminator(), CountKind);
}

/// Every function with a body that a run of \p Kernel can enter, \p Kernel
/// itself included.
static SmallPtrSet<const Function *, 16> reachableFrom(const Function &Kernel) {
  SmallPtrSet<const Function *, 16> Seen;
  SmallVector<const Function *, 16> Work;
  bool CallsPointer = false;
  auto Reach = [&](const Function &F) {
    if (!F.isDeclaration() && Seen.insert(&F).second)
      Work.push_back(&F);
  };
  Reach(Kernel);
  while (!Work.empty()) {
    const Function &F = *Work.pop_back_val();
    for (const BasicBlock &BB : F)
      for (const Instruction &I : BB) {
        const auto *Call = dyn_cast<CallBase>(&I);
        if (!Call || Call->isInlineAsm())
          continue;
        const Value *Callee = Call->getCalledOperand()->stripPointerCasts();
        if (const auto *Alias = dyn_cast<GlobalAlias>(Callee))
          Callee = Alias->getAliaseeObject();
        if (const auto *Target = dyn_cast_or_null<Function>(Callee)) {
          Reach(*Target);
        } else if (!CallsPointer) {
          CallsPointer = true;
          for (const Function &Other : *F.getParent())
            if (Other.hasAddressTaken() && !isKernel(Other))
              Reach(Other);
        }
      }
  }
  return Seen;
}

std::vector<const Function *> functionsOf(const Function &Kernel) {
  std::vector<const Function *> Functions{&Kernel};
  auto Reachable = reachableFrom(Kernel);
  for (const Function &F : *Kernel.getParent())
    if (&F != &Kernel && Reachable.contains(&F))
      Functions.push_back(&F);
  return Functions;
}

KernelNumbers numbersOf(const Function &Kernel) {
  KernelNumbers Numbers;
  DenseSet<uint32_t> SeenBlocks, SeenBranches, SeenAccesses;
  for (const Function *F : functionsOf(Kernel))
    for (const BasicBlock &BB : *F) {
      if (auto N = blockNumber(BB); N && SeenBlocks.insert(*N).second)
        Numbers.Blocks.push_back(*N);
      if (auto N = branchNumber(BB); N && SeenBranches.insert(*N).second)
        Numbers.Branches.push_back(*N);
      for (const Instruction &I : BB)
        if (auto N = accessNumber(I); N && SeenAccesses.insert(*N).second)
          Numbers.Accesses.push_back(*N);
    }
  return Numbers;
}

} // namespace reconverge::analysis
