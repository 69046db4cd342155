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
// Probes of accesses to memory (AccessProbes.cpp) cost many times what the
// others do. They stand in a third body, which is like the second one but for
// them, and which few of the blocks that count run:
//
//               rc.choose --no--> entry.plain
//                   | yes
//               rc.memory --no--> entry, with probes
//                   | yes
//               entry.memory, with these and those of accesses
//
// It leaves by the code of the second, which is longer than many a body.
// Where there is nothing else to count, there is no second body.
//
// Limitation: ptxas gives a kernel the registers of its dearest body, so these are
// limited to what the plain one takes (runtime/gpu/Registers.cpp).
//
//===----------------------------------------------------------------------===//

#include "instrument/Versions.h"

#include "instrument/BlockSample.h"
#include "instrument/Instrument.h"

#include "llvm/Transforms/Utils/Cloning.h"

#include <cstddef>

using namespace llvm;

namespace reconverge::instrument {

/// A copy of \p Body, which is all that runs together in \p F. Variables of the
/// stack are not copied.
static SmallVector<BasicBlock *>
copyBody(Function &F, ArrayRef<BasicBlock *> Body, const Twine &Suffix) {
  ValueToValueMapTy Values;
  SmallVector<BasicBlock *> Copies;
  for (BasicBlock *BB : Body) {
    BasicBlock *Copy = CloneBasicBlock(BB, Values, Suffix, &F);
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

/// A new entry of \p F, with the stack's variables and no terminator yet.
static BasicBlock *addEntry(Function &F) {
  BasicBlock *Old = &F.getEntryBlock();
  auto *Choose = BasicBlock::Create(F.getContext(), "rc.choose", &F, Old);
  for (Instruction &I : make_early_inc_range(*Old))
    if (auto *A = dyn_cast<AllocaInst>(&I);
        A && isa<Constant>(A->getArraySize()))
      A->moveBefore(*Choose, Choose->end());
  return Choose;
}

Versions splitVersions(Function &F, bool IsKernel, GlobalVariable &Config) {
  Versions V;
  V.Body = to_vector(make_pointer_range(F));
  IRBuilder<> B(addEntry(F));
  SmallVector<BasicBlock *> Plain = copyBody(F, V.Body, ".plain");
  Value *Counts = whoCounts(B, IsKernel, Config);
  V.Choice = B.CreateCondBr(Counts, V.Body.front(), Plain.front());
  V.Plain.insert(Plain.begin(), Plain.end());
  return V;
}

AccessProbes::Thread addMemoryVersion(Function &F, const Versions &V,
                                      GlobalVariable &Config,
                                      SmallVectorImpl<BasicBlock *> &Copy) {
  SmallVector<BasicBlock *> Body;
  BasicBlock *Ask, *Else;
  if (V.Choice) {
    Else = V.Choice->getSuccessor(0);
    // Before it stands who chooses.
    for (BasicBlock &BB : make_range(Else->getIterator(), F.end()))
      if (!V.Plain.contains(&BB) && !V.Leaving.contains(&BB))
        Body.push_back(&BB);
    Ask = BasicBlock::Create(F.getContext(), "rc.memory", &F, Else);
    V.Choice->setSuccessor(0, Ask);
  } else {
    Body = to_vector(make_pointer_range(F));
    Else = Body.front();
    Ask = addEntry(F);
  }
  Copy = copyBody(F, Body, ".memory");
  IRBuilder<> B(Ask);
  BlockSampleCode Sample(B, Config);
  const AccessProbes::Thread Thread{Sample.area(), AccessProbes::clock(B)};
  B.CreateCondBr(Sample.countsMemory(), Copy.front(), Else);
  return Thread;
}

} // namespace reconverge::instrument
