//===- remedies/common/Redirection.cpp - Threads by an index --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is told who it runs as, in front of all of its code:
//
//   by an index             item = index[place]       place: of the thread, or block
//   first threads of blocks thread 0 of block place
//   a loop over blocks      for (block = blockIdx; block < blocks; block += grid)
//
// and what it reads of the launch follows from that (common/Items.h): the sizes
// that the program gave come as parameters.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Redirection.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/HiddenParameters.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies {

/// Returns from the kernel in front of \p At where \p Condition holds.
static void leaveIf(Value *Condition, Instruction *At) {
  Instruction *Leave =
      SplitBlockAndInsertIfThen(Condition, At, /*Unreachable=*/true);
  ReturnInst::Create(At->getContext(), Leave->getParent());
  Leave->eraseFromParent();
}

/// The unit that runs at \p Place, by \p Index: i64.
static Value *unitAt(IRBuilder<> &B, Value *Index, Value *Place) {
  Value *InGlobal = B.CreateAddrSpaceCast(
      Index, PointerType::get(B.getContext(), analysis::GlobalSpace));
  Type *Element = B.getInt32Ty();
  return B.CreateZExt(
      B.CreateLoad(Element, B.CreateGEP(Element, InGlobal, Place)),
      B.getInt64Ty());
}

/// \p Kernel with what redirectedArguments() passes to it, or placeArguments().
static Function &withParameters(Function &Kernel, bool Indexed) {
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C), *I64 = Type::getInt64Ty(C);
  SmallVector<Type *, 8> Types = {I64, I32, I32, I32, I32, I32, I32};
  SmallVector<StringRef, 8> Names = {"units",   "grid.x",  "grid.y", "grid.z",
                                     "block.x", "block.y", "block.z"};
  if (Indexed) {
    Types.insert(Types.begin(), PointerType::getUnqual(C));
    Names.insert(Names.begin(), "index");
  }
  Function &F = addParameters(Kernel, Types, Names);
  F.removeFnAttr(Attribute::Memory); // it reads the index
  return F;
}

std::vector<RecipeArgument> placeArguments(LaunchAmount Units) {
  std::vector<RecipeArgument> Arguments = {{RecipeArgument::Amount, 0, Units}};
  for (unsigned I = 0; I != 6; ++I)
    Arguments.push_back({RecipeArgument::Dimension, I});
  return Arguments;
}

std::vector<RecipeArgument> redirectedArguments(unsigned OfProgram,
                                                RecipeArgument Index,
                                                LaunchAmount Units) {
  std::vector<RecipeArgument> Arguments;
  for (unsigned I = 0; I != OfProgram; ++I)
    Arguments.push_back({RecipeArgument::Program, I});
  Arguments.push_back(Index);
  for (RecipeArgument A : placeArguments(Units))
    Arguments.push_back(A);
  return Arguments;
}

unsigned blockWithin(const Function &Kernel, unsigned Wanted) {
  const unsigned Bound = analysis::launchBound(Kernel);
  return Bound ? std::min(Wanted, Bound) : Wanted;
}

Function &redirectThreads(Function &Kernel, const ItemsPlan &Plan,
                          unsigned Block) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &F = withParameters(Kernel, /*Indexed=*/true);
  analysis::setLaunchBound(F, analysis::launchBound(F) ? Block : 0);
  Instruction *At = splitEntry(F);
  IRBuilder<> B(At);
  Value *Place = readItem(B);
  leaveIf(B.CreateICmpUGE(Place, F.getArg(OfProgram + 1)), At);
  B.SetInsertPoint(At);
  becomeItem(Plan, unitAt(B, F.getArg(OfProgram), Place),
             launchFromParameters(F, OfProgram + 2), B);
  return F;
}

Function &redirectToFirstThreads(Function &Kernel, const ItemsPlan &Plan,
                                 unsigned Block) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &F = withParameters(Kernel, /*Indexed=*/false);
  analysis::setLaunchBound(F, analysis::launchBound(F) ? Block : 0);
  Instruction *At = splitEntry(F);
  IRBuilder<> B(At);
  Value *Place = readItem(B);
  leaveIf(B.CreateICmpUGE(Place, F.getArg(OfProgram)), At);
  B.SetInsertPoint(At);
  becomeThread(Plan, Place, B.getInt32(0),
               launchFromParameters(F, OfProgram + 1), B);
  return F;
}

Function &loopOverBlocks(Function &Kernel, const BlocksPlan &Plan) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &F = withParameters(Kernel, /*Indexed=*/false);
  SmallVector<Instruction *> Ends;
  for (BasicBlock &BB : F)
    if (isa<ReturnInst>(BB.getTerminator()))
      Ends.push_back(BB.getTerminator());
  Value *Blocks = F.getArg(OfProgram);
  Instruction *At = splitEntry(F);
  IRBuilder<> B(At);
  Value *First = readBlock(B), *Step = B.getInt64(1);
  for (Value *Size : readLaunch(B).Grid)
    Step = B.CreateMul(Step, B.CreateZExt(Size, B.getInt64Ty()));
  leaveIf(B.CreateICmpUGE(First, Blocks), At);
  BasicBlock *Before = At->getParent();
  BasicBlock *Header = SplitBlock(Before, At);
  auto *Next = BasicBlock::Create(F.getContext(), "next", &F),
       *Done = BasicBlock::Create(F.getContext(), "done", &F);
  B.SetInsertPoint(At);
  PHINode *Block = B.CreatePHI(B.getInt64Ty(), 2, "block");
  Block->addIncoming(First, Before);
  becomeBlock(Plan, Block, launchFromParameters(F, OfProgram + 1), B);
  for (Instruction *End : Ends) {
    BranchInst::Create(Next, End->getParent());
    End->eraseFromParent();
  }
  B.SetInsertPoint(Next);
  Value *Other = B.CreateAdd(Block, Step);
  Block->addIncoming(Other, Next);
  B.CreateCondBr(B.CreateICmpULT(Other, Blocks), Header, Done);
  ReturnInst::Create(F.getContext(), Done);
  return F;
}

Function &redirectBlocks(Function &Kernel, const BlocksPlan &Plan) {
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &F = withParameters(Kernel, /*Indexed=*/true);
  IRBuilder<> B(splitEntry(F));
  Value *Place = readBlock(B);
  becomeBlock(Plan, unitAt(B, F.getArg(OfProgram), Place),
              launchFromParameters(F, OfProgram + 2), B);
  return F;
}

} // namespace reconverge::remedies
