//===- launch/Stops.cpp - Launches that count too much --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch by such a recipe leaves other bytes than the kernel as it was, so
// which of the two is taken must not hang on when a number happens to arrive:
//
//   launch n       takes what launches up to n - 4 of its stream say, and waits for
//                  them if need be
//   by the recipe  the kernel adds what it counts to a number on the device,
//                  which is then copied to the host, in the stream
//   stopped        since a launch counted more than it may; launches take the
//                  kernel as it was, but for one in so many, which counts
//   goes on        once one of these counts no more than it may
//
// The number is never reset: a launch has counted the difference to the one
// before it.
//
// Streams know nothing of each other, so results are the same each time as long
// as the program has its launches in the same streams, in the same order in each
// of them. Where two threads launch in one stream, they are not, and a launch
// that meets another takes the kernel as it was. So does one that is captured,
// for nobody could stop the graph, and one in the 65th stream of a kernel.
//
// Limitation: a host thread is at most 4 launches of a kernel ahead of its
// stream. A program that waits for none, and whose stream waits for what the host
// does after a later launch, would wait for ever. After cudaDeviceReset what is
// kept is gone.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/Stops.h"

#include "launch/Stopwatch.h"

#include <algorithm>

namespace reconverge::launch {

static constexpr size_t MostStreams = 64;

/// What \p Of needs of the runtime; false: it cannot be had.
static bool prepare(Stops::OfStream &Of) {
  BesideCapture Guard;
  if (cudaMallocHost(reinterpret_cast<void **>(&Of.Sums),
                     StopRule::Lag * sizeof(uint32_t)))
    return false;
  for (Stops::OfStream::Count &C : Of.Counts)
    if (cudaEventCreateWithFlags(&C.Arrived, cudaEventDisableTiming))
      return false;
  return true;
}

Stops::OfStream *Stops::begin(const Recipe &R, int Device,
                              cudaStream_t Stream) {
  unsigned long long Id = 0;
  if (cudaStreamGetId(Stream, &Id))
    return nullptr;
  auto At = std::find_if(All.begin(), All.end(), [&](const OfStream &Of) {
    return Of.Device == Device && Of.Id == Id;
  });
  if (At == All.end()) {
    if (All.size() == MostStreams)
      return nullptr;
    At = All.emplace(All.end(), R.Stop->Recheck);
    At->Device = Device;
    At->Id = Id;
    At->Kept.resize(R.Scratch.size());
    At->IsLost = !prepare(*At);
  }
  if (At->InUse)
    return nullptr;
  At->InUse = true;
  return &*At;
}

void Stops::wait(OfStream &Of) {
  const OfStream::Count &C = Of.Counts[Of.Launches % StopRule::Lag];
  if (!C.Asked)
    return;
  BesideCapture Guard;
  Of.IsLost |= cudaEventSynchronize(C.Arrived) != cudaSuccess;
}

/// The launch of \p C, whose number has arrived.
void Stops::hear(OfStream &Of, OfStream::Count &C) {
  C.Asked = false;
  const uint32_t Sum = Of.Sums[&C - Of.Counts], Lanes = Sum - Of.Heard;
  Of.Heard = Sum;
  Of.Rule.heard(Lanes, C.Most);
  ++Heard;
  Most =
      std::max(Most, double(Lanes) / double(std::max<uint64_t>(C.Threads, 1)));
}

Form Stops::choose(OfStream &Of, const Recipe &R, const LaunchShape &Shape,
                   Steps &Which) {
  OfStream::Count &C = Of.Counts[Of.Launches % StopRule::Lag];
  if (C.Asked && !Of.IsLost)
    hear(Of, C);
  C.Threads = Shape.threads();
  const auto May = amountOf(R.Stop->Most, Shape);
  if (Of.IsLost || !May)
    return Form::Original;
  C.Most = *May;
  Which.Kept = &Of.Kept;
  return Of.Rule.next();
}

void Stops::end(OfStream &Of, const Recipe &R, bool ByRecipe,
                cudaStream_t Stream) {
  Of.InUse = false;
  OfStream::Count &C = Of.Counts[Of.Launches++ % StopRule::Lag];
  if (!ByRecipe)
    return;
  C.Asked = cudaMemcpyAsync(&Of.Sums[&C - Of.Counts], Of.Kept[R.Stop->Counter],
                            sizeof(uint32_t), cudaMemcpyDeviceToHost,
                            Stream) == cudaSuccess &&
            cudaEventRecord(C.Arrived, Stream) == cudaSuccess;
  Of.IsLost |= !C.Asked;
}

Stops::Summary Stops::summary() {
  Summary Sum;
  for (OfStream &Of : All) {
    for (unsigned I = 0; I != StopRule::Lag && !Of.InUse && !Of.IsLost; ++I) {
      OfStream::Count &C = Of.Counts[(Of.Launches + I) % StopRule::Lag];
      if (C.Asked && cudaEventQuery(C.Arrived) == cudaSuccess)
        hear(Of, C);
    }
    Sum.Stopped += Of.Rule.stops();
    Sum.Resumed += Of.Rule.resumptions();
    Sum.Lost += Of.IsLost;
  }
  Sum.Most = Most;
  Sum.Heard = Heard;
  return Sum;
}

} // namespace reconverge::launch
