//===- unittests/remedies/LaneByLane.cpp - Votes without a warp -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread is a context with a stack. Registers that are read and operations that
// wait become calls of the host's functions below, which switch contexts.
//
//===----------------------------------------------------------------------===//

#include "LaneByLane.h"

#include "Harness.h"

#include "analysis/device/Intrinsics.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <ucontext.h>

using namespace llvm;
using namespace reconverge::warpvm;

namespace reconverge::remedies {
namespace {

constexpr unsigned WarpSize = 32;

struct Thread {
  enum { Runs, Votes, AtBarrier, Together, Ended } Does = Runs;
  uint32_t Mask = 0, Vote = 0, Site = 0, Ballot = 0;
  std::vector<uint32_t> Key;
  std::function<void(ArrayRef<unsigned>)> Decide;
  ucontext_t Context;
  std::vector<char> Stack = std::vector<char>(1 << 16);
};

/// The block that runs.
struct Block {
  unsigned Number, Size, Now = 0;
  std::vector<Thread> Threads;
  ucontext_t Scheduler;
  std::string Problem;
  std::function<void()> Kernel;
};
Block *Current = nullptr;

void waitFor() {
  swapcontext(&Current->Threads[Current->Now].Context, &Current->Scheduler);
}

uint32_t threadIndex() { return Current->Now; }
uint32_t blockIndex() { return Current->Number; }
uint32_t blockSize() { return Current->Size; }
uint32_t lanesBefore() { return (1u << Current->Now % WarpSize) - 1; }
uint32_t zero() { return 0; }
uint32_t one() { return 1; }

void barrier() {
  Current->Threads[Current->Now].Does = Thread::AtBarrier;
  waitFor();
}

uint32_t ballot(uint32_t Mask, uint32_t Vote, uint32_t Site) {
  Thread &T = Current->Threads[Current->Now];
  T.Does = Thread::Votes;
  T.Mask = Mask;
  T.Vote = Vote;
  T.Site = Site;
  waitFor();
  return T.Ballot;
}

void begin() {
  Current->Kernel();
  Current->Threads[Current->Now].Does = Thread::Ended;
  waitFor();
}

/// Lets thread \p Number's vote come to its end, if all that it names are there.
void countVotes(Block &B, unsigned Number) {
  Thread &T = B.Threads[Number];
  const unsigned First = Number / WarpSize * WarpSize;
  uint32_t Ballot = 0;
  for (unsigned Lane = 0; Lane != WarpSize; ++Lane) {
    if (!(T.Mask >> Lane & 1))
      continue;
    if (First + Lane >= B.Size) {
      B.Problem = "a vote names a lane that there is not";
      return;
    }
    const Thread &Other = B.Threads[First + Lane];
    // Where it waits for others first, it may come later.
    if (Other.Does != Thread::Votes || Other.Mask != T.Mask ||
        Other.Site != T.Site)
      return;
    Ballot |= (Other.Vote & 1) << Lane;
  }
  if (!(T.Mask >> Number % WarpSize & 1)) {
    B.Problem = "a lane votes that its mask does not name";
    return;
  }
  for (unsigned Lane = 0; Lane != WarpSize; ++Lane)
    if (T.Mask >> Lane & 1) {
      B.Threads[First + Lane].Ballot = Ballot;
      B.Threads[First + Lane].Does = Thread::Runs;
    }
}

/// Lets those of the warp from thread \p First on go on that wait together with
/// the least key, if all of the warp wait. Whether there are such.
bool release(Block &B, unsigned First) {
  std::vector<unsigned> Least;
  for (unsigned I = First; I != std::min(First + WarpSize, B.Size); ++I) {
    const Thread &T = B.Threads[I];
    if (T.Does == Thread::Runs || T.Does == Thread::Votes)
      return false;
    if (T.Does != Thread::Together)
      continue;
    if (!Least.empty() && T.Key < B.Threads[Least.front()].Key)
      Least.clear();
    if (Least.empty() || T.Key == B.Threads[Least.front()].Key)
      Least.push_back(I);
  }
  if (Least.empty())
    return false;
  std::vector<unsigned> Numbers;
  for (unsigned I : Least) {
    B.Threads[I].Does = Thread::Runs;
    Numbers.push_back(B.Number * B.Size + I);
  }
  B.Threads[Least.front()].Decide(Numbers);
  return true;
}

void runBlock(Block &B, Random &Turns) {
  Current = &B;
  for (Thread &T : B.Threads) {
    getcontext(&T.Context);
    T.Context.uc_stack.ss_sp = T.Stack.data();
    T.Context.uc_stack.ss_size = T.Stack.size();
    T.Context.uc_link = nullptr;
    makecontext(&T.Context, begin, 0);
  }
  while (B.Problem.empty()) {
    std::vector<unsigned> Ready;
    bool AllEnded = true, AllWait = true;
    for (unsigned I = 0; I != B.Size; ++I) {
      if (B.Threads[I].Does == Thread::Runs)
        Ready.push_back(I);
      AllEnded &= B.Threads[I].Does == Thread::Ended;
      AllWait &= B.Threads[I].Does == Thread::Ended ||
                 B.Threads[I].Does == Thread::AtBarrier;
    }
    if (AllEnded)
      return;
    if (AllWait) {
      for (Thread &T : B.Threads)
        if (T.Does == Thread::AtBarrier)
          T.Does = Thread::Runs;
      continue;
    }
    bool Released = false;
    for (unsigned First = 0; Ready.empty() && First < B.Size; First += WarpSize)
      Released |= release(B, First);
    if (Released)
      continue;
    if (Ready.empty()) {
      B.Problem = "threads wait for each other for ever";
      return;
    }
    B.Now = Ready[Turns.below(Ready.size())];
    swapcontext(&B.Scheduler, &B.Threads[B.Now].Context);
    if (B.Threads[B.Now].Does == Thread::Votes)
      countVotes(B, B.Now);
  }
}

/// The host's function in place of \p Id, and its name; null: there is none.
std::pair<const char *, void *> hostFunction(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return {"lane.thread", reinterpret_cast<void *>(threadIndex)};
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return {"lane.block", reinterpret_cast<void *>(blockIndex)};
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    return {"lane.size", reinterpret_cast<void *>(blockSize)};
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
    return {"lane.before", reinterpret_cast<void *>(lanesBefore)};
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return {"lane.zero", reinterpret_cast<void *>(zero)};
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return {"lane.one", reinterpret_cast<void *>(one)};
  case Intrinsic::nvvm_barrier0:
    return {"lane.barrier", reinterpret_cast<void *>(barrier)};
  case Intrinsic::nvvm_vote_ballot_sync:
    return {"lane.ballot", reinterpret_cast<void *>(ballot)};
  default:
    return {nullptr, nullptr};
  }
}

/// Calls the host instead; what is called, by name.
HostFunctions callHost(Module &M) {
  HostFunctions Called;
  uint32_t Site = 0;
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Call = dyn_cast<IntrinsicInst>(&I);
      const auto [Name, At] = hostFunction(Call ? Call->getIntrinsicID() : 0);
      if (!Name)
        continue;
      IRBuilder<> B(Call);
      SmallVector<Value *> Arguments;
      SmallVector<Type *> Types;
      for (Value *V : Call->args())
        Arguments.push_back(B.CreateZExt(V, B.getInt32Ty()));
      if (!Arguments.empty()) // a vote
        Arguments.push_back(B.getInt32(Site++));
      for (Value *V : Arguments)
        Types.push_back(V->getType());
      auto Host = M.getOrInsertFunction(
          Name, FunctionType::get(Call->getType(), Types, false));
      Call->replaceAllUsesWith(B.CreateCall(Host, Arguments));
      Call->eraseFromParent();
      Called[Name] = At;
    }
  return Called;
}

} // namespace

unsigned runningThread() {
  return Current->Number * Current->Size + Current->Now;
}

void waitTogether(std::vector<uint32_t> Key,
                  std::function<void(ArrayRef<unsigned>)> Decide) {
  Thread &T = Current->Threads[Current->Now];
  T.Does = Thread::Together;
  T.Key = std::move(Key);
  T.Decide = std::move(Decide);
  waitFor();
}

std::string runLaneByLane(const Module &Device, uint64_t Seed, unsigned Blocks,
                          unsigned Threads, const std::vector<uint32_t> &In,
                          std::vector<uint32_t> &Out,
                          std::vector<uint32_t> &Sums, uint32_t N,
                          const HostFunctions &Others) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // Code for the JIT lives in a context of its own.
  auto Context = std::make_unique<LLVMContext>();
  auto Copy = CloneModule(Device);
  const SmallVector<char, 0> Bytes = numberedBitcode(*Copy);
  auto M = cantFail(parseBitcodeFile(
      MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "k"), *Context));
  M->getFunction("k")->setCallingConv(CallingConv::C);
  auto Called = callHost(*M);
  Called.insert(Others.begin(), Others.end());
  static auto &Jit = *[] {
    auto Host = cantFail(orc::JITTargetMachineBuilder::detectHost());
    Host.setCodeGenOptLevel(CodeGenOptLevel::None);
    return new std::unique_ptr<orc::LLJIT>(cantFail(
        orc::LLJITBuilder().setJITTargetMachineBuilder(Host).create()));
  }();
  static unsigned Linked = 0;
  M->setDataLayout(Jit->getDataLayout());
  M->setTargetTriple(Jit->getTargetTriple().str());
  auto &Library =
      cantFail(Jit->createJITDylib("lanes" + std::to_string(Linked++)));
  Library.addToLinkOrder(*Jit->getProcessSymbolsJITDylib());
  orc::SymbolMap Symbols;
  for (const auto &[Name, At] : Called)
    Symbols[Jit->mangleAndIntern(Name)] = {orc::ExecutorAddr::fromPtr(At),
                                           JITSymbolFlags::Exported};
  cantFail(Library.define(orc::absoluteSymbols(std::move(Symbols))));
  cantFail(Jit->addIRModule(
      Library, orc::ThreadSafeModule(std::move(M), std::move(Context))));
  auto *Kernel =
      cantFail(Jit->lookup(Library, "k"))
          .toPtr<void(const uint32_t *, uint32_t *, uint32_t *, uint32_t)>();
  Random Turns(Seed ^ 0x1a4e);
  std::string Problem;
  for (unsigned Number = 0; Number != Blocks && Problem.empty(); ++Number) {
    Block B{Number, Threads, 0, std::vector<Thread>(Threads), {}, "", [&] {
              Kernel(In.data(), Out.data(), Sums.data(), N);
            }};
    runBlock(B, Turns);
    Problem = B.Problem;
  }
  cantFail(Jit->getExecutionSession().removeJITDylib(Library));
  return Problem;
}

} // namespace reconverge::remedies
