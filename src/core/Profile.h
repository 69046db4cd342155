//===- core/Profile.h - What a run counted ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value that passes from a run (warp VM or GPU) to the model and from there
// to the report. Static facts come from analysis::describeKernel, counts from
// the executor; both index blocks and branches by their position in the
// kernel's own lists. docs/report-format.md documents the JSON form.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_PROFILE_H
#define RECONVERGE_CORE_PROFILE_H

#include "core/Counts.h"
#include "core/LaunchShape.h"
#include "core/Memory.h"
#include "core/Races.h"
#include "core/SourceLoc.h"
#include "core/Trace.h"
#include "core/Units.h"
#include "core/Vectors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge {

enum class BranchKind { If, IfElse, LoopExit, Switch };

/// One basic block of the optimised kernel.
struct BlockInfo {
  uint32_t Id = 0;           ///< the module-wide number that metadata carries
  SourceChain Where;         ///< of its first instruction that has a line
  uint32_t Instructions = 0; ///< n(b): those that become machine instructions
  double IssueSlots = 0;     ///< n(b) weighted by issue cost, slots a warp
  double Latency = 0;        ///< lat(b), cycles: of its instructions, added up
  PipeCycles Busy = {};      ///< of a scheduler's pipes, by one warp
  /// Cycles of its longest chain of instructions that wait for one another
  /// (of machine code: of a lone warp in it), loads taken as hits of the first
  /// cache, and how often it waits for such loads, one after the other.
  double Path = 0;
  double PathLoads = 0;
  /// Of a block in a loop: the blocks that lead into the outermost one from
  /// outside. Their executions say how many warps come here.
  std::vector<uint32_t> Entries;
  /// Positions of the blocks that may come next, each once, ascending; none: it
  /// ends its function, or the file is of an earlier version.
  std::vector<uint32_t> Successors;
};

/// One branch that can diverge: conditional branch or switch.
struct BranchInfo {
  uint32_t Id = 0;    ///< BranchId's index, module-wide
  uint32_t Block = 0; ///< position of its block in Blocks
  BranchKind Kind = BranchKind::If;
  SourceChain Where;
  std::string Condition;     ///< as written; empty if unknown
  std::string Reason;        ///< why it diverges: "thread id", "load", ...
  bool LeavesKernel = false; ///< one side goes straight to the return
  /// It ends the loop over the grid that the kernel is (analysis/GridLoop.h).
  bool EndsGridLoop = false;
  std::vector<uint32_t> Successors; ///< positions in Blocks, in operand order
  std::vector<uint32_t> Region;     ///< blocks after it and before its
                                    ///< post-dominator, ascending positions
};

/// Static facts of a kernel.
struct KernelInfo {
  std::string Name;    ///< mangled: the key
  std::string Display; ///< demangled
  std::string Module;  ///< hash of the bitcode, 16 hex digits
  SourceChain Where;
  std::vector<BlockInfo> Blocks;
  std::vector<BranchInfo> Branches;
  std::vector<AccessInfo> Accesses;
  std::vector<MarkInfo> Marks; ///< features that the source names
  /// Of a thread, as the GPU's code has them; 0: not known.
  uint32_t Registers = 0;
  uint64_t StaticShared = 0; ///< bytes a thread block
  /// Busy of the blocks is of their machine code, not of classes of the IR.
  bool HasMachineCode = false;
};

/// Warp executions that each block would need if threads were regrouped, from
/// per-thread block vectors of a sample: W(b) = sum over groups of the maximum
/// of BBV_t[b] over the group's threads. The scopes differ in which threads may
/// share a warp. Lanes and Warps are the sample's own sums, so that the ratio
/// can be applied to the whole.
struct RegroupedCounts {
  uint64_t Launches = 0, Threads = 0; ///< of the sample
  std::vector<uint64_t> Lanes, Warps; ///< as run, a block each
  std::vector<uint64_t> InWarp;       ///< same warps, perfect reconvergence
  std::vector<uint64_t> InBlock;      ///< sorted within each thread block
  std::vector<uint64_t> InGrid;       ///< sorted over the sampled grid
  /// Sum over sampled thread blocks of a hash of its number and its threads'
  /// vectors: two executors that agree on every vector agree on it.
  uint64_t Digest = 0;
};

/// Where an output first came out differently in another order of blocks, warps
/// and lanes.
struct OrderDifference {
  uint64_t Launch = 0;        ///< of the kernel, from 1
  uint64_t Order = 0;         ///< the seed, from 1
  std::string Memory;         ///< the allocation, in words
  uint64_t Offset = 0;        ///< bytes into it, to the value's first byte
  std::string Type;           ///< that the kernel writes there, or "byte"
  std::string Natural, Other; ///< the values
};

/// A fault that a launch ran into in another order, and not in the natural one.
struct OrderFault {
  uint64_t Launch = 0, Order = 0;
  std::string Message;
};

/// What running launches again in other orders showed (profile --shuffle).
struct OrderTrials {
  uint32_t Orders = 0;     ///< tried beside the natural one; 0: none was
  uint64_t Launches = 0;   ///< tried in all of them
  uint64_t Untried = 0;    ///< could not be tried; a note says why
  uint64_t Differing = 0;  ///< launches with bytes that depend on the order
  uint64_t Bytes = 0;      ///< most such bytes that one launch had
  uint64_t FaultyRuns = 0; ///< of Orders * Launches, those that faulted
  std::optional<OrderDifference> First; ///< if any differ
  std::vector<OrderFault> Faults;       ///< the first few
};

struct KernelProfile {
  KernelInfo Info;
  uint32_t WarpSize = 32;
  uint64_t Launches = 0, Threads = 0, WarpsRun = 0;
  uint64_t DivergentWarps = 0; ///< warps in which some branch split
  double Seconds = 0;          ///< time on the device that ran it
  /// That device was a GPU: launches are as large as they will be. On a CPU
  /// programs run small examples. Not in files of their own: Profile::Backend.
  bool OnGpu = false;
  std::vector<LaunchShape>
      Shapes; ///< distinct ones, first seen first; at most 8
  /// Sums over all counted launches, parallel to Info.Blocks, Info.Branches.
  std::vector<BlockCounts> Blocks;
  std::vector<BranchCounts> Branches;
  std::vector<AccessCounts> Accesses; ///< the same; empty: not counted
  Footprint Touched;
  RegroupedCounts Regrouped;
  ThreadVectors Vectors; ///< of a part of the sample, in raw profiles
  OrderTrials Orders;
  RaceFindings Races; ///< of a run that looked for them
};

struct Profile {
  std::string Program; ///< what was run
  std::vector<std::string> Arguments;
  int ExitStatus = 0;                 ///< of the program
  std::string Backend;                ///< "vm" or "gpu"
  std::string Device;                 ///< in words
  std::string Policy;                 ///< how the VM reconverges warps
  std::string Machine;                ///< machine file used for n and lat
  std::vector<std::string> Notes;     ///< what a reader must know of this run
  std::vector<std::string> Refused;   ///< code that did not run, each with why
  std::vector<KernelProfile> Kernels; ///< in order of first launch
  LaunchTrace Trace;                  ///< in raw profiles
};

} // namespace reconverge

#endif
