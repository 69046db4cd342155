//===- instrument/Decode.cpp - Counters to counts ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes: the counts of probed edges are read, those of the tree follow
// (ProbePlan::Solution), and a block has run as often as its edges in say.
// Warps: from the group's probe, or from lanes where all lanes of a warp run
// together: whole warps and those that lack lanes are kept apart for that, and
// because the latter's missing lanes are idle in all that they run.
//
//===----------------------------------------------------------------------===//

#include "instrument/Decode.h"

#include "llvm/IR/CFG.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::instrument {

static constexpr uint64_t WarpLanes = 32;

ThreadSets threadsOf(const LaunchShape &Shape) {
  const uint64_t Blocks = Shape.blocks(), Threads = Shape.blockThreads();
  ThreadSets Sets;
  Sets.Tail = Threads % WarpLanes;
  Sets.Whole = Blocks * (Threads - Sets.Tail);
  Sets.Partial = Blocks * Sets.Tail;
  return Sets;
}

/// Completes \p Edges, of which those with a probe (and a kernel's entry) are
/// known. Returns how often each block ran.
static std::vector<uint64_t> solve(const ProbePlan &Plan,
                                   std::vector<uint64_t> &Edges) {
  // In minus out at each node; an edge that is not known yet is 0.
  std::vector<uint64_t> Balance(Plan.Code.size() + 1);
  for (auto [E, N] : zip(Plan.Edges, Edges)) {
    Balance[E.To] += N;
    Balance[E.From] -= N;
  }
  for (const ProbePlan::Step &S : Plan.Solution) {
    const FlowEdge &E = Plan.Edges[S.Edge];
    uint64_t N = E.To == S.Node ? 0 - Balance[S.Node] : Balance[S.Node];
    Edges[S.Edge] = N;
    Balance[E.To] += N;
    Balance[E.From] -= N;
  }
  std::vector<uint64_t> Runs(Plan.Code.size() + 1);
  for (auto [E, N] : zip(Plan.Edges, Edges))
    Runs[E.To] += N;
  Runs.pop_back();
  return Runs;
}

std::vector<uint64_t> warpsOfBlocks(const ProbePlan &Plan,
                                    function_ref<uint64_t(ProbeCounter)> Sum,
                                    ArrayRef<uint64_t> Together) {
  std::vector<uint64_t> Warps(Together);
  for (auto [Count, Group] : zip_equal(Warps, Plan.GroupOf))
    if (Group != ProbePlan::NoGroup)
      Count = Sum(Plan.Groups[Group].Probe);
  return Warps;
}

FunctionCounts decode(const ProbePlan &Plan, ArrayRef<uint64_t> Cells,
                      const ThreadSets &Threads) {
  FunctionCounts Counts;
  Counts.Blocks.resize(Plan.Code.size());
  Counts.Branches.resize(Plan.Code.size());
  for (unsigned Set = 0; Set != 2; ++Set) {
    ArrayRef<uint64_t> Mine = Cells.slice(Set * Plan.cells(), Plan.cells());
    auto Read = [&](ProbeCounter C) { return Mine[Plan.cellOf(C)]; };
    if (!Mine.empty())
      Counts.DivergentWarps += Mine[0];

    std::vector<uint64_t> Edges(Plan.Edges.size());
    for (auto [E, N] : zip(Plan.Edges, Edges))
      if (E.Probe)
        N = Read(*E.Probe);
    if (Plan.IsKernel)
      Edges[0] = Set ? Threads.Partial : Threads.Whole;
    const uint64_t WarpSize = Set ? std::max(Threads.Tail, 1u) : WarpLanes;
    const std::vector<uint64_t> Runs = solve(Plan, Edges);
    std::vector<uint64_t> Together;
    for (uint64_t N : Runs)
      Together.push_back(divideCeil(N, WarpSize));
    const std::vector<uint64_t> Warps = warpsOfBlocks(Plan, Read, Together);
    for (size_t B = 0; B != Runs.size(); ++B) {
      BlockCounts &To = Counts.Blocks[B];
      To.Lanes += Runs[B];
      To.Warps += Warps[B];
      if (Set)
        To.PartialIdle += Warps[B] * (WarpLanes - WarpSize);
      if (const unsigned G = Plan.GroupOf[B];
          G != ProbePlan::NoGroup && Plan.Groups[G].Exited != WarpGroup::Never)
        To.ExitedIdle += Mine[Plan.exitCell(Plan.Groups[G].ExitedCell)];
    }
    for (auto [E, N] : zip(Plan.Edges, Edges))
      if (E.From != Plan.Code.size() && E.To != Plan.Code.size()) {
        std::vector<uint64_t> &To = Counts.Branches[E.From].LanesTo;
        To.resize(succ_size(Plan.Code[E.From]));
        To[E.Successor] += N;
      }
    for (const SplitProbe &S : Plan.Splits)
      Counts.Branches[S.Block].Splits += Read(S.Probe);
  }
  for (auto [Block, Branch] : zip(Counts.Blocks, Counts.Branches))
    Branch.Warps = Block.Warps;
  return Counts;
}

uint32_t read(const ProbePlan &Plan, ArrayRef<uint32_t> Words, ProbeCounter C) {
  return Plan.isPacked(C.Word) ? Words[C.Word] >> (8 * C.Field) & 255
                               : Words[C.Word];
}

std::vector<uint64_t> decodeThread(const ProbePlan &Plan,
                                   ArrayRef<uint32_t> Words) {
  std::vector<uint64_t> Edges(Plan.Edges.size());
  for (auto [E, N] : zip(Plan.Edges, Edges))
    if (E.Probe)
      N = read(Plan, Words, *E.Probe);
  Edges[0] = 1;
  return solve(Plan, Edges);
}

} // namespace reconverge::instrument
