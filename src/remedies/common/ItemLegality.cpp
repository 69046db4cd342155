//===- remedies/common/ItemLegality.cpp - What ties threads to places -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's thread may run anywhere if nothing that it does tells where it
// runs but reads of its numbers, which becomeItem() replaces. Every instruction
// of the kernel is looked at, and of all functions that it can call, in which
// numbers cannot be replaced:
//
//   threadIdx, blockIdx, blockDim, gridDim       a read; in a callee, a tie
//   shared memory                                a tie, by the type of pointers
//   what threads do together, special registers  ties, by kind of intrinsic
//   calls                                        as what they call; unknown: tie
//   all else                                     computes, or is memory
//
// Shared memory is found by types: each address of it is made from a variable
// in that address space or from a number, so that some instruction, or constant
// in one, is a pointer of that space, however generic later ones are. A kernel's
// arguments hold none, for shared memory ends with its block.
//
// What is no tie, and why:
//
//   atomics, fences,    are about memory, and mean the same wherever a thread
//   volatile accesses   runs. Which order atomics come in was never fixed; who
//                       waits for another thread in memory may wait for ever,
//                       which the trial's watch ends
//   local memory        is the thread's own
//   trap, assert        end the launch; the assertion's message names the place
//                       where the thread ran
//   exit                ends the item; the plan says so
//   printf, malloc      lines of threads were never in order, addresses never
//                       fixed
//   warpSize, .w        constants
//
// What whole blocks do before their threads become items (BlockPrologue.h) runs
// in another block's place, and what comes behind may read shared memory.
//
// A block that runs in another block's place keeps its threads and their warps
// together, with the same numbers in it, so of those ties only the ones beyond
// the block bind: the cluster, the multiprocessor, the launch. blockIdx and
// gridDim are the reads then.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Items.h"

#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"
#include "analysis/device/LibraryCalls.h"
#include "remedies/common/BlockPrologue.h"
#include "remedies/common/ItemRefusals.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::remedies {

using analysis::IntrinsicKind;

namespace {
/// Why an instruction ties its thread.
struct Tie {
  const RefusalKind *Kind;
  std::string Detail;
};

/// What is to run elsewhere.
enum class Moves { Threads, Blocks };

class Examination {
public:
  Examination(Function &Kernel, Moves What,
              const BlockPrologue *Behind = nullptr)
      : Kernel(Kernel), What(What), Behind(Behind) {}
  std::optional<Refusal> find();

  SmallVector<CallBase *> Reads;
  bool Exits = false;

private:
  std::optional<Tie> tieOf(Instruction &I);
  std::optional<Tie> tieOf(CallBase &Call);
  std::optional<Tie> tieOf(IntrinsicInst &I);
  std::optional<Tie> tieOfCallee(Function &F);

  Function &Kernel;
  Moves What;
  const BlockPrologue *Behind;
  SmallPtrSet<const Function *, 8> Seen;
};
} // namespace

/// \p Kind, if there is one, as far as it binds what moves.
static const RefusalKind *asFarAsItBinds(const RefusalKind *Kind, Moves What) {
  static constexpr const RefusalKind *InBlock[] = {
      &tied::Shared, &tied::Barrier, &tied::Collective,
      &tied::Warp,   &tied::Async,   &tied::Clock};
  return What == Moves::Blocks && is_contained(InBlock, Kind) ? nullptr : Kind;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A pointer, or a vector of them, to memory that blocks have.
static const RefusalKind *tieOf(const Type &T, Moves What) {
  const auto *Pointer = dyn_cast<PointerType>(T.getScalarType());
  if (!Pointer)
    return nullptr;
  if (Pointer->getAddressSpace() == analysis::SharedSpace)
    return asFarAsItBinds(&tied::Shared, What);
  if (Pointer->getAddressSpace() == analysis::ClusterSharedSpace)
    return &tied::Cluster;
  return nullptr;
}

/// \p V, or what constant \p V is made from.
static const RefusalKind *tieOf(const Value &V, Moves What) {
  if (const RefusalKind *Kind = tieOf(*V.getType(), What))
    return Kind;
  if (const auto *C = dyn_cast<Constant>(&V); C && !isa<GlobalValue>(C))
    for (const Use &Part : C->operands())
      if (const RefusalKind *Kind = tieOf(*Part.get(), What))
        return Kind;
  return nullptr;
}

static const RefusalKind *tieOfMemory(const Instruction &I, Moves What) {
  if (const RefusalKind *Kind = tieOf(*I.getType(), What))
    return Kind;
  for (const Use &Operand : I.operands())
    if (const RefusalKind *Kind = tieOf(*Operand.get(), What))
      return Kind;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

/// Of a number that becomeItem() or becomeBlock() knows.
static bool isRead(Intrinsic::ID Id, Moves What) {
  const bool InBlock =
      analysis::threadIndexDimension(Id) || analysis::blockSizeDimension(Id);
  return (InBlock && What == Moves::Threads) ||
         analysis::blockIndexDimension(Id) || analysis::gridSizeDimension(Id);
}

/// Of what is the same for the whole launch, and no size that isRead() knows.
static const RefusalKind *tieOfSize(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_read_ptx_sreg_nwarpid:
    return &tied::Warp;
  case Intrinsic::nvvm_read_ptx_sreg_nsmid:
    return &tied::Processor;
  case Intrinsic::nvvm_read_ptx_sreg_gridid:
    return &tied::Launch;
  default: // the size of warps, and fourth dimensions
    return nullptr;
  }
}

/// A GPU's compiler may not move these, but each thread goes by itself.
static bool isAlone(Intrinsic::ID Id) {
  return Id == Intrinsic::nvvm_exit || Id == Intrinsic::nvvm_nanosleep;
}

static const RefusalKind *tieOf(IntrinsicKind Kind) {
  switch (Kind) {
  case IntrinsicKind::BlockBarrier:
  case IntrinsicKind::NamedBarrier:
  case IntrinsicKind::WarpBarrier:
    return &tied::Barrier;
  case IntrinsicKind::Cluster:
    return &tied::Cluster;
  case IntrinsicKind::Shuffle:
  case IntrinsicKind::Vote:
  case IntrinsicKind::MatchAny:
  case IntrinsicKind::MatchAll:
  case IntrinsicKind::Reduction:
  case IntrinsicKind::ActiveMask:
  case IntrinsicKind::Tile:
    return &tied::Collective;
  case IntrinsicKind::LaneId:
  case IntrinsicKind::LaneMask:
  case IntrinsicKind::WarpId:
    return &tied::Warp;
  case IntrinsicKind::Mbarrier:
  case IntrinsicKind::AsyncCopy:
    return &tied::Async;
  case IntrinsicKind::Clock:
    return &tied::Clock;
  case IntrinsicKind::SmId:
    return &tied::Processor;
  case IntrinsicKind::Environment:
    return &tied::Launch;
  default:
    return nullptr;
  }
}

std::optional<Tie> Examination::tieOf(IntrinsicInst &I) {
  const Intrinsic::ID Id = I.getIntrinsicID();
  const IntrinsicKind Kind = analysis::kindOf(Id);
  const std::string Name = Intrinsic::getBaseName(Id).str();
  if (isRead(Id, What)) {
    if (I.getFunction() != &Kernel)
      return Tie{&tied::Call, Name};
    Reads.push_back(&I);
    return std::nullopt;
  }
  Exits |= Kind == IntrinsicKind::Exit;
  const RefusalKind *Why = nullptr;
  if (analysis::isOfCluster(Id))
    Why = &tied::Cluster;
  else if (Kind == IntrinsicKind::LaunchSize)
    Why = tieOfSize(Id);
  else
    Why = remedies::tieOf(Kind);
  if (!Why && I.isConvergent() && !isAlone(Id)) // of a kind that has no name
    Why = &tied::Collective;
  Why = asFarAsItBinds(Why, What);
  return Why ? std::optional(Tie{Why, Name}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::optional<Tie> Examination::tieOfCallee(Function &F) {
  if (!Seen.insert(&F).second)
    return std::nullopt;
  for (Instruction &I : instructions(F))
    if (auto Why = tieOf(I)) {
      const std::string Inside =
          Why->Detail.empty() ? Why->Kind->Sentence.str() : Why->Detail;
      return Tie{&tied::Call, F.getName().str() + ": " + Inside};
    }
  return std::nullopt;
}

/// Of a function of ours, for PTX that LLVM lacks.
static const RefusalKind *tieOfPtx(IntrinsicKind Kind) {
  return Kind == IntrinsicKind::LaunchSize ? &tied::Shared : tieOf(Kind);
}

std::optional<Tie> Examination::tieOf(CallBase &Call) {
  if (Call.isInlineAsm())
    return Tie{&tied::Asm, ""};
  if (auto *I = dyn_cast<IntrinsicInst>(&Call))
    return tieOf(*I);
  Function *F = Call.getCalledFunction();
  if (!F)
    return Tie{&tied::Unknown, "a call through a pointer"};
  const std::string Name = F->getName().str();
  if (auto Kind = analysis::ptxFunctionKind(Name)) {
    const RefusalKind *Why = asFarAsItBinds(tieOfPtx(*Kind), What);
    return Why ? std::optional(Tie{Why, Name}) : std::nullopt;
  }
  if (analysis::libraryCall(F) != analysis::LibraryCall::None)
    return std::nullopt;
  if (F->isDeclaration() || F->isInterposable())
    return Tie{&tied::Unknown, Name};
  return tieOfCallee(*F);
}

std::optional<Tie> Examination::tieOf(Instruction &I) {
  const RefusalKind *Kind = tieOfMemory(I, What);
  // What is behind a prologue only reads of it.
  if (Kind && !(Behind && Kind == &tied::Shared && I.getFunction() == &Kernel))
    return Tie{Kind, ""};
  auto *Call = dyn_cast<CallBase>(&I);
  return Call ? tieOf(*Call) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Whether code or data that code may read has the address of \p C; the lists
/// that compilers keep for themselves are neither.
static bool isUsed(const Constant &C) {
  return any_of(C.users(), [](const User *U) {
    if (const auto *G = dyn_cast<GlobalVariable>(U))
      return G->getSection() != "llvm.metadata";
    const auto *Part = dyn_cast<Constant>(U);
    return !Part || isUsed(*Part);
  });
}

std::optional<Refusal> Examination::find() {
  if (!analysis::isKernel(Kernel))
    return Refusal{&tied::Function, {}, Kernel.getName().str()};
  if (Kernel.hasFnAttribute(analysis::ClusterAttribute))
    return Refusal{&tied::Cluster, {}, "__cluster_dims__"};
  if (isUsed(Kernel))
    return Refusal{&tied::Called, {}, Kernel.getName().str()};
  Examination OfBlock(Kernel, Moves::Blocks);
  for (Instruction &I : instructions(Kernel)) {
    const bool IsBefore =
        Behind && Behind->contains(I) && !is_contained(Behind->Again, &I);
    if (auto Why = (IsBefore ? OfBlock : *this).tieOf(I))
      return refusal(*Why->Kind, I, std::move(Why->Detail));
  }
  Exits |= OfBlock.Exits;
  return std::nullopt;
}

PlanOr<ItemsPlan> planItems(Function &Kernel, const BlockPrologue *Behind) {
  Examination Of(Kernel, Moves::Threads, Behind);
  if (auto Why = Of.find())
    return *Why;
  return ItemsPlan{std::move(Of.Reads), Of.Exits};
}

PlanOr<BlocksPlan> planBlocks(Function &Kernel) {
  Examination Of(Kernel, Moves::Blocks);
  if (auto Why = Of.find())
    return *Why;
  return BlocksPlan{std::move(Of.Reads), Of.Exits};
}

} // namespace reconverge::remedies
