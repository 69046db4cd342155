//===- warpvm/emit/EmitKernel.cpp - All regions of a kernel and their plan ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan is constant data of the compiled module, so that a kernel found in
// the cache runs without any analysis.
//
//===----------------------------------------------------------------------===//

#include "analysis/Places.h"
#include "analysis/Regions.h"
#include "core/Error.h"
#include "warpvm/emit/Compile.h"
#include "warpvm/emit/Emitter.h"
#include "warpvm/prepare/Callees.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {

/// Counter offsets of each branch; the block counters come first.
struct CounterLayout {
  DenseMap<uint32_t, unsigned> BlockPosition, BranchOffset, AccessPosition;
  std::vector<uint32_t> Offsets; ///< one more than there are branches
  std::vector<uint32_t> BlockOfBranch;
  unsigned NumBlocks = 0;

  CounterLayout(const Function &Kernel) {
    auto Numbers = analysis::numbersOf(Kernel);
    NumBlocks = Numbers.Blocks.size();
    for (auto [Position, Id] : enumerate(Numbers.Blocks))
      BlockPosition[Id] = Position;
    for (auto [Position, Id] : enumerate(Numbers.Accesses))
      AccessPosition[Id] = Position;
    DenseMap<uint32_t, unsigned> Successors, Block;
    for (const Function *F : analysis::functionsOf(Kernel))
      for (const BasicBlock &BB : *F)
        if (auto Id = analysis::branchNumber(BB)) {
          Successors[*Id] = succ_size(&BB);
          Block[*Id] =
              BlockPosition.lookup(analysis::blockNumber(BB).value_or(0));
        }
    uint32_t Next = 3 * NumBlocks;
    for (uint32_t Id : Numbers.Branches) {
      BranchOffset[Id] = Next;
      Offsets.push_back(Next);
      BlockOfBranch.push_back(Block.lookup(Id));
      Next += Successors.lookup(Id); // splits, and all sides but the last
    }
    Offsets.push_back(Next);
  }
};

/// Builds the constant data of Layout.h.
class PlanBuilder {
public:
  PlanBuilder(Module &M) : M(M), B(M.getContext()) {}

  Constant *word(uint32_t X) { return B.getInt32(X); }
  Constant *record(ArrayRef<Constant *> Fields) {
    return ConstantStruct::getAnon(M.getContext(), Fields);
  }
  Constant *table(Type *Element, ArrayRef<Constant *> Items,
                  const Twine &Name) {
    auto *T = ArrayType::get(Element, Items.size());
    auto *GV = new GlobalVariable(M, T, true, GlobalValue::InternalLinkage,
                                  ConstantArray::get(T, Items), Name);
    return GV;
  }
  Constant *text(StringRef S) {
    auto *Data = ConstantDataArray::getString(M.getContext(), S);
    return new GlobalVariable(M, Data->getType(), true,
                              GlobalValue::InternalLinkage, Data, "text");
  }

private:
  Module &M;
  IRBuilder<> B;
};

} // namespace

static const DILocation *firstLine(const BasicBlock &BB) {
  for (const Instruction &I : BB)
    if (const DILocation *DL = userLocation(I); DL && DL->getLine())
      return DL;
  return nullptr;
}

/// Where the `__syncthreads` is that leads to \p BB. PTX's unaligned barriers
/// may meet each other at different places, and have none here.
static const DILocation *barrierBefore(const BasicBlock &BB) {
  const BasicBlock *Before = BB.getSinglePredecessor();
  if (!Before)
    return nullptr;
  const Instruction *Last = Before->getTerminator()->getPrevNode();
  return Last && analysis::intrinsicKind(*Last) ==
                     analysis::IntrinsicKind::BlockBarrier
             ? userLocation(*Last)
             : nullptr;
}

/// Whether what \p F does next may depend on when it does it.
static bool hasClock(const Function &F) {
  return any_of(instructions(F),
                [](const Instruction &I) { return readsClock(I); });
}

/// Blocks that can run while other lanes of the warp wait at a return: behind a
/// branch that sends some straight there, or to where an `exit` is.
static DenseSet<const BasicBlock *>
blocksAfterExit(const RegionPlanner &Plan,
                const analysis::UniformityResult &Uniform) {
  DenseSet<const BasicBlock *> ToExit, After;
  SmallVector<const BasicBlock *> Work;
  for (const BasicBlock *BB : Plan.Order)
    if (endsThread(*BB->getTerminator()))
      Work.push_back(BB);
  while (!Work.empty())
    if (const BasicBlock *BB = Work.pop_back_val(); ToExit.insert(BB).second)
      append_range(Work, predecessors(BB));
  for (BasicBlock *BB : Plan.Order)
    if (Uniform.isDivergentBranch(*BB) &&
        (ToExit.contains(BB) || any_of(successors(BB), [&](BasicBlock *S) {
           return Plan.onlyReturns(*S);
         })))
      append_range(Work, successors(BB));
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!Plan.onlyReturns(*BB) && After.insert(BB).second)
      append_range(Work, successors(BB));
  }
  return After;
}

namespace {

/// Emits a kernel and the functions that stay functions into one module.
class KernelEmitter {
public:
  KernelEmitter(PreparedKernel &K, Function &Kernel, const EmitOptions &Emit,
                Tier Code, Module &Out)
      : K(K), Emit(Emit), Code(Code), Out(Out), Counters(Kernel), P(Out),
        B(Out.getContext()) {}
  Error run();

private:
  Error emitFunction(PreparedFunction &F);
  Expected<Constant *> emitRegion(KernelContext &C, unsigned Index,
                                  const analysis::PostDominance &Meets);
  Constant *callSite(const KernelContext &C, const BasicBlock &Behind);
  SmallVector<Constant *> pointedFunctions(StructType *Entry);
  DenseSet<const BasicBlock *> afterExit(const PreparedFunction &F,
                                         const RegionPlanner &Plan,
                                         const analysis::UniformityResult &U);
  Constant *place(const DILocation *DL) {
    return P.text(DL ? analysis::sourcePath(*DL) : "");
  }
  GlobalVariable *planOf(const Function &F) { return Plans.lookup(&F); }

  PreparedKernel &K;
  EmitOptions Emit;
  Tier Code;
  Module &Out;
  CounterLayout Counters;
  PlanBuilder P;
  IRBuilder<> B;
  DenseMap<const Function *, GlobalVariable *> Plans;
  GlobalVariable *Pointed = nullptr; ///< the table of pointedFunctions
  GlobalVariable *Family = nullptr;  ///< KernelPlan::Family
  bool EndsThreads = false;  ///< a function that is called may end its thread
  bool CallsMayWait = false; ///< ... or depend on what others do
  bool ExitsEarly = false;   ///< the kernel counts lanes that left it
};

} // namespace

/// The call before \p Behind, or null if there is none.
static const CallBase *callBefore(const BasicBlock &Behind) {
  const BasicBlock *Before = Behind.getSinglePredecessor();
  return Before && endsInCall(*Before)
             ? cast<CallBase>(Before->getTerminator()->getPrevNode())
             : nullptr;
}

Constant *KernelEmitter::callSite(const KernelContext &C,
                                  const BasicBlock &Behind) {
  const CallBase *Call = callBefore(Behind);
  auto *PtrTy = PointerType::getUnqual(Out.getContext());
  if (!Call)
    return ConstantPointerNull::get(PtrTy);
  const FrameLayout::Call &At = C.Frame.Calls.find(Call)->second;
  const Function *Callee = Call->getCalledFunction();
  const auto Type = find(K.PointerTypes, Call->getFunctionType());
  const DILocation *DL = userLocation(*Call);
  Constant *Site =
      P.record({Callee ? static_cast<Constant *>(planOf(*Callee))
                       : ConstantPointerNull::get(PtrTy),
                P.word(At.Arguments), P.word(At.Result), P.word(At.Target),
                P.word(Type - K.PointerTypes.begin()),
                P.word(DL ? DL->getLine() : 0), place(DL)});
  return new GlobalVariable(Out, Site->getType(), true,
                            GlobalValue::InternalLinkage, Site, "call");
}

Expected<Constant *>
KernelEmitter::emitRegion(KernelContext &C, unsigned Index,
                          const analysis::PostDominance &Meets) {
  const RegionPlanner &Plan = C.Plan;
  const Region &R = Plan.Regions[Index];
  const BasicBlock &First = *Plan.Order[R.First];
  if (R.Targets.size() > MaxTargets)
    return userError("function " + demangle(C.Function.F->getName()) +
                     ": a block has more than " + Twine(MaxTargets) +
                     " successors");
  auto Fn = RegionEmitter(C, Index, Out).run();
  if (!Fn)
    return Fn.takeError();
  SmallVector<Constant *> Targets;
  for (const RegionTarget &T : R.Targets)
    Targets.push_back(P.record(
        {P.word(Plan.RegionOf.lookup(T.Block)), P.word(uint32_t(T.Kind))}));
  auto *TargetTy = StructType::get(B.getInt32Ty(), B.getInt32Ty());
  SmallVector<Constant *> Live;
  for (uint32_t Word : C.Frame.LiveScalars[Index])
    Live.push_back(P.word(Word));
  uint32_t PostDominator = NoRegion;
  if (const BasicBlock *Join = Meets.immediate(*Plan.Order[R.Last]))
    PostDominator = Plan.RegionOf.lookup(Join);
  const DILocation *DL = firstLine(First);
  const DILocation *Met = barrierBefore(First);
  bool Returns = R.First == R.Last && Plan.onlyReturns(First);
  return P.record(
      {*Fn, P.table(TargetTy, Targets, "targets"), P.word(Targets.size()),
       P.word(PostDominator), P.word(DL ? DL->getLine() : 0), P.word(Returns),
       P.word(Plan.opensWait(First)),
       P.word(isCollective(*First.getFirstNonPHIOrDbg())), place(DL),
       P.table(B.getInt32Ty(), Live, "live"), P.word(Live.size()),
       P.word(Met ? Met->getLine() : 0), P.word(Met ? Met->getColumn() : 0),
       place(Met), callSite(C, First)});
}

/// A called function runs while any lane of the warp may have left the kernel.
DenseSet<const BasicBlock *>
KernelEmitter::afterExit(const PreparedFunction &F, const RegionPlanner &Plan,
                         const analysis::UniformityResult &U) {
  if (F.F == K.F && !EndsThreads)
    return blocksAfterExit(Plan, U);
  if (F.F != K.F && !ExitsEarly)
    return {};
  return DenseSet<const BasicBlock *>(Plan.Order.begin(), Plan.Order.end());
}

/// Fills in the plan of \p Function.
Error KernelEmitter::emitFunction(PreparedFunction &Function) {
  llvm::Function &F = *Function.F;
  const bool IsKernel = &F == K.F;
  DominatorTree DT(F);
  analysis::PostDominance Meets(F);
  LoopInfo LI(DT);
  // Lanes may be run apart: what is called uniform must not depend on when a
  // load happens.
  analysis::UniformityOptions Strict;
  Strict.UniformLoads = false;
  Strict.SameIteration = !Emit.Shuffled;
  auto Uniform = analysis::computeUniformity(F, Strict);
  // Nothing is known of the lanes that are not in a call.
  const bool LanesRunApart = Emit.Shuffled || !IsKernel;
  std::optional<RegionPlanner> Planned(std::in_place, F, LI, Uniform, Code,
                                       Emit.RegionLimit, LanesRunApart,
                                       CallsMayWait);
  // Lanes of different rounds that meet at a collective run it together: no
  // scalar may stand for a value that they do not share.
  if (Strict.SameIteration && Planned->mixesRounds()) {
    Strict.SameIteration = false;
    Uniform = analysis::computeUniformity(F, Strict);
    Planned.emplace(F, LI, Uniform, Code, Emit.RegionLimit, LanesRunApart,
                    CallsMayWait);
  }
  const RegionPlanner &Plan = *Planned;
  FrameLayout Frame(F, Plan, Uniform, Emit.WarpSize);
  KernelContext C{K,
                  Function,
                  Plan,
                  Uniform,
                  Frame,
                  Emit,
                  Counters.BlockPosition,
                  Counters.BranchOffset,
                  Counters.AccessPosition,
                  Counters.Offsets.back(),
                  afterExit(Function, Plan, Uniform),
                  Emit.Init ? std::make_unique<AskedBits>(F) : nullptr};
  if (IsKernel)
    ExitsEarly = !C.AfterExit.empty();
  SmallVector<Constant *> Regions;
  for (unsigned Index = 0; Index < Plan.Regions.size(); ++Index) {
    auto R = emitRegion(C, Index, Meets);
    if (!R)
      return R.takeError();
    Regions.push_back(*R);
  }
  SmallVector<Constant *> Offsets, Blocks;
  for (uint32_t Offset : Counters.Offsets)
    Offsets.push_back(P.word(Offset));
  for (uint32_t Position : Counters.BlockOfBranch)
    Blocks.push_back(P.word(Position));
  const bool AnyClock = any_of(
      K.Functions, [](const PreparedFunction &Of) { return hasClock(*Of.F); });
  SmallVector<Constant *> Clocks;
  for (const FrameLayout::OfClock &Part : Frame.Clocks) {
    for (size_t Word : {size_t(Part.Offset), size_t(Part.LaneBits),
                        size_t(Part.LiveIn.size())})
      Clocks.push_back(P.word(Word));
    for (uint32_t Region : Part.LiveIn)
      Clocks.push_back(P.word(Region));
  }
  const unsigned NumAccesses =
      Emit.Accesses ? Counters.AccessPosition.size() : 0;
  const unsigned NumCounters = Counters.Offsets.back() + 2 * NumAccesses;
  Constant *Fields[] = {P.table(Regions.front()->getType(), Regions, "regions"),
                        P.table(B.getInt32Ty(), Offsets, "branches"),
                        P.table(B.getInt32Ty(), Blocks, "branch.blocks"),
                        P.word(Regions.size()),
                        P.word(Counters.NumBlocks),
                        P.word(Offsets.size() - 1),
                        P.word(NumCounters),
                        P.word(Frame.FrameBytes),
                        P.word(std::max(1u, Frame.NumScalars)),
                        P.word(Function.LocalBytes),
                        P.word(K.Shared.Bytes),
                        P.word(K.Shared.Reserved),
                        P.word(K.Shared.ReservedBytes),
                        P.word(Emit.WarpSize),
                        P.word(IsKernel && ExitsEarly),
                        P.word(IsKernel ? AnyClock : hasClock(F)),
                        P.word(K.Addressed.size()),
                        P.word(K.Globals.size() - K.Addressed.size()),
                        P.word(&Function - K.Functions.data()),
                        P.word(Clocks.size()),
                        P.word(NumAccesses),
                        Pointed,
                        P.table(B.getInt32Ty(), Clocks, "clocks"),
                        Family,
                        P.text(demangle(F.getName()))};
  GlobalVariable *Whole = planOf(F);
  Whole->setInitializer(
      ConstantStruct::get(cast<StructType>(Whole->getValueType()), Fields));
  return Error::success();
}

SmallVector<Constant *> KernelEmitter::pointedFunctions(StructType *Entry) {
  SmallVector<Constant *> Functions;
  for (const Function *F : K.Addressed) {
    Constant *Plan = planOf(*F);
    std::string Refusal =
        F->isDeclaration() ? "it has no body" : K.Refused.lookup(F);
    const auto Type = find(K.PointerTypes, F->getFunctionType());
    Functions.push_back(ConstantStruct::get(
        Entry, Plan ? Plan : Constant::getNullValue(B.getPtrTy()),
        P.text(demangle(F->getName())), P.text(Refusal),
        P.word(Type - K.PointerTypes.begin())));
  }
  return Functions;
}

Error KernelEmitter::run() {
  for (const PreparedFunction &F : ArrayRef(K.Functions).drop_front())
    for (const Instruction &I : instructions(*F.F)) {
      auto *Call = dyn_cast<CallInst>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      EndsThreads |= Callee && Callee->getName() == ExitName;
      CallsMayWait |= dependsOnOthers(I) || pauses(I);
    }
  // Functions call one another, and by index: each has a place for its plan,
  // and there is one for the list, before the first is emitted.
  Type *PtrTy = B.getPtrTy();
  SmallVector<Type *> Fields(3, PtrTy);
  Fields.append(18, B.getInt32Ty());
  Fields.append(4, PtrTy);
  static_assert(sizeof(KernelPlan) == 7 * sizeof(void *) + 18 * 4,
                "these are a plan's fields");
  auto *PlanTy = StructType::get(Out.getContext(), Fields);
  for (const PreparedFunction &F : K.Functions)
    Plans[F.F] = new GlobalVariable(
        Out, PlanTy, true,
        F.F == K.F ? GlobalValue::ExternalLinkage
                   : GlobalValue::InternalLinkage,
        nullptr, F.F == K.F ? StringRef(PlanSymbol) : StringRef("plan"));
  auto *EntryTy = StructType::get(PtrTy, PtrTy, PtrTy, B.getInt32Ty());
  Pointed =
      new GlobalVariable(Out, ArrayType::get(EntryTy, K.Addressed.size()), true,
                         GlobalValue::InternalLinkage, nullptr, "functions");
  Family =
      new GlobalVariable(Out, ArrayType::get(PtrTy, K.Functions.size()), true,
                         GlobalValue::InternalLinkage, nullptr, "family");
  for (PreparedFunction &F : K.Functions) {
    SmallPtrSet<const Function *, 16> Before;
    for (const Function &Done : Out)
      Before.insert(&Done);
    if (Error E = emitFunction(F)) {
      if (!F.OnlyPointed)
        return E;
      // What was begun goes again.
      for (Function &Begun : Out)
        if (!Before.contains(&Begun))
          Begun.deleteBody();
      K.Refused[F.F] = toString(std::move(E));
      Plans[F.F]->eraseFromParent();
      Plans.erase(F.F);
    }
  }
  Pointed->setInitializer(ConstantArray::get(
      cast<ArrayType>(Pointed->getValueType()), pointedFunctions(EntryTy)));
  SmallVector<Constant *> All;
  for (const PreparedFunction &F : K.Functions)
    All.push_back(planOf(*F.F) ? static_cast<Constant *>(planOf(*F.F))
                               : Constant::getNullValue(PtrTy));
  Family->setInitializer(
      ConstantArray::get(cast<ArrayType>(Family->getValueType()), All));
  return Error::success();
}

Expected<std::unique_ptr<Module>> emitKernel(Function &Kernel,
                                             const EmitOptions &Emit, Tier Code,
                                             const TargetMachine &Target) {
  auto Prepared = prepareKernel(Kernel);
  if (!Prepared)
    return Prepared.takeError();
  auto Out = std::make_unique<Module>(Kernel.getName(), Kernel.getContext());
  Out->setTargetTriple(Target.getTargetTriple().str());
  Out->setDataLayout(Target.createDataLayout());
  if (Error E = KernelEmitter(*Prepared, Kernel, Emit, Code, *Out).run())
    return std::move(E);
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (verifyModule(*Out, &OS))
    return internalError("kernel " + Kernel.getName() +
                         ": the VM's code does not verify: " + Problem);
  return Out;
}

} // namespace reconverge::warpvm
