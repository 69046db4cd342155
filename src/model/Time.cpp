//===- model/Time.cpp - What a launch asks for, as time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warps are many, and while one waits for a unit another uses the next one. So
// a launch takes about as long as its busiest unit is busy, and somewhat longer
// where several units are: with T_u the time for which unit u is busy,
//
//   T = (sum over units of T_u^p)^(1/p),   p the machine's norm
//
// With p = 1 units would wait for one another, with p infinite never. LSU and
// the first cache are one way: of these two the busier counts.
//
// A multiprocessor's units. Of B thread blocks on S multiprocessors the one
// with the most has ceil(B / S): all wait for it.
//
//   T_pipe = busy(pipe) / schedulers * ceil(B / S) / B
//   T_l1   = wavefronts * ceil(B / S) / B
//
// Wavefronts are of the first cache and of shared memory (docs/memory.md).
//
// Units of the whole GPU.
//
//   T_l2   = 32 sectors(L2) / bytes a cycle of L2
//   T_dram = 32 sectors(DRAM) / bytes a cycle of device memory
//   T_start = B / thread blocks that start in a cycle
//   T_atomics = turns / turns a cycle
//
// Turns are most where all atomics go to one address, and least where all go to
// different ones; what is likely is taken to be the least.
//
// Sectors of L2 are those of stores and atomics, which the first cache passes
// on, and of loads those that miss it. Between two bounds:
//
//   at least  what each thread block loads for the first time
//   at most   all that is loaded
//
// and where the thread blocks that are resident together touch F bytes for the
// first time and the first cache holds C < F, a share C / F of what is loaded
// again hits if they load it evenly, and all if they load it at once: likely is
// the middle. Device memory likewise, with what the grid loads for the first
// time and the second cache, which joins what the two sides of a branch write of
// one sector (Demand.cpp). Where a thread block's footprint was not counted,
// anything may hit; likely is the middle of what the grid loads for the first
// time, as far as that is known, and of all.
//
// Latency. A warp's chain of instructions in block b takes path(b) cycles if
// its loads hit the first cache, and longer by the share that does not. R warps
// are resident together, so the chains take
//
//   T_lat = sum over blocks warps(b) (path(b) + loads(b) miss) / R * ceil(B/S)/B
//
// Warps that end before others of their thread block leave places empty. Of
// remapped kernels, in which few warps have all the work, these are few on a GPU
// all the same (docs/time.md), and they are not counted.
//
// A request waits for the last of its sectors. These are taken to hit or miss
// together, but for lanes that read in n unlike places: of those requests
// 1 - (1 - miss)^n wait. What thread blocks touch first though others have before
// is a table, of which all lanes miss much when the block begins and nothing later:
// these misses are taken to be of whole requests all the same.
//
// The latency is no less than the chain of the longest thread, as far as threads
// are known: nobody shortens that by what runs beside it.
//
// Where warps are few, units are idle while all wait, and busy only then:
//
//   T = sqrt(norm^2 + T_lat^2) + what a launch of nothing takes
//
// Of many launches side by side each has an even share of a GPU that they fill: as
// many of its warps are resident on a multiprocessor as there is room for, ceil(B/S)
// is B/S, and a launch of nothing takes nothing. How much they touch together is not
// known; of the caches each is taken to have what it has alone.
//
// Limits: a warp's blocks are taken as one after the other, though loads of one
// may be under way in the next. What waiting in line for memory adds is not
// known here.
//
//===----------------------------------------------------------------------===//

#include "model/Time.h"
#include "model/Occupancy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace reconverge::model {

namespace {

/// How a grid lies on the multiprocessors.
struct Spread {
  double OnFullest = 0; ///< share of the grid on the one with the most
  double Warps = 0;     ///< resident there at once
  double Blocks = 0;    ///< the same
  double Full = 1;      ///< mean over the most, of all multiprocessors
};

/// Sectors, between two bounds, and what is taken for likely.
struct Traffic {
  double Least = 0, Likely = 0, Most = 0;
};

} // namespace

/// Whether a launch has the GPU to itself.
enum class Company { Alone, OfMany };

static Spread spreadOf(const Demand &D, const analysis::MachineLimits &L,
                       Company In) {
  const double Blocks = double(D.Shape.blocks());
  const double WarpsOfBlock = std::ceil(double(D.Shape.blockThreads()) / 32);
  const Occupancy At =
      occupancyOf(multiprocessorOf(L),
                  {D.Shape.blockThreads(),
                   D.StaticShared + D.Shape.DynamicShared, D.Registers});
  Spread S;
  S.OnFullest = 1 / L.Multiprocessors;
  S.Blocks = std::max(double(At.Blocks), 1.0);
  if (In == Company::Alone) {
    const double Most = std::ceil(Blocks / L.Multiprocessors);
    S.OnFullest = Most / Blocks;
    S.Full = Blocks / (Most * L.Multiprocessors);
    S.Blocks = std::min(S.Blocks, Most);
  }
  S.Warps = S.Blocks * WarpsOfBlock;
  return S;
}

/// What misses a cache of \p Bytes, of \p All sectors in loads of which
/// \p First are touched for the first time and \p Together are so by those who
/// share the cache at one time.
static Traffic missesOf(double All, double First, double Together,
                        double Bytes) {
  First = std::min(First, All);
  const double Touched = Together * double(SectorBytes);
  const double Kept = Touched > Bytes ? std::max(Bytes, 0.0) / Touched : 1;
  return {First, First + (All - First) * (1 - Kept) / 2, All};
}

namespace {
/// Sectors that reach the second cache and device memory.
struct Misses {
  Traffic L2, Dram;
};
} // namespace

static Misses missesOf(const Demand &D, const Spread &On,
                       const analysis::MachineLimits &L) {
  Misses M;
  const double Passed = D.StoreSectors + D.AtomicSectors;
  const Footprint &F = D.Touched;
  const double Grid = double(D.Shape.blocks());
  if (F.ThreadBlocks) {
    const double OfBlock = double(F.BlockLoads) / Grid;
    const double Shared = double(D.StaticShared + D.Shape.DynamicShared);
    M.L2 = missesOf(D.LoadSectors, double(F.BlockLoads), OfBlock * On.Blocks,
                    L.L1Bytes - Shared * On.Blocks);
  } else {
    const double First = std::min(double(F.GridLoads), D.LoadSectors);
    M.L2 = {0, (First + D.LoadSectors) / 2, D.LoadSectors};
  }
  for (double *Sectors : {&M.L2.Least, &M.L2.Likely, &M.L2.Most})
    *Sectors += Passed;
  const double First = double(F.GridLoads + F.GridStores);
  if (First > 0) {
    M.Dram = missesOf(M.L2.Likely - D.StoreSectors + D.MergedStores, First,
                      First, L.L2Bytes);
    // What fits may be there from the launch before.
    if (First * double(SectorBytes) <= L.L2Bytes)
      M.Dram = {0, 0, First};
  } else {
    M.Dram = {0, 0, M.L2.Most};
  }
  return M;
}

/// The part of requests that wait, if \p Missing of the sectors do, of which
/// \p AtOnce are missed by whole requests.
static double waiting(const Demand &D, double Missing, double AtOnce) {
  const double Any =
      AtOnce + (1 - AtOnce) * (1 - std::pow(1 - Missing + AtOnce, D.Apart));
  return (1 - D.ApartLoads) * Missing + D.ApartLoads * Any;
}

static double norm(std::array<double, NumUnits> Units, double P) {
  double &Lsu = Units[size_t(Unit::Lsu)], &L1 = Units[size_t(Unit::L1)];
  (Lsu < L1 ? Lsu : L1) = 0;
  double Sum = 0;
  const double Most = *std::ranges::max_element(Units);
  if (Most <= 0)
    return 0;
  for (double T : Units)
    Sum += std::pow(T / Most, P);
  return Most * std::pow(Sum, 1 / P);
}

static KernelTime timeOf(const Demand &D, const analysis::MachineLimits &L,
                         Company In) {
  KernelTime T;
  if (!D.isCounted() || D.Shape.threads() == 0)
    return T;
  const Spread On = spreadOf(D, L, In);
  const double Launching = In == Company::Alone ? L.LaunchCycles : 0;
  T.HasMemory = D.HasMemory;
  T.Full = On.Full;
  // Schedulers take warps in turn.
  const double OfScheduler =
      On.Warps > 0 ? std::ceil(On.Warps / L.Schedulers) / On.Warps : 1;
  for (size_t P = 0; P != NumPipes; ++P)
    T.Units[P] = D.Busy[P] * OfScheduler * On.OnFullest;
  T.Units[size_t(Unit::L1)] = D.Wavefronts * On.OnFullest;
  if (L.BlockStarts > 0)
    T.Units[size_t(Unit::Start)] = double(D.Shape.blocks()) / L.BlockStarts;
  const Misses M = missesOf(D, On, L);
  // What each thread block touches first, though another has before.
  const double Again =
      std::max(0.0, double(D.Touched.BlockLoads) - double(D.Touched.GridLoads));
  auto Fill = [&](double L2, double Dram, double Turns) {
    if (Turns > 0)
      T.Units[size_t(Unit::Atomics)] = D.AtomicTurns / Turns;
    T.Units[size_t(Unit::L2)] = L2 * SectorBytes / L.L2BytesPerCycle;
    T.Units[size_t(Unit::Dram)] = Dram * SectorBytes / L.DramBytesPerCycle;
    const double Loads = std::max(D.LoadSectors, 1.0);
    const double Far = std::min(L2 / Loads, 1.0);
    const double OfL2 = waiting(D, Far, std::min(Far, Again / Loads));
    const double OfDram = waiting(D, std::min(Dram / Loads, 1.0), 0);
    const double Wait = OfL2 * (L.L2Latency - L.L1Latency) +
                        OfDram * (L.DramLatency - L.L2Latency);
    T.Latency = std::max((D.PathCycles + D.PathLoads * std::max(Wait, 0.0)) /
                             std::max(On.Warps, 1.0) * On.OnFullest,
                         D.ThreadCycles + D.ThreadLoads * std::max(Wait, 0.0));
    return std::hypot(norm(T.Units, L.Norm), T.Latency) + Launching;
  };
  T.Least = Fill(M.L2.Least, M.Dram.Least, L.AtomicTurns);
  T.Most = Fill(M.L2.Most, M.Dram.Most, L.AtomicTurnsAtOne);
  T.Cycles = Fill(M.L2.Likely, M.Dram.Likely, L.AtomicTurns);
  T.Busiest = Unit(std::ranges::max_element(T.Units) - T.Units.begin());
  T.Nearness = T.Units[size_t(T.Busiest)] / T.Cycles;
  if (T.Latency >= T.Units[size_t(T.Busiest)])
    T.By = Bound::Latency;
  if (T.Full < 0.5)
    T.By = Bound::Grid;
  if (Launching > 0 && Launching >= T.Cycles / 2)
    T.By = Bound::Launch;
  return T;
}

static KernelTime timeOf(const Demands &All, const analysis::MachineLimits &L,
                         Company In) {
  KernelTime Sum;
  double Longest = 0;
  for (const Demand &D : All) {
    const KernelTime T = timeOf(D, L, In);
    if (!T.isKnown())
      return {};
    for (auto [Total, Units] : llvm::zip_equal(Sum.Units, T.Units))
      Total += D.Share * Units;
    Sum.Latency += D.Share * T.Latency;
    Sum.Least += D.Share * T.Least;
    Sum.Most += D.Share * T.Most;
    Sum.Cycles += D.Share * T.Cycles;
    if (D.Share * T.Cycles > Longest) { // what the longest is bound by, all are
      Longest = D.Share * T.Cycles;
      Sum.By = T.By;
      Sum.Busiest = T.Busiest;
      Sum.Nearness = T.Nearness;
      Sum.Full = T.Full;
      Sum.HasMemory = T.HasMemory;
    }
  }
  return Sum;
}

KernelTime timeOf(const Demand &D, const analysis::MachineLimits &L) {
  return timeOf(D, L, Company::Alone);
}
KernelTime timeOf(const Demands &All, const analysis::MachineLimits &L) {
  return timeOf(All, L, Company::Alone);
}
KernelTime timeOfMany(const Demand &D, const analysis::MachineLimits &L) {
  return timeOf(D, L, Company::OfMany);
}
KernelTime timeOfMany(const Demands &All, const analysis::MachineLimits &L) {
  return timeOf(All, L, Company::OfMany);
}

} // namespace reconverge::model
