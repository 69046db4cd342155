//===- analysis/KernelInfo.cpp - Static facts of a kernel -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings the analyses together in core's KernelInfo: the blocks of the kernel
// and of the functions it can call, in the order of numbersOf, and of their
// branches those that can diverge.
//
// Numbers survive inlining, so one number may stand for several copies of a
// block. Its facts are those of the first copy; it is divergent if one copy is,
// and its region is what the copies' regions cover together.
//
// A region holds the blocks of a called function if every call of that function
// lies in the region: the function then runs only on the branch's account. A call
// through a pointer counts as one of each function whose address is taken.
//
//===----------------------------------------------------------------------===//

#include "analysis/Accesses.h"
#include "analysis/Costs.h"
#include "analysis/GridLoop.h"
#include "analysis/Marks.h"
#include "analysis/Names.h"
#include "analysis/Numbering.h"
#include "analysis/Places.h"
#include "analysis/Regions.h"
#include "analysis/SharedMemory.h"
#include "analysis/Uniformity.h"
#include "core/Remedied.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstdlib>
#include <map>
#include <set>

using namespace llvm;

namespace reconverge::analysis {

std::string displayName(StringRef Mangled) {
  if (Mangled.consume_back(HelperSuffix)) {
    // One of several has a word of its own there.
    const auto [Of, Word] = Mangled.rsplit('$');
    if (!Word.empty() && !Mangled.ends_with(RemediedSuffix))
      return displayName(Of) + " [" + Word.str() + "]";
    return displayName(Mangled) + " [before]";
  }
  if (Mangled.consume_back(RemediedSuffix))
    return displayName(Mangled) + " [remedied]";
  ItaniumPartialDemangler Demangler;
  std::string Name = Mangled.str();
  if (Demangler.partialDemangle(Name.c_str()) || !Demangler.isFunction())
    return demangle(Name);
  char *Text = Demangler.getFunctionName(nullptr, nullptr);
  if (!Text)
    return demangle(Name);
  Name = Text;
  std::free(Text);
  return Name;
}

static std::string functionName(const DILocalScope &Scope) {
  const DISubprogram *Subprogram = Scope.getSubprogram();
  if (!Subprogram)
    return "";
  StringRef Linkage = Subprogram->getLinkageName();
  return Linkage.empty() ? Subprogram->getName().str() : displayName(Linkage);
}

SourceChain sourceChain(const DILocation *Where) {
  SourceChain Chain;
  for (; Where; Where = Where->getInlinedAt())
    Chain.push_back({sourcePath(*Where), Where->getLine(), Where->getColumn(),
                     functionName(*Where->getScope())});
  return Chain;
}

/// Line 0 is the compiler's own code.
static const DILocation *placeOf(const Instruction &I) {
  const DILocation *Where = I.getDebugLoc();
  return Where && Where->getLine() ? Where : nullptr;
}

static SourceChain placeOf(const BasicBlock &BB) {
  for (const Instruction &I : BB)
    if (!isa<DbgInfoIntrinsic>(I))
      if (const DILocation *Where = placeOf(I))
        return sourceChain(Where);
  return {};
}

static const Value &conditionOf(const BasicBlock &BB) {
  return *BB.getTerminator()->getOperand(0);
}

/// Where the loop that \p BB leaves begins, as its back edges say; null if they
/// do not.
static const DILocation *placeOfLoop(const BasicBlock &BB,
                                     const CycleInfo &Cycles) {
  const Cycle *Left = Cycles.getCycle(&BB);
  while (Left && all_of(successors(&BB), [&](const BasicBlock *Succ) {
           return Left->contains(Succ);
         }))
    Left = Left->getParentCycle();
  if (!Left)
    return nullptr;
  for (const BasicBlock *Latch : predecessors(Left->getHeader())) {
    const MDNode *Loop =
        Latch->getTerminator()->getMetadata(LLVMContext::MD_loop);
    if (!Loop || !Left->contains(Latch))
      continue;
    // Its first place is where it begins, the second where it ends.
    for (const MDOperand &Operand : Loop->operands())
      if (const auto *Where = dyn_cast_or_null<DILocation>(Operand.get());
          Where && Where->getLine())
        return Where;
  }
  return nullptr;
}

/// Where the branch is; failing that its condition, its loop if it leaves one,
/// or what stands before it.
static SourceChain placeOfBranch(const BasicBlock &BB, BranchKind Kind,
                                 const CycleInfo &Cycles) {
  if (const DILocation *Where = placeOf(*BB.getTerminator()))
    return sourceChain(Where);
  if (const auto *Condition = dyn_cast<Instruction>(&conditionOf(BB)))
    if (const DILocation *Where = placeOf(*Condition))
      return sourceChain(Where);
  if (Kind == BranchKind::LoopExit)
    if (const DILocation *Where = placeOfLoop(BB, Cycles))
      return sourceChain(Where);
  for (const Instruction &I : reverse(BB))
    if (const DILocation *Where = placeOf(I))
      return sourceChain(Where);
  return {};
}

namespace {

class Describer {
public:
  Describer(Function &Kernel, const MachineModel &Machine)
      : Kernel(Kernel), Machine(Machine), Functions(functionsOf(Kernel)) {
    for (uint32_t N : numbersOf(Kernel).Blocks)
      Position.try_emplace(N, Position.size());
  }
  KernelInfo run(StringRef ModuleHash);

private:
  void findCalls();
  void addBlock(const BasicBlock &BB);
  void addAccesses(const BasicBlock &BB);
  void findEntries(const Function &F);
  void findSuccessors(const Function &F);
  void addBranches(const Function &F);
  std::optional<uint32_t> positionOf(const BasicBlock &BB) const;
  std::set<uint32_t> positionsOf(ArrayRef<const BasicBlock *> Region) const;

  Function &Kernel;
  const MachineModel &Machine;
  std::vector<const Function *> Functions;
  DenseMap<uint32_t, uint32_t> Position; ///< of a block's number
  /// The blocks of others that call a function, or that may through a pointer.
  MapVector<const Function *, SmallPtrSet<const BasicBlock *, 4>> Callers;
  std::vector<BlockInfo> Blocks;
  DenseSet<uint32_t> SeenAccesses;
  std::vector<AccessInfo> Accesses;        ///< as numbersOf lists them
  std::map<uint32_t, BranchInfo> Branches; ///< by number
};

} // namespace

/// The position of \p BB, or of the first numbered block behind it if a pass
/// put an empty block between.
std::optional<uint32_t> Describer::positionOf(const BasicBlock &BB) const {
  SmallPtrSet<const BasicBlock *, 4> Seen;
  for (const BasicBlock *B = &BB; B && Seen.insert(B).second;
       B = B->getSingleSuccessor())
    if (auto Number = blockNumber(*B))
      return Position.lookup(*Number);
  return std::nullopt;
}

static bool mayCall(const CallBase &Call, const Function &F) {
  return Call.getCalledFunction() == &F ||
         (Call.isIndirectCall() && F.hasAddressTaken());
}

void Describer::findCalls() {
  for (const Function *F : ArrayRef(Functions).drop_front())
    Callers.try_emplace(F);
  for (const Function *F : Functions)
    for (const BasicBlock &BB : *F)
      for (const Instruction &I : BB)
        if (const auto *Call = dyn_cast<CallBase>(&I))
          for (auto &[Callee, Sites] : Callers)
            if (Callee != F && mayCall(*Call, *Callee))
              Sites.insert(&BB);
}

std::set<uint32_t>
Describer::positionsOf(ArrayRef<const BasicBlock *> Region) const {
  SmallPtrSet<const BasicBlock *, 32> Covered(Region.begin(), Region.end());
  for (bool Grown = true; Grown;) {
    Grown = false;
    for (const auto &[F, Sites] : Callers)
      if (!Covered.contains(&F->getEntryBlock()) && !Sites.empty() &&
          all_of(Sites, [&](auto *BB) { return Covered.contains(BB); })) {
        for (const BasicBlock &BB : *F)
          Covered.insert(&BB);
        Grown = true;
      }
  }
  std::set<uint32_t> Positions;
  for (const BasicBlock *BB : Covered)
    if (auto Number = blockNumber(*BB))
      Positions.insert(Position.lookup(*Number));
  return Positions;
}

namespace {
/// The longest chain of instructions so far, in cycles and in loads.
struct Chain {
  double Cycles = 0;
  uint32_t Loads = 0;
};
} // namespace

/// Of the instructions of \p BB: each waits for its operands that the block
/// computes. Loads that may leave the multiprocessor are taken as hits.
static Chain longestChain(const BasicBlock &BB, const MachineModel &Machine) {
  DenseMap<const Value *, Chain> EndsAt;
  Chain Longest;
  for (const Instruction &I : BB) {
    if (isa<PHINode>(I))
      continue;
    Chain At;
    for (const Value *Operand : I.operands()) {
      const Chain Before = EndsAt.lookup(Operand);
      At.Cycles = std::max(At.Cycles, Before.Cycles);
      At.Loads = std::max(At.Loads, Before.Loads);
    }
    if (countsAsInstruction(I)) {
      const auto A = accessOf(I);
      const bool Leaves =
          A && A->Use != MemoryUse::Store &&
          (A->Space == MemorySpace::Global || A->Space == MemorySpace::Generic);
      At.Loads += Leaves;
      At.Cycles += Leaves && Machine.limits() ? Machine.limits()->L1Latency
                                              : Machine.cost(I).Latency;
    }
    EndsAt[&I] = At;
    Longest.Cycles = std::max(Longest.Cycles, At.Cycles);
    Longest.Loads = std::max(Longest.Loads, At.Loads);
  }
  return Longest;
}

void Describer::addAccesses(const BasicBlock &BB) {
  for (const Instruction &I : BB) {
    const auto Number = accessNumber(I);
    const auto A = Number ? accessOf(I) : std::nullopt;
    const auto At = positionOf(BB);
    if (!A || !At || !SeenAccesses.insert(*Number).second)
      continue;
    const DILocation *Where = placeOf(I);
    Accesses.push_back({*Number, *At, A->Use, A->Space, A->Bytes,
                        Where ? sourceChain(Where) : SourceChain()});
  }
}

void Describer::addBlock(const BasicBlock &BB) {
  auto Number = blockNumber(BB);
  if (!Number || Position.lookup(*Number) != Blocks.size())
    return; // unnumbered, or another copy of an earlier block
  BlockInfo Info;
  Info.Id = *Number;
  Info.Where = placeOf(BB);
  Info.Instructions = countedInstructions(BB).value_or(machineInstructions(BB));
  for (const Instruction &I : BB)
    if (countsAsInstruction(I)) {
      InstructionCost Cost = Machine.cost(I);
      Info.IssueSlots += Cost.Issue;
      Info.Latency += Cost.Latency;
      for (auto [Sum, Cycles] : zip_equal(Info.Busy, Cost.Busy))
        Sum += Cycles;
    }
  const Chain Longest = longestChain(BB, Machine);
  Info.Path = Longest.Cycles;
  Info.PathLoads = Longest.Loads;
  Blocks.push_back(std::move(Info));
}

void Describer::addBranches(const Function &F) {
  UniformityResult Uniform = computeUniformity(const_cast<Function &>(F));
  PostDominance Dominance(F);
  CycleInfo Cycles;
  Cycles.compute(const_cast<Function &>(F));
  const auto OverGrid = &F == &Kernel ? findGridLoop(Kernel) : std::nullopt;
  for (const BasicBlock &BB : F) {
    auto Number = branchNumber(BB);
    auto At = positionOf(BB);
    if (!Number || !At || !Uniform.isDivergentBranch(BB))
      continue;
    BranchRegion Region = regionOf(BB, Dominance, Cycles);
    std::set<uint32_t> Positions = positionsOf(Region.Blocks);
    auto [Slot, First] = Branches.try_emplace(*Number);
    BranchInfo &Info = Slot->second;
    bool Leaves = Region.LeavesFunction && &F == &Kernel;
    if (!First) {
      Info.LeavesKernel |= Leaves;
      Positions.insert(Info.Region.begin(), Info.Region.end());
      Info.Region.assign(Positions.begin(), Positions.end());
      continue;
    }
    Info.Id = *Number;
    Info.Block = *At;
    Info.Kind = Region.Kind;
    Info.EndsGridLoop = OverGrid && &BB == OverGrid->Exiting;
    Info.Where = placeOfBranch(BB, Region.Kind, Cycles);
    const Use &Condition = BB.getTerminator()->getOperandUse(0);
    Uniformity Of = Uniform.of(*Condition);
    // Uniform where it is computed, but not here: its loop was left at
    // different times.
    bool Temporal = Of.L <= Level::Warp;
    Info.Reason = describe(Temporal ? Cause::Sync : Of.Why).str();
    Info.LeavesKernel = Leaves;
    for (const BasicBlock *Succ : successors(&BB))
      Info.Successors.push_back(positionOf(*Succ).value_or(*At));
    Info.Region.assign(Positions.begin(), Positions.end());
  }
}

/// Fills in Entries of the blocks of \p F.
void Describer::findEntries(const Function &F) {
  CycleInfo Cycles;
  Cycles.compute(const_cast<Function &>(F));
  for (const BasicBlock &BB : F) {
    const auto Number = blockNumber(BB);
    const Cycle *Around =
        Cycles.getTopLevelParentCycle(const_cast<BasicBlock *>(&BB));
    if (!Number || !Around)
      continue;
    std::set<uint32_t> Entries;
    for (const BasicBlock *Head : Around->getEntries())
      for (const BasicBlock *Before : predecessors(Head))
        if (!Around->contains(Before))
          if (const auto At = blockNumber(*Before))
            Entries.insert(Position.lookup(*At));
    Blocks[Position.lookup(*Number)].Entries.assign(Entries.begin(),
                                                    Entries.end());
  }
}

void Describer::findSuccessors(const Function &F) {
  for (const BasicBlock &BB : F) {
    const auto Number = blockNumber(BB);
    if (!Number)
      continue;
    std::set<uint32_t> Next;
    for (const BasicBlock *Succ : successors(&BB))
      if (const auto At = blockNumber(*Succ))
        Next.insert(Position.lookup(*At));
    Blocks[Position.lookup(*Number)].Successors.assign(Next.begin(),
                                                       Next.end());
  }
}

static std::vector<MarkInfo> marksOf(const Function &Kernel) {
  std::vector<MarkInfo> Marks;
  if (const Function *Twin = twinOf(Kernel))
    for (const BasicBlock &BB : *Twin)
      for (const Instruction &I : BB)
        if (const auto Number = markNumber(I);
            Number && none_of(Marks, [&](const MarkInfo &M) {
              return M.Id == *Number;
            })) {
          const DILocation *Where = placeOf(I);
          Marks.push_back(
              {*Number, Where ? sourceChain(Where) : SourceChain()});
        }
  sort(Marks, [](const MarkInfo &A, const MarkInfo &B) { return A.Id < B.Id; });
  return Marks;
}

KernelInfo Describer::run(StringRef ModuleHash) {
  findCalls();
  for (const Function *F : Functions) {
    for (const BasicBlock &BB : *F) {
      addBlock(BB);
      addAccesses(BB);
    }
    findEntries(*F);
    findSuccessors(*F);
    addBranches(*F);
  }
  KernelInfo Info;
  Info.Name = Kernel.getName().str();
  Info.Display = displayName(Kernel.getName());
  Info.Module = ModuleHash.str();
  if (const DISubprogram *Subprogram = Kernel.getSubprogram())
    Info.Where.push_back(
        {sourcePath(*Subprogram), Subprogram->getLine(), 0, Info.Display});
  Info.Marks = marksOf(Kernel);
  Info.StaticShared = staticShared(Kernel);
  Info.Blocks = std::move(Blocks);
  Info.Accesses = std::move(Accesses);
  assert(Info.Accesses.size() == numbersOf(Kernel).Accesses.size());
  for (uint32_t Number : numbersOf(Kernel).Branches)
    if (auto Found = Branches.find(Number); Found != Branches.end())
      Info.Branches.push_back(std::move(Found->second));
  return Info;
}

KernelInfo describeKernel(Function &Kernel, const MachineModel &Machine,
                          StringRef ModuleHash) {
  return Describer(Kernel, Machine).run(ModuleHash);
}

} // namespace reconverge::analysis
