//===- reconverge/detail/threads.cuh - Where a thread stands ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DETAIL_THREADS_CUH
#define RECONVERGE_DETAIL_THREADS_CUH

#include "config.cuh"

namespace reconverge::detail {

inline constexpr int warp_threads = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

__host__ __device__ constexpr int round_up_division(int dividend, int divisor) {
  return (dividend + divisor - 1) / divisor;
}

/// The thread's number in its block, x first, as the hardware forms warps.
RECONVERGE_DEVICE int linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/// A thread in a block of so many. Where the compiler knows `threads`, all that
/// only a partial last warp needs is gone.
struct position {
  int thread, threads;

  RECONVERGE_DEVICE int lane() const { return unsigned(thread) % warp_threads; }
  RECONVERGE_DEVICE int warp() const { return unsigned(thread) / warp_threads; }
  RECONVERGE_DEVICE int warps() const {
    return round_up_division(threads, warp_threads);
  }
  /// The threads of this warp that exist: its first lanes.
  RECONVERGE_DEVICE unsigned members() const {
    if (threads % warp_threads == 0)
      return whole_warp;
    const int left = threads - warp() * warp_threads;
    return left < warp_threads ? (1u << left) - 1 : whole_warp;
  }
  /// A bit for each lane before this one.
  RECONVERGE_DEVICE unsigned lanes_before() const { return (1u << lane()) - 1; }
};

/// Where the set bit number n, from 0, of a mask is; it has more than n.
RECONVERGE_DEVICE int select_bit(unsigned mask, int n) {
  int at = 0;
#pragma unroll
  for (int width = 16; width; width /= 2) {
    const int below = __popc(mask & ((1u << width) - 1) << at);
    if (n >= below) {
      n -= below;
      at += width;
    }
  }
  return at;
}

/// One ballot for each bit of a path: from these, one logic operation a bit
/// gives the lanes of any path.
template <int Paths> struct path_ballots {
  static constexpr int bits = Paths <= 2    ? Paths - 1
                              : Paths <= 4  ? 2
                              : Paths <= 8  ? 3
                              : Paths <= 16 ? 4
                                            : 5;
  unsigned bit[bits > 0 ? bits : 1];

  RECONVERGE_DEVICE path_ballots(unsigned members, int path) {
#pragma unroll
    for (int i = 0; i < bits; ++i)
      bit[i] = __ballot_sync(members, path >> i & 1);
  }
  /// The lanes among `members` whose path is `wanted`, which may differ from
  /// lane to lane.
  RECONVERGE_DEVICE unsigned lanes_with(unsigned members, int wanted) const {
#pragma unroll
    for (int i = 0; i < bits; ++i)
      members &= wanted >> i & 1 ? bit[i] : ~bit[i];
    return members;
  }
};

} // namespace reconverge::detail

#endif
