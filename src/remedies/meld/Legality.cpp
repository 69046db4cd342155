//===- remedies/meld/Legality.cpp - Which branches meld ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//          branch           The two arms must be all the code between the
//          /    \           branch and the block where its sides meet: entered
//        arm0   arm1        at the top alone, left at the bottom alone, with
//          \    /           nothing in common. What lies in them must bear that
//           join            the other arm's lanes come along.
//
// Why memory needs no look: each lane still performs the accesses of its own
// arm only, in their order, because alignment keeps the order of either side.
// Only the order between lanes of one warp changes, and nothing in an arm can
// have ordered lanes (a barrier or a shuffle is refused). The exception are
// loops that wait for another lane through memory; they show by a volatile or
// atomic access and are refused.
//
//===----------------------------------------------------------------------===//

#include "remedies/meld/Legality.h"

#include "analysis/Numbering.h"
#include "analysis/Tiles.h"
#include "analysis/Uniformity.h"
#include "remedies/meld/Alignment.h"
#include "remedies/meld/Pressure.h"
#include "remedies/meld/Refusals.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace reconverge::remedies::meld {

bool isCandidate(const BasicBlock &BB, const FunctionFacts &Facts) {
  const auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
  if (!Br || !Br->isConditional() || Br->getMetadata(GuardKind) ||
      !Facts.Uniformity.isDivergentBranch(BB))
    return false;
  const BasicBlock *Join = Facts.Dominance.immediate(BB);
  return Br->getSuccessor(0) != Br->getSuccessor(1) &&
         Br->getSuccessor(0) != Join && Br->getSuccessor(1) != Join;
}

static std::string calleeOf(const CallBase &Call) {
  const Function *F = Call.getCalledFunction();
  return F ? F->getName().str() : "a call through a pointer";
}

/// The blocks from \p First on, up to \p Join.
static PlanOr<BlockSet> armBlocks(const BasicBlock &Branch, BasicBlock &First,
                                  const BasicBlock &Join) {
  BlockSet Arm;
  Arm.insert(&First);
  for (unsigned At = 0; At != Arm.size(); ++At) {
    const Instruction &Term = *Arm[At]->getTerminator();
    if (Arm[At] == &Branch || isa<ReturnInst>(Term))
      return refusal(refuse::SeveralExits, Term);
    if (Arm[At]->isEHPad() ||
        !isa<BranchInst, SwitchInst, UnreachableInst>(Term))
      return refusal(refuse::Exception, Term);
    for (BasicBlock *Succ : successors(Arm[At]))
      if (Succ != &Join)
        Arm.insert(Succ);
  }
  for (BasicBlock *BB : Arm)
    for (const BasicBlock *Pred : predecessors(BB))
      if (Pred != &Branch && !Arm.contains(const_cast<BasicBlock *>(Pred)))
        return refusal(refuse::SharedCode, *BB->getFirstNonPHIOrDbg());
  return Arm;
}

static std::optional<Refusal> checkInstruction(const Instruction &I,
                                               bool InLoop) {
  if (I.getType()->isTokenTy())
    return refusal(refuse::Token, I);
  if (isa<AllocaInst>(I))
    return refusal(refuse::DynamicAlloca, I);
  if (InLoop && (I.isVolatile() || I.isAtomic()))
    return refusal(refuse::OrderedAccessInLoop, I);
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return std::nullopt;
  if (Call->isInlineAsm())
    return refusal(refuse::InlineAsm, I);
  if (Call->cannotMerge() || Call->cannotDuplicate())
    return refusal(refuse::NoMerge, I, calleeOf(*Call));
  const Function *Callee = Call->getCalledFunction();
  if (Call->isConvergent() ||
      (Callee && analysis::isTileIntrinsic(Callee->getName())))
    return refusal(refuse::Convergent, I, calleeOf(*Call));
  return std::nullopt;
}

static std::optional<Refusal> checkArm(const BlockSet &Arm,
                                       const BasicBlock &Branch,
                                       const CycleInfo &Cycles) {
  for (const BasicBlock *BB : Arm) {
    bool InLoop = false;
    for (const Cycle *C = Cycles.getCycle(BB); C && !C->contains(&Branch);
         C = C->getParentCycle()) {
      if (!C->isReducible())
        return refusal(refuse::Irreducible,
                       *C->getHeader()->getFirstNonPHIOrDbg());
      InLoop = true;
    }
    for (const Instruction &I : *BB)
      if (auto Why = checkInstruction(I, InLoop))
        return Why;
  }
  return std::nullopt;
}

static bool usesThreadId(const Function &F, Intrinsic::ID Id) {
  return any_of(F.getParent()->functions(), [&](const Function &Read) {
    return Read.getIntrinsicID() == Id &&
           any_of(Read.users(), [&](const User *U) {
             return cast<Instruction>(U)->getFunction() == &F;
           });
  });
}

/// Whether \p Branch asks for the number of a thread's warp: threadIdx.x
/// against a multiple of 32, or divided by one. Blocks are taken to be flat
/// where the kernel does not read another dimension; if they are not, all that
/// is lost is a gain.
static bool takesWholeWarps(const BasicBlock &Branch) {
  const auto *Br = cast<BranchInst>(Branch.getTerminator());
  const APInt *By = nullptr, *Shift = nullptr;
  const auto *Test = dyn_cast<ICmpInst>(Br->getCondition());
  if (!Test || !match(Test->getOperand(1), m_APInt(By)))
    return false;
  unsigned Low = By->countr_zero();
  if (Test->getPredicate() == ICmpInst::ICMP_UGT ||
      Test->getPredicate() == ICmpInst::ICMP_SGT)
    Low = By->countr_one();
  else if (Test->isEquality())
    Low = 0;
  Value *Thread = Test->getOperand(0), *Whole = nullptr;
  if (match(Thread, m_LShr(m_Value(Whole), m_APInt(Shift))) &&
      Shift->ult(By->getBitWidth())) {
    Low = std::max<unsigned>(Low, unsigned(Shift->getZExtValue()));
    Thread = Whole;
  }
  return Low >= 5 &&
         match(Thread, m_Intrinsic<Intrinsic::nvvm_read_ptx_sreg_tid_x>()) &&
         !usesThreadId(*Branch.getParent(),
                       Intrinsic::nvvm_read_ptx_sreg_tid_y) &&
         !usesThreadId(*Branch.getParent(),
                       Intrinsic::nvvm_read_ptx_sreg_tid_z);
}

static std::string numbers(double Saved, double Before) {
  std::string Text;
  raw_string_ostream(Text) << format("%.0f of %.0f issue slots saved", Saved,
                                     Before);
  return Text;
}

/// Issue slots lost to registers: a warp's waiting is hidden by the others, and
/// there are fewer of them if each thread holds more. A guess at the share;
/// what it comes to is for a trial to say.
static double priceOfRegisters(const MeldPlan &Plan) {
  const Pressure Live = pressureOf(Plan);
  const double Lost =
      1 - double(warpsWith(Live.Melded)) / warpsWith(Live.Apart);
  return Lost <= 0 ? 0 : Lost / 4 * (Plan.Before - Plan.Code.Saved);
}

PlanOr<MeldPlan> planMeld(BasicBlock &Branch, const FunctionFacts &Facts,
                          const MeldOptions &Options) {
  const Instruction &Term = *Branch.getTerminator();
  MeldPlan Plan;
  Plan.Branch = &Branch;
  Plan.Join = const_cast<BasicBlock *>(Facts.Dominance.immediate(Branch));
  if (!Plan.Join) {
    for (const BasicBlock *BB : depth_first(&Branch))
      if (const CallInst *Call = BB->getTerminatingMustTailCall())
        return refusal(refuse::MustTail, *Call, calleeOf(*Call));
    return refusal(refuse::NoMeeting, Term);
  }
  for (unsigned Side : {0u, 1u}) {
    auto Arm = armBlocks(Branch, *Term.getSuccessor(Side), *Plan.Join);
    if (auto *Why = std::get_if<Refusal>(&Arm))
      return *Why;
    Plan.Blocks[Side] = std::move(std::get<BlockSet>(Arm));
  }
  for (const BlockSet &Arm : Plan.Blocks)
    if (auto Why = checkArm(Arm, Branch, Facts.Cycles))
      return *Why;
  for (unsigned Side : {0u, 1u}) {
    auto Code =
        parseArm(*Term.getSuccessor(Side), Plan.Blocks[Side], Facts.Dominance);
    if (!Code)
      return refusal(refuse::SeveralExits, Term);
    Plan.Arms[Side] = std::move(*Code);
  }
  if (takesWholeWarps(Branch))
    return refusal(refuse::WholeWarps, Term);
  if (!alignArms(Plan, Options))
    return refusal(refuse::TooLarge, Term);
  if (!Plan.Melded)
    return refusal(refuse::NothingAlike, Term);
  if (Plan.Code.Saved > 0)
    Plan.Code.Saved -= priceOfRegisters(Plan);
  if (Plan.Code.Saved <= 0 || Plan.Code.Saved < Options.Threshold * Plan.Before)
    return refusal(refuse::Unprofitable, Term,
                   numbers(Plan.Code.Saved, Plan.Before));
  return Plan;
}

} // namespace reconverge::remedies::meld
