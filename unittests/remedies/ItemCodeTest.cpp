//===- unittests/remedies/ItemCodeTest.cpp - The code of items ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an item's numbers cost, and where the code for them stands.
//
//===----------------------------------------------------------------------===//

#include "ItemKernels.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

/// How many instructions of \p Opcode, of \p Bits, the kernel has.
unsigned countOf(const Module &M, unsigned Opcode, unsigned Bits) {
  return unsigned(
      count_if(instructions(*M.getFunction("k")), [&](const Instruction &I) {
        return I.getOpcode() == Opcode && I.getType()->isIntegerTy(Bits);
      }));
}

std::unique_ptr<Module> itemKernel(LLVMContext &C, const std::string &Body) {
  auto M = parseKernel(C, prelude() + Body);
  writeAtPlace(*M);
  return M;
}

TEST(Code, IsOfWhatIsRead) {
  LLVMContext C;
  auto X = itemKernel(C, GridStride);
  EXPECT_EQ(countOf(*X, Instruction::UDiv, 64), 1u) << "the block";
  EXPECT_EQ(countOf(*X, Instruction::URem, 64), 1u) << "blockIdx.x of a grid";
  EXPECT_EQ(countOf(*X, Instruction::URem, 32), 1u) << "threadIdx.x of a grid";
  EXPECT_EQ(countOf(*X, Instruction::UDiv, 32), 0u);
  auto All = itemKernel(C, Straight);
  EXPECT_EQ(countOf(*All, Instruction::UDiv, 64), 2u);
  EXPECT_EQ(countOf(*All, Instruction::URem, 64), 1u);
  EXPECT_EQ(countOf(*All, Instruction::UDiv, 32), 3u);
  EXPECT_EQ(countOf(*All, Instruction::URem, 32), 3u);
}

TEST(Code, OfSizesAloneIsNone) {
  LLVMContext C;
  auto M = itemKernel(C, read("b", "ntid.x") + read("g", "nctaid.z") + R"(
  %s = add i32 %b, %g
  store i32 %s, ptr addrspace(1) %out
  ret void
})");
  EXPECT_EQ(M->getFunction("k")->size(), 1u);
  EXPECT_EQ(countOf(*M, Instruction::UDiv, 64), 0u);
}

TEST(Code, OfAKernelThatReadsNothingStaysAsItIs) {
  LLVMContext C;
  auto M = itemKernel(C, "  store i32 1, ptr addrspace(1) %out\n  ret void\n}");
  EXPECT_EQ(M->getFunction("k")->size(), 1u);
}

/// Though the read that it stood at is gone.
TEST(Code, EndsWhereTheBuilderStands) {
  for (const std::string &Body :
       {Straight, read("b", "ntid.x") + "ret void }"}) {
    LLVMContext C;
    auto M = parseKernel(C, prelude() + Body);
    auto Plan = std::get<ItemsPlan>(planItems(*M->getFunction("k")));
    Function &Kernel = addOrder(*M->getFunction("k"));
    IRBuilder<> B(Plan.Reads[0]);
    becomeItem(Plan, Kernel.getArg(3), launchFromParameters(Kernel, 4), B);
    B.CreateStore(Kernel.getArg(4), Kernel.getArg(0));
    EXPECT_FALSE(verifyModule(*M, &errs()));
    EXPECT_TRUE(isa<StoreInst>(*Kernel.back().getFirstNonPHIOrDbg()));
  }
}

/// Code of ours has the place in the source that its user says, not that of
/// the instruction that happened to be there.
TEST(Code, HasThePlaceThatIsSaid) {
  LLVMContext C;
  auto M = parseKernel(C, prelude() + GridStride);
  auto Plan = std::get<ItemsPlan>(planItems(*M->getFunction("k")));
  Function &Kernel = addOrder(*M->getFunction("k"));
  auto *Where = DISubprogram::getDistinct(
      C, nullptr, "k", "", nullptr, 1, nullptr, 1, nullptr, 0, 0,
      DINode::FlagZero, DISubprogram::SPFlagZero, nullptr);
  SmallPtrSet<const Instruction *, 32> Own;
  for (Instruction &I : instructions(Kernel)) {
    I.setDebugLoc(DILocation::get(C, 7, 0, Where));
    Own.insert(&I);
  }
  IRBuilder<> B(Plan.Reads[0]);
  B.SetCurrentDebugLocation(DILocation::get(C, 42, 0, Where));
  becomeItem(Plan, Kernel.getArg(3), launchFromParameters(Kernel, 4), B);
  EXPECT_EQ(B.getCurrentDebugLocation().getLine(), 42u);
  for (const Instruction &I : instructions(Kernel)) {
    ASSERT_TRUE(I.getDebugLoc()) << I.getOpcodeName();
    EXPECT_EQ(I.getDebugLoc().getLine(), Own.contains(&I) ? 7u : 42u)
        << I.getOpcodeName();
  }
}

TEST(Code, IsTheSameEachTime) {
  LLVMContext C;
  auto Text = [&] {
    auto M = parseKernel(C, prelude() + InBlocks);
    handOut(*M);
    std::string Text;
    raw_string_ostream(Text) << *M;
    return Text;
  };
  EXPECT_EQ(Text(), Text());
}

} // namespace
} // namespace reconverge::remedies
