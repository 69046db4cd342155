//===- unittests/remedies/IndirectCallsTest.cpp - Callees by name ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels that call one of three functions by a pointer from a table,
// each lane its own, run as they are and with the callees named. One of the
// three calls another by such a pointer, so that the types say that it may call
// itself. 80 kernels here; RECONVERGE_RANDOM_SEEDS="first,count" runs others.
//
//===----------------------------------------------------------------------===//

#include "frontend/IndirectCalls.h"
#include "frontend/Inlining.h"

#include "Differential.h"
#include "SeedRange.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr unsigned Functions = 3, Seen = 6; ///< the argument that they change

/// The function of \p Table that the first argument of a call says.
Value *entryOf(IRBuilderBase &B, GlobalVariable &Table, Value *First,
               unsigned Most) {
  Value *Index = B.CreateURem(First, B.getInt32(Most));
  return B.CreateLoad(PointerType::getUnqual(B.getContext()),
                      B.CreateInBoundsGEP(Table.getValueType(), &Table,
                                          {B.getInt32(0), Index}));
}

/// \p Body with another value of an argument.
Function &likeBody(Function &Body, unsigned Number) {
  ValueToValueMapTy Map;
  Function *Other = CloneFunction(&Body, Map);
  Other->setName("body" + Twine(Number));
  Argument *Of = Other->getArg(Seen);
  IRBuilder<> B(&*Other->getEntryBlock().getFirstInsertionPt());
  auto *More = cast<Instruction>(B.CreateAdd(Of, B.getInt32(Number)));
  Of->replaceUsesWithIf(More, [&](Use &U) { return U.getUser() != More; });
  return *Other;
}

/// A kernel that calls by pointers.
std::unique_ptr<Module> kernelWithPointers(LLVMContext &C, uint64_t Seed) {
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Inline = Options.Barriers = false;
  auto M = randomKernel(C, Seed, Options);
  Function &Body = *M->getFunction(RandomKernelBody);
  SmallVector<CallInst *> Calls;
  for (User *U : Body.users())
    Calls.push_back(cast<CallInst>(U));
  auto *Ptr = PointerType::getUnqual(C);
  auto *Type = ArrayType::get(Ptr, Functions);
  auto *Relay = Function::Create(Body.getFunctionType(),
                                 GlobalValue::InternalLinkage, "relay", *M);
  auto *Table = new GlobalVariable(
      *M, Type, /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantArray::get(Type, {&Body, &likeBody(Body, 1), Relay}), "table",
      nullptr, GlobalValue::NotThreadLocal, /*constant memory*/ 4);
  IRBuilder<> B(BasicBlock::Create(C, "entry", Relay));
  SmallVector<Value *> Passed;
  for (Argument &A : Relay->args())
    Passed.push_back(&A);
  Value *To = entryOf(B, *Table, Relay->getArg(0), Functions - 1);
  Passed[Seen] = B.CreateAdd(Passed[Seen], B.getInt32(7));
  B.CreateCall(Body.getFunctionType(), To, Passed);
  B.CreateRetVoid();
  for (CallInst *Call : Calls) {
    B.SetInsertPoint(Call);
    Call->setCalledOperand(
        entryOf(B, *Table, Call->getArgOperand(0), Functions));
  }
  return M;
}

unsigned indirectCalls(Module &M) {
  unsigned Count = 0;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        Count += Call->isIndirectCall();
  return Count;
}

/// Names the callees of the kernels of some seeds as in a whole program.
unsigned name(Module &M, uint64_t Seed) {
  const unsigned Before = indirectCalls(M);
  const bool IsWhole = Seed % 2;
  frontend::nameCallees(M, IsWhole);
  if (Seed % 4 > 1)
    frontend::markForInlining(M);
  EXPECT_FALSE(verifyModule(M, &errs())) << "seed " << Seed;
  // The relay has a copy, with a call of its own.
  EXPECT_EQ(indirectCalls(M), IsWhole ? 0 : Before + 1) << "seed " << Seed;
  return 1;
}

TEST(NamedCallees, LeaveTheSameBytes) {
  const SeedRange Seeds = seedRange(80);
  for (unsigned I = 0; I < Seeds.Count && !HasFailure(); ++I) {
    const uint64_t Seed = Seeds.First + I;
    LLVMContext C;
    const auto M = kernelWithPointers(C, Seed);
    const Trial T = compare(
        *M, Seed, [&](Module &Of) { return name(Of, Seed); }, Reference::Vm);
    EXPECT_EQ(T.Difference, "") << "seed " << Seed;
  }
}

/// The comparison notices where another function is called.
TEST(NamedCallees, APlantedBugIsCaught) {
  bool Caught = false;
  for (uint64_t Seed = 1; Seed <= 100 && !Caught; ++Seed) {
    LLVMContext C;
    const auto M = kernelWithPointers(C, Seed);
    const Trial T = compare(
        *M, Seed,
        [&](Module &Of) {
          name(Of, Seed);
          for (Instruction &I : instructions(*Of.getFunction("k")))
            if (auto *Is = dyn_cast<ICmpInst>(&I);
                Is && isa<Function>(Is->getOperand(1))) {
              Is->setPredicate(CmpInst::ICMP_NE);
              return 1u;
            }
          return 0u;
        },
        Reference::Vm);
    Caught = !T.Difference.empty();
  }
  EXPECT_TRUE(Caught);
}

/// Same input, same bytes.
TEST(NamedCallees, AreDeterministic) {
  for (uint64_t Seed = 1; Seed <= 8; ++Seed) {
    const auto Text = [&] {
      LLVMContext C;
      const auto M = kernelWithPointers(C, Seed);
      name(*M, Seed);
      std::string Text;
      raw_string_ostream(Text) << *M;
      return Text;
    };
    EXPECT_TRUE(Text() == Text()) << "seed " << Seed;
  }
}

} // namespace
} // namespace reconverge::remedies
