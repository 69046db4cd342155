//===- launch/Launched.h - A recipe's launches in a program -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_LAUNCHED_H
#define RECONVERGE_LAUNCH_LAUNCHED_H

#include "core/LaunchShape.h"
#include "core/Recipe.h"
#include "launch/GivenOrders.h"
#include "launch/Orders.h"
#include "launch/Sequences.h"
#include "launch/Stops.h"
#include "launch/Stopwatch.h"
#include "launch/Switch.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace reconverge::launch {

/// How the launches of one recipe went so far, and which form the next takes.
/// Lives as long as the process; threads may share it.
class Launched {
public:
  explicit Launched(Recipe R) : R(std::move(R)) {}
  const Recipe &recipe() const { return R; }

  /// What was chosen for one launch.
  struct Turn {
    Form Take = Form::Original;
    std::optional<Stopwatch::Timing> Measured;
    std::pair<int, unsigned> Class; ///< device, and bits of the thread count
    Steps Which;
    Orders::Order *Order = nullptr;    ///< null: the launch makes what it needs
    Sequences::Sequence *In = nullptr; ///< null: nothing is made for the next
    Stops::OfStream *Counts = nullptr; ///< null: what it counts is not kept
    std::vector<void *> Given;         ///< what Which.Kept may point at
    cudaError_t Fault = cudaSuccess;   ///< of an order that is given
  };
  /// Of a launch of \p Shape and \p Args in \p Stream.
  Turn begin(const LaunchShape &Shape, cudaStream_t Stream, void *const *Args,
             const CudaCalls &Calls);
  /// After what \p Took says was launched. \p Done: it was, in that form.
  void end(const Turn &Took, bool Done, cudaStream_t Stream);

  /// Lines for RECONVERGE_VERBOSE=1, one for each size of launches.
  std::string describe();
  /// A line for the file of core/DroppedShares.h; empty: nothing was counted.
  std::string describeShare();

private:
  struct OfClass {
    Switch Choice;
    Stopwatch Watch;
    /// Of launches by orders that were made before, and by their own: the least
    /// milliseconds. Zero: not known.
    double Ready = 0, Own = 0;
    bool Judged = false; ///< these two
    bool Alone = false;  ///< launches make their own orders: that is faster
    /// Milliseconds of the last launch that made an order, and how many were
    /// measured.
    double Making = 0;
    unsigned Makings = 0;
    uint64_t Launches = 0, ByRecipe = 0, Captured = 0;
  };
  double amortised(const Stopwatch::Known &Now, OfClass &Of) const;
  void give(Turn &Now, uint32_t Scratch, const LaunchShape &Shape);
  void measure(Turn &Now, OfClass &Of, cudaStream_t Stream);
  bool measure(Turn &Now, OfClass &Of, Stopwatch::Timing T,
               cudaStream_t Stream);
  void note(const Stopwatch::Known &Now, OfClass &Of);
  void judge(OfClass &Of) const;
  bool leadsIn(const Turn &Now, const OfClass &Of) const;
  void count(Turn &Now, const LaunchShape &Shape, cudaStream_t Stream,
             std::unique_lock<std::mutex> &Guard);
  std::string describeStops();
  std::string describe(const std::string &Name, unsigned Bits,
                       const OfClass &Of) const;

  const Recipe R;
  std::mutex Lock;
  std::map<std::pair<int, unsigned>, OfClass> Classes;
  Orders Kept;
  Sequences Following;
  GivenOrders Given;
  Stops Stopped;
  uint64_t Outside = 0; ///< launches that it is not for
};

/// Has what \p L says be written at exit: to stderr, if RECONVERGE_VERBOSE is 1,
/// and to the file of core/DroppedShares.h, if one is named.
void describeAtExit(Launched &L);

} // namespace reconverge::launch

#endif
