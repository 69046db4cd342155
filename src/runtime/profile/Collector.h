//===- runtime/profile/Collector.h - Launches to a Profile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_PROFILE_COLLECTOR_H
#define RECONVERGE_RUNTIME_PROFILE_COLLECTOR_H

#include "analysis/Costs.h"
#include "core/Profile.h"
#include "core/Vectors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace reconverge::runtime {

class OrderMaker;
class VectorSample;

/// One launch on its way through the backend: made by Collector::begin, given
/// back to Collector::finish, or dropped if the launch failed (nothing is
/// counted then).
class LaunchRecord {
public:
  ~LaunchRecord();
  /// What to hand to Machine::launch; null where this launch is not sampled, so
  /// that it runs at full speed. Lives as long as the record.
  VectorObserver *observer() const;
  /// The sample in it, for those who ask which thread blocks it wants all at
  /// once.
  VectorSample *sample() const { return Sample.get(); }
  uint64_t number() const { return Number; } ///< among the kernel's, from 1

  OrderTrials Orders; ///< of this launch; summed up by finish()
  RaceFindings Races; ///< the same

private:
  friend class Collector;
  LaunchRecord();
  size_t Kernel = 0; ///< position in Collector's list
  uint64_t Number = 0;
  LaunchShape Shape;
  const void *Stream = nullptr;
  std::unique_ptr<VectorSample> Sample;
  std::unique_ptr<OrderMaker> Maker; ///< it sees the sample's, too
};

/// Sums up the launches of a program, kernel by kernel. The backend calls, one
/// launch after the other:
///
///   auto Record = Collector.begin(Kernel.function(), Program.hash(), Shape);
///   LaunchCounts Counts;
///   if (auto E = Machine.launch(Kernel, Shape, Args, &Counts,
///                               Record->observer())) ...
///   Collector.finish(std::move(Record), Counts);
///
/// Not thread-safe itself: launches run one after the other. Memory grows with
/// the number of kernels, never with launches, of which a bounded number is
/// traced.
class Collector {
public:
  /// \p WarpSize is that of the executor, 32 or 64.
  explicit Collector(analysis::MachineModel Machine, unsigned WarpSize = 32);
  /// Writes orders of the threads of each kernel's first launch of each number
  /// of threads to \p Folder (OrderMaker.h), where whoever executes observes by
  /// LaunchRecord::observer().
  void writeOrders(std::string Folder) { OrdersTo = std::move(Folder); }
  ~Collector();
  Collector(const Collector &) = delete;
  Collector &operator=(const Collector &) = delete;

  /// \p Kernel: as loaded and numbered, without what an executor adds to it.
  /// \p Stream: whatever tells streams apart; null for the default one.
  std::unique_ptr<LaunchRecord> begin(llvm::Function &Kernel,
                                      llvm::StringRef ModuleHash,
                                      const LaunchShape &Shape,
                                      const void *Stream = nullptr);
  /// What the GPU's code of the kernel that \p Record is of takes: registers of
  /// a thread, bytes of static shared memory.
  void setNeeds(const LaunchRecord &Record, uint32_t Registers,
                uint64_t StaticShared);
  void finish(std::unique_ptr<LaunchRecord> Record, const LaunchCounts &Counts);

  /// Kernels, Trace, Machine and Notes filled in; the rest is the backend's to
  /// say. The collector is as new afterwards.
  Profile take();

private:
  struct Entry;
  void trace(Entry &E, const LaunchRecord &Record);
  static bool dropImpossible(Entry &E, std::vector<std::string> &Notes);
  analysis::MachineModel Machine;
  const unsigned WarpSize;
  std::string OrdersTo; ///< empty: none are made
  std::vector<std::string> OrderFaults;
  std::vector<std::unique_ptr<Entry>> Kernels; ///< in order of first launch
  llvm::StringMap<size_t> Index;               ///< module hash, ':', name
  LaunchTrace Trace;
  llvm::DenseMap<const void *, uint32_t> Streams; ///< numbers in the trace
};

} // namespace reconverge::runtime

#endif
