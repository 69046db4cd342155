//===- benchmarks/kernels/common/ways.h - Ways to do the same ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rest of main for a program that does the same in several ways. It runs
// the way whose number was chosen, or all of them in turns, where the number is
// how many there are; then what they leave is compared byte for byte, and with
// repeat=N each way prints, in place of bench.h's kernel-ms,
//
//   use slice: registers=40 shared=0 blocks-per-sm=6 occupancy=0.75
//   ms slice: 0.117 0.116 0.118
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_WAYS_H
#define RECONVERGE_BENCHMARKS_WAYS_H

#include "bench.h"

#include <functional>

struct Way {
  const char *Name;
  const void *Kernel; ///< in which nearly all of the time passes
  int Block;          ///< threads
  std::function<void()> Launch;
  size_t Dynamic = 0; ///< bytes of shared memory that the launch asks for

  void printUse() const {
    cudaFuncAttributes Use;
    CHECK_CUDA(cudaFuncGetAttributes(&Use, Kernel));
    int Fit = 0, Most = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Fit, Kernel,
                                                             Block, Dynamic));
    CHECK_CUDA(cudaDeviceGetAttribute(
        &Most, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    std::printf("use %s: registers=%d shared=%zu blocks-per-sm=%d "
                "occupancy=%.4f\n",
                Name, Use.numRegs, Use.sharedSizeBytes + Dynamic, Fit,
                double(Fit) * Block / Most);
  }
};

/// \p Fresh makes the input new, \p Get reads the result, a vector, and \p
/// Check compares it with the CPU's. Returns main's exit code.
template <typename Input, typename Output, typename Compare>
int runWays(Bench &Run, const std::vector<Way> &Ways, long Chosen, Input Fresh,
            Output Get, Compare Check) {
  const bool InTurns = Chosen == long(Ways.size());
  const std::vector<Way> Taken(Ways.begin() + (InTurns ? 0 : Chosen),
                               InTurns ? Ways.end()
                                       : Ways.begin() + Chosen + 1);
  const auto Once = [&](const Way &W) {
    Fresh();
    W.Launch();
    CHECK_LAUNCH();
    CHECK_CUDA(cudaDeviceSynchronize());
    return Get();
  };
  const auto First = Once(Taken[0]);
  bool Right = !Run.checks() || Check(First);
  for (size_t W = 1; W < Taken.size(); ++W) {
    if (Once(Taken[W]) == First)
      continue;
    std::printf("%s leaves other bytes than %s\n", Taken[W].Name,
                Taken[0].Name);
    Right = false;
  }
  std::vector<std::vector<float>> Times(Taken.size());
  for (long R = 0; R < Run.repeats(); ++R)
    for (size_t W = 0; W < Taken.size(); ++W) {
      Fresh();
      Times[W].push_back(Bench::milliseconds(Taken[W].Launch));
    }
  for (size_t W = 0; W < Taken.size(); ++W) {
    if (!InTurns) {
      for (float Ms : Times[W])
        Run.took(Ms);
    } else if (Run.repeats()) {
      Taken[W].printUse();
      std::printf("ms %s:", Taken[W].Name);
      for (float Ms : Times[W])
        std::printf(" %.6f", Ms);
      std::printf("\n");
    }
  }
  return Run.finish(Right, checksum(First)) || !Right;
}

#endif
