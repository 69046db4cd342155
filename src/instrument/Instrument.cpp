//===- instrument/Instrument.cpp - Code that counts -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inserts what ProbePlan.cpp has planned, at the end of each block:
//
//   m = activemask                      where it is used
//   leader = (m & lanes below) == 0
//   warps += leader                     a group's probe
//   edge += c                           a flow probe; 1 on the only way
//
// the counters of a register all at once, and at the header of a loop
//
//   if (any lane has a byte half full)
//     words += bytes; bytes = 0         ProbeWords.cpp
//
// at a side that tells of its branch's split, with M for the branch's m:
//
//   splits += leader && m != M
//   gone += popc(m ^ M)                 if the other side leaves the kernel
//
// and before a branch that has no such side:
//
//   t = @c activemask, @!c activemask   those that will go this lane's way
//   splits += leader && t != m
//
// Counters are variables of the thread until it leaves (Flush.cpp).
//
// All that in one of two bodies that the function gets; thread blocks which do
// not count run the other, as it was (Versions.cpp). Probes of accesses to
// memory (AccessProbes.cpp) go into a third.
//
// Results stay the same: probes read no value of the program's but its branch
// conditions, and write none. Convergence stays the same too:
//
//   * the code gets no new branch but within a flush, and around probes of
//     accesses and what bytes hand over, where all lanes that are together go
//     the same way;
//   * counts go to memory in a way for which ptxas does not let lanes go in
//     turns, and join, where they would not otherwise (CellUpdate.cpp);
//   * lanes that return early must not be held up. Their flush is code where a
//     bare return was, and lanes could be made to wait there for the others,
//     which may themselves wait at a barrier. If the kernel has any collective,
//     each edge into a bare return gets a copy of its own.
//
//===----------------------------------------------------------------------===//

#include "instrument/Instrument.h"

#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"
#include "instrument/AccessProbes.h"
#include "instrument/Flush.h"
#include "instrument/JoinAccesses.h"
#include "instrument/Versions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::instrument {

//===----------------------------------------------------------------------===//
// The plans of a module
//===----------------------------------------------------------------------===//

ModuleProbes::ModuleProbes(Module &M,
                           function_ref<bool(const Function &)> Only) {
  for (Function &F : M) {
    if (F.isDeclaration() || !Only(F))
      continue;
    auto Plan = std::make_unique<ProbePlan>(F);
    std::vector<uint32_t> &Numbers = Accesses[&F];
    DenseSet<uint32_t> Seen; // copies of an access share its number
    for (const Instruction &I : instructions(F))
      if (auto N = analysis::accessNumber(I); N && Seen.insert(*N).second)
        Numbers.push_back(*N);
    if (!Plan->IsKernel) {
      Offsets[&F] = Shared;
      Shared += Plan->cells();
      AccessOffsets[&F] = SharedAccesses;
      SharedAccesses += Numbers.size();
    }
    Plans[&F] = std::move(Plan);
  }
}

unsigned ModuleProbes::offset(const Function &F) const {
  auto Found = Offsets.find(&F);
  return Found == Offsets.end() ? Shared : Found->second;
}

unsigned ModuleProbes::cells(const Function &Kernel) const {
  return Shared + plan(Kernel).cells();
}

ArrayRef<uint32_t> ModuleProbes::accesses(const Function &F) const {
  return Accesses.find(&F)->second;
}

unsigned ModuleProbes::accessOffset(const Function &F) const {
  auto Found = AccessOffsets.find(&F);
  return Found == AccessOffsets.end() ? SharedAccesses : Found->second;
}

unsigned ModuleProbes::accessCount(const Function &Kernel) const {
  return SharedAccesses + accesses(Kernel).size();
}

//===----------------------------------------------------------------------===//
// Probes
//===----------------------------------------------------------------------===//

namespace {
class Rewriter {
public:
  Rewriter(Function &F, const ModuleProbes &Probes, GlobalVariable &Config,
           AccessProbes &Memory, const InstrumentOptions &Options)
      : F(F), Probes(Probes), Plan(Probes.plan(F)), Offset(Probes.offset(F)),
        Config(Config), Memory(Memory), CallsProbes(AccessProbes::mayCall(F)),
        Options(Options), B(F.getContext()), I32(B.getInt32Ty()) {}
  void run();

private:
  void makeVariables();
  void probe(unsigned Block);
  void flushAtExits();
  void countFlow();
  void countAccesses();
  void carry(const ProbePlan::Carry &C);

  void raise(Value *Variable, Value *By);
  Value *isFirstOf(Value *Mask);
  Value *lanesLike(Value *Condition);
  Value *companions(Instruction &Terminator);
  Value *goesTo(Instruction &Terminator, unsigned Successor);
  Value *companionsInKernel(Instruction &Terminator);
  void seeLeaving(Value *All, Value *Staying);

  Function &F;
  const ModuleProbes &Probes;
  const ProbePlan &Plan;
  const unsigned Offset;
  GlobalVariable &Config;
  AccessProbes &Memory;
  const bool CallsProbes;
  const InstrumentOptions &Options;
  IRBuilder<> B;
  Type *I32;
  std::optional<ProbeVariables> V;
  Versions Bodies;
  Value *Below = nullptr; ///< the lanes below this one
  Value *Mask = nullptr;  ///< of the block at hand, if it asks
};
} // namespace

void Rewriter::makeVariables() {
  BasicBlock *Entry = Plan.Code.front();
  B.SetInsertPoint(Entry, Entry->getFirstInsertionPt());
  V.emplace(Plan, F, B);
  // Reading it takes longer than most instructions: once.
  Below = B.CreateIntrinsic(I32, Intrinsic::nvvm_read_ptx_sreg_lanemask_lt, {});
}

void Rewriter::raise(Value *Variable, Value *By) {
  B.CreateStore(B.CreateAdd(B.CreateLoad(I32, Variable), By), Variable);
}

/// This lane is the lowest of \p Mask, which it is in.
Value *Rewriter::isFirstOf(Value *Mask) {
  return B.CreateIsNull(B.CreateAnd(Mask, Below));
}

/// Of the lanes that run this together, those with the same \p Condition.
Value *Rewriter::lanesLike(Value *Condition) {
  if (Options.Portable) {
    Value *True = B.CreateIntrinsic(I32, Intrinsic::nvvm_vote_ballot_sync,
                                    {Mask, Condition});
    return B.CreateSelect(Condition, True, B.CreateXor(Mask, True));
  }
  // A vote needs its lanes named, and a mask that is no constant makes it wait
  // for them. A guarded activemask asks the same and does not wait.
  auto *Type = FunctionType::get(I32, {I32}, false);
  auto *Asm = InlineAsm::get(Type,
                             "{ .reg .pred p; setp.ne.u32 p, $1, 0; "
                             "@p activemask.b32 $0; @!p activemask.b32 $0; }",
                             "=&r,r", /*hasSideEffects=*/true);
  CallInst *Call = B.CreateCall(Asm, {B.CreateZExt(Condition, I32)});
  Call->addFnAttr(Attribute::Convergent);
  Call->addFnAttr(Attribute::NoUnwind);
  return Call;
}

/// Whether this thread will leave by \p Successor; null: it has no choice.
Value *Rewriter::goesTo(Instruction &Terminator, unsigned Successor) {
  if (auto *Branch = dyn_cast<BranchInst>(&Terminator)) {
    if (Branch->isUnconditional())
      return nullptr;
    Value *C = Branch->getCondition();
    return Successor == 0 ? C : B.CreateNot(C);
  }
  auto &Switch = cast<SwitchInst>(Terminator);
  Value *C = Switch.getCondition(), *Other = B.getTrue();
  for (auto &Case : Switch.cases()) {
    if (Case.getSuccessorIndex() == Successor)
      return B.CreateICmpEQ(C, Case.getCaseValue());
    if (Successor == 0)
      Other = B.CreateAnd(Other, B.CreateICmpNE(C, Case.getCaseValue()));
  }
  return Other;
}

/// Of the lanes that run \p Terminator together, those that go where this one
/// goes.
Value *Rewriter::companions(Instruction &Terminator) {
  if (Terminator.getNumSuccessors() == 2)
    return lanesLike(goesTo(Terminator, 0));
  Value *Same = Mask;
  for (unsigned I = 0; I != Terminator.getNumSuccessors(); ++I)
    Same = B.CreateAnd(Same, lanesLike(goesTo(Terminator, I)));
  return Same;
}

/// Of those lanes, the ones that do not return, if this one does not.
Value *Rewriter::companionsInKernel(Instruction &Terminator) {
  Value *Stays = B.getFalse();
  for (unsigned I = 0; I != Terminator.getNumSuccessors(); ++I)
    if (!onlyReturns(*Terminator.getSuccessor(I)))
      Stays = B.CreateOr(Stays, goesTo(Terminator, I));
  return lanesLike(Stays);
}

/// Of the lanes \p All, only \p Staying go on in the kernel. (Meaningless in
/// lanes that return, which do not use it any more.)
void Rewriter::seeLeaving(Value *All, Value *Staying) {
  raise(V->Gone,
        B.CreateUnaryIntrinsic(Intrinsic::ctpop, B.CreateXor(All, Staying)));
}

void Rewriter::probe(unsigned Block) {
  BasicBlock &BB = *Plan.Code[Block];
  Instruction &Terminator = *BB.getTerminator();
  B.SetInsertPoint(&endOfPath(BB));
  // No line: a probe is no code of the user's.
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Before = V->Mask ? B.CreateLoad(I32, V->Mask) : nullptr;
  Mask = nullptr;
  if (Plan.FindsMask[Block]) {
    Mask = B.CreateIntrinsic(I32, Intrinsic::nvvm_activemask, {});
    B.CreateStore(Mask, V->Mask);
  }
  // Who is gone when this block runs, before it is used.
  for (auto [N, S] : enumerate(Plan.Splits)) {
    if (S.Side != Block)
      continue;
    Value *Branched = S.Around ? B.CreateLoad(I32, V->Rounds[N]) : Before;
    Value *Split = B.CreateAnd(isFirstOf(Mask), B.CreateICmpNE(Mask, Branched));
    if (S.Around) // 0 in the first iteration
      Split = B.CreateAnd(Split, B.CreateIsNotNull(Branched));
    V->count(S.Probe, Split);
    if (Plan.Leaves[S.Block] && V->Gone)
      seeLeaving(Branched, Mask);
  }
  for (const WarpGroup &G : Plan.Groups) {
    if (G.Site != Block)
      continue;
    Value *Leads = isFirstOf(Mask);
    V->count(G.Probe, Leads);
    if (G.Exited == WarpGroup::Summed)
      raise(V->Exits[G.ExitedCell],
            B.CreateSelect(Leads, B.CreateLoad(I32, V->Gone), B.getInt32(0)));
  }
  for (const SplitProbe &S : Plan.Splits)
    if (S.Block == Block && !S.Side) {
      V->count(S.Probe,
               B.CreateAnd(isFirstOf(Mask),
                           B.CreateICmpNE(companions(Terminator), Mask)));
      if (Plan.Leaves[Block] && V->Gone)
        seeLeaving(Mask, companionsInKernel(Terminator));
    }
  for (auto [N, S] : enumerate(Plan.Splits))
    if (S.Around && is_contained(successors(&BB), Plan.Code[*S.Side]))
      B.CreateStore(S.Block == Block ? Mask : B.getInt32(0), V->Rounds[N]);
  for (const FlowEdge &E : Plan.Edges)
    if (E.Probe && E.Site == Block)
      V->count(*E.Probe,
               E.Conditional ? goesTo(Terminator, E.Successor) : nullptr);
  V->settle(B);
}

/// All lanes that are together go one way.
void Rewriter::carry(const ProbePlan::Carry &C) {
  BasicBlock &Header = *Plan.Code[C.Header];
  B.SetInsertPoint(&Header, Header.getFirstInsertionPt());
  B.SetCurrentDebugLocation(DebugLoc());
  Value *Mine = V->isHalfFull(B, C.First, C.Last);
  Mask = B.CreateIntrinsic(I32, Intrinsic::nvvm_activemask, {});
  Value *Any = B.CreateOr(Mine, B.CreateICmpNE(lanesLike(Mine), Mask));
  B.SetInsertPoint(SplitBlockAndInsertIfThen(Any, B.GetInsertPoint(),
                                             /*Unreachable=*/false));
  for (unsigned R = C.First; R <= C.Last; ++R)
    V->takeOver(B, R);
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

static bool hasCollective(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return Call && Call->isConvergent();
  });
}

/// Gives each edge into \p Return a copy of it.
static void separate(BasicBlock &Return) {
  SmallVector<std::pair<Instruction *, unsigned>> Edges;
  SmallPtrSet<BasicBlock *, 8> Seen; // once for each of its edges
  for (BasicBlock *From : predecessors(&Return))
    if (Seen.insert(From).second)
      for (unsigned I = 0; I != succ_size(From); ++I)
        if (From->getTerminator()->getSuccessor(I) == &Return)
          Edges.push_back({From->getTerminator(), I});
  for (auto [Terminator, Successor] : drop_begin(Edges, !Edges.empty())) {
    ValueToValueMapTy Values;
    BasicBlock *Copy =
        CloneBasicBlock(&Return, Values, ".copy", Return.getParent());
    for (Instruction &I : *Copy)
      RemapInstruction(&I, Values,
                       RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    Terminator->setSuccessor(Successor, Copy);
  }
}

void Rewriter::flushAtExits() {
  SmallVector<Instruction *> Exits;
  for (BasicBlock &BB : F) {
    Instruction &End = endOfPath(BB);
    if (!Bodies.Plain.contains(&BB) &&
        (isa<ReturnInst>(End) || !End.isTerminator()))
      Exits.push_back(&End);
  }
  for (Instruction *At : Exits) {
    BasicBlock *Leaving = At->getParent()->splitBasicBlock(At, "rc.leave");
    emitFlush(*At, Plan, *V, Offset, Config, Options);
    if (Plan.IsKernel) // who returns a value has it from a body
      Bodies.Leaving.insert(df_begin(Leaving), df_end(Leaving));
  }
}

/// What optimisation found out about the code without probes.
static void forgetEffects(Function &F) {
  F.removeFnAttr(Attribute::Memory);
  F.removeFnAttr(Attribute::NoSync);
  for (User *U : F.users())
    if (auto *Call = dyn_cast<CallBase>(U)) {
      Call->removeFnAttr(Attribute::Memory);
      Call->removeFnAttr(Attribute::NoSync);
    }
}

/// Lanes, warps and splits; what else there is copies these probes.
void Rewriter::countFlow() {
  SmallVector<BasicBlock *> Bare;
  if (Plan.IsKernel && hasCollective(F))
    copy_if(Plan.Code, std::back_inserter(Bare),
            [](BasicBlock *BB) { return onlyReturns(*BB); });
  Bodies = splitVersions(F, Plan.IsKernel, Config);
  makeVariables();
  for (unsigned Block = 0; Block != Plan.Code.size(); ++Block)
    probe(Block);
  for (const ProbePlan::Carry &C : Plan.Carries)
    carry(C);
  for (BasicBlock *Return : Bare)
    separate(*Return);
  flushAtExits();
}

void Rewriter::countAccesses() {
  DenseMap<uint32_t, unsigned> Index;
  for (auto [Position, Number] : enumerate(Probes.accesses(F)))
    Index[Number] = Probes.accessOffset(F) + unsigned(Position);
  SmallVector<BasicBlock *> Body;
  AccessProbes::Thread Thread = addMemoryVersion(F, Bodies, Config, Body);
  SmallVector<Instruction *> Accesses, Exits; // probes split blocks
  for (BasicBlock *BB : Body) {
    for (Instruction &I : *BB)
      if (analysis::accessNumber(I))
        Accesses.push_back(&I);
    Instruction &End = endOfPath(*BB);
    if (Plan.IsKernel && (isa<ReturnInst>(End) || !End.isTerminator() ||
                          any_of(successors(BB), [&](auto *S) {
                            return Bodies.Leaving.contains(S);
                          })))
      Exits.push_back(&End);
  }
  for (Instruction *I : Accesses)
    Memory.insert(*I, Thread, Index.lookup(*analysis::accessNumber(*I)),
                  CallsProbes);
  for (Instruction *I : Exits)
    Memory.insertAtExit(*I, Thread);
}

static bool countsAccesses(const InstrumentOptions &Options) {
  return Options.Memory && Options.Arch >= 80;
}

void Rewriter::run() {
  const bool HasAccesses =
      countsAccesses(Options) && !Probes.accesses(F).empty();
  if (Plan.Words) // else: one way through, the same for all
    countFlow();
  if (HasAccesses)
    countAccesses();
  if (V)
    V->promote(F);
  if (Plan.Words || HasAccesses)
    forgetEffects(F);
}

void instrument(Module &M, const InstrumentOptions &Options) {
  const auto Counts = [&](const Function &F) {
    return !Options.Only || Options.Only(F);
  };
  ModuleProbes Probes(M, Counts);
  auto *Type = ArrayType::get(Type::getInt64Ty(M.getContext()),
                              sizeof(ProbeConfig) / sizeof(uint64_t));
  auto *Config = new GlobalVariable(
      M, Type, false, GlobalValue::ExternalLinkage,
      ConstantAggregateZero::get(Type), ProbeConfigName, nullptr,
      GlobalValue::NotThreadLocal, analysis::ConstantSpace,
      /*isExternallyInitialized=*/true);
  Config->setAlignment(Align(8));
  SmallVector<Function *> Counted; // there will be more, of ours
  for (Function &F : M)
    if (!F.isDeclaration() && Counts(F))
      Counted.push_back(&F);
  // The numbers that the plans list stay.
  if (countsAccesses(Options))
    for (Function *F : Counted)
      joinAccesses(*F);
  AccessProbes Memory(M, *Config, Options.Portable);
  for (Function *F : Counted)
    Rewriter(*F, Probes, *Config, Memory, Options).run();
}

PreservedAnalyses InstrumentPass::run(Module &M, ModuleAnalysisManager &) {
  instrument(M);
  return PreservedAnalyses::none();
}

} // namespace reconverge::instrument
