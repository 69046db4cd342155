//===- unittests/model/TimeTest.cpp - Times derived by hand ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine on which everything is easy to reckon: ten multiprocessors of four
// schedulers, 64 bytes a cycle to the second cache, 32 to device memory.
//
//===----------------------------------------------------------------------===//

#include "model/Time.h"
#include "model/Demand.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace reconverge;
using namespace reconverge::model;

namespace {

analysis::MachineLimits machine() {
  analysis::MachineLimits L;
  L.Multiprocessors = 10;
  L.ClockMHz = 1000;
  L.Schedulers = 4;
  L.Threads = 1024;
  L.Blocks = 8;
  L.Registers = 65536;
  L.SharedBytes = 102400;
  L.L1Bytes = 131072;
  L.L1Latency = 30;
  L.L2Latency = 230;
  L.L2Bytes = 1 << 20;
  L.L2BytesPerCycle = 64;
  L.DramLatency = 430;
  L.DramBytesPerCycle = 32;
  L.Norm = 4;
  return L;
}

/// \p Blocks thread blocks of 128 threads.
Demand launchOf(uint32_t Blocks) {
  Demand D;
  D.Shape.Grid = {Blocks, 1, 1};
  D.Shape.Block = {128, 1, 1};
  D.Slots = 1;
  return D;
}

double &busy(Demand &D, Unit U) { return D.Busy[size_t(U)]; }
double of(const KernelTime &T, Unit U) { return T.Units[size_t(U)]; }

/// 40 blocks: four on each of ten, 16 warps, four a scheduler. The pipes' work
/// is spread over 40 schedulers.
TEST(Time, PipesShareTheWork) {
  Demand D = launchOf(40);
  busy(D, Unit::Issue) = 40000;
  busy(D, Unit::Alu) = 20000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::Issue), 1000);
  EXPECT_DOUBLE_EQ(of(T, Unit::Alu), 500);
  // (1000^4 + 500^4)^(1/4)
  EXPECT_NEAR(T.Cycles, 1000 * std::pow(1 + 1.0 / 16, 0.25), 1e-9);
  EXPECT_EQ(T.By, Bound::Unit);
  EXPECT_EQ(T.Busiest, Unit::Issue);
  EXPECT_NEAR(T.Nearness, 1 / std::pow(1 + 1.0 / 16, 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(T.Full, 1);
}

/// What one launch of ten makes is a tenth of the time of each.
TEST(Time, WhatServesOthersCountsByItsShare) {
  Demand Order = launchOf(40), Kernel = Order;
  busy(Order, Unit::Issue) = 40000;
  busy(Kernel, Unit::Alu) = 80000;
  Order.Slots = 100;
  Kernel.Slots = 50;
  Order.Share = 0.1;
  const KernelTime T = timeOf(Demands{Order, Kernel}, machine());
  EXPECT_NEAR(T.Cycles,
              0.1 * timeOf(Order, machine()).Cycles +
                  timeOf(Kernel, machine()).Cycles,
              1e-9);
  EXPECT_DOUBLE_EQ(of(T, Unit::Issue), 100);
  EXPECT_EQ(T.Busiest, Unit::Alu);
  EXPECT_DOUBLE_EQ(slotsOf({Order, Kernel}), 60);
}

/// Of 41 blocks one multiprocessor has five: all wait for it.
TEST(Time, TheFullestMultiprocessorDecides) {
  Demand D = launchOf(41);
  busy(D, Unit::Fma) = 41000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::Fma), 5 * 1000 / 4.0);
  EXPECT_DOUBLE_EQ(T.Full, 41.0 / 50);
}

/// One block of one warp: one scheduler of one multiprocessor works.
TEST(Time, OneWarpHasOneScheduler) {
  Demand D = launchOf(1);
  D.Shape.Block = {32, 1, 1};
  busy(D, Unit::Fp64) = 700;
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::Fp64), 700);
  EXPECT_DOUBLE_EQ(T.Full, 0.1);
  EXPECT_EQ(T.By, Bound::Grid);
}

/// 16 warps are resident of each multiprocessor's 16: chains of 160,000 cycles
/// in 160 warps take a thousand.
TEST(Time, ChainsPassBesideOneAnother) {
  Demand D = launchOf(40);
  D.PathCycles = 160000;
  busy(D, Unit::Issue) = 4000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(T.Latency, 1000);
  EXPECT_DOUBLE_EQ(T.Cycles, std::hypot(1000, 100)) << "100 issue";
  EXPECT_EQ(T.By, Bound::Latency);
}

/// A launch is no faster than its longest thread.
TEST(Time, TheLongestThreadIsWaitedFor) {
  Demand D = launchOf(40);
  busy(D, Unit::Issue) = 40;
  const double Without = timeOf(D, machine()).Cycles;
  D.ThreadCycles = 5000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_LT(Without, 5000);
  EXPECT_NEAR(T.Cycles, std::hypot(Without, 5000), 1e-9);
  EXPECT_DOUBLE_EQ(T.Latency, 5000);
}

/// What a launch of nothing takes comes on top.
TEST(Time, ALaunchTakesItsTime) {
  Demand D = launchOf(40);
  busy(D, Unit::Issue) = 40000;
  analysis::MachineLimits L = machine();
  L.LaunchCycles = 500;
  EXPECT_DOUBLE_EQ(timeOf(D, L).Cycles, 1500);
  EXPECT_EQ(timeOf(D, L).By, Bound::Unit);
  L.LaunchCycles = 5000;
  EXPECT_DOUBLE_EQ(timeOf(D, L).Cycles, 6000);
  EXPECT_EQ(timeOf(D, L).By, Bound::Launch);
}

/// One thread block starts in two cycles, however short it is.
/// One block alone keeps one multiprocessor busy with four warps. Of many like it
/// eight are resident on each of ten, and what launching takes is no one's.
TEST(Time, ManyLikeItFillTheGpu) {
  Demand D = launchOf(1);
  busy(D, Unit::Issue) = 4000;
  D.PathCycles = 8000;
  analysis::MachineLimits L = machine();
  L.LaunchCycles = 500;
  EXPECT_NEAR(timeOf(D, L).Cycles, 500 + std::hypot(1000, 2000), 1e-9);
  const KernelTime T = timeOfMany(D, L);
  EXPECT_DOUBLE_EQ(of(T, Unit::Issue), 100);
  EXPECT_DOUBLE_EQ(T.Latency, 25);
  EXPECT_NEAR(T.Cycles, std::hypot(100, 25), 1e-9);
  EXPECT_EQ(T.By, Bound::Unit);
  // Nothing changes for one that fills it by itself.
  D = launchOf(80);
  busy(D, Unit::Issue) = 4000;
  D.PathCycles = 8000;
  EXPECT_NEAR(timeOfMany(D, L).Cycles, timeOf(D, L).Cycles - 500, 1e-9);
}

TEST(Time, ThreadBlocksHaveToStart) {
  Demand D = launchOf(40000);
  busy(D, Unit::Issue) = 40000;
  analysis::MachineLimits L = machine();
  L.BlockStarts = 0.5;
  const KernelTime T = timeOf(D, L);
  EXPECT_DOUBLE_EQ(of(T, Unit::Start), 80000);
  EXPECT_EQ(T.Busiest, Unit::Start);
}

/// 6400 turns: at least 100 cycles, and 3200 if all are at one address.
TEST(Time, AtomicsTakeTurns) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.AtomicSectors = 200;
  D.AtomicTurns = 6400;
  analysis::MachineLimits L = machine();
  L.AtomicTurns = 64;
  L.AtomicTurnsAtOne = 2;
  const KernelTime T = timeOf(D, L);
  EXPECT_DOUBLE_EQ(of(T, Unit::Atomics), 100);
  EXPECT_LT(T.Cycles, 150);
  EXPECT_GE(T.Most, 3200);
}

/// What LSU hands over the first cache does: one way, not two units.
TEST(Time, LsuAndTheFirstCacheAreOne) {
  Demand D = launchOf(40);
  busy(D, Unit::Lsu) = 40000; // 1000
  D.Wavefronts = 8000;        // 800
  EXPECT_DOUBLE_EQ(timeOf(D, machine()).Cycles, 1000);
  D.Wavefronts = 20000;
  EXPECT_DOUBLE_EQ(timeOf(D, machine()).Cycles, 2000);
}

/// 64 registers a thread leave room for 1024 threads, 128 for 512: half as many
/// warps wait beside one another.
TEST(Time, RegistersLimitWhoIsResident) {
  Demand D = launchOf(400);
  D.PathCycles = 160000;
  const double With64 = (D.Registers = 64, timeOf(D, machine()).Latency);
  const double With128 = (D.Registers = 128, timeOf(D, machine()).Latency);
  EXPECT_DOUBLE_EQ(With128, 2 * With64);
}

/// Each of 40 blocks loads 100 sectors for the first time and 400 in all. Four
/// blocks on a multiprocessor touch 12,800 bytes, which the cache holds.
TEST(Time, FirstTouchesPassTheFirstCache) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.LoadSectors = 16000;
  D.StoreSectors = 2000;
  D.Touched = {40, 4000, 0, 0};
  D.Wavefronts = 4000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::L1), 400);
  EXPECT_DOUBLE_EQ(of(T, Unit::L2), 6000 * 32 / 64.0);
  EXPECT_EQ(T.Busiest, Unit::L2);
  EXPECT_LE(T.Least, T.Cycles);
  EXPECT_LT(T.Cycles, T.Most);
}

/// A quarter of the sectors misses. Lanes that read in four unlike places wait in
/// 1 - 0.75^4 of their requests; half of the requests are such.
TEST(Time, ARequestWaitsForItsLastSector) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.LoadSectors = 16000;
  D.Touched = {40, 4000, /*Of the grid: none is touched by two blocks*/ 4000,
               0};
  D.PathLoads = 160000;
  const double Together = timeOf(D, machine()).Latency;
  D.ApartLoads = 0.5;
  EXPECT_DOUBLE_EQ(timeOf(D, machine()).Latency, Together) << "of one sector";
  D.Apart = 4;
  const double Misses = 1 - 0.75 * 0.75 * 0.75 * 0.75;
  EXPECT_NEAR(timeOf(D, machine()).Latency / Together,
              (0.25 + Misses) / 2 / 0.25, 1e-9);
  // A table that all blocks touch is there after the first requests.
  D.Touched.GridLoads = 100;
  const double Few = 1 - std::pow(1 - 100.0 / 16000, 4);
  EXPECT_LT(timeOf(D, machine()).Latency / Together,
            (0.25 + 0.25 + Few) / 2 / 0.25);
}

/// Ten times that: 128,000 bytes beside 96,000 of shared memory, which leaves
/// 35,072: between 27.4 % and all of what is loaded again hits.
TEST(Time, WhatDoesNotFitIsLoadedAgain) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.StaticShared = 24000;
  D.LoadSectors = 160000;
  D.Touched = {40, 40000, 0, 0};
  const double Hits = (131072.0 - 96000) / 128000;
  const KernelTime T = timeOf(D, machine());
  EXPECT_NEAR(of(T, Unit::L2), (40000 + 120000 * (1 - Hits) / 2) * 32 / 64,
              1e-6);
}

/// Of 16,000 sectors that thread blocks load nothing is known but that there are
/// 4,000 to be touched: between none and all miss, likely the middle of 4,000 and
/// 16,000; and of 0 and 16,000 where not even that is known.
TEST(Time, FootprintsThatWereNotCounted) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.LoadSectors = 16000;
  D.Touched = {0, 0, 4000, 0};
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::L2), 10000 * 32 / 64.0);
  EXPECT_LT(T.Least, T.Cycles);
  EXPECT_LT(T.Cycles, T.Most);
  D.Touched = {};
  EXPECT_DOUBLE_EQ(of(timeOf(D, machine()), Unit::L2), 8000 * 32 / 64.0);
}

/// A grid's 4 MB do not fit the second cache's one. Of 40,000 sectors that are
/// written half are joined.
TEST(Time, DeviceMemory) {
  Demand D = launchOf(40);
  D.HasMemory = true;
  D.LoadSectors = 131072;
  D.Touched = {40, 131072, 131072, 0};
  const KernelTime T = timeOf(D, machine());
  EXPECT_DOUBLE_EQ(of(T, Unit::Dram), 131072);
  EXPECT_EQ(T.Busiest, Unit::Dram);
  D.StoreSectors = 40000;
  D.MergedStores = 20000;
  D.Touched.GridStores = 20000;
  EXPECT_DOUBLE_EQ(of(timeOf(D, machine()), Unit::Dram), 151072);
}

TEST(Time, UnknownIsNoTime) {
  EXPECT_FALSE(timeOf(Demand(), machine()).isKnown());
  EXPECT_FALSE(timeOf(Demands(), machine()).isKnown());
  Demand D = launchOf(40);
  busy(D, Unit::Issue) = 40000;
  EXPECT_FALSE(timeOf(Demands{D, Demand()}, machine()).isKnown());
  EXPECT_DOUBLE_EQ(timeOf(Demands{D, D}, machine()).Cycles, 2000);
}

KernelInfo infoOf() {
  KernelInfo Info;
  Info.Blocks.resize(2);
  Info.Blocks[0].IssueSlots = 3;
  Info.Blocks[0].Busy = {1, 2};
  Info.Blocks[0].Path = 7;
  Info.Blocks[1].IssueSlots = 5;
  Info.Blocks[1].Busy = {4};
  Info.Blocks[1].Path = 11;
  Info.Blocks[1].PathLoads = 2;
  Info.Accesses.resize(3);
  Info.Accesses[0].Block = 1;
  Info.Accesses[1].Block = 1;
  Info.Accesses[1].Use = MemoryUse::Store;
  Info.Accesses[2].Block = 0;
  Info.Accesses[2].Use = MemoryUse::Atomic;
  return Info;
}

/// Ten and twenty warp executions; of the second block's load a quarter was
/// looked at, 5 requests with 8 sectors each: 160 in all.
TEST(Demand, IsOfAllExecutions) {
  LaunchCounts C;
  C.Blocks.resize(2);
  C.Blocks[0].Warps = 10;
  C.Blocks[1].Warps = 20;
  C.Accesses.resize(3);
  C.Accesses[0] = {5, 160, 40, 20, 40, 5, 0};
  C.Accesses[1] = {20, 640, 80, 80, 20, 20, 0};
  C.Accesses[2] = {10, 320, 10, 10, 10, 10, 320};
  C.Touched = {2, 24, 30, 0};
  LaunchShape Shape;
  Shape.Grid = {8, 1, 1};
  const Demand D = demandOf(infoOf(), C, Shape);
  EXPECT_DOUBLE_EQ(D.Slots, 130);
  EXPECT_DOUBLE_EQ(D.Busy[0], 90);
  EXPECT_DOUBLE_EQ(D.Busy[1], 20);
  EXPECT_DOUBLE_EQ(D.PathCycles, 290);
  EXPECT_DOUBLE_EQ(D.PathLoads, 40);
  EXPECT_TRUE(D.HasMemory);
  EXPECT_DOUBLE_EQ(D.LoadSectors, 160);
  EXPECT_DOUBLE_EQ(D.StoreSectors, 80);
  EXPECT_DOUBLE_EQ(D.AtomicSectors, 10);
  EXPECT_DOUBLE_EQ(D.AtomicTurns, 320);
  EXPECT_DOUBLE_EQ(D.Wavefronts, 160 + 20 + 10);
  EXPECT_EQ(D.Touched.BlockLoads, 96u) << "of 8 blocks, as 2 have 24";
  EXPECT_EQ(D.Touched.GridLoads, 30u);
}

/// Nothing of the second block was looked at, which ran 20 times with 24 lanes
/// each: 24 words are three sectors and a wavefront. Of the first, one access was,
/// in half of its executions: the other, without requests, is part of it.
TEST(Demand, TakesWhatWasNotLookedAtToBeSideBySide) {
  LaunchCounts C;
  C.Blocks.resize(2);
  C.Blocks[0].Warps = 10;
  C.Blocks[1].Warps = 20;
  C.Blocks[1].Lanes = 480;
  C.Accesses.resize(3);
  C.Accesses[2] = {5, 160, 5, 5, 5, 5, 160};
  LaunchShape Shape;
  Shape.Grid = {8, 1, 1};
  KernelInfo Info = infoOf();
  for (AccessInfo &A : Info.Accesses)
    A.Bytes = 4;
  Info.Accesses[0].Block = 0;
  const Demand D = demandOf(Info, C, Shape);
  EXPECT_DOUBLE_EQ(D.LoadSectors, 0);
  EXPECT_DOUBLE_EQ(D.StoreSectors, 60);
  EXPECT_DOUBLE_EQ(D.AtomicSectors, 10);
  EXPECT_DOUBLE_EQ(D.Wavefronts, 20 + 10);
}

/// Ten requests of sixteen lanes write words into four sectors each, half of which
/// others write; or all of them to one place.
TEST(Demand, StoresFillTheirSectors) {
  KernelInfo Info = infoOf();
  Info.Accesses[1].Bytes = 4;
  LaunchCounts C;
  C.Blocks.resize(2);
  C.Blocks[1].Warps = 10;
  C.Accesses.resize(3);
  auto Merged = [&](uint64_t Sectors) {
    C.Accesses[1] = {10, 160, Sectors, 20, 10, 10, 0};
    const Demand D = demandOf(Info, C, {});
    EXPECT_DOUBLE_EQ(D.StoreSectors, double(Sectors));
    return D.MergedStores;
  };
  EXPECT_DOUBLE_EQ(Merged(40), 20);
  EXPECT_DOUBLE_EQ(Merged(10), 10);
}

/// Of a thread block of four threads one runs the second block 5 times, the
/// others once: 7 + 5 * 11 cycles, with 10 loads. All threads of all launches
/// run 7 + 11 * (5 + 3) / 4 on average as these do, or half as much.
TEST(Demand, KnowsTheLongestThread) {
  KernelProfile K;
  K.Info = infoOf();
  K.Info.Accesses.clear();
  K.Launches = 2;
  K.Threads = 8;
  K.WarpsRun = 2;
  K.Shapes = {{{1, 1, 1}, {4, 1, 1}, 0}};
  K.Blocks = {{2, 8}, {10, 16}};
  K.OnGpu = true;
  EXPECT_EQ(demandOf(K).ThreadCycles, 0) << "no thread is known";
  K.Vectors.Launch = 1;
  K.Vectors.Classes = {{1, 1}, {1, 5}};
  K.Vectors.Blocks = {{0, {0, 1, 0, 0}}};
  EXPECT_DOUBLE_EQ(demandOf(K).ThreadCycles, 62);
  EXPECT_DOUBLE_EQ(demandOf(K).ThreadLoads, 10);
  K.Blocks = {{2, 4}, {10, 8}};
  EXPECT_DOUBLE_EQ(demandOf(K).ThreadCycles, 31);
  EXPECT_DOUBLE_EQ(demandOf(K).ThreadLoads, 5);
  EXPECT_DOUBLE_EQ(withCompute(demandOf(K), 0.25).ThreadCycles, 31)
      << "without what its neighbours do it takes as long";
  K.OnGpu = false;
  EXPECT_EQ(demandOf(K).ThreadCycles, 0) << "a small example";
}

/// 160 sectors are asked for, and 100 bytes, four sectors, are there. Of those that
/// are loaded, thread blocks load 30 for the first time.
TEST(Demand, TouchesNoMoreThanThereIs) {
  Demand D = launchOf(4);
  D.LoadSectors = 120;
  D.StoreSectors = 50;
  D.MergedStores = 40;
  EXPECT_EQ(demandWithin(1 << 20, D).Touched.GridLoads, 160u);
  EXPECT_EQ(demandWithin(100, D).Touched.GridLoads, 4u);
  D.Touched = {4, 30, 0, 0};
  EXPECT_EQ(demandWithin(1 << 20, D).Touched.GridLoads, 70u);
}

TEST(Demand, WithoutAccesses) {
  LaunchCounts C;
  C.Blocks.resize(2);
  C.Blocks[0].Warps = 1;
  const Demand D = demandOf(infoOf(), C, {});
  EXPECT_TRUE(D.isCounted());
  EXPECT_FALSE(D.HasMemory);
}

} // namespace
