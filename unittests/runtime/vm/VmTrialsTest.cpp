//===- VmTrialsTest.cpp - Candidates on a program's launches --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the real machine, with remedies that do harm on purpose: each must end as
// what it is, and the program's own result must stay what it was.
//
//===----------------------------------------------------------------------===//

#include "analysis/Numbering.h"
#include "core/Remedied.h"
#include "runtime/vm/Trials.h"
#include "warpvm/memory/DeviceMemory.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::runtime;
using warpvm::DeviceMemory;
using warpvm::MemoryKind;

namespace {

/// "k" adds its thread's number to out[thread]; "s" hands out slots by an
/// atomic counter behind 64 ints; "t" counts in it.
const char Kernels[] = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @k(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %p = getelementptr inbounds i32, ptr %out, i64 %i
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, %t
  store i32 %y, ptr %p, align 4
  ret void
}
define void @s(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = getelementptr inbounds i32, ptr %out, i64 64
  %slot = atomicrmw add ptr %n, i32 1 monotonic
  %k = and i32 %slot, 63
  %i = zext i32 %k to i64
  %p = getelementptr inbounds i32, ptr %out, i64 %i
  store i32 %t, ptr %p, align 4
  ret void
}
define void @t(ptr %out) {
  %n = getelementptr inbounds i32, ptr %out, i64 64
  %slot = atomicrmw add ptr %n, i32 1 monotonic
  ret void
}
define void @n(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %next = add i32 %t, 1
  %low = and i32 %next, 63
  %j = zext i32 %low to i64
  %q = getelementptr inbounds i32, ptr %out, i64 %j
  %x = load i32, ptr %q, align 4
  %i = zext i32 %t to i64
  %p = getelementptr inbounds i32, ptr %out, i64 %i
  store i32 %x, ptr %p, align 4
  ret void
}
define void @w(ptr %out) {
  store i32 1, ptr inttoptr (i64 64 to ptr)
  ret void
}
!nvvm.annotations = !{!0, !1, !2, !3, !4}
!4 = !{ptr @n, !"kernel", i32 1}
!3 = !{ptr @w, !"kernel", i32 1}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = !{ptr @s, !"kernel", i32 1}
!2 = !{ptr @t, !"kernel", i32 1}
)";

StoreInst &storeOf(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *S = dyn_cast<StoreInst>(&I))
      return *S;
  llvm_unreachable("the kernel stores");
}

/// The same computation in other words.
void harmless(Function &F) {
  StoreInst &S = storeOf(F);
  IRBuilder<> B(&S);
  S.setOperand(0, B.CreateXor(B.CreateXor(S.getValueOperand(), B.getInt32(5)),
                              B.getInt32(5)));
}

/// Thread 37 of 64 stores one more than it should.
void wrongByte(Function &F) {
  StoreInst &S = storeOf(F);
  IRBuilder<> B(&S);
  Value *Tid = &*instructions(F).begin();
  Value *Extra =
      B.CreateZExt(B.CreateICmpEQ(Tid, B.getInt32(37)), B.getInt32Ty());
  S.setOperand(0, B.CreateAdd(S.getValueOperand(), Extra));
}

void wildStore(Function &F) {
  IRBuilder<> B(&storeOf(F));
  B.CreateStore(B.getInt32(1),
                ConstantExpr::getIntToPtr(B.getInt64(64), B.getPtrTy()));
}

void endlessLoop(Function &F) {
  StoreInst &S = storeOf(F);
  BasicBlock *Head = S.getParent();
  BasicBlock *Loop = Head->splitBasicBlock(&S, "loop");
  BasicBlock *Exit = Loop->splitBasicBlock(Loop->getTerminator(), "exit");
  Instruction *Term = Loop->getTerminator();
  IRBuilder<> B(Term);
  B.CreateCondBr(
      B.CreateICmpEQ(B.CreateLoad(B.getInt32Ty(), S.getPointerOperand(),
                                  /*isVolatile=*/true),
                     B.getInt32(-1)),
      Exit, Loop);
  Term->eraseFromParent();
}

/// By a recipe that launches \p Steps and is for \p Least threads or more.
void launchBy(Function &F, StringRef Steps, unsigned Least = 1) {
  F.addFnAttr(RecipeAttribute,
              ("for " + Twine(Least) + " 9999 9999 " + Steps).str());
}

/// A wrong kernel, by a recipe that is not for so small a launch.
void tooSmall(Function &F) {
  wrongByte(F);
  launchBy(F, "step k grid same block same program 0", /*Least=*/65);
}

/// A kernel before writes where nothing is.
void wildBefore(Function &F) {
  launchBy(F, "helper w grid same block same program 0 "
              "step k grid same block same program 0");
}

/// Scratch of which each launch has the same bytes: they are counted up to one.
void countsInScratch(Function &F) {
  launchBy(F, "scratch one 512 1 zeroed step t grid same block same memory 0 "
              "step k grid blocks 2 2 block blockthreads 1 1 program 0");
}

Expected<remedies::Applied> harm(const Candidate &What, Function &F) {
  if (What.Remedy == "permute")
    return remedies::apply(What, F);
  const std::pair<StringRef, void (*)(Function &)> Deeds[] = {
      {"harmless", harmless},      {"wrong", wrongByte}, {"wild", wildStore},
      {"endless", endlessLoop},    {"small", tooSmall},  {"before", wildBefore},
      {"scratch", countsInScratch}};
  for (auto [Name, Deed] : Deeds)
    if (Name == What.Remedy) {
      Deed(F);
      analysis::renumberBlocks(*F.getParent());
      return remedies::Applied{true, {}};
    }
  return remedies::Applied{false, {"a.cu:3: no [RC121]"}};
}

class VmTrialsTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createTemporaryFile("plan", "json", PlanFile));
    ASSERT_FALSE(sys::fs::createTemporaryFile("log", "txt", LogFile));
    warpvm::MachineOptions Options;
    Options.Threads = 1;
    On = cantFail(warpvm::Machine::create(Options));
    LLVMContext Context;
    SMDiagnostic Problem;
    auto M = parseAssemblyString(Kernels, Problem, Context);
    ASSERT_TRUE(M) << Problem.getMessage().str();
    analysis::numberBlocks(*M);
    raw_svector_ostream OS(Bitcode);
    WriteBitcodeToFile(*M, OS);
    P = cantFail(
        On->load(MemoryBufferRef({Bitcode.data(), Bitcode.size()}, "k"),
                 [](uint64_t, uint64_t, StringRef) -> Expected<void *> {
                   return createStringError("no variables");
                 }));
    Out = static_cast<int *>(cantFail(
        DeviceMemory::instance().allocate(65 * 4, MemoryKind::Device)));
  }
  void TearDown() override {
    EXPECT_TRUE(DeviceMemory::instance().release(Out));
    sys::fs::remove(PlanFile);
    sys::fs::remove(LogFile);
  }

  /// Launches \p Name so often with these candidates; the log.
  std::vector<TrialEvent> run(const char *Name,
                              std::vector<std::string> Candidates,
                              unsigned Launches = 1, unsigned Tried = 4,
                              bool Cooperative = false) {
    TrialPlan Plan;
    Plan.Log = LogFile.str().str();
    Plan.Launches = Tried;
    Plan.Kernels = {{Name, P->hash().str(), {}}};
    for (StringRef C : Candidates) {
      auto [Remedy, Parameters] = C.split(' ');
      Plan.Kernels[0].Candidates.push_back({Remedy.str(), Parameters.str()});
    }
    cantFail(writeTrialPlan(Plan, PlanFile));
    auto T = cantFail(VmTrials::create(
        PlanFile, cantFail(analysis::MachineModel::load(MACHINE_FILE)), harm));
    for (int I = 0; I < 65; ++I)
      Out[I] = I < 64 ? 100 : 0;
    warpvm::Kernel &K = *cantFail(P->kernel(Name));
    LaunchShape Shape{{1, 1, 1}, {64, 1, 1}, 0, Cooperative};
    void *Args[] = {&Out};
    LaunchCounts Counts;
    for (unsigned L = 0; L < Launches; ++L)
      cantFail(T->launch(
          {*On, *P, K, Shape, Args},
          [&] { return On->launch(K, Shape, Args, {&Counts}); }, Counts));
    return cantFail(readTrialLog(LogFile));
  }

  SmallString<64> PlanFile, LogFile;
  std::unique_ptr<warpvm::Machine> On;
  SmallVector<char, 0> Bitcode;
  std::unique_ptr<warpvm::Program> P;
  int *Out = nullptr;
};

TEST_F(VmTrialsTest, EachCandidateEndsAsWhatItIs) {
  auto Events = run("k", {"harmless", "wrong", "wild", "endless", "nothing"});
  ASSERT_EQ(Events.size(), 9u);
  EXPECT_EQ(Events[0].What, TrialEvent::Begin);
  EXPECT_EQ(Events[1].What, TrialEvent::End);
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::Identical);
  EXPECT_GT(slotsOf(Events[1].Original), 0);
  EXPECT_GT(slotsOf(Events[1].Variant), slotsOf(Events[1].Original));

  EXPECT_EQ(Events[3].What, TrialEvent::End);
  EXPECT_EQ(Events[3].Compared.Kind, VerdictKind::Differs);
  EXPECT_EQ(Events[3].Compared.First.Offset, 37u * 4);
  EXPECT_EQ(Events[3].Compared.First.Original, "137");
  EXPECT_EQ(Events[3].Compared.First.Variant, "138");

  EXPECT_EQ(Events[5].What, TrialEvent::Fault);
  EXPECT_NE(Events[5].Why.find("0x40"), std::string::npos) << Events[5].Why;
  EXPECT_EQ(Events[7].What, TrialEvent::Hang) << Events[7].Why;
  EXPECT_EQ(Events[8].What, TrialEvent::Refused);
  EXPECT_EQ(Events[8].Why, "a.cu:3: no [RC121]");

  // The program's own result is untouched by all that.
  for (int I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], 100 + I);
}

TEST_F(VmTrialsTest, WhatFailedIsNotTriedAgain) {
  auto Events = run("k", {"wild", "harmless"}, /*Launches=*/3);
  unsigned Wild = 0, Harmless = 0;
  for (const TrialEvent &E : Events) {
    Wild += E.Tried.Remedy == "wild";
    Harmless += E.What == TrialEvent::End;
  }
  EXPECT_EQ(Wild, 2u); // begin and fault, once
  EXPECT_EQ(Harmless, 2u) << "the first two launches";
  for (int I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], 100 + 3 * I);
}

TEST_F(VmTrialsTest, TheSameCodeIsTriedOnce) {
  auto Events = run("k", {"harmless", "harmless"});
  ASSERT_EQ(Events.size(), 3u);
  EXPECT_EQ(Events[2].What, TrialEvent::Refused);
  EXPECT_EQ(Events[2].Why, "the same code as harmless");
}

TEST_F(VmTrialsTest, OrderDependenceIsFoundInTheOriginal) {
  auto Events = run("s", {"harmless"});
  ASSERT_EQ(Events.size(), 2u);
  // The same words in other places: a set, however much of it moves.
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::UpToOrder);
  EXPECT_GT(Events[1].Compared.OrderDependent, 0u);
  EXPECT_EQ(Out[64], 64);
}

TEST_F(VmTrialsTest, CooperativeLaunchesAreNamedAndJustRun) {
  auto Events = run("k", {"wrong", "wild"}, 1, 4, /*Cooperative=*/true);
  ASSERT_EQ(Events.size(), 2u);
  for (const TrialEvent &E : Events) {
    EXPECT_EQ(E.What, TrialEvent::Untried);
    EXPECT_EQ(E.Why, "the launch is a cooperative one");
  }
  EXPECT_EQ(Out[5], 105);
}

TEST_F(VmTrialsTest, RecipesAreLaunched) {
  auto Events = run("k", {"permute", "scratch"}, /*Launches=*/2);
  ASSERT_EQ(Events.size(), 8u);
  for (size_t I : {1, 3, 5, 7}) {
    EXPECT_EQ(Events[I].What, TrialEvent::End) << Events[I].Why;
    EXPECT_EQ(Events[I].Compared.Kind, VerdictKind::Identical);
    // All kernels that are launched, together.
    EXPECT_GT(slotsOf(Events[I].Variant), slotsOf(Events[I].Original));
  }
  for (int I = 0; I < 64; ++I)
    EXPECT_EQ(Out[I], 100 + 2 * I);
}

TEST_F(VmTrialsTest, WhatSharesMemoryMayNotChangePlaces) {
  // "n" adds what its neighbour wrote, or not.
  auto Events = run("n", {"permute", "permute seed=2", "harmless"});
  ASSERT_EQ(Events.size(), 4u);
  for (size_t I : {0, 1}) {
    EXPECT_EQ(Events[I].What, TrialEvent::Refused);
    EXPECT_NE(Events[I].Why.find("its threads depend on one another through "
                                 "memory: "),
              std::string::npos)
        << Events[I].Why;
  }
  EXPECT_EQ(Events[3].What, TrialEvent::End) << "what moves nothing";
}

TEST_F(VmTrialsTest, AtomicsLeaveTheResultUpToOrder) {
  auto Events = run("s", {"permute"});
  ASSERT_EQ(Events.size(), 2u);
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::UpToOrder);
}

TEST_F(VmTrialsTest, ALaunchThatARecipeIsNotForTakesTheOriginal) {
  auto Events = run("k", {"small"});
  ASSERT_EQ(Events.size(), 2u);
  EXPECT_EQ(Events[1].Compared.Kind, VerdictKind::Identical);
  EXPECT_EQ(slotsOf(Events[1].Variant), slotsOf(Events[1].Original));
}

TEST_F(VmTrialsTest, AFaultOfAnyStepIsTheCandidates) {
  auto Events = run("k", {"before"});
  ASSERT_EQ(Events.size(), 2u);
  EXPECT_EQ(Events[1].What, TrialEvent::Fault);
  EXPECT_NE(Events[1].Why.find("0x40"), std::string::npos) << Events[1].Why;
  EXPECT_EQ(Out[5], 105);
}

TEST_F(VmTrialsTest, LaunchesOfOtherKernelsJustRun) {
  auto Events = run("k", {});
  EXPECT_TRUE(Events.empty());
  EXPECT_EQ(Out[5], 105);
}

} // namespace
