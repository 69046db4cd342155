//===- runtime/profile/VectorSample.h - Vectors of one launch ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_PROFILE_VECTORSAMPLE_H
#define RECONVERGE_RUNTIME_PROFILE_VECTORSAMPLE_H

#include "core/Profile.h"
#include "core/Vectors.h"
#include "model/Regroup.h"

#include <map>
#include <mutex>

namespace reconverge::runtime {

/// Whether launch \p Number of a kernel (from 1) is sampled: the first three,
/// then powers of two.
bool isSampledLaunch(uint64_t Number);

/// Observes the block vectors of a part of one launch and regroups them. The
/// outcome does not depend on the order in which thread blocks report.
class VectorSample : public VectorObserver {
public:
  static constexpr uint64_t MaxThreads = 65536;
  /// Counts kept at most (4 bytes each); kernels of very many blocks are
  /// sampled more thinly.
  static constexpr uint64_t MaxCells = 4 << 20;
  /// The same of those kept for threadVectors().
  static constexpr uint64_t MaxKeptCells = 1 << 20;

  /// \p Slots: issue slots of each block.
  VectorSample(const LaunchShape &Shape, std::vector<double> Slots,
               unsigned WarpSize);

  bool wants(uint64_t LinearBlock) override;

  /// One thread block of each stride() in a row is wanted; of those that begin
  /// with \p First, a multiple of it, this one (maybe beyond the grid).
  uint64_t stride() const { return Stride; }
  uint64_t sampledFrom(uint64_t First) const;

  void record(uint64_t LinearBlock, unsigned Threads,
              llvm::ArrayRef<uint32_t> Vectors,
              llvm::ArrayRef<uint64_t> AsRun) override;

  /// For threadVectors(): what \p Loads read for each thread. Of a row a thread
  /// of the whole launch, in linear order, \p Read(first, to) gets values.
  void
  note(std::vector<uint32_t> Loads,
       llvm::function_ref<void(uint64_t First, llvm::MutableArrayRef<float> To)>
           Read);

  /// Adds what was sampled to \p Sum; called once, after the launch.
  void addTo(RegroupedCounts &Sum);

  /// The vectors of some sampled thread blocks, evenly over the grid; as many
  /// as ThreadVectors has room for. The launch's number is left to the caller.
  ThreadVectors threadVectors() const;
  /// Threads of the thread blocks that were kept for that.
  uint64_t keptThreads() const;

private:
  struct KeptBlock {
    uint64_t Number;
    std::vector<uint32_t> Vectors; ///< a row a thread
  };
  bool keeps(uint64_t LinearBlock) const;
  const LaunchShape Shape;
  const std::vector<double> Slots;
  const unsigned WarpSize;
  uint64_t Stride;     ///< one thread block of each Stride is sampled
  uint64_t KeptStride; ///< and of each KeptStride sampled ones one is kept

  std::mutex Lock;
  model::RegroupedLaunch Regrouped;
  std::vector<KeptBlock> Kept; ///< as they came
  std::vector<uint32_t> Loads;
  std::map<uint64_t, std::vector<float>> Features; ///< of what is kept
};

} // namespace reconverge::runtime

#endif
