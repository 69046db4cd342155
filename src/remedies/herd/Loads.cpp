//===- remedies/herd/Loads.cpp - What herding loads may come to -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a load that may be herded (ByMachine.cpp), of b bytes a lane, counted:
//
//   s = sectors / requests, k = lanes / requests
//
// By warp_herd_load a request has the block of its first lane, which has b
// sectors (at least one), and lanes fall into it as they fell into their own:
//
//   s' = min(s, distinct(k, b)),  b / 4 passes (at least one)
//
// For that it pays, by prices of an H200 (machines/h200.json): two shuffles of the
// address, the first lane of the mask, and five operations that take the address
// apart and put it together. The second shuffle waits for none.
//
//   issue 8, lsu 2 x 4, xu 8, alu 5 x 4;  28 + 17 + 3 x 4 cycles of a warp's chain
//
// What a launch touches falls with what it asks for, as if what lanes no longer
// want were wanted by nobody: so this is rather the most that may be gained. The
// loads that save most go first, and those are taken with which the kernel is
// fastest.
//
// Limitation: what the herded values do to how long the kernel runs is not known.
//
//===----------------------------------------------------------------------===//

#include "remedies/herd/Loads.h"

#include "model/Demand.h"
#include "model/Time.h"
#include "remedies/common/Mixing.h"
#include "remedies/herd/ByMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies {

static constexpr double VoteIssues = 8, VoteAlu = 20, VoteXu = 8, VoteLsu = 8,
                        VoteChain = 57;
static constexpr uint32_t WidestBytes = 8; ///< of warp_herd_load

namespace {
/// What some loads ask for, over all launches.
struct Requests {
  uint32_t Load = 0; ///< number, of one alone
  double Count = 0;
  double Sectors = 0, Herded = 0; ///< as it is, and then
  double Passes = 0;              ///< that are saved

  double saved() const { return Sectors - Herded; }
  Requests &operator+=(const Requests &Other) {
    Count += Other.Count;
    Sectors += Other.Sectors;
    Herded += Other.Herded;
    Passes += Other.Passes;
    return *this;
  }
};
} // namespace

/// Sectors of a block of 32 values, by \p A.
static double sectorsOfBlock(const AccessInfo &A) {
  return std::max(1u, A.Bytes);
}

static Requests requestsOf(const AccessInfo &A, const AccessCounts &C,
                           const KernelProfile &K) {
  // Executions for each that was looked at.
  const double Each = double(K.Blocks[A.Block].Warps) / double(C.Requests);
  const double Now = double(C.Sectors) / double(C.Requests),
               Lanes = double(C.Lanes) / double(C.Requests);
  const double Then = std::min(Now, distinct(Lanes, sectorsOfBlock(A)));
  const double Passes = std::max(1.0, double(A.Bytes) / 4);
  Requests R;
  R.Load = A.Id;
  R.Count = Each * double(C.Requests);
  R.Sectors = R.Count * Now;
  R.Herded = R.Count * Then;
  R.Passes = std::max(0.0, Each * double(C.Wavefronts) - R.Count * Passes);
  return R;
}

/// \p Part of so many sectors; those that were counted stay counted.
static uint64_t partOf(uint64_t Sectors, double Part) {
  return Sectors ? std::max<uint64_t>(1, uint64_t(double(Sectors) * Part)) : 0;
}

/// \p D, of one of \p Launches, with the loads \p R herded.
static Demand herded(Demand D, const Requests &R, double Launches) {
  const double Count = R.Count / Launches;
  D.Slots += Count * VoteIssues;
  D.Busy[size_t(Unit::Issue)] += Count * VoteIssues;
  D.Busy[size_t(Unit::Alu)] += Count * VoteAlu;
  D.Busy[size_t(Unit::Xu)] += Count * VoteXu;
  D.Busy[size_t(Unit::Lsu)] += Count * VoteLsu;
  D.PathCycles += Count * VoteChain;
  D.Wavefronts = std::max(0.0, D.Wavefronts - R.Passes / Launches);
  const double Before = D.LoadSectors;
  D.LoadSectors = std::max(0.0, Before - R.saved() / Launches);
  const double Left = Before > 0 ? D.LoadSectors / Before : 1;
  D.Touched.BlockLoads = partOf(D.Touched.BlockLoads, Left);
  D.Touched.GridLoads = partOf(D.Touched.GridLoads, Left);
  return D;
}

std::optional<HerdedLoads> herdedLoads(const Function &Kernel,
                                       const KernelProfile &Seen,
                                       const analysis::MachineLimits &Limits) {
  if (Seen.Accesses.empty() || !Seen.Launches)
    return std::nullopt;
  const SmallVector<uint32_t> Safe =
      herdByMachine(Kernel, /*Branches=*/false, /*Loads=*/true).Loads;
  std::vector<Requests> Loads;
  for (auto [A, C] : zip_equal(Seen.Info.Accesses, Seen.Accesses)) {
    if (!C.Requests || !C.Sectors || A.Bytes > WidestBytes ||
        !is_contained(Safe, A.Id))
      continue;
    if (double(C.Sectors) > double(C.Requests) * sectorsOfBlock(A))
      Loads.push_back(requestsOf(A, C, Seen));
  }
  sort(Loads, [](const Requests &A, const Requests &B) {
    return std::pair(-A.saved() / A.Count, A.Load) <
           std::pair(-B.saved() / B.Count, B.Load);
  });
  const Demand Now = model::demandOf(Seen);
  const KernelTime Before = model::timeOf(Now, Limits);
  if (!Before.isKnown())
    return std::nullopt;
  std::optional<HerdedLoads> Best;
  Requests Sum;
  for (const auto &[Others, R] : enumerate(Loads)) {
    Sum += R;
    const KernelTime Then =
        model::timeOf(herded(Now, Sum, double(Seen.Launches)), Limits);
    const double Speedup = Before.Cycles / Then.Cycles;
    if (!Best || Speedup > Best->Speedup)
      Best = {unsigned(Others + 1), Sum.Sectors / Sum.Count,
              Sum.Herded / Sum.Count, Speedup};
  }
  return Best;
}

std::string textOf(const HerdedLoads &L, const std::string &Kernel) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "herding " << L.Loads << (L.Loads == 1 ? " load" : " loads") << " of "
     << Kernel << " would make "
     << format("%.1f sectors of a request %.1f: %.3fx at most by the model",
               L.Now, L.Then, L.Speedup);
  if (L.MayGain())
    OS << "; warp_herd_load does it, and is not tried by itself";
  else
    OS << ", as votes take more than that saves";
  return Text;
}

} // namespace reconverge::remedies
