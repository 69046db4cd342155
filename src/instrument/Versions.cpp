//===- instrument/Versions.cpp - With and without probes --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//            before                        after
//
//           +-------+            rc.choose: the stack's variables
//           | entry |               |
//           +-------+            counts? ----no----------+
//               |                   | yes                |
//              ...               entry, with probes   entry.plain
//                                   |                    |
//                                  ...                  ...
//
// Who counts is the same for all threads of a block: those of the sample
// (BlockSample.cpp), and those whose counters go to rows. So a block runs one
// of the bodies as a whole; barriers, shared memory and what runs together are
// as before. Neither body ever comes to the other, and the plain one pays for
// the choice alone: about twenty instructions, the same for all lanes.
//
// A function that is called chooses anew at each call. It may be called by its
// address too, which does not say by whom.
//
// Limitation: ptxas gives a kernel the registers of its dearer body.
//
//===----------------------------------------------------------------------===//

#include "instrument/Versions.h"

#include "instrument/BlockSample.h"
#include "instrument/Instrument.h"

#include "llvm/Transforms/Utils/Cloning.h"

#include <cstddef>

using namespace llvm;

namespace reconverge::instrument {

/// A copy of all blocks of \p F. Variables of the stack are not copied.
static SmallVector<BasicBlock *> copyBody(Function &F) {
  ValueToValueMapTy Values;
  SmallVector<BasicBlock *> Copies;
  // The list grows as we go.
  for (BasicBlock *BB : to_vector(make_pointer_range(F))) {
    BasicBlock *Copy = CloneBasicBlock(BB, Values, ".plain", &F);
    Values[BB] = Copy;
    Copies.push_back(Copy);
  }
  for (BasicBlock *Copy : Copies)
    for (Instruction &I : *Copy) {
      I.dropDbgRecords(); // of variables; lines stay
      RemapInstruction(&I, Values,
                       RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
  return Copies;
}

static Value *whoCounts(IRBuilder<> &B, bool IsKernel, GlobalVariable &Config) {
  auto IsSet = [&](unsigned Offset) {
    return B.CreateIsNotNull(B.CreateLoad(
        B.getInt64Ty(),
        B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Config, Offset)));
  };
  BlockSampleCode Sample(B, Config);
  Value *Counts =
      B.CreateAnd(IsSet(offsetof(ProbeConfig, Counters)), Sample.counts());
  if (!IsKernel)
    return Counts;
  BasicBlock *From = B.GetInsertBlock();
  Function *F = From->getParent();
  auto *Ask =
      BasicBlock::Create(B.getContext(), "rc.row", F, From->getNextNode());
  auto *Decide =
      BasicBlock::Create(B.getContext(), "rc.decide", F, Ask->getNextNode());
  B.CreateCondBr(IsSet(offsetof(ProbeConfig, Rows)), Ask, Decide);
  B.SetInsertPoint(Ask);
  Value *Either = B.CreateOr(Counts, Sample.hasRow(Sample.row()));
  B.CreateBr(Decide);
  B.SetInsertPoint(Decide);
  PHINode *Answer = B.CreatePHI(B.getInt1Ty(), 2);
  Answer->addIncoming(Counts, From);
  Answer->addIncoming(Either, Ask);
  return Answer;
}

SmallPtrSet<BasicBlock *, 32> splitVersions(Function &F, bool IsKernel,
                                            GlobalVariable &Config) {
  BasicBlock *Probed = &F.getEntryBlock();
  auto *Choose = BasicBlock::Create(F.getContext(), "rc.choose", &F, Probed);
  for (Instruction &I : make_early_inc_range(*Probed))
    if (auto *A = dyn_cast<AllocaInst>(&I);
        A && isa<Constant>(A->getArraySize()))
      A->moveBefore(*Choose, Choose->end());

  // The new entry has no terminator yet, and is nobody's to copy.
  Choose->removeFromParent();
  SmallVector<BasicBlock *> Plain = copyBody(F);
  Choose->insertInto(&F, Probed);
  IRBuilder<> B(Choose);
  Value *Counts = whoCounts(B, IsKernel, Config);
  B.CreateCondBr(Counts, Probed, Plain.front());
  return {Plain.begin(), Plain.end()};
}

} // namespace reconverge::instrument
