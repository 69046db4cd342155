//===- model/BlockVectorTime.cpp - Time by block vectors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two metrics of Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate
// GPU Performance Model for Effective Control Flow Divergence Optimization",
// section IV-B. BBV_t[b] is how often thread t ran block b, lat[b] the latencies
// of the block's instructions added up:
//
//   Lat_b|w  = lat[b] max over the threads t of warp w of BBV_t[b]         (2)
//   T_w      = sum over b of Lat_b|w                                       (3)
//   T_Tb     = sum over the warps w of the thread block of T_w             (4)
//   weighted:  T = sum over the thread blocks of T_Tb / #SM                (5)
//   scheduled: T = the end of the thread blocks' schedule (Schedule.cpp), as
//              many at once on a multiprocessor as its occupancy allows
//
// They are for comparing groupings of the same threads, by 1 - T/T0 as in the
// paper's figure 8; how far warps overlap is in neither, nor what memory does to
// them.
//
// A profile has the vectors of some thread blocks. Each of the grid's takes the
// time of the nearest of these (of two, that with the lower number), so that the
// sample is repeated in place: a grid whose later thread blocks do more work
// keeps that order, on which the tail depends. Thread blocks put together from
// threads of all of them have no place in the grid: each stands for an equal part
// of it, in their order, or else it would hang on the draw of the sample how much
// the heavy ones weigh. A grid with more than MostBlocks
// is scheduled with so many, drawn evenly; the work of the rest goes in front of
// the tail, where all slots are full.
//
// Limitation: vectors do not say in which order a thread ran its blocks, so warps
// that run the same blocks at different times are taken to run them together.
//
//===----------------------------------------------------------------------===//

#include "model/BlockVectorTime.h"

#include "analysis/Costs.h"
#include "model/Occupancy.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

using llvm::ArrayRef;

namespace reconverge::model {

static constexpr uint64_t MostBlocks = 1 << 20;
/// Thread blocks that a drawing still shows one by one.
static constexpr uint64_t MostDrawn = 256;

//===----------------------------------------------------------------------===//
// Warps and thread blocks
//===----------------------------------------------------------------------===//

/// T_w of threads of these classes.
static double warpTime(const ThreadVectors &V, ArrayRef<uint32_t> ClassOf,
                       ArrayRef<double> Latency, std::vector<uint32_t> &Max) {
  std::fill(Max.begin(), Max.end(), 0);
  for (size_t T = 0; T != ClassOf.size(); ++T) {
    if (T && ClassOf[T] == ClassOf[T - 1])
      continue; // as most threads do what their neighbours do
    const std::vector<uint32_t> &Vector = V.Classes[ClassOf[T]];
    for (size_t B = 0; B != Max.size(); ++B)
      Max[B] = std::max(Max[B], Vector[B]);
  }
  double Time = 0;
  for (size_t B = 0; B != Max.size(); ++B)
    if (Max[B])
      Time += Latency[B] * double(Max[B]);
  return Time;
}

/// The classes of all threads in \p Order.
static std::vector<uint32_t> classesOf(const ThreadVectors &V,
                                       ThreadOrder Order) {
  std::vector<uint32_t> AsTheyAre;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    AsTheyAre.insert(AsTheyAre.end(), B.ClassOf.begin(), B.ClassOf.end());
  if (Order.empty())
    return AsTheyAre;
  assert(Order.size() == AsTheyAre.size() && "a place for each thread");
  std::vector<uint32_t> Classes;
  Classes.reserve(Order.size());
  for (uint32_t Thread : Order)
    Classes.push_back(AsTheyAre[Thread]);
  return Classes;
}

std::vector<double> threadBlockTimes(const ThreadVectors &V,
                                     ArrayRef<double> Latency,
                                     unsigned WarpSize, ThreadOrder Order) {
  const std::vector<uint32_t> Classes = classesOf(V, Order);
  std::vector<uint32_t> Max(Latency.size());
  std::vector<double> Times;
  ArrayRef<uint32_t> Rest = Classes;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks) {
    ArrayRef<uint32_t> Block = Rest.take_front(B.ClassOf.size());
    Rest = Rest.drop_front(Block.size());
    double Time = 0;
    for (; !Block.empty();
         Block = Block.drop_front(std::min<size_t>(WarpSize, Block.size())))
      Time += warpTime(V, Block.take_front(WarpSize), Latency, Max);
    Times.push_back(Time);
  }
  return Times;
}

std::vector<uint32_t> longestBlocksFirst(const ThreadVectors &V,
                                         ArrayRef<double> Latency,
                                         unsigned WarpSize) {
  const std::vector<double> Times = threadBlockTimes(V, Latency, WarpSize);
  std::vector<uint32_t> First, Blocks(V.Blocks.size());
  uint32_t Threads = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks) {
    First.push_back(Threads);
    Threads += uint32_t(B.ClassOf.size());
  }
  std::iota(Blocks.begin(), Blocks.end(), 0);
  std::ranges::sort(Blocks, {},
                    [&](uint32_t B) { return std::pair(-Times[B], B); });
  std::vector<uint32_t> Order;
  for (uint32_t B : Blocks)
    for (uint32_t T = 0; T != V.Blocks[B].ClassOf.size(); ++T)
      Order.push_back(First[B] + T);
  return Order;
}

//===----------------------------------------------------------------------===//
// A grid
//===----------------------------------------------------------------------===//

namespace {
/// The thread blocks of a grid: those that are scheduled, each of which stands
/// for so many.
struct GridTimes {
  std::vector<double> Times;
  double Each = 1;
  double Sum = 0; ///< of all thread blocks of the grid
};
} // namespace

/// From \p Sampled, the times of the thread blocks of \p V, as they are or put
/// together anew.
static GridTimes overGrid(const ThreadVectors &V, ArrayRef<double> Sampled,
                          bool AreNew) {
  const uint64_t All = V.Shape.blocks(), Count = std::min(All, MostBlocks);
  auto Distance = [&](size_t At, uint64_t Number) {
    const uint64_t Other = V.Blocks[At].Number;
    return Other < Number ? Number - Other : Other - Number;
  };
  GridTimes Grid;
  Grid.Times.reserve(Count);
  Grid.Each = double(All) / double(Count);
  size_t At = 0;
  for (uint64_t I = 0; I != Count; ++I) {
    const uint64_t Number = Count == All ? I : uint64_t(double(I) * Grid.Each);
    if (AreNew)
      At = I * Sampled.size() / Count;
    while (!AreNew && At + 1 != V.Blocks.size() &&
           Distance(At + 1, Number) < Distance(At, Number))
      ++At;
    Grid.Times.push_back(Sampled[At]);
  }
  const ArrayRef<double> Summed = AreNew ? Sampled : ArrayRef(Grid.Times);
  Grid.Sum = std::accumulate(Summed.begin(), Summed.end(), 0.0) *
             (double(All) / double(Summed.size()));
  return Grid;
}

/// The schedule of all thread blocks that \p Grid stands for.
static Schedule scheduleGrid(const GridTimes &Grid, BlockSlots On,
                             bool KeepPlaces) {
  Schedule S = schedule(Grid.Times, On, KeepPlaces);
  const double More = (Grid.Each - 1) * S.Busy;
  S.Busy += More;
  const double Earlier = More / double(On.all());
  S.End += Earlier;
  S.AllSlotsUntil += Earlier;
  S.AllMultiprocessorsUntil += Earlier;
  return S;
}

static BlockVectorTimes timesOf(const Schedule &S) {
  return {S.Busy / S.On.Multiprocessors, S.End};
}

BlockVectorTimes blockVectorTimes(ArrayRef<double> Times, BlockSlots On) {
  return timesOf(schedule(Times, On));
}

namespace {
/// What a launch with vectors comes to on one GPU.
struct Launch {
  GridTimes Grid;
  BlockSlots On;
  Occupancy Resident;
};
} // namespace

static Launch launchOf(const KernelProfile &K,
                       const analysis::MachineLimits &Limits,
                       ThreadOrder Order) {
  std::vector<double> Latency;
  for (const BlockInfo &B : K.Info.Blocks)
    Latency.push_back(B.Latency);
  const ThreadVectors &V = K.Vectors;
  const std::vector<double> Sampled =
      threadBlockTimes(V, Latency, K.WarpSize, Order);
  Launch L;
  L.Grid = overGrid(V, Sampled, !Order.empty());
  L.Resident = occupancyOf(multiprocessorOf(Limits),
                           {V.Shape.blockThreads(),
                            K.Info.StaticShared + V.Shape.DynamicShared,
                            K.Info.Registers});
  L.On = {uint32_t(Limits.Multiprocessors), L.Resident.Blocks};
  return L;
}

/// If not even one thread block fits, there is no schedule.
static BlockVectorTimes unscheduled(const Launch &L) {
  return {L.Grid.Sum / L.On.Multiprocessors, 0};
}

/// Whether \p V says anything; a file may list thread blocks without threads.
static bool hasThreads(const ThreadVectors &V) {
  return !V.Blocks.empty() && V.Shape.blockThreads() != 0;
}

std::optional<BlockVectorTimes>
blockVectorTimes(const KernelProfile &K, const analysis::MachineLimits &Limits,
                 ThreadOrder Order) {
  if (!hasThreads(K.Vectors))
    return std::nullopt;
  const Launch L = launchOf(K, Limits, Order);
  BlockVectorTimes Times = unscheduled(L);
  if (L.Resident.Blocks)
    Times.Scheduled = scheduleGrid(L.Grid, L.On, /*KeepPlaces=*/false).End;
  return Times;
}

BlockVectorTimes improvement(const BlockVectorTimes &Before,
                             const BlockVectorTimes &After) {
  auto Of = [](double T0, double T) { return T0 > 0 ? 1 - T / T0 : 0; };
  return {Of(Before.Weighted, After.Weighted),
          Of(Before.Scheduled, After.Scheduled)};
}

std::optional<LaunchSchedule>
scheduleOf(const KernelProfile &K, const analysis::MachineLimits &Limits) {
  const ThreadVectors &V = K.Vectors;
  if (!hasThreads(V))
    return std::nullopt;
  const Launch L = launchOf(K, Limits, {});
  LaunchSchedule Out;
  Out.Launch = V.Launch;
  Out.Shape = V.Shape;
  Out.SampledBlocks = V.Blocks.size();
  Out.Multiprocessors = L.On.Multiprocessors;
  Out.Resident = L.Resident;
  Out.RegistersKnown = K.Info.Registers != 0;
  Out.LongestBlock = *std::ranges::max_element(L.Grid.Times);
  Out.Times = unscheduled(L);
  Out.MeanBlock =
      Out.Times.Weighted * Out.Multiprocessors / double(V.Shape.blocks());
  if (!L.Resident.Blocks)
    return Out;
  const bool Draws = V.Shape.blocks() <= MostDrawn;
  const Schedule S = scheduleGrid(L.Grid, L.On, Draws);
  Out.Times = timesOf(S);
  Out.Busy = S.busyShare();
  Out.Tail = S.tailShare();
  if (Draws)
    Out.Drawing = draw(S);
  return Out;
}

} // namespace reconverge::model
