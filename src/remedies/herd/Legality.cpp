//===- remedies/herd/Legality.cpp - What may be herded --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way: lanes are dropped from an arm, or leave a loop early, and none is sent
// anywhere. A branch may be herded if
//
//   - it is known which lanes come to it, to an if itself, to a loop at its
//     beginning (Masks.h);
//   - a dropped lane knows where to go on, and with which values: where the sides
//     of an if meet, in the same round of the loop around it, the other side has
//     no value of its own, or is empty; a loop is left as by that branch;
//   - what is skipped holds nothing for which lanes wait, and the kernel has no
//     loop that waits for other threads, nor ends threads by exit;
//   - nothing can fault or hang behind it (Safety.h), together with all that is
//     herded before it in the program.
//
// Two ways, if asked for: all lanes take the side that most want, of an if whose
// sides write nothing, have no loop, and hold nothing that could fault for a lane
// that does not want them.
//
// Which: what branch= names; what pragmas name; else all of those, but for
// branches on the thread's number alone and on too little code. Of a loop one way
// out: the last that parts a warp, of those that may be.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Legality.h"

#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "remedies/common/Controlled.h"
#include "remedies/common/Loops.h"
#include "remedies/herd/Masks.h"
#include "remedies/herd/Refusals.h"
#include "remedies/herd/Safety.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::remedies::herd {

namespace {
class Planner {
public:
  Planner(Function &F, const HerdOptions &Options)
      : F(F), Options(Options), Dominance(F), Loops(Dominance),
        PostDominance(F), Known(analysis::computeUniformity(F)), Rules(F) {
    Cycles.compute(F);
  }
  HerdPlan plan();

private:
  PlanOr<HerdPoint> pointAt(BasicBlock &BB);
  std::optional<Refusal> unwanted(const BasicBlock &BB, HerdOptions &Here);
  std::optional<Refusal> atLoop(Loop &L, HerdPoint &P, Uncertain &U);
  std::optional<Refusal> atIf(HerdPoint &P, Uncertain &U);
  bool addSide(HerdPoint &P, unsigned Side, Uncertain &U) const;
  bool isMeant(const BasicBlock &BB) const;
  std::optional<Refusal> tied() const;
  std::optional<SourceRequest> requestAt(const BasicBlock &BB) const;

  Function &F;
  const HerdOptions Options;
  DominatorTree Dominance;
  LoopInfo Loops;
  CycleInfo Cycles;
  analysis::PostDominance PostDominance;
  analysis::UniformityResult Known;
  MaskRules Rules;
  SmallVector<Uncertain> Sources;            ///< of what is herded by now
  SmallPtrSet<const BasicBlock *, 8> Herded; ///< headers of loops
};
} // namespace

/// The loop that the branch at the end of \p BB leaves; null: it leaves none.
static Loop *loopLeft(const BasicBlock &BB, const LoopInfo &Loops) {
  Loop *L = Loops.getLoopFor(&BB);
  return L && L->isLoopExiting(&BB) ? L : nullptr;
}

/// The loop whose first test stands at the end of \p BB, before the loop since
/// that was rotated: a test of the loop's own line.
static const Loop *loopTestedAt(const BasicBlock &BB, const LoopInfo &Loops) {
  const DebugLoc &At = BB.getTerminator()->getDebugLoc();
  for (const BasicBlock *Next : successors(&BB)) {
    const BasicBlock *Header =
        Loops.isLoopHeader(Next) ? Next : Next->getSingleSuccessor();
    const Loop *L = Header ? Loops.getLoopFor(Header) : nullptr;
    if (!L || L->getHeader() != Header || L->contains(&BB))
      continue;
    if (const DebugLoc Start = L->getStartLoc();
        At && Start && At.getLine() == Start.getLine())
      return L;
  }
  return nullptr;
}

/// What the source says of the branch at the end of \p BB, or of the loop that
/// it leaves; of one that it may keep lanes out of, if that is forbidden.
std::optional<SourceRequest> Planner::requestAt(const BasicBlock &BB) const {
  if (const Loop *L = loopLeft(BB, Loops))
    if (auto Said = remedies::requestOf(*L, Name))
      return Said;
  if (const Loop *L = loopTestedAt(BB, Loops))
    if (auto Said = remedies::requestOf(*L, Name); Said && !Said->On)
      return Said;
  return remedies::requestOf(BB, Name);
}

/// Whether the branch at the end of \p BB has to be refused by name if it may
/// not be herded.
bool Planner::isMeant(const BasicBlock &BB) const {
  const auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
  if (!Br || !Br->isConditional())
    return false;
  if (!Options.Branches.empty())
    return is_contained(Options.Branches, analysis::branchNumber(BB));
  const auto Said = requestAt(BB);
  if (Said && Said->On && Said->AtAnyCost)
    return true;
  return (!Options.Marked || Said) && Known.isDivergentBranch(BB);
}

/// Why the branch at the end of \p BB is not to be herded, whether it could be
/// or not. \p Here becomes the parameters for it.
std::optional<Refusal> Planner::unwanted(const BasicBlock &BB,
                                         HerdOptions &Here) {
  const auto *Br = cast<BranchInst>(BB.getTerminator());
  const auto Said = requestAt(BB);
  if (Said && !Said->On)
    return refusal(refuse::Off, *Br);
  if (!Known.isDivergentBranch(BB))
    return refusal(Options.Branches.empty() ? refuse::Uniform : refuse::Number,
                   *Br);
  if (Said) {
    Here = cantFail(parseHerdOptions(Said->Parameters, Options));
    Here.Occupancy &= !Said->AtAnyCost;
  }
  if (!Options.Branches.empty() || (Said && Said->AtAnyCost))
    return std::nullopt;
  const analysis::Uniformity Condition = Known.of(*Br->getCondition());
  // A fractal's rounds follow from the thread's number, too: loops may be long.
  if (!Here.Ids && !loopLeft(BB, Loops) &&
      Condition.Why == analysis::Cause::ThreadId)
    return refusal(refuse::Ids, *Br);
  const uint64_t Behind = instructionsBehind(BB, PostDominance, Cycles);
  if (!loopLeft(BB, Loops) && Behind < Here.Least)
    return refusal(refuse::Small, *Br,
                   std::to_string(Behind) + " instructions");
  return std::nullopt;
}

/// An operation among \p Blocks that lanes must reach together.
static const Instruction *togetherIn(ArrayRef<const BasicBlock *> Blocks) {
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB) {
      const auto *Call = dyn_cast<CallBase>(&I);
      if (Call && Call->isConvergent() &&
          Call->getIntrinsicID() != Intrinsic::nvvm_nanosleep)
        return &I;
    }
  return nullptr;
}

/// What no lane may be sent into, of \p Blocks; null: there is nothing.
static const Instruction *riskIn(ArrayRef<const BasicBlock *> Blocks,
                                 const CycleInfo &Cycles,
                                 const BasicBlock &Branch) {
  for (const BasicBlock *BB : Blocks)
    for (const Instruction &I : *BB) {
      const bool Leads = isa<PHINode>(I) || isa<BranchInst, SwitchInst>(I);
      if (!Leads && !isSafeToSpeculativelyExecute(&I))
        return &I;
      if (Cycles.getCycle(BB) != Cycles.getCycle(&Branch))
        return &I;
    }
  return nullptr;
}

/// Whether some lanes have nothing in \p V, as only others need it: of an unrolled
/// loop, those with no round over have none behind the rounds that are over. A
/// value that passes a branch on its way is taken to be there: the branch is why
/// nobody needed it.
static bool mayLack(const Value *V, SmallPtrSetImpl<const Value *> &Asked) {
  if (isa<UndefValue>(V))
    return true;
  const auto *I = dyn_cast<Instruction>(V);
  if (!I || !Asked.insert(I).second)
    return false;
  const auto *Phi = dyn_cast<PHINode>(I);
  if (!Phi)
    return any_of(I->operands(),
                  [&](const Use &U) { return mayLack(U.get(), Asked); });
  for (auto [From, In] : zip_equal(Phi->blocks(), Phi->incoming_values()))
    if (isa<UndefValue>(In) ||
        (From->getSingleSuccessor() && mayLack(In, Asked)))
      return true;
  return false;
}
static bool mayLack(const Value &V) {
  SmallPtrSet<const Value *, 16> Asked;
  return mayLack(&V, Asked);
}

std::optional<Refusal> Planner::atLoop(Loop &L, HerdPoint &P, Uncertain &U) {
  const Instruction &At = *P.Branch->getTerminator();
  if (P.Options.TwoWays && !P.Options.ByMachine)
    return refusal(refuse::Ways, At);
  if (Herded.contains(L.getHeader()))
    return refusal(refuse::Another, At);
  P.Header = L.getHeader();
  P.Out = L.contains(At.getSuccessor(0)) ? 1 : 0;
  const BasicBlock *Out = At.getSuccessor(P.Out);
  if (L.contains(Out) || !L.contains(At.getSuccessor(1 - P.Out)) ||
      !PostDominance.returns(*Out))
    return refusal(refuse::Shape, At);
  for (const PHINode &Phi : Out->phis())
    if (mayLack(*Phi.getIncomingValueForBlock(P.Branch)))
      return refusal(refuse::Values, At);
  BasicBlock *Before = L.getLoopPreheader();
  if (!P.Options.ByMachine && (!Before || !Rules.known(*Before)))
    return refusal(refuse::Mask, At);
  P.Sends[P.Out] = true;
  const SmallVector<const BasicBlock *> Inside(L.blocks());
  if (P.Options.ByMachine && !riskIn(Inside, Cycles, *P.Branch)) {
    P.Sends[1 - P.Out] = true;
    U.GoesOn = P.Branch;
  }
  append_range(U.Skipped, L.blocks());
  U.Once = !Cycles.getCycle(L.getHeader())->getParentCycle();
  SmallVector<BasicBlock *> Exits;
  L.getUniqueExitBlocks(Exits);
  for (const BasicBlock *BB : Exits)
    for (const PHINode &Phi : BB->phis())
      U.Values.push_back(&Phi);
  if (Exits.size() > 1)
    U.Decides = P.Branch;
  return std::nullopt;
}

/// Blocks from \p From up to \p Join.
static SmallSetVector<const BasicBlock *, 16>
blocksUpTo(const BasicBlock *From, const BasicBlock *Join) {
  SmallSetVector<const BasicBlock *, 16> Found;
  if (From != Join)
    Found.insert(From);
  for (size_t I = 0; I != Found.size(); ++I)
    for (const BasicBlock *To : successors(Found[I]))
      if (To != Join)
        Found.insert(To);
  return Found;
}

Value *valueFromOtherSide(const PHINode &Phi, const BasicBlock &Branch,
                          unsigned Side, const DominatorTree &Dominance) {
  const BasicBlock *Join = Phi.getParent();
  const BasicBlock *Other = Branch.getTerminator()->getSuccessor(1 - Side);
  if (Other == Join)
    return Phi.getIncomingValueForBlock(&Branch);
  Value *Only = nullptr;
  const auto Blocks = blocksUpTo(Other, Join);
  for (unsigned I = 0; I != Phi.getNumIncomingValues(); ++I) {
    if (!Blocks.contains(Phi.getIncomingBlock(I)))
      continue;
    Value *V = Phi.getIncomingValue(I);
    if (Only && Only != V)
      return nullptr;
    Only = V;
  }
  const auto *Made = dyn_cast_or_null<Instruction>(Only);
  return !Made || Dominance.dominates(Made, Branch.getTerminator()) ? Only
                                                                    : nullptr;
}

/// Whether lanes may be dropped from that side; adds what that leaves uncertain.
bool Planner::addSide(HerdPoint &P, unsigned Side, Uncertain &U) const {
  for (const PHINode &Phi : P.Join->phis()) {
    const Value *Given = valueFromOtherSide(Phi, *P.Branch, Side, Dominance);
    if (!Given || mayLack(*Given))
      return false;
  }
  const auto Blocks =
      blocksUpTo(P.Branch->getTerminator()->getSuccessor(Side), P.Join);
  for (const BasicBlock *BB : Blocks)
    U.Skipped.push_back(BB);
  return true;
}

std::optional<Refusal> Planner::atIf(HerdPoint &P, Uncertain &U) {
  const Instruction &At = *P.Branch->getTerminator();
  P.Join = const_cast<BasicBlock *>(PostDominance.immediate(*P.Branch));
  const Loop *Around = Loops.getLoopFor(P.Branch);
  if (!P.Join || Loops.getLoopFor(P.Join) != Around)
    return refusal(refuse::Shape, At);
  for (unsigned Side : {0, 1})
    for (const BasicBlock *BB : blocksUpTo(At.getSuccessor(Side), P.Join))
      if (BB == P.Branch ||
          (Around && (!Around->contains(BB) || BB == Around->getHeader())))
        return refusal(refuse::Shape, At);
  if (!P.Options.ByMachine && !Rules.known(*P.Branch))
    return refusal(refuse::Mask, At);
  U.Once = !Cycles.getCycle(P.Branch);
  for (const PHINode &Phi : P.Join->phis())
    U.Values.push_back(&Phi);
  if (P.Options.TwoWays || P.Options.ByMachine) {
    for (unsigned Side : {0, 1})
      append_range(U.Skipped, blocksUpTo(At.getSuccessor(Side), P.Join));
    const Instruction *Risk = riskIn(U.Skipped, Cycles, *P.Branch);
    if (!Risk)
      P.Sends[0] = P.Sends[1] = true;
    if (!Risk || !P.Options.ByMachine)
      return Risk ? refusal(refuse::Ways, *Risk) : std::optional<Refusal>();
    U.Skipped.clear();
  }
  for (unsigned Side : {0, 1}) {
    // Where only the machine moves lanes, they skip an arm by the other's edge.
    const bool Skips =
        !P.Options.ByMachine || At.getSuccessor(1 - Side) == P.Join;
    P.Drops[Side] = At.getSuccessor(Side) != P.Join && Skips &&
                    PostDominance.returns(*At.getSuccessor(Side)) &&
                    addSide(P, Side, U);
    P.Sends[1 - Side] = P.Drops[Side];
  }
  if (!P.Drops[0] && !P.Drops[1])
    return refusal(refuse::Values, At);
  return std::nullopt;
}

PlanOr<HerdPoint> Planner::pointAt(BasicBlock &BB) {
  const Instruction &At = *BB.getTerminator();
  HerdPoint P{&BB, Options};
  if (auto Why = unwanted(BB, P.Options))
    return *Why;
  Uncertain U;
  Loop *L = loopLeft(BB, Loops);
  if (auto Why = L ? atLoop(*L, P, U) : atIf(P, U))
    return *Why;
  if (const Instruction *I = togetherIn(U.Skipped))
    return refusal(refuse::Together, *I);
  Sources.push_back(U);
  auto Why = dangerOf(F, Sources);
  if (Why && U.GoesOn) { // then lanes leave early, and none stays
    Sources.back().GoesOn = nullptr;
    P.Sends[1 - P.Out] = false;
    Why = dangerOf(F, Sources);
  }
  if (Why) {
    Sources.pop_back();
    if (!Why->Where)
      Why->Where = At.getDebugLoc();
    return *Why;
  }
  if (L)
    Herded.insert(L->getHeader());
  return P;
}

/// Why nothing in the kernel is herded.
std::optional<Refusal> Planner::tied() const {
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  if (!analysis::isKernel(F))
    return refusal(refuse::Function, Start);
  if (const Instruction *I = waitsFor(F, Loops))
    return refusal(refuse::Waits, *I);
  for (const BasicBlock &BB : F)
    for (const Instruction &I : BB)
      if (const auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->getIntrinsicID() == Intrinsic::nvvm_exit)
        return refusal(refuse::Exit, I);
  return std::nullopt;
}

HerdPlan Planner::plan() {
  SmallVector<BasicBlock *> Meant;
  for (BasicBlock &BB : F)
    if (Dominance.isReachableFromEntry(&BB) && isMeant(BB))
      Meant.push_back(&BB);
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  HerdPlan Plan;
  if (Meant.empty()) {
    Plan.Others = {Options.Branches.empty()
                       ? refusal(refuse::Branch, Start)
                       : refusal(refuse::Number, Start,
                                 std::to_string(Options.Branches.front()))};
    return Plan;
  }
  if (auto Why = tied()) {
    Plan.Others = {*Why};
    return Plan;
  }
  // Of a loop's ways out, the last comes first.
  SmallVector<BasicBlock *> Ifs;
  for (BasicBlock *BB : Meant)
    if (!loopLeft(*BB, Loops))
      Ifs.push_back(BB);
  erase_if(Meant, [&](BasicBlock *BB) { return !loopLeft(*BB, Loops); });
  std::reverse(Meant.begin(), Meant.end());
  append_range(Meant, Ifs);
  DenseMap<const BasicBlock *, HerdPoint> Points;
  for (BasicBlock *BB : Meant) {
    const PlanOr<HerdPoint> Made = pointAt(*BB);
    if (const auto *Why = std::get_if<Refusal>(&Made))
      Plan.Others.push_back(*Why);
    else
      Points.insert({BB, std::get<HerdPoint>(Made)});
  }
  for (const BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F))
    if (const auto Found = Points.find(BB); Found != Points.end())
      Plan.Points.push_back(Found->second);
  Plan.ReachesMemory = reachesMemory(Sources);
  Plan.Sources = std::move(Sources);
  return Plan;
}

HerdPlan planHerd(Function &F, const HerdOptions &Options) {
  return Planner(F, Options).plan();
}

} // namespace reconverge::remedies::herd
