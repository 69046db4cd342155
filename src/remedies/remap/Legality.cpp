//===- remedies/remap/Legality.cpp - Which branches get a round ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round is legal if all threads of the block come to it, for it has barriers,
// and if nothing that a thread does afterwards, to the end of the kernel, tells
// which thread it is but through values: not by its warp, its lane or its
// clock, nor by memory of its own. Communication through shared or global
// memory needs no look: the round's barriers make visible what was written
// before, and afterwards who has a thread's number does that thread's part.
//
// Threads that leave before the branch wait at the round from then on. Until
// they left, barriers did without them; so none may come in between:
//
//   if (i >= n) return;     these would wait for the round ...
//   __syncthreads();        ... and the others, here, for them
//   if (in[i] > 0) ...
//
// Worth it: the branch controls enough code, and its condition does not follow
// from the thread's number alone; such a branch is better served by another
// numbering, and usually parts one warp only (`i < n`).
//
//===----------------------------------------------------------------------===//

#include "remedies/remap/Legality.h"

#include "analysis/Numbering.h"
#include "analysis/Tiles.h"
#include "analysis/device/Annotations.h"
#include "analysis/device/Intrinsics.h"
#include "analysis/device/LibraryCalls.h"
#include "remedies/common/Controlled.h"
#include "remedies/common/Remedy.h"
#include "remedies/common/Requests.h"
#include "remedies/remap/Budget.h"
#include "remedies/remap/Fragment.h"
#include "remedies/remap/Refusals.h"
#include "remedies/remap/State.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::remedies::remap {

using analysis::IntrinsicKind;

bool isCandidate(const BasicBlock &BB, const Facts &Now) {
  const Instruction &Term = *BB.getTerminator();
  return isa<BranchInst, SwitchInst>(Term) && !Term.getMetadata(RoundKind) &&
         Now.Uniformity.isDivergentBranch(BB);
}

bool isAsked(const BasicBlock &BB) {
  const auto Wished = requestOf(BB, Name);
  return Wished && Wished->On && Wished->AtAnyCost;
}

static bool isNumbered(const BasicBlock &BB, const RemapOptions &Options) {
  auto Number = analysis::branchNumber(BB);
  return Options.Branches.empty() ||
         (Number && is_contained(Options.Branches, *Number));
}

bool isWanted(const BasicBlock &BB, const Facts &Now,
              const RemapOptions &Options) {
  if (isAsked(BB))
    return !BB.getTerminator()->getMetadata(RoundKind);
  if (!isCandidate(BB, Now))
    return false;
  const auto Wished = requestOf(BB, Name);
  return (Wished && Wished->On) || (!Options.Marked && isNumbered(BB, Options));
}

static std::string calleeOf(const CallBase &Call) {
  if (Call.isInlineAsm())
    return "inline assembly";
  const Function *F = Call.getCalledFunction();
  return F ? F->getName().str() : "a call through a pointer";
}

/// Why an instruction must not come after a round.
struct Trouble {
  const RefusalKind &Kind;
  std::string Detail;
};

static std::optional<Trouble> checkIntrinsic(const IntrinsicInst &I) {
  const StringRef Name = Intrinsic::getBaseName(I.getIntrinsicID());
  switch (analysis::kindOf(I.getIntrinsicID())) {
  case IntrinsicKind::BlockBarrier:
  case IntrinsicKind::ThreadIndex:
    return std::nullopt;
  case IntrinsicKind::Clock:
    return Trouble{refuse::Clock, Name.str()};
  case IntrinsicKind::LaneId:
  case IntrinsicKind::LaneMask:
  case IntrinsicKind::WarpId:
  case IntrinsicKind::AsyncCopy:
  case IntrinsicKind::Mbarrier:
  case IntrinsicKind::ActiveMask:
  case IntrinsicKind::Tile:
  case IntrinsicKind::Exit:
    return Trouble{refuse::Warp, Name.str()};
  default:
    if (I.isConvergent())
      return Trouble{refuse::Warp, Name.str()};
    return std::nullopt;
  }
}

static std::optional<Trouble>
checkCall(const CallBase &Call, SmallPtrSetImpl<const Function *> &Seen);

/// \p F knows nothing of the thread that runs it.
static std::optional<Trouble>
checkCallee(const Function &F, SmallPtrSetImpl<const Function *> &Seen) {
  if (!Seen.insert(&F).second)
    return std::nullopt;
  for (const Instruction &I : instructions(F)) {
    const auto *Call = dyn_cast<CallBase>(&I);
    if (!Call)
      continue;
    if (threadIdDimension(I) || Call->isConvergent() || Call->isInlineAsm())
      return Trouble{refuse::Call, F.getName().str()};
    if (auto Why = checkCall(*Call, Seen))
      return Trouble{refuse::Call, F.getName().str()};
  }
  return std::nullopt;
}

/// A function of CUDA's that has nothing to do with other threads.
static bool isLibrary(const Function *F) {
  const analysis::LibraryCall Call = analysis::libraryCall(F);
  return Call != analysis::LibraryCall::None &&
         Call != analysis::LibraryCall::Reflect;
}

/// PTX that LLVM has no intrinsic for, of kind \p Kind, binds nobody to a warp.
static bool bindsNobody(IntrinsicKind Kind) {
  return is_contained(
      {IntrinsicKind::Other, IntrinsicKind::LaunchSize, IntrinsicKind::Atomic},
      Kind);
}

static std::optional<Trouble>
checkCall(const CallBase &Call, SmallPtrSetImpl<const Function *> &Seen) {
  if (Call.isInlineAsm())
    return Trouble{refuse::Asm, ""};
  if (const auto *I = dyn_cast<IntrinsicInst>(&Call))
    return checkIntrinsic(*I);
  const Function *F = Call.getCalledFunction();
  if (F)
    if (auto Kind = analysis::ptxFunctionKind(F->getName())) {
      if (bindsNobody(*Kind))
        return std::nullopt;
      return Trouble{refuse::Warp, calleeOf(Call)};
    }
  if (isLibrary(F))
    return std::nullopt;
  // What another module may replace is not what will run.
  if (F && !F->isDeclaration() && !F->isInterposable())
    return checkCallee(*F, Seen);
  return Trouble{refuse::Call, calleeOf(Call)};
}

static std::optional<Refusal> checkAfter(const RoundPlan &Plan,
                                         const BlockSet &After) {
  for (const Instruction &I : instructions(*Plan.Block->getParent())) {
    const auto *Call = dyn_cast<CallBase>(&I);
    const bool Leaves = analysis::intrinsicKind(I) == IntrinsicKind::Exit;
    if (!Call || (!Leaves && !After.contains(I.getParent())))
      continue;
    SmallPtrSet<const Function *, 8> Seen;
    if (auto Why = checkCall(*Call, Seen))
      return refusal(Why->Kind, I, std::move(Why->Detail));
  }
  return std::nullopt;
}

static std::optional<Refusal> checkArms(const BasicBlock &Branch,
                                        const Facts &Now) {
  for (const BasicBlock *BB :
       analysis::regionOf(Branch, Now.PostDominance, Now.Cycles).Blocks)
    for (const Instruction &I : *BB)
      if (analysis::intrinsicKind(I) == IntrinsicKind::BlockBarrier)
        return refusal(refuse::Barrier, I, calleeOf(cast<CallBase>(I)));
  return std::nullopt;
}

/// Nobody waits for the others between an exit and the round.
static std::optional<Refusal> checkExits(const RoundPlan &Plan,
                                         const Facts &Now) {
  BlockSet Before;
  Before.insert(Plan.Block);
  for (unsigned N = 0; N < Before.size(); ++N)
    Before.insert(pred_begin(Before[N]), pred_end(Before[N]));
  for (const ExitEdge &E : Plan.Exits) {
    // Others go on behind an edge to `ret`, or beside what leaves.
    const BlockSet AfterExit = blocksAfter(*E.From);
    const bool IsBeside = !AfterExit.contains(Plan.Block);
    for (const BasicBlock *BB : Before)
      if (IsBeside ? !Now.Dominance.dominates(BB, E.From)
                   : AfterExit.contains(BB))
        for (const Instruction &I : *BB)
          if (const auto *Call = dyn_cast<CallBase>(&I);
              Call && Call->isConvergent() &&
              !isLibrary(Call->getCalledFunction()))
            return refusal(refuse::Leave, I, calleeOf(*Call));
  }
  return std::nullopt;
}

/// A call that does not keep the address that it is given.
static bool keepsNothing(const CallBase &Call, const Use &U) {
  if (isa<MemIntrinsic>(Call))
    return true;
  const Function *F = Call.getCalledFunction();
  return Call.isArgOperand(&U) &&
         (Call.doesNotCapture(Call.getArgOperandNo(&U)) ||
          analysis::libraryCall(F) == analysis::LibraryCall::Print);
}

/// Memory of \p Root, which each thread has for itself, may be used both before
/// and after the round.
static bool staysInUse(const Value &Root, const RoundPlan &Plan,
                       const BlockSet &After) {
  SmallSetVector<const Value *, 16> Addresses;
  Addresses.insert(&Root);
  bool Before = isa<Argument>(Root), Later = false;
  for (unsigned N = 0; N < Addresses.size(); ++N)
    for (const Use &U : Addresses[N]->uses()) {
      const auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return true;
      if (I->isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic>(I))
        continue;
      const bool Follows = After.contains(I->getParent());
      Later |= Follows;
      Before |= !Follows || blocksAfter(*I->getParent()).contains(Plan.Block);
      if (isa<LoadInst>(I) || (isa<StoreInst>(I) && U.getOperandNo() == 1))
        continue;
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(I) &&
          I->getType()->isPointerTy()) {
        Addresses.insert(I);
        continue;
      }
      const auto *Call = dyn_cast<CallBase>(I);
      if (isa<CmpInst>(I) || (Call && keepsNothing(*Call, U)))
        continue;
      if (!Follows) // the address has got away
        return true;
    }
  return Before && Later;
}

static std::optional<Refusal> checkLocalMemory(const RoundPlan &Plan,
                                               const BlockSet &After,
                                               const Facts &Now) {
  const Instruction &Term = *Plan.Block->getTerminator();
  const Function &F = *Plan.Block->getParent();
  for (const Instruction &I : instructions(F))
    if (const auto *Memory = dyn_cast<AllocaInst>(&I);
        Memory && (!Memory->isStaticAlloca() || staysInUse(I, Plan, After)))
      return refusal(refuse::Local, Term, I.getName().str());
  for (const Argument &A : F.args())
    if (Now.Uniformity.of(A).L > analysis::Level::Block &&
        staysInUse(A, Plan, After))
      return refusal(refuse::Local, Term, A.getName().str());
  return std::nullopt;
}

/// Instructions that the branch controls.
static uint64_t costOf(const BasicBlock &Branch, const Facts &Now) {
  return instructionsBehind(Branch, Now.PostDominance, Now.Cycles);
}

static bool isChosen(const BasicBlock &BB, const RemapOptions &Options) {
  if (const auto Wished = requestOf(BB, Name))
    return Wished->On;
  return isNumbered(BB, Options);
}

/// Whether \p BB, which another branch's round may serve, is worth it.
static bool mayServe(const BasicBlock &BB, const Facts &Now,
                     const RemapOptions &Options) {
  if (!isChosen(BB, Options))
    return false;
  const auto Wished = requestOf(BB, Name);
  return (Wished && Wished->AtAnyCost) ||
         (costOf(BB, Now) >= Options.Threshold &&
          (Options.Ids ||
           !followsFromId(*BB.getTerminator()->getOperand(0), BB, Now)));
}

PlanOr<RoundPlan> planRound(BasicBlock &BB, const Facts &Now,
                            const RemapOptions &General,
                            const RoundMemory &Memory) {
  const Instruction &Term = *BB.getTerminator();
  RemapOptions Options = General;
  const auto Wished = requestOf(BB, Name);
  if (Wished && !Wished->On)
    return refusal(refuse::Off, Term);
  // A pragma says that the round pays.
  const bool IsAsked = Wished && Wished->AtAnyCost;
  if (Wished && !Wished->valueOf("algorithm").empty()) {
    auto Algorithm = remapAlgorithm(Wished->valueOf("algorithm"));
    if (!Algorithm)
      return refusal(refuse::Algorithm, Term,
                     Wished->valueOf("algorithm").str());
    Options.Algorithm = *Algorithm;
  }
  const uint64_t Cost = costOf(BB, Now);
  // The smallest come first: they are the most, and of least interest.
  if (!IsAsked && Cost < Options.Threshold)
    return refusal(refuse::Small, Term, std::to_string(Cost) + " instructions");
  if (!analysis::isKernel(*BB.getParent()))
    return refusal(refuse::Function, Term, BB.getParent()->getName().str());
  if (!isCandidate(BB, Now))
    return refusal(refuse::Uniform, Term);
  RoundPlan Plan;
  Plan.Block = &BB;
  Plan.Algorithm = Options.Algorithm;
  Plan.Neighbours = Options.Neighbours;
  Plan.Exact = Options.Exact;
  for (const Cycle *C = Now.Cycles.getCycle(&BB); C; C = C->getParentCycle())
    if (!C->isReducible())
      return refusal(refuse::Irreducible, Term);
  if (!comeTogether(BB, {}, Now)) {
    Plan.Exits = exitsBefore(BB, Now);
    if (Options.WorkingExits &&
        (Plan.Exits.empty() || !comeTogether(BB, Plan.Exits, Now)))
      addWorkingExits(Plan.Exits, BB, Now);
    if (Plan.Exits.empty() || !comeTogether(BB, Plan.Exits, Now))
      return refusal(refuse::Apart, Term);
    if (Now.Cycles.getCycle(&BB))
      return refusal(refuse::Exit, Term);
    if (auto Why = checkExits(Plan, Now))
      return *Why;
  }
  if (!IsAsked && !Options.Ids && followsFromId(*Term.getOperand(0), BB, Now))
    return refusal(refuse::Ids, Term);
  auto Behind = [&](const BasicBlock &At) {
    return mayServe(At, Now, Options);
  };
  auto Later = [&](const BasicBlock &At) {
    return mayServe(At, Now, Options) &&
           (!Options.Marked || requestOf(At, Name)) && !checkArms(At, Now);
  };
  if (auto Why = planFragment(Plan, Now, Options.Paths, Behind, Later))
    return *Why;
  if (Plan.Algorithm == RemapAlgorithm::HeadOrTail && Plan.groups() > 2) {
    if (Options.Exact)
      return refusal(refuse::Groups, Term);
    Plan.Algorithm = RemapAlgorithm::DataGroupIndexing;
    Plan.Fell = true;
  }
  if (auto Why = checkArms(BB, Now))
    return *Why;
  const BlockSet After = blocksAfter(BB);
  if (auto Why = checkAfter(Plan, After))
    return *Why;
  if (auto Why = checkLocalMemory(Plan, After, Now))
    return *Why;
  if (auto Why = planState(Plan, Now))
    return *Why;
  auto Budget = [&] {
    return planBudget(Plan, Options, Memory, IsAsked || !Options.Occupancy);
  };
  auto Why = Budget();
  // Fewer counts, and a longer walk: the paper's way.
  while (Why && Plan.Algorithm == RemapAlgorithm::DataGroupIndexing &&
         Plan.Neighbours < MaxNeighbours) {
    Plan.Neighbours *= 2;
    Why = Budget();
  }
  if (Why)
    return *Why;
  return Plan;
}

} // namespace reconverge::remedies::remap
