//===- reconverge/detail/warp_counts.cuh - Who is before me -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many threads of each path each warp of a block has, a byte each, and the
// sums over them that give a thread its place:
//
//           warp 0  1  2  3 | 4 ...
//   path 0      12 32  0  5 | ...      a row: four warps a word, summed by one
//   path 1      20  0 32 27 | ...      dp4a a word; the warps before mine, by
//                                      one dp4a a word with the others' 0
//
// A place is: all threads of lower paths + those of my path in warps before
// mine + those of my path in lanes before mine. So the order is stable, and no
// atomic is needed.
//
// Every warp computes this for itself from shared memory, because that costs a
// barrier less than one warp doing it for all:
//   Two paths: only path 1 has a row; path 0 has what is left. Lane w reads
//     warp w's byte; one addition over the warp (redux) sums all of them and
//     those before.
//   More: lane p sums row p; the lower paths are a prefix sum over lanes; a
//     thread gets the numbers of its path from lane `path` by one shuffle.
// A partial last warp may have fewer lanes than there are paths or warps: there
// each thread goes through the rows itself.
//
// With CountsMixed, the top bit of a byte says that the warp has more than one
// path.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_WARP_COUNTS_CUH
#define RECONVERGE_DETAIL_WARP_COUNTS_CUH

#include "threads.cuh"

namespace reconverge::detail {

/// Bytes of a word that belong to the first n of its four warps, each as 1.
RECONVERGE_DEVICE unsigned first_bytes(int n) {
  return n <= 0 ? 0 : 0x01010101u >> 8 * (n < 4 ? 4 - n : 0);
}

template <int MaxThreads, int Paths, bool CountsMixed> class warp_counts {
  static constexpr int max_warps = round_up_division(MaxThreads, warp_threads);
  static constexpr int rows = Paths == 2 ? 1 : Paths;
  static constexpr int words = max_warps <= 4    ? 1
                               : max_warps <= 8  ? 2
                               : max_warps <= 16 ? 4
                                                 : 8;
  struct alignas(words < 4 ? 4 * words : 16) row {
    unsigned word[words];
  };

public:
  struct storage {
    row counts[rows];
  };
  /// Of one path: its threads in the block, those of them in warps before this
  /// thread's; and, with CountsMixed, the warps with more than one path.
  struct row_sums {
    int total, before, mixed;
  };
  /// What a thread learns: the threads of its path, the first place of its
  /// warp's among them; and the warps with more than one path.
  struct sums {
    int total, first, mixed;
  };

  /// Writes what this thread's warp has. Returns how many lanes before this
  /// one have its path.
  RECONVERGE_DEVICE static int count(storage &shared, position at, int path) {
    const unsigned members = at.members();
    const path_ballots<Paths> ballots(members, path);
    const unsigned same = ballots.lanes_with(members, path);
    const unsigned mixed = !CountsMixed || same == members ? 0 : 0x80;
    const auto write = [&](int r, int p) {
      reinterpret_cast<unsigned char *>(shared.counts[r].word)[at.warp()] =
          __popc(ballots.lanes_with(members, p)) | mixed;
    };
    if constexpr (Paths == 2) {
      if (at.lane() == 0)
        write(0, 1);
    } else {
      const int lanes = members == whole_warp ? warp_threads : __popc(members);
      for (int p = at.lane(); p < Paths; p += lanes)
        write(p, p);
    }
    return __popc(same & at.lanes_before());
  }

  /// The sums over row r: over path r, or of two paths over path 1.
  RECONVERGE_DEVICE static row_sums sum(const storage &shared, position at,
                                        int r) {
    const row mine = shared.counts[r];
    unsigned total = 0, before = 0, flags = 0;
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const unsigned there = first_bytes(at.warps() - 4 * k);
      const unsigned counts =
          CountsMixed ? mine.word[k] & 0x7f7f7f7fu : mine.word[k];
      if (CountsMixed)
        flags |= (mine.word[k] >> 7 & there) << k;
      total = __dp4a(counts, there, total);
      before = __dp4a(counts, first_bytes(at.warp() - 4 * k), before);
    }
    return {int(total), int(before), __popc(flags)};
  }

  /// After a barrier: what this thread has to know.
  RECONVERGE_DEVICE static sums look_up(const storage &shared, position at,
                                        int path) {
    if constexpr (Paths == 2) {
      const row_sums ones = at.members() == whole_warp ? sum_by_warp(shared, at)
                                                       : sum(shared, at, 0);
      const int zeros = at.threads - ones.total;
      if (path)
        return {ones.total, zeros + ones.before, ones.mixed};
      return {zeros, at.warp() * warp_threads - ones.before, ones.mixed};
    } else {
      return at.members() == whole_warp ? by_lanes(shared, at, path)
                                        : by_rows(shared, at, path);
    }
  }

private:
  /// The sums over the only row; by all lanes of a whole warp together.
  RECONVERGE_DEVICE static row_sums sum_by_warp(const storage &shared,
                                                position at) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return sum(shared, at, 0);
#else
    const auto *bytes =
        reinterpret_cast<const unsigned char *>(shared.counts[0].word);
    const int lane = at.lane();
    const unsigned byte = lane < at.warps() ? bytes[lane] : 0;
    const unsigned count = byte & 0x7f;
    // Both are at most 1024, so they go together.
    const unsigned both = __reduce_add_sync(
        whole_warp, count | (lane < at.warp() ? count << 16 : 0));
    return {int(both & 0xffff), int(both >> 16),
            CountsMixed ? __popc(__ballot_sync(whole_warp, byte >> 7)) : 0};
#endif
  }

  RECONVERGE_DEVICE static sums by_lanes(const storage &shared, position at,
                                         int path) {
    const int lane = at.lane();
    const row_sums mine = sum(shared, at, lane < Paths ? lane : Paths - 1);
    int until = mine.total; // a sum over the lanes up to this one
#pragma unroll
    for (int step = 1; step < Paths; step *= 2) {
      const int below = __shfl_up_sync(whole_warp, until, step);
      until += lane >= step ? below : 0;
    }
    // Both are at most 1024, so they go together.
    const int both = mine.total << 16 | (until - mine.total + mine.before);
    const int ours = __shfl_sync(whole_warp, both, path);
    return {ours >> 16, ours & 0xffff, mine.mixed};
  }

  RECONVERGE_DEVICE static sums by_rows(const storage &shared, position at,
                                        int path) {
    row_sums mine = sum(shared, at, 0);
    int lower = 0;
    for (int p = 1; p <= path; ++p) {
      lower += mine.total;
      mine = sum(shared, at, p);
    }
    return {mine.total, lower + mine.before, mine.mixed};
  }
};

} // namespace reconverge::detail

#endif
