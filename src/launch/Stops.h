//===- launch/Stops.h - Launches that count too much ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_STOPS_H
#define RECONVERGE_LAUNCH_STOPS_H

#include "core/LaunchShape.h"
#include "core/Recipe.h"
#include "launch/Execute.h"
#include "launch/StopRule.h"

#include <cuda_runtime_api.h>

#include <list>

namespace reconverge::launch {

/// Which form launches of one recipe with a RecipeStop take, in each stream by
/// itself. Not for two threads at once, but for wait().
class Stops {
public:
  struct OfStream {
    int Device = 0;
    unsigned long long Id = 0; ///< of the stream; no later one has it
    std::vector<void *> Kept;
    bool InUse = false;
    bool IsLost = false; ///< what it counts is no longer known
    StopRule Rule;
    /// Of launch N, at N % Lag, what is to be heard of it.
    struct Count {
      bool Asked = false;
      uint64_t Most = 0, Threads = 0;
      cudaEvent_t Arrived = nullptr;
    };
    Count Counts[StopRule::Lag] = {};
    uint32_t *Sums = nullptr; ///< the host's copies of the counter, pinned
    uint64_t Launches = 0;
    uint32_t Heard = 0; ///< the counter as it was heard last
    explicit OfStream(uint32_t Recheck) : Rule(Recheck) {}
  };

  /// Of a launch in \p Stream, InUse until end(); null: the kernel as it was is
  /// launched, since another thread launches in that stream, or there are too many streams.
  OfStream *begin(const Recipe &R, int Device, cudaStream_t Stream);
  /// Waits until what decides the next launch is there.
  static void wait(OfStream &Of);
  /// The form of that launch, which is of \p Shape; sets \p Which.
  Form choose(OfStream &Of, const Recipe &R, const LaunchShape &Shape,
              Steps &Which);
  /// After it was launched, by the recipe only if \p ByRecipe.
  void end(OfStream &Of, const Recipe &R, bool ByRecipe, cudaStream_t Stream);

  /// What is known when the process ends, of all streams.
  struct Summary {
    double Most = 0;    ///< the greatest share of a launch's threads
    uint64_t Heard = 0; ///< launches whose counts are known
    uint64_t Stopped = 0, Resumed = 0, Lost = 0;
  };
  Summary summary();

private:
  void hear(OfStream &Of, OfStream::Count &C);

  std::list<OfStream> All;
  double Most = 0;
  uint64_t Heard = 0;
};

} // namespace reconverge::launch

#endif
