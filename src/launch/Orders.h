//===- launch/Orders.h - What later launches may reuse ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_ORDERS_H
#define RECONVERGE_LAUNCH_ORDERS_H

#include "core/LaunchShape.h"
#include "core/Recipe.h"
#include "launch/Execute.h"

#include <cuda_runtime_api.h>

#include <list>

namespace reconverge::launch {

/// What launches of one recipe have kept for later ones: one order a device,
/// stream and shape. Not for two threads at once.
class Orders {
public:
  struct Order {
    int Device = 0;
    unsigned long long Stream = 0; ///< its id, which no later stream has
    LaunchShape Shape;
    std::vector<void *> Kept;
    bool Made = false, InUse = false;
    bool Asked = false;            ///< a probe's number is on its way
    uint32_t Pause = 0, Every = 1; ///< launches until a probe, and after it
    uint32_t *Differing = nullptr; ///< the host's copy, pinned
    cudaEvent_t Arrived = nullptr;
  };
  struct Counts {
    uint64_t Made = 0, Reused = 0, Probes = 0, Renewed = 0;
  };

  /// That of a launch, which is InUse until end(); null: it makes its own. Sets
  /// \p Which.
  Order *begin(const Recipe &R, int Device, cudaStream_t Stream,
               const LaunchShape &Shape, Steps &Which);
  /// After its steps were launched, or \p Done was not.
  void end(Order &Of, const Recipe &R, const Steps &Which, bool Done,
           cudaStream_t Stream);
  const Counts &counts() const { return Counted; }

private:
  Order *find(const Recipe &R, int Device, cudaStream_t Stream,
              const LaunchShape &Shape);
  void hear(Order &Of, const Recipe &R);

  std::list<Order> All;
  Counts Counted;
};

} // namespace reconverge::launch

#endif
