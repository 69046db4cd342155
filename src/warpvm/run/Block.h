//===- warpvm/run/Block.h - One thread block on one CPU thread --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_BLOCK_H
#define RECONVERGE_WARPVM_RUN_BLOCK_H

#include "warpvm/memory/Arena.h"
#include "warpvm/run/ClusterShape.h"
#include "warpvm/run/Code.h"
#include "warpvm/run/Library.h"
#include "warpvm/run/Notes.h"
#include "warpvm/run/Policy.h"
#include "warpvm/run/Races.h"
#include "warpvm/run/Request.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace reconverge::warpvm {

class Cluster;

/// What all blocks of a launch share; constant while it runs.
struct LaunchContext {
  const CodeSlot *Plain = nullptr;   ///< counting as the options say
  const CodeSlot *Vectors = nullptr; ///< ... and block vectors; may be null
  /// Called where code compiled fast is about to run, as blocks begin and where
  /// barriers have opened, from any thread. May be empty.
  std::function<void()> Running;
  LaunchShape Shape;
  ClusterShape Clusters{Shape};
  const uint8_t *Params = nullptr;
  void *const *Globals = nullptr;
  uint64_t Seed = 0;       ///< Order.h
  bool FreeSplits = false; ///< the seed also picks splits; counts mean nothing
  bool Quiet = false;      ///< device output is thrown away
  uint64_t StepLimit = 0;  ///< rounds of loops a warp may go; 0: no limit
  llvm::StringRef Kernel;  ///< its mangled name, for messages
  uint64_t ParamBytes = 0;
  bool OwnMemory = false;              ///< MachineOptions
  std::unique_ptr<GridWorkspace> Grid; ///< of a cooperative launch
  bool Tolerant = false; ///< MachineOptions, unless accesses are to be tested
  /// Threads that wait at different `__syncthreads()` do not wait together.
  bool ComparesBarriers = false;
  bool TracksWrites = false;    ///< reads of what nobody wrote are looked for
  LaunchNotes *Notes = nullptr; ///< for what ends no launch; null: nobody asks
  RaceChecker *Races = nullptr; ///< where races are looked for; else null
  /// Code like \p That with all accesses checked, or null if it cannot be
  /// made. May be called from any thread.
  std::function<const KernelPlan *()> Checked;

  /// What a block runs that begins now, with its vectors recorded or not. Code
  /// that records them does for either.
  const Code &code(bool WithVectors) const {
    const Code *C = WithVectors ? nullptr : Plain->Now.load();
    return C ? *C : *Vectors->Now.load();
  }
  /// For what all code of the kernel has in common: counters, shared memory.
  const KernelPlan &plan() const { return *code(false).Plan; }

  unsigned threads() const { return unsigned(Shape.blockThreads()); }
  uint64_t blocks() const { return Shape.blocks(); }
};

/// Memory and warps of a thread block; reused from block to block.
class Block {
public:
  /// One of \p Of, whose blocks have their shared memory \p Stride bytes apart:
  /// this one's at \p Shared, or if that is null in memory of its own. Fails (a
  /// FaultError, OutOfMemory) if the system has no memory for it.
  static llvm::Expected<std::unique_ptr<Block>>
  create(const LaunchContext &L, Cluster &Of, uint64_t Stride, uint8_t *Shared);
  /// Begins thread block \p Linear in \p With. \p Counters has two sets of
  /// KernelPlan::NumCounters: for full warps and for a partial last one; \p
  /// Accesses has one of each, where they are counted.
  void start(uint64_t Linear, const Code &With, Policy &P, uint64_t *Counters,
             AccessCounts *Accesses, bool Vectors);

  /// Runs all warps until the block is done, or only yielding warps are left or,
  /// with \p MayPause, pausing ones, or the rest waits for others of its cluster
  /// (Status::Waiting). A fault comes back as an error; the block is lost then.
  /// \p AfterWarp, if there is one, is called after each warp's turn.
  llvm::Expected<Status> run(Policy &P, bool MayPause,
                             llvm::function_ref<void()> AfterWarp = {});

  uint64_t linear() const { return Linear; }
  std::string &output() { return Output; }
  unsigned divergentWarps() const { return Divergent; }
  bool recordsVectors() const { return WithVectors; }
  /// Threads x blocks, as VectorObserver::record wants them.
  std::vector<uint32_t> takeVectors() const;
  uint64_t *counters() const { return Counters; }
  const SectorSet &touched() const { return Touched; }

  /// A hash of all that decides what the block does next, but for the memory
  /// that it shares with others.
  uint64_t digest() const;
  /// Why nobody goes on: a thread of this block spins for ever.
  llvm::Error deadlock();

  /// All threads that have not returned have arrived at the cluster's barrier.
  bool hasArrived() const;
  /// That is open; the next round of it begins.
  void leaveArrival();
  /// Null: nobody looks for them.
  BlockRaces *races() const { return Races.get(); }

private:
  Block(const LaunchContext &L, Cluster &Of, uint64_t Stride, uint8_t *Shared);
  void shuffleTurns();
  void takeBetterCode();
  // BlockBarriers.cpp
  llvm::Error openBarrier(Policy &P);
  bool openNamedBarriers(Policy &P);
  bool leaveClusterBarrier(Policy &P);
  bool waitsForCluster() const;
  llvm::Error stuckAtBarrier();
  llvm::Error metElsewhere(const Warp &W, const Split &S, const Warp &Other,
                           const Split &There);
  void reducePredicates();

  // BlockFaults.cpp
  llvm::Error fault(const FaultGuard &Guard, const Warp *W);
  bool replay(FaultGuard &Guard, Warp &Kernel);
  static const Split *waiting(Warp &W, bool Spins);
  [[noreturn]] static void raiseStepLimit(Warp &W);
  std::array<uint32_t, 3> threadIndex(const Warp &W, unsigned Lane) const;
  std::string threadName(const Warp &W, unsigned Lane) const;
  friend CheckedMemory memoryOf(const WarpContext *Context);
  friend BlockRaces *racesOf(const WarpContext *Context);
  friend BlockRaces *racesAt(const WarpContext *Context, uint64_t Address);
  friend bool isPrivate(const WarpContext *Context, uint64_t Address);
  friend unsigned threadOf(const WarpContext *Context, unsigned Lane);
  friend BlockWrites *writesOf(const WarpContext *Context);
  friend BlockWrites *writesAt(const WarpContext *Context, uint64_t Address);
  friend void noteOfLane(const WarpContext *, unsigned, FindingKind,
                         const FaultSite &, llvm::function_ref<std::string()>);
  friend void lanesAgree(WarpContext *, Mask, const uint32_t *,
                         const FaultSite *);
  friend void lanesMeet(WarpContext *, Mask, const uint32_t *);
  friend void arriveAtBarriers(WarpContext *Context, Mask Lanes,
                               const uint32_t *Named);

  const LaunchContext &L;
  Cluster &Of;
  const Code *Runs = nullptr;
  const KernelPlan *Plan; ///< of the code that runs
  unsigned WarpSize, Threads;
  uint64_t Linear = 0;
  std::vector<Warp> Warps;
  std::vector<uint64_t> Scalars; ///< of each warp's first split
  std::vector<unsigned> Turns;   ///< the order in which warps run
  uint64_t Round = 0;            ///< of turns
  uint64_t SharedBytes;
  Arena Memory;
  uint8_t *SharedBase;
  std::vector<uint32_t> VectorRows; ///< [warp][position][lane], 64-aligned
  uint32_t *VectorBase = nullptr;
  bool WithVectors = false;
  uint64_t *Counters = nullptr;
  unsigned Divergent = 0;
  uint32_t Arrived[NumBarriers] = {};  ///< threads that did not stay to wait
  bool UsesNamed = false;              ///< some thread came to a named barrier
  bool UsesCluster = false;            ///< ... waited at the cluster's
  std::unique_ptr<BlockRaces> Races;   ///< where they are looked for
  std::unique_ptr<BlockWrites> Writes; ///< where they are followed
  SectorSet Touched;                   ///< where accesses are counted
  bool Replaying = false;
  uint64_t Suspect = 0; ///< address of the fault that is replayed
  std::string Output;
};

} // namespace reconverge::warpvm

#endif
