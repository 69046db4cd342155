//===- reconverge/detail/warp_counts.cuh - Who is before me -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many threads of each path each warp of a block has, a byte each, and the
// sums over them that give a thread its place:
//
//           warp 0  1  2  3 | 4 ...
//   path 0      12 32  0  5 | ...      a row: four warps a word. A product with
//   path 1      20  0 32 27 | ...      1 in each byte has the sums up to each of
//                                      them: 12, 44, 44, 49
//
// A place is: all threads of lower paths + those of my path in warps before
// mine + those of my path in lanes before mine. So the order is stable, and no
// atomic is needed.
//
// Every warp computes this for itself from shared memory, because that costs a
// barrier less than one warp doing it for all:
//   Two paths: only path 1 has a row; path 0 has what is left. Lane w reads
//     warp w's byte; one addition over the warp (redux) sums all of them and
//     those before. Of c threads of path 1 before mine, my place is c after the
//     zeros or, for a zero, c before my number.
//   Three or four: a word a warp with a byte a path. Lane w reads warp w's;
//     four additions over the warp give all sums, two paths in each.
//   More: lane p sums row p; the lower paths are a prefix sum over lanes; a
//     thread gets the numbers of its path from lane `path` by one shuffle.
// A partial last warp may have fewer lanes than there are paths or warps: there
// each thread goes through the rows itself. That is rare, and compilers that
// unroll its loops have other warps pay in registers: they are told not to.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_WARP_COUNTS_CUH
#define RECONVERGE_DETAIL_WARP_COUNTS_CUH

#include "threads.cuh"

#include <cstdint>

namespace reconverge::detail {

/// Counts of four warps, to the sum of the first n; below 0 n is 0, above 4 it
/// is 4. No count is above 32, so that no sum leaves its byte.
RECONVERGE_DEVICE unsigned sum_of_first(unsigned counts, int n) {
  const std::uint64_t sums = std::uint64_t(counts * 0x01010101u) << 8;
  return unsigned(sums >> 8 * (n < 0 ? 0 : n < 4 ? n : 4)) & 0xff;
}

template <int MaxThreads, int Paths> class warp_counts {
  static constexpr int max_warps = round_up_division(MaxThreads, warp_threads);
  static constexpr bool word_a_warp = Paths == 3 || Paths == 4;
  static constexpr int rows = Paths == 2 ? 1 : word_a_warp ? max_warps : Paths;
  static constexpr int words = word_a_warp || max_warps <= 4 ? 1
                               : max_warps <= 8              ? 2
                               : max_warps <= 16             ? 4
                                                             : 8;
  struct alignas(words < 4 ? 4 * words : 16) row {
    unsigned word[words];
  };

public:
  struct storage {
    row counts[rows];
  };
  /// Of one path: its threads in the block, those of them in warps before this
  /// thread's.
  struct row_sums {
    int total, before;
  };
  /// What a thread knows of its warp: how many lanes before this one have its
  /// path or, of two paths, path 1; and whether the warp has more than one.
  struct in_warp {
    int rank;
    bool mixed;
  };
  /// A thread's place, and how many threads have its path.
  struct placement {
    int slot, total;
  };

  /// Writes what this thread's warp has.
  RECONVERGE_DEVICE static in_warp count(storage &shared, position at,
                                         int path) {
    const unsigned members = at.members();
    const auto write = [&](int r, unsigned lanes) {
      const int word = word_a_warp ? at.warp() : r;
      reinterpret_cast<unsigned char *>(
          shared.counts[word].word)[word_a_warp ? r : at.warp()] =
          __popc(lanes);
    };
    if constexpr (Paths == 2) {
      const unsigned ones = __ballot_sync(members, path);
      if (at.lane() == 0)
        write(0, ones);
      return {__popc(ones & at.lanes_before()), ones != 0 && ones != members};
    } else {
      const path_ballots<Paths> ballots(members, path);
      const unsigned same = ballots.lanes_with(members, path);
      const int lanes = members == whole_warp ? warp_threads : __popc(members);
#pragma unroll 1 // one trip, but in a partial warp
      for (int p = at.lane(); p < Paths; p += lanes)
        write(p, ballots.lanes_with(members, p));
      return {__popc(same & at.lanes_before()), same != members};
    }
  }

  /// The sums over row r: over path r, or of two paths over path 1. Not for
  /// three or four.
  RECONVERGE_DEVICE static row_sums sum(const storage &shared, position at,
                                        int r) {
    const row mine = shared.counts[r];
    unsigned total = 0, before = 0;
#pragma unroll
    for (int k = 0; k < words; ++k) {
      total += sum_of_first(mine.word[k], at.warps() - 4 * k);
      before += sum_of_first(mine.word[k], at.warp() - 4 * k);
    }
    return {int(total), int(before)};
  }

  /// After a barrier: where this thread's data goes. `rank` is count()'s.
  RECONVERGE_DEVICE static placement place(const storage &shared, position at,
                                           int path, int rank) {
    const bool whole = at.members() == whole_warp;
    if constexpr (Paths == 2) {
      const row_sums ones =
          whole ? sum_by_warp(shared, at) : sum(shared, at, 0);
      const int before = ones.before + rank, zeros = at.threads - ones.total;
      return path ? placement{zeros + before, ones.total}
                  : placement{at.thread - before, zeros};
    } else {
      placement first;
      if constexpr (word_a_warp)
        first = whole ? by_words(shared, at, path) : by_warps(shared, at, path);
      else
        first = whole ? by_lanes(shared, at, path) : by_rows(shared, at, path);
      first.slot += rank;
      return first;
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
    const unsigned count = lane < at.warps() ? bytes[lane] : 0;
    // Both are at most 1024, so they go together.
    const unsigned both =
        __reduce_add_sync(whole_warp, count * (lane < at.warp() ? 0x10001 : 1));
    return {int(both & 0xffff), int(both >> 16)};
#endif
  }

  /// Here and below: the first place of this warp's threads of the path.
  RECONVERGE_DEVICE static placement by_words(const storage &shared,
                                              position at, int path) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return by_warps(shared, at, path);
#else
    const int lane = at.lane();
    const unsigned all = lane < at.warps() ? shared.counts[lane].word[0] : 0;
    const auto sum_fields = [](unsigned fields) {
      return __reduce_add_sync(whole_warp, fields);
    };
    // Paths 0 and 2, paths 1 and 3: sums are at most 1024, so two go together.
    const unsigned even = all & 0x00ff00ff, odd = all >> 8 & 0x00ff00ff;
    const bool earlier = lane < at.warp();
    const unsigned evens = sum_fields(even), odds = sum_fields(odd);
    const unsigned zeros = evens & 0xffff, lower = zeros + (odds & 0xffff);
    const unsigned first_even = sum_fields(earlier ? even : 0) + (lower << 16);
    const unsigned first_odd =
        sum_fields(earlier ? odd : 0) + zeros + ((lower + (evens >> 16)) << 16);
    const unsigned first = path & 1 ? first_odd : first_even;
    const unsigned total = path & 1 ? odds : evens;
    const int shift = path & 2 ? 16 : 0;
    return {int(first >> shift & 0xffff), int(total >> shift & 0xffff)};
#endif
  }

  RECONVERGE_DEVICE static placement by_warps(const storage &shared,
                                              position at, int path) {
    placement found = {0, 0};
#pragma unroll 1
    for (int w = 0; w < at.warps(); ++w) {
      const unsigned all = shared.counts[w].word[0];
#pragma unroll 1
      for (int p = 0; p < path; ++p)
        found.slot += all >> 8 * p & 0xff;
      const int here = all >> 8 * path & 0xff;
      found.total += here;
      found.slot += w < at.warp() ? here : 0;
    }
    return found;
  }

  RECONVERGE_DEVICE static placement by_lanes(const storage &shared,
                                              position at, int path) {
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
    return {ours & 0xffff, ours >> 16};
  }

  RECONVERGE_DEVICE static placement by_rows(const storage &shared, position at,
                                             int path) {
    row_sums mine = sum(shared, at, 0);
    int lower = 0;
#pragma unroll 1
    for (int p = 1; p <= path; ++p) {
      lower += mine.total;
      mine = sum(shared, at, p);
    }
    return {lower + mine.before, mine.total};
  }
};

} // namespace reconverge::detail

#endif
