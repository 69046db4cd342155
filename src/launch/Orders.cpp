//===- launch/Orders.cpp - What later launches may reuse ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   launch   no order yet, or it was asked to be made anew   all steps
//            else                                            the kernel, by it
//            and, now and then, a probe before it: of a sample, how many differ?
//
// A probe's number is copied to the host in the stream and looked at when a
// later launch comes: nobody waits. Where more than 1 in 8 differ, the order is
// made anew. Probes come at the next launch, then after 2, 4, ... 32 more, and
// from the beginning for a new order.
//
// An order that nothing probes is made anew after as many launches.
//
// Two launches share an order only if they are in the same stream, where one
// ends before the other begins; a launch that meets another host thread's with
// the same order makes its own. So does one that is captured.
//
// Limitation: what is kept stays until the process ends, for at most 16 streams
// and shapes a kernel. After cudaDeviceReset it is gone, and a program that
// calls that between launches has to be built without reuse.
//
//===----------------------------------------------------------------------===//

#include "launch/Orders.h"

#include "launch/Stopwatch.h"

#include <algorithm>

namespace reconverge::launch {

static constexpr size_t MostOrders = 16;
static constexpr uint32_t MostPause = 32;
static constexpr uint64_t Bound = 8; ///< 1 in so many may differ

Orders::Order *Orders::find(const Recipe &R, int Device, cudaStream_t Stream,
                            const LaunchShape &Shape) {
  unsigned long long Id = 0;
  if (cudaStreamGetId(Stream, &Id))
    return nullptr;
  for (Order &Of : All)
    if (Of.Device == Device && Of.Stream == Id && Of.Shape == Shape)
      return &Of;
  if (All.size() == MostOrders)
    return nullptr;
  BesideCapture Guard;
  Order New;
  if (cudaEventCreateWithFlags(&New.Arrived, cudaEventDisableTiming))
    return nullptr;
  if (cudaMallocHost(reinterpret_cast<void **>(&New.Differing),
                     sizeof(uint32_t))) {
    (void)cudaEventDestroy(New.Arrived);
    return nullptr;
  }
  New.Device = Device;
  New.Stream = Id;
  New.Shape = Shape;
  New.Kept.resize(R.Scratch.size());
  return &All.emplace_back(std::move(New));
}

/// What the last probe of \p Of has found, if that is known by now.
void Orders::hear(Order &Of, const Recipe &R) {
  BesideCapture Guard;
  if (!Of.Asked || cudaEventQuery(Of.Arrived) != cudaSuccess)
    return;
  Of.Asked = false;
  const uint64_t Probed = amountOf(R.Reuse->Probed, Of.Shape).value_or(0);
  if (*Of.Differing * Bound > Probed) {
    Of.Made = false;
    ++Counted.Renewed;
  } else {
    Of.Every = std::min(Of.Every * 2, MostPause);
    Of.Pause = Of.Every;
  }
}

Orders::Order *Orders::begin(const Recipe &R, int Device, cudaStream_t Stream,
                             const LaunchShape &Shape, Steps &Which) {
  Order *Of = find(R, Device, Stream, Shape);
  if (!Of || Of->InUse)
    return nullptr;
  Of->InUse = true;
  hear(*Of, R);
  const bool IsDue = Of->Made && !Of->Asked && Of->Pause == 0;
  Of->Pause -= Of->Made && !Of->Asked && Of->Pause;
  Which.Kept = &Of->Kept;
  Which.Making = !Of->Made || (R.Reuse->Renewed && IsDue);
  Which.Probing = IsDue && !R.Reuse->Renewed;
  return Of;
}

void Orders::end(Order &Of, const Recipe &R, const Steps &Which, bool Done,
                 cudaStream_t Stream) {
  Of.InUse = false;
  if (!Done) {
    Of.Made = false;
    return;
  }
  Counted.Made += Which.Making;
  Counted.Reused += !Which.Making;
  if (Which.Making && R.Reuse->Renewed) {
    Of.Every = Of.Made ? std::min(Of.Every * 2, MostPause) : 1;
    Of.Pause = Of.Every;
    Of.Made = true;
  } else if (Which.Making) {
    Of.Made = true;
    Of.Every = 1;
    Of.Pause = 0;
  }
  if (!Which.Probing)
    return;
  ++Counted.Probes;
  Of.Asked = cudaMemcpyAsync(Of.Differing, Of.Kept[R.Reuse->Differing],
                             sizeof(uint32_t), cudaMemcpyDeviceToHost,
                             Stream) == cudaSuccess &&
             cudaEventRecord(Of.Arrived, Stream) == cudaSuccess;
}

} // namespace reconverge::launch
