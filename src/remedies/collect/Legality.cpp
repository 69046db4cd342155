//===- remedies/collect/Legality.cpp - What decides an item's path --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   entry: i = ..., if (i >= n) return          slice: entry, a, b
//   a:     if (in[i] > 0) L1 else b             ends:  return  no work
//   b:     if (kind[i] == 2) L2 else L3                L1, L2, L3  paths
//
// 1. A block may be in the slice if it only reads, is in no loop, and is come to
//    from the entry by such blocks alone.
// 2. Branches that make a path: divergent, with enough code behind them, not on
//    the thread's number alone. Where the ways of one meet again the slice ends,
//    if there is work on them. It is all from which such a branch can be come to.
// 3. Where control leaves the slice an item's path is known. Who comes to a
//    block that only returns has nothing to do: it is not worked on at all.
//    Who comes to a short path that ends the item, without loops and calls, runs
//    it there: that costs less than to sort it.
// 4. Of the slice only what its branches and short paths follow from is needed.
//    That much runs twice, so there is a limit to it.
//
// Where pragmas name branches, those alone make paths, whatever is behind them.
//
// Why legal: the slice does what the item does anyway, only earlier, and leaves
// nothing behind; with a short path it is all that the item does. Whether another item writes what it reads is for the trials:
// such a kernel has a race, or its results hang on who runs first. If the path
// were wrong for that, no result would be: the whole kernel runs for each item,
// on whatever path; but an item without work would be missed.
//
//===----------------------------------------------------------------------===//

#include "remedies/collect/Plan.h"

#include "analysis/Costs.h"
#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "analysis/device/Annotations.h"
#include "remedies/collect/Refusals.h"
#include "remedies/common/Controlled.h"
#include "remedies/common/Requests.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace reconverge::remedies::collect {

static constexpr unsigned WarpSize = 32, UsualThreads = 256, LoopTrips = 8;

namespace {
class Search {
public:
  Search(Function &F, const CollectOptions &Options)
      : Options(Options), Uniformity(analysis::computeUniformity(F)),
        PostDominance(F), Dominance(F), Order(&F) {
    Cycles.compute(F);
    IsNamed = any_of(F, isNamed);
  }
  PlanOr<CollectPlan> find();

private:
  static bool isNamed(const BasicBlock &BB);
  void findReading();
  bool isMeeting(const BasicBlock &BB) const;
  bool makesPath(const BasicBlock &BB) const;
  std::optional<Refusal> findBlocks();
  void findNeeded();
  uint64_t deciding() const;
  uint64_t weightOf(const BasicBlock &End) const;
  bool tripsDiffer() const;
  bool addShort(BasicBlock &End);
  void findEnds(bool MayBeShort);
  Refusal whyNoPath() const;

  const CollectOptions &Options;
  analysis::UniformityResult Uniformity;
  analysis::PostDominance PostDominance;
  DominatorTree Dominance;
  CycleInfo Cycles;
  ReversePostOrderTraversal<Function *> Order;

  SmallPtrSet<const BasicBlock *, 32> Reading; ///< may be in the slice
  SmallVector<const BasicBlock *, 8> Parting;  ///< of them, who make a path
  /// Of the other blocks: what does more than read in them, or before them;
  /// null: a loop.
  DenseMap<const BasicBlock *, const Instruction *> Against;
  bool IsNamed = false; ///< a pragma names a branch
  CollectPlan Plan;
};
} // namespace

/// By a pragma, to make a path.
bool Search::isNamed(const BasicBlock &BB) {
  const auto Said = requestOf(BB, Name);
  return Said && Said->On && Said->AtAnyCost;
}

/// What needs no copy, and leaves nothing behind.
static bool isNote(const Instruction &I) {
  return isa<DbgInfoIntrinsic, AssumeInst, PseudoProbeInst>(I) ||
         I.isLifetimeStartOrEnd();
}

static bool onlyReads(const Instruction &I) {
  if (isNote(I))
    return true;
  if (I.isAtomic() || I.isVolatile() || I.mayHaveSideEffects())
    return false;
  const auto *Call = dyn_cast<CallBase>(&I);
  return !Call || !Call->isConvergent();
}

/// What keeps \p BB out of the slice, if anything in it does.
static const Instruction *worksIn(const BasicBlock &BB) {
  for (const Instruction &I : BB)
    if (I.isTerminator() ? !isa<BranchInst, SwitchInst>(I) : !onlyReads(I))
      return &I;
  return nullptr;
}

void Search::findReading() {
  for (const BasicBlock *BB : Order) {
    const bool IsEntry = BB->isEntryBlock();
    if (Cycles.getCycle(BB)) {
      Against[BB] = nullptr;
    } else if (isMeeting(*BB)) {
      Against[BB] = BB->getTerminator();
    } else if (!IsEntry && none_of(predecessors(BB), [&](const BasicBlock *P) {
                 return Reading.contains(P);
               })) {
      Against[BB] = Against.lookup(*pred_begin(BB));
    } else if (const Instruction *I = worksIn(*BB)) {
      Against[BB] = I;
    } else {
      Reading.insert(BB);
      if (makesPath(*BB))
        Parting.push_back(BB);
    }
  }
}

/// The ways of branches that make a path meet at \p BB, and an item has worked
/// on one of them.
bool Search::isMeeting(const BasicBlock &BB) const {
  return any_of(Parting, [&](const BasicBlock *Branch) {
    if (PostDominance.immediate(*Branch) != &BB)
      return false;
    const auto Region = analysis::regionOf(*Branch, PostDominance, Cycles);
    return any_of(
               Region.Blocks,
               [&](const BasicBlock *In) { return !Reading.contains(In); }) ||
           instructionsBehind(*Branch, PostDominance, Cycles) >
               Options.Prologue;
  });
}

bool Search::makesPath(const BasicBlock &BB) const {
  const Instruction &Term = *BB.getTerminator();
  if (!isa<BranchInst, SwitchInst>(Term) || Term.getNumSuccessors() < 2 ||
      !Uniformity.isDivergentBranch(BB))
    return false;
  const auto Said = requestOf(BB, Name);
  if (IsNamed || (Said ? !Said->On : Options.Marked))
    return isNamed(BB);
  if (!Options.Branches.empty()) {
    const auto Number = analysis::branchNumber(BB);
    return Number && is_contained(Options.Branches, *Number);
  }
  const auto By = Uniformity.of(*Term.getOperand(0));
  return (Options.Ids || By.Why != analysis::Cause::ThreadId) &&
         instructionsBehind(BB, PostDominance, Cycles) >= Options.Threshold;
}

/// Of a kernel without a branch that makes a path.
Refusal Search::whyNoPath() const {
  for (const BasicBlock *BB : Order)
    if (const auto Said = requestOf(*BB, Name); Said && !Said->On)
      return refusal(refuse::Off, *BB->getTerminator());
  return refusal(refuse::NoPath, *(*Order.begin())->getTerminator());
}

/// The slice, or why there is none: of the first branch that would have made a
/// path. Why not others that pragmas name goes into the plan.
std::optional<Refusal> Search::findBlocks() {
  SmallPtrSet<const BasicBlock *, 32> Before;
  SmallVector<const BasicBlock *, 16> Work;
  SmallPtrSet<const void *, 4> Told; // pragmas
  std::vector<std::pair<const BasicBlock *, Refusal>> Refused;
  for (const BasicBlock *BB : Order) {
    const Instruction &Term = *BB->getTerminator();
    if (!makesPath(*BB)) {
      if (isNamed(*BB))
        Refused.push_back({BB, refusal(refuse::Uniform, Term)});
    } else if (Reading.contains(BB)) {
      Work.push_back(BB);
      Plan.Parting.push_back(const_cast<BasicBlock *>(BB));
      if (IsNamed)
        Told.insert(requestOf(*BB, Name)->Id);
      if (!Plan.Branch)
        Plan.Branch = const_cast<Instruction *>(&Term);
    } else {
      const Instruction *I = Against.lookup(BB);
      Refused.push_back({BB, I ? refusal(refuse::Effects, *I)
                               : refusal(refuse::InLoop, Term)});
    }
  }
  for (auto &[BB, Why] : Refused)
    if (IsNamed && Told.insert(requestOf(*BB, Name)->Id).second)
      Plan.Others.push_back(Why);
  if (Work.empty())
    return Refused.empty() ? whyNoPath() : Refused.front().second;
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (Reading.contains(BB) && Before.insert(BB).second)
      append_range(Work, predecessors(BB));
  }
  for (BasicBlock *BB : Order)
    if (Before.contains(BB))
      Plan.Deciding.Blocks.insert(BB);
  return std::nullopt;
}

void Search::findNeeded() {
  Slice &S = Plan.Deciding;
  SmallVector<const Instruction *, 32> Work;
  for (const BasicBlock *BB : S.Blocks)
    Work.push_back(BB->getTerminator());
  for (const BasicBlock *BB : S.Short)
    for (const Instruction &I : *BB)
      if (I.isTerminator() || (I.mayHaveSideEffects() && !isNote(I)))
        Work.push_back(&I);
  while (!Work.empty()) {
    const Instruction *I = Work.pop_back_val();
    if (isa<AllocaInst>(I) || !S.Needed.insert(I).second)
      continue;
    const auto *Phi = dyn_cast<PHINode>(I);
    for (const Use &U : I->operands())
      if (const auto *Op = dyn_cast<Instruction>(&U);
          Op && (!Phi || S.Blocks.contains(Phi->getIncomingBlock(U)) ||
                 S.Short.contains(Phi->getIncomingBlock(U))))
        Work.push_back(Op);
  }
}

/// Instructions that find an item's path: all run, whatever the path
/// (Paths.cpp), and a switch compares with each case.
uint64_t Search::deciding() const {
  uint64_t Count = 0;
  for (const Instruction *I : Plan.Deciding.Needed) {
    if (!Plan.Deciding.Blocks.contains(
            const_cast<BasicBlock *>(I->getParent())))
      continue;
    if (const auto *Switch = dyn_cast<SwitchInst>(I))
      Count += Switch->getNumCases();
    else
      Count += analysis::countsAsInstruction(*I);
  }
  return Count;
}

/// Instructions that only who goes by \p End runs, those of loops counted more
/// often.
uint64_t Search::weightOf(const BasicBlock &End) const {
  uint64_t Weight = 0;
  for (const BasicBlock *BB : Order) {
    if (!Dominance.dominates(&End, BB))
      continue;
    uint64_t Trips = 1;
    for (const Cycle *C = Cycles.getCycle(BB); C; C = C->getParentCycle())
      Trips = std::min<uint64_t>(Trips * LoopTrips, 1 << 20);
    Weight += Trips * count_if(*BB, analysis::countsAsInstruction);
  }
  return Weight;
}

/// Whether one item may run a loop longer than another of its path.
bool Search::tripsDiffer() const {
  return any_of(Order, [&](const BasicBlock *BB) {
    const Cycle *C = Cycles.getCycle(BB);
    return C && Uniformity.isDivergentBranch(*BB) &&
           any_of(successors(BB),
                  [&](const BasicBlock *To) { return !C->contains(To); });
  });
}

/// Whether \p End begins a short path, which then is in the plan.
bool Search::addShort(BasicBlock &End) {
  SmallSetVector<BasicBlock *, 8> All;
  All.insert(&End);
  uint64_t Count = 0;
  for (size_t I = 0; I != All.size(); ++I) {
    BasicBlock &BB = *All[I];
    Count += count_if(BB, analysis::countsAsInstruction);
    if (Count > Options.Short || Plan.Deciding.Blocks.contains(&BB) ||
        Cycles.getCycle(&BB) ||
        !isa<BranchInst, SwitchInst, ReturnInst>(BB.getTerminator()) ||
        any_of(BB, [](const Instruction &I) {
          return isa<CallBase>(I) && !isa<IntrinsicInst>(I);
        }))
      return false;
    All.insert(succ_begin(&BB), succ_end(&BB));
  }
  Plan.Deciding.Short.insert(All.begin(), All.end());
  return true;
}

void Search::findEnds(bool MayBeShort) {
  Slice &S = Plan.Deciding;
  struct Path {
    BasicBlock *To;
    uint64_t Weight;
    size_t Number; ///< in the order of the slice
  };
  SmallVector<Path, 8> Paths;
  for (BasicBlock *BB : S.Blocks)
    for (BasicBlock *To : successors(BB))
      if (!S.Blocks.contains(To) && S.Ends.insert({To, NoWork}).second &&
          !onlyReturns(*To) &&
          !isa<UnreachableInst>(To->getFirstNonPHIOrDbg()) &&
          !(MayBeShort && addShort(*To)))
        Paths.push_back({To, weightOf(*To), Paths.size()});
  sort(Paths, [](const Path &A, const Path &B) {
    return A.Weight != B.Weight ? A.Weight > B.Weight : A.Number < B.Number;
  });
  for (auto [I, P] : enumerate(Paths))
    S.Ends[P.To] = int(std::min<size_t>(I, Options.Paths - 1));
  S.Paths = unsigned(std::min<size_t>(Paths.size(), Options.Paths));
  auto InAnyOrder = std::move(S.Short);
  S.Short.clear();
  for (const BasicBlock *BB : Order)
    if (InAnyOrder.contains(const_cast<BasicBlock *>(BB)))
      S.Short.insert(const_cast<BasicBlock *>(BB));
}

PlanOr<CollectPlan> Search::find() {
  findReading();
  if (auto Why = findBlocks())
    return *Why;
  findEnds(/*MayBeShort=*/true);
  if (!Plan.Deciding.Paths) { // nothing would be left to sort
    Plan.Deciding.Short.clear();
    Plan.Deciding.Ends.clear();
    findEnds(/*MayBeShort=*/false);
  }
  findNeeded();
  const bool Drops = any_of(
      Plan.Deciding.Ends, [](const auto &End) { return End.second == NoWork; });
  if (Plan.Deciding.Paths + Drops < 2 || !Plan.Deciding.Paths)
    return refusal(refuse::NoPath, *Plan.Branch);
  if (const uint64_t Count = deciding(); Count > Options.Prologue)
    return refusal(refuse::Dear, *Plan.Branch,
                   std::to_string(Count) + " instructions");
  Plan.Options = Options;
  if (!Options.Chunk)
    Plan.Options.Chunk = tripsDiffer() ? WarpSize : 0;
  Plan.IsAsked = IsNamed;
  return std::move(Plan);
}

/// \p Options with the parameters of requests in the source: of those that say
/// the same one, the first goes.
static CollectOptions withRequests(Function &F, CollectOptions Options) {
  for (const SourceRequest &Said : requestsIn(F, Name)) {
    Options =
        cantFail(parseCollectOptions(Said.Parameters, std::move(Options)));
    Options.Occupancy &= !Said.AtAnyCost;
  }
  return Options;
}

PlanOr<CollectPlan> planCollect(Function &F, const CollectOptions &Given) {
  const CollectOptions Options = withRequests(F, Given);
  PlanOr<ItemsPlan> Planned = planItems(F);
  if (const auto *Why = std::get_if<Refusal>(&Planned))
    return *Why;
  auto &Items = std::get<ItemsPlan>(Planned);
  const Instruction &First = *F.getEntryBlock().getTerminator();
  if (Items.Exits)
    return refusal(refuse::Exit, First);
  for (const Instruction &I : instructions(F))
    if (const auto *Frame = dyn_cast<AllocaInst>(&I);
        Frame && !Frame->isStaticAlloca())
      return refusal(refuse::Frame, I);
  PlanOr<CollectPlan> Found = Search(F, Options).find();
  if (auto *Plan = std::get_if<CollectPlan>(&Found)) {
    Plan->Items = std::move(Items);
    Plan->OneDimension = asksForOneDimension(Plan->Items);
    const unsigned Bound = analysis::launchBound(F);
    const unsigned Most = Bound ? Bound : 1024;
    const unsigned Wanted = Options.Threads ? Options.Threads
                            : Bound         ? Bound
                                            : UsualThreads;
    Plan->Threads =
        std::max(std::min(Wanted, Most) / WarpSize * WarpSize, WarpSize);
  }
  return Found;
}

} // namespace reconverge::remedies::collect
