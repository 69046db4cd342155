//===- remedies/meld/Simplify.cpp - One way in, one way out --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structure.cpp needs every if and every loop to end in a block of its own:
//
//      a          a            An inner if and the one around it often end in
//     / \        / \           the same block. Going over the blocks inside
//    b   |      b   |          out, the edges that come from one branch's (or
//   / \  |     / \  |          loop's) blocks get a new block before the common
//  c   | |    c   | |          one.
//   \  | |     \  / |
//    \ | /      j   |          Loops are brought into LLVM's simple form first:
//      j         \ /           a preheader, one latch, exits of their own.
//                 j'
//
// Cleaning up is the reverse, with what LLVM has for single blocks. SimplifyCFG
// as a whole is out of the question: it threads a branch on a condition through
// a block that tests it twice, which is what melded code looks like.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Simplify.h"
#include "remedies/meld/Structure.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace reconverge::remedies::meld {

/// Gives the edges into \p Join from \p Before and \p Inside a block of their
/// own, if others come in as well.
static void splitJoin(BasicBlock &Join, BasicBlock &Before,
                      const BlockSet &Inside) {
  SmallSetVector<BasicBlock *, 8> Ours;
  bool Others = false;
  for (BasicBlock *Pred : predecessors(&Join)) {
    if (Pred == &Before || Inside.contains(Pred))
      Ours.insert(Pred);
    else
      Others = true;
  }
  if (Others && !Ours.empty())
    SplitBlockPredecessors(&Join, Ours.getArrayRef(), ".meld.end");
}

static void splitJoins(Function &F) {
  DominatorTree Tree(F);
  LoopInfo Loops(Tree);
  const analysis::PostDominance Dominance(F);
  SmallVector<BasicBlock *, 32> Order(post_order(&F));
  for (BasicBlock *BB : Order) {
    const BasicBlock *End = nullptr;
    if (BasicBlock *Only = BB->getSingleSuccessor()) {
      Loop *L = Loops.isLoopHeader(Only) ? Loops.getLoopFor(Only) : nullptr;
      if (!L || L->contains(BB))
        continue;
      End = Dominance.immediate(*Only);
      while (End && L->contains(End))
        End = Dominance.immediate(*End);
    } else if (!succ_empty(BB)) {
      End = Dominance.immediate(*BB);
    }
    if (!End)
      continue;
    // Blocks made by earlier splits lie on the way and are found here.
    if (auto Inside = blocksBetween(*BB, *End))
      splitJoin(const_cast<BasicBlock &>(*End), *BB, *Inside);
  }
}

void simplifyRegions(Function &F) {
  EliminateUnreachableBlocks(F);
  // An assumption would be guarded for nothing: nobody reads it any more.
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB))
      if (isa<AssumeInst>(I))
        I.eraseFromParent();
  for (BasicBlock &BB : F)
    ConstantFoldTerminator(&BB);
  EliminateUnreachableBlocks(F);
  {
    DominatorTree Tree(F);
    LoopInfo Loops(Tree);
    for (Loop *L : Loops)
      simplifyLoop(L, &Tree, &Loops, nullptr, nullptr, nullptr,
                   /*PreserveLCSSA=*/false);
  }
  splitJoins(F);
  for (BasicBlock &BB : F)
    if (BB.getSinglePredecessor())
      FoldSingleEntryPHINodes(&BB);
}

void lowerSwitch(SwitchInst &Switch) {
  BasicBlock *BB = Switch.getParent(), *Default = Switch.getDefaultDest();
  Value *Of = Switch.getCondition();
  MapVector<BasicBlock *, SmallVector<ConstantInt *, 4>> Cases;
  for (auto Case : Switch.cases())
    if (Case.getCaseSuccessor() != Default)
      Cases[Case.getCaseSuccessor()].push_back(Case.getCaseValue());
  // Where the default cannot happen, the last case takes its place.
  const bool NoDefault =
      isa<UnreachableInst>(Default->getFirstNonPHIOrDbg()) && !Cases.empty();
  BasicBlock *Last = NoDefault ? Cases.back().first : Default;

  SmallVector<std::pair<PHINode *, Value *>, 8> Incoming;
  SmallSetVector<BasicBlock *, 8> Targets;
  for (BasicBlock *Succ : successors(BB))
    Targets.insert(Succ);
  for (BasicBlock *Succ : Targets)
    for (PHINode &Phi : Succ->phis()) {
      Incoming.push_back({&Phi, Phi.getIncomingValueForBlock(BB)});
      for (int At; (At = Phi.getBasicBlockIndex(BB)) >= 0;)
        Phi.removeIncomingValue(At, /*DeletePHIIfEmpty=*/false);
    }
  auto Enter = [&](BasicBlock *Succ, BasicBlock *From) {
    for (auto [Phi, V] : Incoming)
      if (Phi->getParent() == Succ)
        Phi->addIncoming(V, From);
  };

  DebugLoc Where = Switch.getDebugLoc();
  SmallVector<std::pair<unsigned, MDNode *>, 4> Notes;
  Switch.getAllMetadataOtherThanDebugLoc(Notes);
  Switch.eraseFromParent();
  IRBuilder<> B(BB);
  B.SetCurrentDebugLocation(Where);
  Cases.erase(Last);
  for (auto &[Succ, Values] : Cases) {
    Value *Hit = nullptr;
    for (ConstantInt *V : Values) {
      Value *One = B.CreateICmpEQ(Of, V);
      Hit = Hit ? B.CreateOr(Hit, One) : One;
    }
    const bool Final = Succ == Cases.back().first;
    BasicBlock *From = B.GetInsertBlock();
    BasicBlock *Rest = Final ? Last
                             : BasicBlock::Create(B.getContext(), "meld.case",
                                                  BB->getParent(), Succ);
    Instruction *Branch = B.CreateCondBr(Hit, Succ, Rest);
    for (auto [Kind, Note] : Notes)
      if (Kind != LLVMContext::MD_prof)
        Branch->setMetadata(Kind, Note);
    Enter(Succ, From);
    if (Final)
      Enter(Last, From);
    B.SetInsertPoint(Rest);
  }
  if (Cases.empty()) { // one destination
    B.CreateBr(Last);
    Enter(Last, BB);
  }
}

//===----------------------------------------------------------------------===//
// Cleaning up
//===----------------------------------------------------------------------===//

/// A choice between two PHIs of a block that differ only where one of them is
/// poison is the PHI that has what the other lacks.
static Value *joinPhis(SelectInst &Select) {
  auto *X = dyn_cast<PHINode>(Select.getTrueValue());
  auto *Y = dyn_cast<PHINode>(Select.getFalseValue());
  if (!X || !Y || X->getParent() != Y->getParent())
    return nullptr;
  SmallVector<Value *, 8> Values;
  for (unsigned I = 0; I != X->getNumIncomingValues(); ++I) {
    Value *V = X->getIncomingValue(I);
    Value *W = Y->getIncomingValueForBlock(X->getIncomingBlock(I));
    if (V != W && !isa<PoisonValue>(V) && !isa<PoisonValue>(W))
      return nullptr;
    Values.push_back(isa<PoisonValue>(V) ? W : V);
  }
  auto *Joined = PHINode::Create(X->getType(), Values.size(), X->getName(),
                                 X->getIterator());
  Joined->setDebugLoc(X->getDebugLoc());
  for (auto [I, V] : enumerate(Values))
    Joined->addIncoming(V, X->getIncomingBlock(unsigned(I)));
  return Joined;
}

static bool simplifyInstructions(Function &F) {
  const DataLayout &Layout = F.getDataLayout();
  bool Changed = false;
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB)) {
      if (!isa<PHINode>(I) && !isa<SelectInst>(I) &&
          !isInstructionTriviallyDead(&I))
        continue;
      if (!I.use_empty())
        if (Value *V = simplifyInstruction(&I, SimplifyQuery(Layout, &I));
            V && V != &I) {
          I.replaceAllUsesWith(V);
          Changed = true;
        }
      if (auto *Select = dyn_cast<SelectInst>(&I); Select && !I.use_empty())
        if (Value *Joined = joinPhis(*Select)) {
          I.replaceAllUsesWith(Joined);
          Changed = true;
        }
      if (isInstructionTriviallyDead(&I)) {
        I.eraseFromParent();
        Changed = true;
      }
    }
  return Changed;
}

/// PHIs of one block that say the same.
static bool mergePhis(Function &F) {
  bool Changed = false;
  for (BasicBlock &BB : F)
    Changed |= EliminateDuplicatePHINodes(&BB);
  return Changed;
}

static bool joinBlocks(Function &F) {
  bool Changed = false;
  for (BasicBlock &BB : make_early_inc_range(F)) {
    if (&BB == &F.getEntryBlock())
      continue;
    if (MergeBlockIntoPredecessor(&BB)) {
      Changed = true;
      continue;
    }
    auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
    if (Br && Br->isUnconditional() && Br->getSuccessor(0) != &BB &&
        BB.getFirstNonPHIOrDbg() == Br)
      Changed |= TryToSimplifyUncondBranchFromEmptyBlock(&BB);
  }
  return Changed;
}

void cleanUp(Function &F) {
  EliminateUnreachableBlocks(F);
  bool Changed = true;
  while (Changed) {
    Changed = simplifyInstructions(F);
    Changed |= mergePhis(F);
    Changed |= joinBlocks(F);
    for (BasicBlock &BB : F)
      Changed |= ConstantFoldTerminator(&BB, /*DeleteDeadConditions=*/true);
  }
  EliminateUnreachableBlocks(F);
}

//===----------------------------------------------------------------------===//
// Going back
//===----------------------------------------------------------------------===//

Backup::Backup(Function &F)
    : F(F), Copy(Function::Create(F.getFunctionType(), F.getLinkage(),
                                  F.getAddressSpace())) {
  ValueToValueMapTy Map;
  for (auto [From, To] : zip(F.args(), Copy->args()))
    Map[&From] = &To;
  if (DISubprogram *Program = F.getSubprogram())
    Map.MD()[Program].reset(Program); // places stay those of F
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(Copy.get(), &F, Map,
                    CloneFunctionChangeType::LocalChangesOnly, Returns);
}

Backup::~Backup() {
  if (Copy)
    Copy->dropAllReferences();
}

void Backup::restore() {
  for (BasicBlock &BB : F)
    BB.dropAllReferences();
  while (!F.empty())
    F.begin()->eraseFromParent();
  F.splice(F.begin(), Copy.get());
  for (auto [To, From] : zip(F.args(), Copy->args()))
    From.replaceAllUsesWith(&To);
}

} // namespace reconverge::remedies::meld
