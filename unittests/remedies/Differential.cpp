//===- unittests/remedies/Differential.cpp - Before against after --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reducer tries one change after the other and keeps those after which the
// kernel still fails: a branch always goes one way, a number is one, a store is
// gone. One divides, shifts and indexes without harm, so the kernel stays
// defined. If it now runs on for ever, the VM's step limit ends it before and
// after the transform alike, which is no failure, and the change is dropped.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"

#include "Harness.h"
#include "RecipeRuns.h"

#include "core/Remedied.h"
#include "frontend/Fatbin.h"
#include "frontend/Options.h"
#include "frontend/PtxShape.h"
#include "launch/RecipeText.h"

#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {

RandomKernelOptions twinOptions(uint64_t Seed) {
  RandomKernelOptions Options = randomOptions(Seed);
  Options.Twins = 40;
  // Small ones, as compiling them takes the time: many seeds find more.
  Options.Depth = Seed % 8 ? 2 : 3;
  Options.Statements = 2;
  return Options;
}

static Random launchOf(uint64_t Seed) { return Random(Seed ^ 0xabcdef); }

static unsigned threadsBy(Random &R) {
  const unsigned Sizes[] = {1, 32, 33, 48, 64, 96, 128};
  return Sizes[R.below(7)];
}

unsigned blockThreads(uint64_t Seed) {
  Random R = launchOf(Seed);
  return threadsBy(R);
}

namespace {
struct Memory {
  std::vector<uint32_t> Out, Sums;
  std::string Problem;
};

/// The launch that belongs to a seed, and its memory before.
struct Launch {
  explicit Launch(uint64_t Seed) {
    Random R = launchOf(Seed);
    Threads = threadsBy(R);
    Blocks = 1 + R.below(2) + (Seed % 4 == 1 ? 9 : 0);
    N = R.below(8);
    In.resize(RandomKernelInWords);
    for (uint32_t &X : In)
      X = R.chance(50) ? R.below(32) : uint32_t(R.next());
    // A transform with a mistake may miss an array by a little.
    In.reserve(2 * In.size());
    Result.Out.reserve(Blocks * Threads * RandomKernelOutBytes / 2 + 1024);
    Result.Sums.reserve(1024);
    // Each word another, so that none is as good as its neighbour.
    for (unsigned I = 0; I != Blocks * Threads * RandomKernelOutBytes / 4; ++I)
      Result.Out.push_back(0xdeadbeef ^ (I * 0x9e3779b1));
    Result.Sums.assign(RandomKernelSums, 0);
  }

  unsigned Threads, Blocks;
  uint32_t N;
  std::vector<uint32_t> In;
  Memory Result;
};
} // namespace

static std::optional<Recipe> recipeIn(const Module &M) {
  const Attribute Text = M.getFunction("k")->getFnAttribute(RecipeAttribute);
  return Text.isValid() ? launch::parseRecipe(Text.getValueAsString())
                        : std::nullopt;
}

/// Whether the launch of \p Seed does not take the kernel as it was.
static bool isForLaunch(const Module &Changed, uint64_t Seed) {
  const Launch L(Seed);
  const auto R = recipeIn(Changed);
  return !R || R->isPlain() || launch::isFor(*R, shape(L.Blocks, L.Threads));
}

static Memory runOnVm(const Module &Original, uint64_t Seed,
                      const MachineOptions &Options) {
  Launch L(Seed);
  auto Copy = CloneModule(Original);
  TestProgram P(*Copy, machineFor(Options));
  uint32_t *OutAt = L.Result.Out.data(), *SumsAt = L.Result.Sums.data();
  uint32_t *InAt = L.In.data(), Count = L.N;
  void *Arguments[] = {&InAt, &OutAt, &SumsAt, &Count, nullptr};
  const auto OutFrom = reinterpret_cast<uint64_t>(OutAt),
             InFrom = reinterpret_cast<uint64_t>(InAt);
  if (const auto Recipe = recipeIn(*Copy))
    L.Result.Problem = runBy(*Recipe, P, shape(L.Blocks, L.Threads), Arguments,
                             [&] {
                               const Launch Fresh(Seed);
                               llvm::copy(Fresh.Result.Out, OutAt);
                               llvm::copy(Fresh.Result.Sums, SumsAt);
                             },
                             {{OutFrom, OutFrom + 4 * L.Result.Out.size()},
                              {InFrom, InFrom + 4 * L.In.size()}});
  else if (Error E = P.launchWith("k", shape(L.Blocks, L.Threads), Arguments))
    L.Result.Problem = toString(std::move(E));
  return std::move(L.Result);
}

static Memory runThreadByThread(const Module &Original, uint64_t Seed) {
  Launch L(Seed);
  runScalar(Original, L.Blocks, L.Threads, L.In, L.Result.Out, L.Result.Sums,
            L.N);
  return std::move(L.Result);
}

static std::string differenceOf(const Memory &A, const Memory &B) {
  if (!A.Problem.empty() || !B.Problem.empty())
    return A.Problem == B.Problem
               ? ""
               : "before: " + A.Problem + "; after: " + B.Problem;
  for (size_t I = 0; I < A.Out.size(); ++I)
    if (A.Out[I] != B.Out[I])
      return "word " + std::to_string(I % 16) + " of thread " +
             std::to_string(I / 16);
  for (size_t I = 0; I != A.Sums.size(); ++I)
    if (A.Sums[I] != B.Sums[I])
      return "sum " + std::to_string(I) + " is " + std::to_string(A.Sums[I]) +
             " before and " + std::to_string(B.Sums[I]) + " after";
  return "";
}

/// \p After becomes what \p Apply makes of \p M. Whether there is more to do:
/// it is valid, and changed for the launch of \p Seed.
static bool apply(const Module &M, uint64_t Seed, Transform Apply, Trial &T,
                  std::unique_ptr<Module> &After) {
  After = CloneModule(M);
  T.Changes = Apply(*After);
  if (Seed / 2 % 2 == 0) // half of them as they go to ptxas
    frontend::shapeForPtxas(*After);
  raw_string_ostream OS(T.Difference);
  if (verifyModule(*After, &OS))
    return false;
  T.Difference.clear();
  if (!isForLaunch(*After, Seed))
    T.Changes = 0;
  return T.Changes != 0;
}

Trial compare(const Module &M, uint64_t Seed, Transform Apply,
              Reference Before) {
  Trial T;
  std::unique_ptr<Module> After;
  if (!apply(M, Seed, Apply, T, After))
    return T;
  auto All = setups(32);
  for (MachineOptions &O : All) {
    O.StepLimit = 1 << 20; // a mistake may make a loop endless
    O.Counters = false;
  }
  T.Difference = differenceOf(Before == Reference::Scalar
                                  ? runThreadByThread(M, Seed)
                                  : runOnVm(M, Seed, All[Seed % 2]),
                              runOnVm(*After, Seed, All[Seed % 2]));
  return T;
}

static Memory leftBy(Runner Run, const Module &M, uint64_t Seed) {
  Launch L(Seed);
  L.Result.Problem =
      Run(M, L.Blocks, L.Threads, L.In, L.Result.Out, L.Result.Sums, L.N);
  return std::move(L.Result);
}

Trial compareChanged(const Module &M, uint64_t Seed, Transform Apply,
                     Runner Run) {
  Trial T;
  std::unique_ptr<Module> After;
  if (!apply(M, Seed, Apply, T, After))
    return T;
  auto All = setups(32);
  MachineOptions &How = All[Seed % All.size()];
  How.StepLimit = 1 << 20; // a mistake may make a loop endless
  How.Counters = false;
  T.Difference =
      differenceOf(leftBy(Run, *After, Seed), runOnVm(*After, Seed, How));
  return T;
}

//===----------------------------------------------------------------------===//
// For a GPU
//===----------------------------------------------------------------------===//

static void write(raw_ostream &OS, ArrayRef<uint32_t> Words) {
  OS.write(reinterpret_cast<const char *>(Words.data()), Words.size() * 4);
}

Trial writeForGpu(StringRef Stem, const Module &M, uint64_t Seed,
                  Transform Apply, Runner Run) {
  Trial T;
  std::unique_ptr<Module> After;
  if (!apply(M, Seed, Apply, T, After))
    return T;
  const auto Fails = [&T](std::string Why) {
    T.Difference = std::move(Why);
    return T;
  };
  const Attribute Text =
      After->getFunction("k")->getFnAttribute(RecipeAttribute);
  auto Ptx = frontend::emitPtx(*After, frontend::CompileOptions());
  if (!Ptx)
    return Fails(toString(Ptx.takeError()));
  std::error_code NoCode, NoWords;
  raw_fd_ostream Code((Stem + ".ptx").str(), NoCode);
  raw_fd_ostream Words((Stem + ".words").str(), NoWords);
  if (NoCode || NoWords)
    return Fails("cannot write " + Stem.str());
  const Launch Before(Seed);
  const Memory Left =
      Run ? leftBy(Run, *After, Seed) : runThreadByThread(M, Seed);
  if (!Left.Problem.empty())
    return Fails(Left.Problem);
  Code << "//launch " << Before.Blocks << " " << Before.Threads << " "
       << Before.N << " " << Before.In.size() << " " << Left.Sums.size() << "\n"
       << "//recipe " << (Text.isValid() ? Text.getValueAsString() : "plain")
       << "\n"
       << *Ptx;
  for (const auto *Part : {&Before.In, &Before.Result.Out, &Before.Result.Sums,
                           &Left.Out, &Left.Sums})
    write(Words, *Part);
  return T;
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

static Constant *one(Type &T) {
  return T.isFloatingPointTy() ? ConstantFP::get(&T, 1)
                               : ConstantInt::get(&T, 1);
}

/// Applies change number \p N of those that \p M offers; false if there are
/// fewer.
static bool change(Module &M, unsigned N) {
  for (Function &F : M)
    for (BasicBlock &BB : F) {
      Instruction *Term = BB.getTerminator();
      const unsigned Ways = Term->getNumSuccessors();
      if (Ways > 1 && N < Ways) {
        BasicBlock *To = Term->getSuccessor(N);
        bool Kept = false;
        for (BasicBlock *Succ : successors(&BB))
          if (Succ != To || std::exchange(Kept, true))
            Succ->removePredecessor(&BB, /*KeepOneInputPHIs=*/true);
        BranchInst::Create(To, Term->getIterator());
        Term->eraseFromParent();
        return true;
      }
      N -= Ways > 1 ? Ways : 0;
    }
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      if (I.isTerminator() || isa<AllocaInst>(I) || isa<CallBase>(I) ||
          I.getType()->isPointerTy())
        continue;
      if (N--)
        continue;
      if (!I.getType()->isVoidTy())
        I.replaceAllUsesWith(one(*I.getType()));
      I.eraseFromParent();
      return true;
    }
  return false;
}

static void tidy(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    EliminateUnreachableBlocks(F);
    for (BasicBlock &BB : make_early_inc_range(F))
      MergeBlockIntoPredecessor(&BB);
    for (BasicBlock &BB : F)
      SimplifyInstructionsInBlock(&BB);
  }
}

std::unique_ptr<Module> reduce(std::unique_ptr<Module> M,
                               function_ref<bool(const Module &)> Fails,
                               unsigned Budget) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned N = 0; Budget; --Budget) {
      auto Smaller = CloneModule(*M);
      if (!change(*Smaller, N))
        break;
      tidy(*Smaller);
      if (!verifyModule(*Smaller) && Fails(*Smaller)) {
        M = std::move(Smaller); // what was next is at the same place now
        Changed = true;
      } else {
        ++N;
      }
    }
  }
  return M;
}

} // namespace reconverge::remedies
