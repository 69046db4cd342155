//===- remedies/common/Runs.cpp - How often changed code runs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ptxas makes of a candidate is known before anything of it runs. What that
// takes follows from how often each of its blocks will: the counts of the
// original say so, if it is known which blocks became which. So before a remedy
// changes the copy, each instruction is marked with the number and the runs of
// its block,
//
//   !rc.runs !{i32 number, double runs, double once}
//
// and where a remedy makes one instruction of two, of the arms of a branch, it
// joins their marks. Of W warps that came to the branch n ran both arms, one
// after the other. Together the arms ran W + n times, and what both have become
// runs once for each warp:
//
//   runs(A and B) = (runs(A) + runs(B)) once,   once = W / (W + n)
//
// also inside of loops, of which warps are taken to run as many rounds for both
// arms. Two copies of one block, as are made where arms share code, had its runs
// together already.
//
// A block runs as often as what runs most often in it: what is in it besides was
// moved there, or runs there for all lanes. A block of new code alone runs as
// often as the block that decides over it.
//
// Limitation: copies of a block that do not become one again have its runs each.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Runs.h"

#include "analysis/MachineCode.h"
#include "analysis/Numbering.h"
#include "core/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies {

static constexpr StringLiteral RunsKind = "rc.runs";

namespace {
struct Mark {
  uint32_t Number = 0; ///< of the block
  double Runs = 0;
  double Once = 1; ///< of a branch
};
} // namespace

static void set(Instruction &I, const Mark &M) {
  LLVMContext &C = I.getContext();
  const auto Real = [&](double X) {
    return ConstantAsMetadata::get(ConstantFP::get(Type::getDoubleTy(C), X));
  };
  I.setMetadata(RunsKind,
                MDNode::get(C, {ConstantAsMetadata::get(ConstantInt::get(
                                    Type::getInt32Ty(C), M.Number)),
                                Real(M.Runs), Real(M.Once)}));
}

static std::optional<Mark> markOf(const Instruction &I) {
  const MDNode *Node = I.getMetadata(RunsKind);
  if (!Node)
    return std::nullopt;
  const auto Real = [&](unsigned At) {
    return mdconst::extract<ConstantFP>(Node->getOperand(At))
        ->getValueAPF()
        .convertToDouble();
  };
  return Mark{
      uint32_t(
          mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue()),
      Real(1), Real(2)};
}

void markRuns(Function &Copy, const KernelProfile &Seen) {
  DenseMap<uint32_t, double> Runs, Once;
  DenseMap<uint32_t, unsigned> Numbered; // blocks that share the number
  for (auto [Info, Counts] : zip_equal(Seen.Info.Blocks, Seen.Blocks))
    Runs[Info.Id] = double(Counts.Warps);
  for (auto [Info, Counts] : zip_equal(Seen.Info.Branches, Seen.Branches))
    if (Counts.Warps)
      Once[Info.Id] =
          double(Counts.Warps) / double(Counts.Warps + Counts.Splits);
  for (const BasicBlock &BB : Copy)
    if (const auto Number = analysis::blockNumber(BB))
      ++Numbered[*Number];
  for (BasicBlock &BB : Copy) {
    const auto Number = analysis::blockNumber(BB);
    if (!Number || !Runs.contains(*Number))
      continue;
    Mark M{*Number, Runs[*Number] / Numbered[*Number]};
    for (Instruction &I : BB) {
      if (const auto Branch = analysis::branchNumber(BB);
          I.isTerminator() && Branch && Once.contains(*Branch))
        M.Once = Once[*Branch];
      set(I, M);
    }
  }
}

void joinRuns(Instruction &Made, const Instruction &A, const Instruction &B,
              const Instruction &Branch) {
  const auto X = markOf(A), Y = markOf(B);
  if (!X || !Y)
    return;
  Mark Both = *X;
  if (X->Number != Y->Number) {
    const auto At = markOf(Branch);
    Both.Runs = (X->Runs + Y->Runs) * (At ? At->Once : 0.5);
  }
  set(Made, Both);
}

/// How often each block runs; empty: there are no marks.
static DenseMap<const BasicBlock *, double> runsOf(const Function &F) {
  DenseMap<const BasicBlock *, double> Runs;
  for (const BasicBlock &BB : F)
    for (const Instruction &I : BB)
      if (const auto M = markOf(I)) {
        double &Most = Runs[&BB];
        Most = std::max(Most, M->Runs);
      }
  if (Runs.empty())
    return Runs;
  const DominatorTree Dominators(const_cast<Function &>(F));
  for (const DomTreeNode *Node : depth_first(Dominators.getRootNode()))
    if (const DomTreeNode *Over = Node->getIDom())
      Runs.try_emplace(Node->getBlock(), Runs.lookup(Over->getBlock()));
  return Runs;
}

std::optional<MachineWork> workOf(const Function &Kernel,
                                  const analysis::MachineCode &Code,
                                  const analysis::MachineModel &Machine) {
  const auto Runs = runsOf(Kernel);
  const auto Found = Code.Functions.find(Kernel.getName());
  if (Runs.empty() || Found == Code.Functions.end() ||
      analysis::functionsOf(Kernel).size() != 1)
    return std::nullopt;
  auto Prices = analysis::pricesOf(Kernel, Found->second, Machine);
  if (!Prices) {
    consumeError(Prices.takeError()); // it is then forecast by its IR
    return std::nullopt;
  }
  MachineWork All;
  for (const auto &[BB, Price] : *Prices) {
    const double Times = Runs.lookup(BB);
    for (auto [Sum, Cycles] : zip_equal(All.Busy, Price.Busy))
      Sum += Times * Cycles;
    All.PathCycles += Times * Price.Path;
    All.PathLoads += Times * Price.Loads;
  }
  return All;
}

} // namespace reconverge::remedies
