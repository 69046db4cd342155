//===- warpvm/EmitKernel.cpp - All regions of a kernel and their plan -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan is constant data of the compiled module, so that a kernel found in
// the cache runs without any analysis.
//
//===----------------------------------------------------------------------===//

#include "analysis/Places.h"
#include "analysis/Regions.h"
#include "core/Error.h"
#include "warpvm/Compile.h"
#include "warpvm/Warp.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {

/// Counter offsets of each branch; the block counters come first.
struct CounterLayout {
  DenseMap<uint32_t, unsigned> BlockPosition, BranchOffset;
  std::vector<uint32_t> Offsets; ///< one more than there are branches
  std::vector<uint32_t> BlockOfBranch;
  unsigned NumBlocks = 0;

  CounterLayout(const Function &Kernel) {
    auto Numbers = analysis::numbersOf(Kernel);
    NumBlocks = Numbers.Blocks.size();
    for (auto [Position, Id] : enumerate(Numbers.Blocks))
      BlockPosition[Id] = Position;
    DenseMap<uint32_t, unsigned> Successors, Block;
    for (const Function &F : *Kernel.getParent())
      for (const BasicBlock &BB : F)
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

/// Blocks that can run while other lanes of the warp wait at a return.
static DenseSet<const BasicBlock *>
blocksAfterExit(const RegionPlanner &Plan,
                const analysis::UniformityResult &Uniform) {
  DenseSet<const BasicBlock *> After;
  SmallVector<const BasicBlock *> Work;
  for (BasicBlock *BB : Plan.Order)
    if (Uniform.isDivergentBranch(*BB) &&
        any_of(successors(BB),
               [&](BasicBlock *S) { return Plan.onlyReturns(*S); }))
      append_range(Work, successors(BB));
  while (!Work.empty()) {
    const BasicBlock *BB = Work.pop_back_val();
    if (!Plan.onlyReturns(*BB) && After.insert(BB).second)
      append_range(Work, successors(BB));
  }
  return After;
}

Expected<std::unique_ptr<Module>> emitKernel(Function &Kernel,
                                             const EmitOptions &Emit, Tier Code,
                                             const TargetMachine &Target) {
  auto Prepared = prepareKernel(Kernel);
  if (!Prepared)
    return Prepared.takeError();
  Function &F = *Prepared->F;
  DominatorTree DT(F);
  analysis::PostDominance Meets(F);
  LoopInfo LI(DT);
  // Lanes may be run apart: what is called uniform must not depend on when a
  // load happens.
  analysis::UniformityOptions Strict;
  Strict.UniformLoads = false;
  auto Uniform = analysis::computeUniformity(F, Strict);
  RegionPlanner Plan(F, LI, Uniform, Code);
  FrameLayout Frame(F, Plan, Uniform, Emit.WarpSize);
  CounterLayout Counters(Kernel);

  auto Out = std::make_unique<Module>(Kernel.getName(), Kernel.getContext());
  Out->setTargetTriple(Target.getTargetTriple().str());
  Out->setDataLayout(Target.createDataLayout());

  KernelContext C{*Prepared,
                  Plan,
                  Uniform,
                  Frame,
                  Emit,
                  Counters.BlockPosition,
                  Counters.BranchOffset,
                  blocksAfterExit(Plan, Uniform)};
  PlanBuilder P(*Out);
  IRBuilder<> B(Out->getContext());
  SmallVector<Constant *> Regions;
  for (auto [Index, R] : enumerate(Plan.Regions)) {
    if (R.Targets.size() > MaxTargets)
      return userError("kernel " + Kernel.getName() +
                       ": a block has more than " + Twine(MaxTargets) +
                       " successors");
    auto Fn = RegionEmitter(C, Index, *Out).run();
    if (!Fn)
      return Fn.takeError();
    SmallVector<Constant *> Targets;
    for (const RegionTarget &T : R.Targets)
      Targets.push_back(P.record(
          {P.word(Plan.RegionOf.lookup(T.Block)), P.word(uint32_t(T.Kind))}));
    auto *TargetTy = StructType::get(B.getInt32Ty(), B.getInt32Ty());
    SmallVector<Constant *> Live;
    for (uint32_t Word : Frame.LiveScalars[Index])
      Live.push_back(P.word(Word));
    uint32_t PostDominator = NoRegion;
    if (const BasicBlock *Join = Meets.immediate(*Plan.Order[R.Last]))
      PostDominator = Plan.RegionOf.lookup(Join);
    const DILocation *DL = firstLine(*Plan.Order[R.First]);
    bool Returns = R.First == R.Last && Plan.onlyReturns(*Plan.Order[R.First]);
    Regions.push_back(P.record(
        {*Fn, P.table(TargetTy, Targets, "targets"), P.word(Targets.size()),
         P.word(PostDominator), P.word(DL ? DL->getLine() : 0), P.word(Returns),
         P.word(Plan.opensWait(*Plan.Order[R.First])),
         P.text(DL ? analysis::sourcePath(*DL) : ""),
         P.table(B.getInt32Ty(), Live, "live"), P.word(Live.size())}));
  }
  SmallVector<Constant *> Offsets, Blocks;
  for (uint32_t Offset : Counters.Offsets)
    Offsets.push_back(P.word(Offset));
  for (uint32_t Position : Counters.BlockOfBranch)
    Blocks.push_back(P.word(Position));
  Constant *Fields[] = {P.table(Regions.front()->getType(), Regions, "regions"),
                        P.table(B.getInt32Ty(), Offsets, "branches"),
                        P.table(B.getInt32Ty(), Blocks, "branch.blocks"),
                        P.word(Regions.size()),
                        P.word(Counters.NumBlocks),
                        P.word(Offsets.size() - 1),
                        P.word(Counters.Offsets.back()),
                        P.word(Frame.FrameBytes),
                        P.word(std::max(1u, Frame.NumScalars)),
                        P.word(Prepared->LocalBytes),
                        P.word(Prepared->Shared.Bytes),
                        P.word(Emit.WarpSize),
                        P.word(!C.AfterExit.empty())};
  Constant *Whole = P.record(Fields);
  new GlobalVariable(*Out, Whole->getType(), true, GlobalValue::ExternalLinkage,
                     Whole, PlanSymbol);
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (verifyModule(*Out, &OS))
    return internalError("kernel " + Kernel.getName() +
                         ": the VM's code does not verify: " + Problem);
  return Out;
}

} // namespace reconverge::warpvm
