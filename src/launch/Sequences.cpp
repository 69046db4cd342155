//===- launch/Sequences.cpp - Launches made ready by those before ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<g, b, 0, s>>>(in, out)              the kernel by an order made here
//                                           order of (in + d, out + d) beside
//   k<<<g, b, 0, s>>>(in + d, out + d)      the kernel by that order
//                                           order of (in + 2 d, out + 2 d) beside
//
// Where orders that were made before turn out slower than those that launches make
// themselves, launches make their own (Launched.cpp).
//
// Limitation: what is kept stays until the process ends, for at most 16 streams
// and shapes a kernel, as in Orders.cpp.
//
//===----------------------------------------------------------------------===//

#include "launch/Sequences.h"

#include "launch/Stopwatch.h"

#include <algorithm>

namespace reconverge::launch {

static constexpr size_t MostSequences = 16;

Sequences::Sequence *Sequences::begin(const Recipe &R, const CudaCalls &Calls,
                                      int Device, cudaStream_t Stream,
                                      const LaunchShape &Shape,
                                      void *const *Args) {
  unsigned long long Id = 0;
  if (cudaStreamGetId(Stream, &Id))
    return nullptr;
  auto At = std::find_if(All.begin(), All.end(), [&](const Sequence &Of) {
    return Of.Device == Device && Of.Stream == Id && Of.Shape == Shape;
  });
  if (At == All.end()) {
    if (All.size() == MostSequences)
      return nullptr;
    At = All.emplace(All.end(), *R.Ahead);
    At->Device = Device;
    At->Stream = Id;
    At->Shape = Shape;
    for (std::vector<void *> &Kept : At->Kept)
      Kept.resize(R.Scratch.size());
    BesideCapture Guard;
    (void)At->Beside.create(Calls); // without it, nothing is made for the next
  }
  if (At->InUse)
    return nullptr;
  At->InUse = true;
  const bool IsRight = At->Arguments.see(Args);
  At->IsReady = IsRight && At->Next.Done;
  At->Next = {};
  At->Next.Args = At->Arguments.foretell();
  return &*At;
}

void Sequences::choose(Sequence &Of, Steps &Which) {
  ++Counted.Launches;
  Counted.Ready += Of.IsReady;
  Of.Next.Kept = &Of.Kept[1 - Of.Mine];
  Which.Making = !Of.IsReady;
  Which.Kept = &Of.Kept[Of.Mine];
  Which.Next = Of.Next.Args ? &Of.Next : nullptr;
}

void Sequences::end(Sequence &Of, bool Done) {
  Of.InUse = false;
  Of.Next.Done &= Done;
  Counted.Foretold += Of.Next.Done;
  if (Of.Next.Done)
    Of.Mine = 1 - Of.Mine; // what was made is the next launch's
  else
    Of.Arguments.forget();
}

} // namespace reconverge::launch
