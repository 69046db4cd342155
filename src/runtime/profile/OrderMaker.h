//===- runtime/profile/OrderMaker.h - Files of orders -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_PROFILE_ORDERMAKER_H
#define RECONVERGE_RUNTIME_PROFILE_ORDERMAKER_H

#include "core/Profile.h"
#include "core/Vectors.h"
#include "model/Regroup.h"

#include "llvm/Support/Error.h"

#include <map>
#include <mutex>

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::runtime {

/// Observes the block vectors of all threads of one launch.
class OrderMaker : public VectorObserver {
public:
  /// \p Sample, if not null, is shown what it wants. \p Blocks: of the kernel.
  OrderMaker(const LaunchShape &Shape, size_t Blocks, VectorObserver *Sample)
      : Shape(Shape), Sample(Sample), Seen(Blocks) {}

  bool wants(uint64_t) override { return true; }
  void record(uint64_t LinearBlock, unsigned Threads,
              llvm::ArrayRef<uint32_t> Vectors,
              llvm::ArrayRef<uint64_t> AsRun) override;

  /// After the launch, \p Launch of a kernel with these facts: writes an order
  /// of its threads by each algorithm, and how long by \p Limits that takes.
  ///
  ///   FOLDER/<algorithm>/<kernel>.<threads>.order   core/OrderFile.h
  ///   FOLDER/times   a line each is added: kernel, threads, algorithm or
  ///                  "as-launched", cycles weighted and scheduled
  llvm::Error write(llvm::StringRef Folder, const KernelInfo &Info,
                    uint32_t WarpSize, uint64_t Launch,
                    const analysis::MachineLimits *Limits);

private:
  ThreadVectors take();

  const LaunchShape Shape;
  VectorObserver *const Sample;
  std::mutex Lock;
  model::VectorClasses Seen;                         ///< numbered as they came
  std::map<uint64_t, std::vector<uint32_t>> ClassOf; ///< by thread block
};

} // namespace reconverge::runtime

#endif
