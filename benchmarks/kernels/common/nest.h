//===- benchmarks/kernels/common/nest.h - A loop in a loop ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs have in common in which each thread has a loop in a loop,
// and the number of the inner one's rounds hangs on the data. Each has its work
// as a class, and nested() is the kernel as one writes it:
//
//   Work W;
//   W.start(In, Thread, Shared);        // In: Work::Input, a kernel's argument
//   for (; W.next(In); W.behind(In))    // prologue and epilogue of a round
//     while (W.more(In)) W.step(In);
//   W.finish(In, Thread);               // stores what belongs to the thread
//
// A warp makes as many rounds of the inner loop as its slowest lane, each time
// anew. By hand there are two ways to have it make the longest sum instead:
//
//   lane  0 1 2        0 1 2
//         a a a        a a a      nested: 3 and 3 rounds
//         . a a        b a a      merged: 4, in which a lane that is through
//         . a .        b a b        with its a's goes on with its b's
//         b b b        b b b
//         b . b
//         b . .
//
// merged() is one loop that either makes a round of the inner one or runs what
// is around it; each lane goes on at once. voted() has lanes wait until at least
// `threshold` of 32 that are left are through, so that they run what is around
// the inner loop together. The argument `form` chooses: 0 nested, 1 merged,
// 2 voted, 3 all of them in turns (ways.h).
//
// Work may keep a table in shared memory: share(In) fills it and waits for the
// block. Threads that have no item take part in that alone.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_NEST_H
#define RECONVERGE_BENCHMARKS_NEST_H

#include "exact.h"
#include "ways.h"

#include <algorithm>

/// Of work that keeps nothing in shared memory.
struct Unshared {
  template <typename Input> static __device__ void *share(const Input &) {
    return nullptr;
  }
};

/// With -DROLLED no compiler makes copies of the inner loop's rounds. It does
/// where their number is known before the first one (rows); flattened, it
/// is a loop of whole copies, and the rest of the rounds is run by few lanes.
#ifdef ROLLED
#define UNROLL _Pragma("unroll 1")
#else
#define UNROLL
#endif

template <typename Work>
HD void followNest(Work &Mine, const typename Work::Input &In) {
  for (; Mine.next(In); Mine.behind(In))
    UNROLL while (Mine.more(In)) Mine.step(In);
}

template <typename Work>
__global__ void nested(typename Work::Input In, int Threads) {
  auto *Shared = Work::share(In);
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Thread >= Threads)
    return;
  Work Mine;
  Mine.start(In, Thread, Shared);
  followNest(Mine, In);
  Mine.finish(In, Thread);
}

#ifndef ONLY_PLAIN
template <typename Work>
__global__ void merged(typename Work::Input In, int Threads) {
  auto *Shared = Work::share(In);
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Thread >= Threads)
    return;
  Work Mine;
  Mine.start(In, Thread, Shared);
  bool Left = Mine.next(In);
  while (Left) {
    if (Mine.more(In)) {
      Mine.step(In);
    } else {
      Mine.behind(In);
      Left = Mine.next(In);
    }
  }
  Mine.finish(In, Thread);
}

/// For blocks of whole warps.
template <typename Work>
__global__ void voted(typename Work::Input In, int Threads, int Threshold) {
  auto *Shared = Work::share(In);
  const int Thread = int(blockIdx.x * blockDim.x + threadIdx.x);
  Work Mine;
  bool Left = Thread < Threads;
  if (Left) {
    Mine.start(In, Thread, Shared);
    Left = Mine.next(In);
  }
  bool Inside = Left && Mine.more(In);
  for (;;) {
    const int Running = __popc(__ballot_sync(~0u, Inside)),
              Waiting = __popc(__ballot_sync(~0u, Left && !Inside));
    if (Running + Waiting == 0)
      break;
    if (32 * Waiting >= Threshold * (Running + Waiting)) {
      while (Left && !Inside) { // most have a round at once
        Mine.behind(In);
        Left = Mine.next(In);
        Inside = Left && Mine.more(In);
      }
    }
    if (Inside) {
      Mine.step(In);
      Inside = Mine.more(In);
    }
  }
  if (Thread < Threads)
    Mine.finish(In, Thread);
}
#endif

/// The arguments of these programs and the rest of their main.
class NestForms {
public:
  NestForms(Bench &Run, int Block)
      : Run(Run), Block(int(Run.integer("block", Block, 32, 1024)) / 32 * 32),
        Threshold(int(Run.integer("threshold", 8, 1, 32))),
        Form(Run.integer("form", 0, 0, 3)) {}

  /// \p Here is what the host's memory has for what In points to.
  template <typename Work, typename Input, typename Output, typename Compare>
  int run(const typename Work::Input &In, int Threads, Input Fresh, Output Get,
          Compare Check) {
    const int Blocks = (Threads + Block - 1) / Block;
    std::vector<Way> Ways = {{"nested", (const void *)nested<Work>, Block, [&] {
                                nested<Work><<<Blocks, Block>>>(In, Threads);
                              }}};
#ifndef ONLY_PLAIN
    Ways.push_back({"merged", (const void *)merged<Work>, Block,
                    [&] { merged<Work><<<Blocks, Block>>>(In, Threads); }});
    Ways.push_back({"voted", (const void *)voted<Work>, Block, [&] {
                      voted<Work><<<Blocks, Block>>>(In, Threads, Threshold);
                    }});
#endif
    return runWays(Run, Ways, std::min(Form, long(Ways.size())), Fresh, Get,
                   Check);
  }

private:
  Bench &Run;
  const int Block, Threshold;
  const long Form;
};

/// What threads that share nothing leave in the host's memory, one after the
/// other.
template <typename Work>
void onHost(const typename Work::Input &In, int Threads) {
  for (int Thread = 0; Thread < Threads; ++Thread) {
    Work Mine;
    Mine.start(In, Thread, nullptr);
    followNest(Mine, In);
    Mine.finish(In, Thread);
  }
}

#endif
