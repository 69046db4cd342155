//===- unittests/remedies/ShapeRandomTest.cpp - Shaped for ptxas and not --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels, run before and after what is done for ptxas alone. 200 of
// them here; RECONVERGE_RANDOM_SEEDS="first,count" runs others, and
// RECONVERGE_REDUCE=1 then prints a small kernel for the first that fails.
//
//===----------------------------------------------------------------------===//

#include "frontend/Choices.h"
#include "frontend/PtxShape.h"

#include "Differential.h"
#include "Seeds.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace reconverge::remedies {
namespace {

class ShapedKernels : public testing::TestWithParam<unsigned> {};
constexpr unsigned Shares = 2;

TEST_P(ShapedKernels, LeaveTheSameBytes) {
  SeedsTried Tried = compareSeeds(
      80, GetParam(), Shares, twinOptions, [](Module &M, uint64_t) {
        const unsigned Before = M.getInstructionCount();
        frontend::shapeForPtxas(M);
        return Before == M.getInstructionCount() ? 0u : 1u;
      });
  if (!HasFailure())
    EXPECT_GE(Tried.Changed * 3, Tried.Kernels)
        << "the kernels have too little to shape";
}

/// Has each word that a block behind a branch takes from before it come by a
/// choice on the branch's condition, made before the branch: every other one by
/// a select, the others by a sum. Returns how many.
unsigned chooseEarly(Function &F) {
  unsigned Chosen = 0;
  for (BasicBlock &Block : F) {
    BasicBlock *Head = Block.getSinglePredecessor();
    auto *Branch = Head ? dyn_cast<BranchInst>(Head->getTerminator()) : nullptr;
    if (!Branch || !Branch->isConditional())
      continue;
    const bool IfTrue = Branch->getSuccessor(0) == &Block;
    IRBuilder<> B(Branch);
    for (Instruction &I : Block)
      for (Use &U : I.operands()) {
        auto *Word = dyn_cast<Instruction>(U.get());
        if (isa<PHINode>(I) || !Word || Word->getParent() == &Block ||
            !Word->getType()->isIntegerTy(32))
          continue;
        Value *C = Branch->getCondition(), *Other = B.getInt32(12345);
        if (++Chosen % 2)
          U = B.CreateSelect(C, IfTrue ? Word : Other, IfTrue ? Other : Word);
        else
          U = B.CreateAdd(B.CreateSub(Word, B.getInt32(IfTrue)),
                          B.CreateZExt(C, Word->getType()));
      }
  }
  return Chosen;
}

TEST_P(ShapedKernels, KnowWhichWayWasTaken) {
  SeedsTried Tried = compareSeeds(
      40, GetParam(), Shares, twinOptions, [](Module &M, uint64_t) {
        unsigned Chosen = 0;
        for (Function &F : M)
          if (!F.isDeclaration()) {
            const unsigned Before = F.getInstructionCount();
            Chosen += chooseEarly(F);
            const unsigned Early = F.getInstructionCount();
            frontend::settleOnWays(F);
            EXPECT_LE(F.getInstructionCount() - Before,
                      (Early - Before) * 3 / 4);
          }
        return Chosen;
      });
  EXPECT_GE(Tried.Changed * 3, Tried.Kernels);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShapedKernels, testing::Range(0u, Shares));

/// A choice between nothing and false is false where it is not nothing.
TEST(ShapedKernels, HaveNoPoisonFromAWayNotTaken) {
  LLVMContext C;
  SMDiagnostic Wrong;
  auto M = parseAssemblyString(R"(
    define void @f(i32 %n, ptr %p, ptr %q) {
      %c = icmp eq i32 %n, 0
      %either = select i1 %c, i1 poison, i1 false
      %or = select i1 %c, i1 true, i1 undef
      store i1 %either, ptr %p
      store i1 %or, ptr %q
      ret void
    })",
                               Wrong, C);
  ASSERT_TRUE(M);
  Function &F = *M->getFunction("f");
  frontend::shapeForPtxas(F);
  for (const Instruction &I : instructions(F))
    for (const Value *Operand : I.operands())
      EXPECT_FALSE(isa<UndefValue>(Operand));
}

} // namespace
} // namespace reconverge::remedies
