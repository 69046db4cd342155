//===- reconverge/detail/item_counts.cuh - Where an item goes ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many items of each path each warp of a block has, two bytes each, and the
// sums over them that give an item its place; for block_collect what
// warp_counts.cuh is for block_remap, where a warp has more than 32.
//
//           warp  0   1   2   3 | 4 ...
//   path 0      112  32   0   5 | ...    a row: two warps a word, and since no
//   path 1       16  96 128 123 | ...    sum is above 32768, words are added
//
// rank() is called for 32 items of a warp after the other. Of one or two paths
// a ballot for each gives the rank, and the counts stay in registers. Of more,
// a ballot for each bit of the path gives the lanes with the same one, and the
// counts are in shared memory, where the first of these lanes writes.
//
// After a barrier lane p sums row p, and a prefix sum over the lanes, of counts
// rounded up to whole warps, says where path p begins. A partial last warp may
// have fewer lanes than there are paths: there each thread goes through the
// rows itself.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_ITEM_COUNTS_CUH
#define RECONVERGE_DETAIL_ITEM_COUNTS_CUH

#include "threads.cuh"

#include <cstdint>

namespace reconverge::detail {

/// The least multiple of a warp's size that is not less.
RECONVERGE_DEVICE int whole_warps(int count) {
  return (count + warp_threads - 1) & -warp_threads;
}

template <int MaxThreads, int Paths> class item_counts {
  static constexpr int max_warps = round_up_division(MaxThreads, warp_threads);
  static constexpr int words = max_warps <= 2    ? 1
                               : max_warps <= 4  ? 2
                               : max_warps <= 8  ? 4
                               : max_warps <= 16 ? 8
                                                 : 16;
  static constexpr bool by_ballot = Paths <= 2;

  struct alignas(words < 4 ? 4 * words : 16) row {
    unsigned word[words];
  };

public:
  struct storage {
    row counts[Paths];
  };

  RECONVERGE_DEVICE item_counts(storage &shared, position at)
      : shared_(shared), at_(at) {
    if constexpr (!by_ballot)
#pragma unroll 1 // one trip, but in a partial warp
      for (int p = at_.lane(); p < Paths; p += __popc(at_.members()))
        mine(p) = 0;
  }

  /// How many items of the same path this warp has had before the caller's; a
  /// path below 0 has none.
  RECONVERGE_DEVICE int rank(int path) {
    const unsigned members = at_.members(), before = at_.lanes_before();
    int rank = 0;
    if constexpr (by_ballot) {
#pragma unroll
      for (int p = 0; p < Paths; ++p) {
        const unsigned same = __ballot_sync(members, path == p);
        if (path == p)
          rank = had_[p] + __popc(same & before);
        had_[p] += __popc(same);
      }
    } else {
      const unsigned some = __ballot_sync(members, path >= 0);
      const path_ballots<Paths> ballots(members, path);
      const unsigned same = ballots.lanes_with(some, path);
      const int earlier = __popc(same & before);
      __syncwarp(members); // what was written
      const int had = path >= 0 ? mine(path) : 0;
      __syncwarp(members); // is read
      if (path >= 0 && earlier == 0)
        mine(path) = std::uint16_t(had + __popc(same));
      rank = had + earlier;
    }
    return rank;
  }

  /// By all threads of the block, after the last rank() and before what is
  /// below; a barrier is in it.
  RECONVERGE_DEVICE void done() {
    if constexpr (by_ballot)
      if (at_.lane() == 0)
#pragma unroll
        for (int p = 0; p < Paths; ++p)
          mine(p) = std::uint16_t(had_[p]);
    __syncthreads();
    if (!whole())
      return;
    const sums of = sum(at_.lane() < Paths ? at_.lane() : Paths - 1);
    int until = whole_warps(of.total); // a sum over the lanes up to this one
#pragma unroll
    for (int step = 1; step < Paths; step *= 2) {
      const int below = __shfl_up_sync(whole_warp, until, step);
      until += at_.lane() >= step ? below : 0;
    }
    first_ = until - whole_warps(of.total);
    total_ = of.total;
    before_ = of.before;
  }

  /// Here and below, each lane may ask for another path. Where this warp's items of
  /// it go.
  RECONVERGE_DEVICE int place(int p) const {
    return whole() ? from_lane(first_ + before_, p) : first(p) + sum(p).before;
  }
  /// Where the path begins, at a multiple of 32.
  RECONVERGE_DEVICE int first(int p) const {
    if (whole())
      return from_lane(first_, p);
    int first = 0;
#pragma unroll 1
    for (int q = 0; q < p; ++q)
      first += whole_warps(sum(q).total);
    return first;
  }
  /// How many items it has.
  RECONVERGE_DEVICE int total(int p) const {
    return whole() ? from_lane(total_, p) : sum(p).total;
  }

private:
  /// Of one path: its items in the block, those of them in warps before mine.
  struct sums {
    int total, before;
  };

  RECONVERGE_DEVICE bool whole() const { return at_.members() == whole_warp; }
  RECONVERGE_DEVICE static int from_lane(int value, int p) {
    return __shfl_sync(whole_warp, value, Paths == 1 ? 0 : p);
  }
  RECONVERGE_DEVICE std::uint16_t &mine(int p) {
    return reinterpret_cast<std::uint16_t *>(
        shared_.counts[p].word)[at_.warp()];
  }
  /// The halves of a word that belong to the first n of its two warps.
  RECONVERGE_DEVICE static unsigned halves(int n) {
    return n <= 0 ? 0 : n == 1 ? 0xffff : 0xffffffff;
  }
  RECONVERGE_DEVICE sums sum(int p) const {
    const row of = shared_.counts[p];
    unsigned total = 0, before = 0;
#pragma unroll
    for (int k = 0; k < words; ++k) {
      total += of.word[k] & halves(at_.warps() - 2 * k);
      before += of.word[k] & halves(at_.warp() - 2 * k);
    }
    return {int((total & 0xffff) + (total >> 16)),
            int((before & 0xffff) + (before >> 16))};
  }

  storage &shared_;
  position at_;
  int had_[by_ballot ? Paths : 1] = {};
  int first_ = 0, total_ = 0, before_ = 0;
};

} // namespace reconverge::detail

#endif
