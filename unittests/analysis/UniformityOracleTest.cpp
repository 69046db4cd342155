//===- unittests/analysis/UniformityOracleTest.cpp - Claims against runs --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes random functions with random control flow (nested and irreducible
// loops, several exits, switches), runs each thread of a small grid on its own
// with an interpreter, and holds what computeUniformity claims against what the
// threads computed.
//
// Two threads are together at an instruction if they are in the same iteration
// of every cycle around it, entered from the same iteration of the cycles
// outside. Then
//   * a Grid value is the same for all threads that are together, a Block value
//     within a block, a Warp value within a warp;
//   * an Affine value differs by its stride between neighbours in a warp;
//   * a uniform use sees one value in a warp;
//   * lanes of a warp take the same side of a branch not called divergent;
//   * without SameIteration, a uniform value in a cycle behind a divergent
//   branch
//     is the same for the warp in all iterations.
//
//===----------------------------------------------------------------------===//

#include "SeedRange.h"
#include "analysis/Uniformity.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

using namespace llvm;
using namespace reconverge::analysis;

namespace {

constexpr unsigned WarpSize = 8, WarpsPerBlock = 2, GridBlocks = 2;
constexpr unsigned StepLimit = 120;

struct ThreadId {
  unsigned Block, Warp, Lane;
};

/// The same for threads that are together: the block's cycles, outermost first.
using Instance = std::vector<unsigned>;

struct Observation {
  ThreadId Thread;
  uint64_t Value;
};
using Observations = std::map<Instance, std::vector<Observation>>;

//===----------------------------------------------------------------------===//
// Random functions
//===----------------------------------------------------------------------===//

class Generator {
public:
  Generator(LLVMContext &C, unsigned Seed)
      : M("random", C), Random(Seed), Builder(C) {}

  Function &run() {
    Type *I32 = Builder.getInt32Ty();
    auto *T = FunctionType::get(Builder.getVoidTy(), {I32, I32}, false);
    F = Function::Create(T, Function::ExternalLinkage, "kernel", M);
    F->setCallingConv(CallingConv::PTX_Kernel);
    auto *Entry = BasicBlock::Create(M.getContext(), "entry", F);
    unsigned Count = 3 + pick(9);
    for (unsigned I = 0; I < Count; ++I)
      Blocks.push_back(BasicBlock::Create(M.getContext(), "b", F));
    fillEntry(*Entry);
    for (unsigned I = 0; I < Count; ++I)
      fill(*Blocks[I], I);
    EliminateUnreachableBlocks(*F);
    DominatorTree Dominators(*F);
    PromoteMemToReg(Variables, Dominators);
    return *F;
  }

  Module M;

private:
  unsigned pick(unsigned Below) { return Random() % Below; }

  Value *sreg(Intrinsic::ID Id) { return Builder.CreateIntrinsic(Id, {}, {}); }

  void fillEntry(BasicBlock &Entry) {
    Builder.SetInsertPoint(&Entry);
    for (unsigned I = 0; I < 6; ++I)
      Variables.push_back(Builder.CreateAlloca(Builder.getInt32Ty()));
    Value *Start[] = {sreg(Intrinsic::nvvm_read_ptx_sreg_laneid),
                      F->getArg(0),
                      F->getArg(1),
                      sreg(Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                      sreg(Intrinsic::nvvm_read_ptx_sreg_warpid),
                      Builder.getInt32(pick(5))};
    for (unsigned I = 0; I < 6; ++I)
      Builder.CreateStore(Start[I], Variables[I]);
    Builder.CreateBr(Blocks[0]);
  }

  Value *load(unsigned Variable) {
    return Builder.CreateLoad(Builder.getInt32Ty(), Variables[Variable]);
  }

  /// Rarely the lane's own variable, or little would stay uniform.
  Value *load() { return load(pick(12) ? 1 + pick(Variables.size() - 1) : 0); }

  /// Often depends on the lane, and on a count if there is one.
  Value *condition() {
    Value *V = Builder.CreateAnd(load(), Builder.getInt32(7));
    Value *Limit = Builder.getInt32(1 + pick(6));
    if (pick(2))
      Limit = Builder.CreateAnd(load(pick(3) ? 0 : pick(Variables.size())),
                                Builder.getInt32(7));
    return Builder.CreateICmpULT(V, Limit);
  }

  Value *compute(unsigned Variable) {
    if (pick(2)) // a counter, or a reset: uniform again, whatever it was
      return pick(3) ? Builder.CreateAdd(load(Variable), Builder.getInt32(1))
                     : static_cast<Value *>(Builder.getInt32(pick(5)));
    Value *A = load();
    Value *B = pick(2) ? load() : Builder.getInt32(1 + pick(3));
    switch (pick(6)) {
    case 0:
      return Builder.CreateSub(A, B);
    case 1:
      return Builder.CreateMul(A, B);
    case 2:
      return Builder.CreateXor(A, B);
    case 3:
      return Builder.CreateSelect(condition(), A, B);
    case 4:
      return Builder.CreateShl(A, Builder.getInt32(pick(3)));
    default:
      return Builder.CreateAdd(A, B);
    }
  }

  /// Mostly onwards, sometimes back or to the block itself.
  BasicBlock *target(unsigned From) {
    if (pick(3) != 0 && From + 1 < Blocks.size())
      return Blocks[From + 1 + pick(Blocks.size() - From - 1)];
    return Blocks[pick(Blocks.size())];
  }

  void fill(BasicBlock &BB, unsigned Number) {
    Builder.SetInsertPoint(&BB);
    for (unsigned I = pick(4); I > 0; --I) {
      unsigned Variable = 1 + pick(Variables.size() - 1);
      Builder.CreateStore(compute(Variable), Variables[Variable]);
    }
    if (Number + 1 == Blocks.size()) {
      Builder.CreateRetVoid();
      return;
    }
    switch (pick(8)) {
    case 0:
    case 1:
      Builder.CreateBr(target(Number));
      return;
    case 2: {
      auto *Switch = Builder.CreateSwitch(
          Builder.CreateAnd(load(), Builder.getInt32(3)), target(Number));
      Switch->addCase(Builder.getInt32(0), target(Number));
      Switch->addCase(Builder.getInt32(1), target(Number));
      return;
    }
    case 3:
      if (pick(3) == 0) {
        Builder.CreateRetVoid();
        return;
      }
      [[fallthrough]];
    default:
      Builder.CreateCondBr(condition(), target(Number), target(Number));
    }
  }

  std::mt19937 Random;
  IRBuilder<> Builder;
  Function *F = nullptr;
  SmallVector<BasicBlock *, 16> Blocks;
  SmallVector<AllocaInst *, 8> Variables;
};

//===----------------------------------------------------------------------===//
// One thread's run
//===----------------------------------------------------------------------===//

class Interpreter {
public:
  Interpreter(const CycleInfo &Cycles, ThreadId Me,
              std::map<const Instruction *, Observations> &Seen,
              std::map<const Use *, Observations> &Uses,
              std::map<const BasicBlock *, Observations> &Sides)
      : Cycles(Cycles), Me(Me), Seen(Seen), Uses(Uses), Sides(Sides) {}

  void run(const Function &F) {
    Values[F.getArg(0)] = 5;
    Values[F.getArg(1)] = 2;
    const BasicBlock *From = nullptr, *BB = &F.getEntryBlock();
    for (unsigned Step = 0; BB && Step < StepLimit; ++Step) {
      enter(*BB);
      Instance At = instance(*BB);
      const BasicBlock *Next = execute(*BB, From, At);
      From = BB;
      BB = Next;
    }
  }

private:
  struct Round {
    std::map<const BasicBlock *, unsigned> Visits;
  };

  /// Counts rounds of the cycles around \p BB and forgets those that were left.
  void enter(const BasicBlock &BB) {
    for (auto It = Rounds.begin(); It != Rounds.end();)
      It = It->first->contains(&BB) ? std::next(It) : Rounds.erase(It);
    for (const Cycle *C = Cycles.getCycle(&BB); C; C = C->getParentCycle()) {
      Round &R = Rounds[C];
      // An iteration of the outer cycle ends every inner one.
      if (!C->isReducible() || C->getHeader() == &BB) {
        ++R.Visits[C->isReducible() ? C->getHeader() : &BB];
        for (auto It = Rounds.begin(); It != Rounds.end();)
          It = It->first != C && C->contains(It->first) &&
                       !It->first->contains(&BB)
                   ? Rounds.erase(It)
                   : std::next(It);
      }
    }
  }

  Instance instance(const BasicBlock &BB) {
    Instance At;
    for (const Cycle *C = Cycles.getCycle(&BB); C; C = C->getParentCycle())
      At.insert(At.begin(),
                Rounds[C].Visits[C->isReducible() ? C->getHeader() : &BB]);
    return At;
  }

  uint64_t value(const Value &V) {
    if (const auto *C = dyn_cast<ConstantInt>(&V))
      return C->getZExtValue();
    return Values.lookup(&V); // undef reads as 0
  }

  void record(const Instruction &I, const Instance &At, uint64_t V) {
    Seen[&I][At].push_back({Me, V});
  }

  const BasicBlock *execute(const BasicBlock &BB, const BasicBlock *From,
                            const Instance &At) {
    SmallVector<std::pair<const PHINode *, uint64_t>, 8> Phis;
    for (const PHINode &Phi : BB.phis()) {
      const Use &U = Phi.getOperandUse(Phi.getBasicBlockIndex(From));
      uint64_t V = value(*U);
      Uses[&U][At].push_back({Me, V});
      Phis.push_back({&Phi, V});
    }
    for (auto [Phi, V] : Phis) {
      Values[Phi] = V;
      record(*Phi, At, V);
    }
    for (const Instruction &I : BB) {
      if (isa<PHINode>(I))
        continue;
      for (const Use &U : I.operands())
        if (U->getType()->isIntegerTy())
          Uses[&U][At].push_back({Me, value(*U)});
      if (I.isTerminator())
        return leave(I, At);
      Values[&I] = compute(I);
      record(I, At, Values[&I]);
    }
    return nullptr;
  }

  const BasicBlock *leave(const Instruction &Term, const Instance &At) {
    unsigned Side = 0;
    if (isa<ReturnInst>(Term))
      return nullptr;
    if (const auto *Branch = dyn_cast<BranchInst>(&Term)) {
      if (Branch->isConditional())
        Side = value(*Branch->getCondition()) ? 0 : 1;
    } else {
      const auto &Switch = cast<SwitchInst>(Term);
      uint64_t V = value(*Switch.getCondition());
      for (const auto &Case : Switch.cases())
        if (Case.getCaseValue()->getZExtValue() == V)
          Side = Case.getSuccessorIndex();
    }
    const BasicBlock *To = Term.getSuccessor(Side);
    Sides[Term.getParent()][At].push_back(
        {Me, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(To))});
    return To;
  }

  uint64_t compute(const Instruction &I) {
    if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
      switch (Call->getIntrinsicID()) {
      case Intrinsic::nvvm_read_ptx_sreg_laneid:
        return Me.Lane;
      case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        return Me.Block;
      default:
        return Me.Warp;
      }
    }
    uint64_t A = value(*I.getOperand(0)), B = value(*I.getOperand(1));
    switch (I.getOpcode()) {
    case Instruction::Add:
      return uint32_t(A + B);
    case Instruction::Sub:
      return uint32_t(A - B);
    case Instruction::Mul:
      return uint32_t(A * B);
    case Instruction::Xor:
      return A ^ B;
    case Instruction::And:
      return A & B;
    case Instruction::Shl:
      return uint32_t(A << B);
    case Instruction::ICmp:
      return A < B;
    case Instruction::Select:
      return A ? B : value(*I.getOperand(2));
    default:
      ADD_FAILURE() << "the generator makes no " << I.getOpcodeName();
      return 0;
    }
  }

  const CycleInfo &Cycles;
  ThreadId Me;
  std::map<const Instruction *, Observations> &Seen;
  std::map<const Use *, Observations> &Uses;
  std::map<const BasicBlock *, Observations> &Sides;
  std::map<const Cycle *, Round> Rounds;
  DenseMap<const Value *, uint64_t> Values;
};

//===----------------------------------------------------------------------===//
// Claims against observations
//===----------------------------------------------------------------------===//

/// The number of the group of threads for which \p L promises one value.
unsigned groupOf(Level L, const ThreadId &T) {
  if (L == Level::Grid)
    return 0;
  return L == Level::Block ? T.Block : T.Block * WarpsPerBlock + T.Warp;
}

/// No two threads that \p L calls alike saw different values.
bool agrees(Level L, const std::vector<Observation> &All) {
  const Observation *First[GridBlocks * WarpsPerBlock] = {};
  for (const Observation &O : All) {
    const Observation *&Of = First[groupOf(L, O.Thread)];
    if (!Of)
      Of = &O;
    else if (Of->Value != O.Value)
      return false;
  }
  return true;
}

/// Neighbours of a warp differ by one stride, the known one if there is one.
bool isAffine(std::optional<int64_t> Stride,
              const std::vector<Observation> &All) {
  const Observation *Lanes[GridBlocks * WarpsPerBlock][WarpSize] = {};
  for (const Observation &O : All)
    Lanes[groupOf(Level::Warp, O.Thread)][O.Thread.Lane] = &O;
  for (auto &Warp : Lanes) {
    std::optional<uint32_t> Step;
    if (Stride)
      Step = static_cast<uint32_t>(*Stride);
    for (unsigned Lane = 0; Lane + 1 < WarpSize; ++Lane) {
      if (!Warp[Lane] || !Warp[Lane + 1])
        continue;
      auto Here =
          static_cast<uint32_t>(Warp[Lane + 1]->Value - Warp[Lane]->Value);
      if (Step && *Step != Here)
        return false;
      Step = Here;
    }
  }
  return true;
}

/// The blocks of cycles that a branch called divergent can reach: there lanes
/// may be in any iteration.
std::set<const BasicBlock *> mixedBlocks(const Function &F,
                                         const UniformityResult &Claims,
                                         const CycleInfo &Cycles) {
  std::vector<const BasicBlock *> Work;
  std::set<const BasicBlock *> Behind, Mixed;
  for (const BasicBlock &BB : F)
    if (Claims.isDivergentBranch(BB))
      Work.push_back(&BB);
  while (!Work.empty()) {
    const BasicBlock *BB = Work.back();
    Work.pop_back();
    for (const BasicBlock *Succ : successors(BB))
      if (Behind.insert(Succ).second)
        Work.push_back(Succ);
  }
  for (const BasicBlock *BB : Behind)
    if (Cycles.getCycle(BB))
      Mixed.insert(BB);
  return Mixed;
}

/// A value that lanes may compute in any order, apart, and as often as they
/// like: the same in all iterations.
bool isTimeless(const Observations &ByInstance) {
  std::vector<Observation> All;
  for (const auto &[At, Some] : ByInstance)
    All.insert(All.end(), Some.begin(), Some.end());
  return agrees(Level::Warp, All);
}

struct Totals {
  unsigned Uniform = 0, Divergent = 0, Irreducible = 0, Temporal = 0;
  unsigned Timeless = 0; ///< uniform where lanes may be in any iteration
};

void checkFunction(Function &F, const UniformityOptions &Options,
                   Totals &Totals) {
  UniformityResult Claims = computeUniformity(F, Options);
  CycleInfo Cycles;
  Cycles.compute(F);
  std::map<const Instruction *, Observations> Seen;
  std::map<const Use *, Observations> Uses;
  std::map<const BasicBlock *, Observations> Sides;
  for (unsigned Block = 0; Block < GridBlocks; ++Block)
    for (unsigned Warp = 0; Warp < WarpsPerBlock; ++Warp)
      for (unsigned Lane = 0; Lane < WarpSize; ++Lane)
        Interpreter(Cycles, {Block, Warp, Lane}, Seen, Uses, Sides).run(F);

  for (const auto &[I, ByInstance] : Seen) {
    Uniformity Claim = Claims.of(*I);
    ++(Claims.isUniform(*I) ? Totals.Uniform : Totals.Divergent);
    for (const auto &[At, All] : ByInstance) {
      if (Claims.isUniform(*I))
        EXPECT_TRUE(agrees(Claim.L, All)) << "value " << I->getName().str();
      else if (Claim.L == Level::Affine)
        EXPECT_TRUE(isAffine(Claim.Stride, All)) << "value";
    }
  }
  if (!Options.SameIteration) {
    auto Mixed = mixedBlocks(F, Claims, Cycles);
    for (const auto &[I, ByInstance] : Seen)
      if (Mixed.count(I->getParent()) && Claims.isUniform(*I)) {
        ++Totals.Timeless;
        EXPECT_TRUE(isTimeless(ByInstance)) << "value in all iterations";
      }
  }
  for (const auto &[U, ByInstance] : Uses) {
    if (!Claims.isUniformUse(*U)) {
      Totals.Temporal += Claims.isUniform(*U->get());
      continue;
    }
    for (const auto &[At, All] : ByInstance)
      EXPECT_TRUE(agrees(Level::Warp, All)) << "use";
  }
  for (const auto &[BB, ByInstance] : Sides)
    if (!Claims.isDivergentBranch(*BB))
      for (const auto &[At, All] : ByInstance)
        EXPECT_TRUE(agrees(Level::Warp, All)) << "branch";
  for (const Cycle *C : Cycles.toplevel_cycles())
    Totals.Irreducible += !C->isReducible();
  if (testing::Test::HasFailure()) {
    std::string Text;
    raw_string_ostream Stream(Text);
    Claims.print(Stream, F);
    F.print(Stream);
    FAIL() << Text;
  }
}

TEST(UniformityOracle, RandomFunctions) {
  Totals Totals;
  const auto [First, Count] = reconverge::seedRange(2000);
  for (unsigned I = 0; I < Count && !HasFailure(); ++I) {
    const unsigned Seed = First + I;
    SCOPED_TRACE("seed " + std::to_string(Seed));
    LLVMContext C;
    Generator G(C, Seed);
    Function &F = G.run();
    ASSERT_FALSE(verifyFunction(F, &errs()));
    checkFunction(F, {}, Totals);
    if (!HasFailure())
      checkFunction(F, {/*UniformLoads=*/false, /*SameIteration=*/false},
                    Totals);
  }
  // The runs must have had something to say.
  EXPECT_GT(Totals.Uniform, 5 * Count / 2);
  EXPECT_GT(Totals.Divergent, 5 * Count / 2);
  EXPECT_GT(Totals.Irreducible, Count / 20);
  EXPECT_GT(Totals.Temporal, Count / 40);
  EXPECT_GT(Totals.Timeless, Count / 4);
}

} // namespace
