//===- reconverge/detail/block_algorithms.cuh - Who goes where --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a block decides which thread takes which place; block_remap then moves
// the identities there. H. Lin, C.-L. Wang, H. Liu, "On-GPU Thread-Data
// Remapping for Branch Divergence Reduction", ACM TACO 15(3), 2018, has the
// first two; the third is ours.
//
// place(): every thread gets the place of its own data. False, for the whole
// block, if the mapping stays as it is; at least one barrier either way.
//
//   head_or_tail     the first places from the head, the others from the tail
//                    of one pool, by an atomic addition a thread. The barrier
//                    that makes the two counters visible also counts the ones.
//   warp_aggregated  counts a warp and path (warp_counts.cuh): a barrier, no
//                    atomics. What leaves good mappings alone learns from that
//                    barrier how many warps have more than one path. What does
//                    not must read the counts: two sets of them, used in turns,
//                    so that after a round that was skipped nobody waits for
//                    the slowest reader.
//
// find(): every thread finds the data that its own place belongs to.
//
//   data_group_indexing  counts a neighbourhood of N threads and path, by an
//                    atomic addition a thread; then from the counts to the
//                    path, the neighbourhood and the thread.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_BLOCK_ALGORITHMS_CUH
#define RECONVERGE_DETAIL_BLOCK_ALGORITHMS_CUH

#include "warp_counts.cuh"

namespace reconverge::detail {

class head_or_tail {
public:
  struct storage {
    int head, tail;
  };

  RECONVERGE_DEVICE bool place(storage &shared, position at, int path,
                               int &slot) {
    if (at.thread == 0) {
      shared.head = 0;
      shared.tail = at.threads - 1;
    }
    const int ones = __syncthreads_count(path);
    if (ones == 0 || ones == at.threads)
      return false;
    slot = path ? atomicSub(&shared.tail, 1) : atomicAdd(&shared.head, 1);
    return true;
  }
};

/// With LeavesGood, a mapping that cannot become better stays: with one warp
/// of more than one path, its parts fill one warp wherever they go.
template <int MaxThreads, int Paths, bool LeavesGood> class warp_aggregated {
  using counts = warp_counts<MaxThreads, Paths>;
  int turn_ = 0;

public:
  struct storage {
    typename counts::storage sets[LeavesGood ? 1 : 2];
  };

  RECONVERGE_DEVICE bool place(storage &shared, position at, int path,
                               int &slot) {
    auto &set = shared.sets[turn_];
    const auto mine = counts::count(set, at, path);
    if constexpr (LeavesGood) {
      if (__syncthreads_count(mine.mixed && at.lane() == 0) <= 1)
        return false;
    } else {
      turn_ ^= 1;
      __syncthreads();
    }
    const auto found = counts::place(set, at, path, mine.rank);
    slot = found.slot;
    return LeavesGood || found.total != at.threads;
  }
};

template <int MaxThreads, int Paths, int Neighbours> class data_group_indexing {
  static_assert(Neighbours >= 1, "a neighbourhood has at least one thread");
  static constexpr int max_groups = round_up_division(MaxThreads, Neighbours);

public:
  struct storage {
    unsigned members[Paths][max_groups];
    unsigned char paths[MaxThreads];
  };

  /// False if all threads have one path. The storage is read to the end: a
  /// barrier must come before its next use.
  RECONVERGE_DEVICE bool find(storage &shared, position at, int path, int &id,
                              int &new_path) {
    const int groups = round_up_division(at.threads, Neighbours);
    for (int i = at.thread; i < Paths * max_groups; i += at.threads)
      shared.members[i / max_groups][i % max_groups] = 0;
    shared.paths[at.thread] = path;
    __syncthreads();
    atomicAdd(&shared.members[path][at.thread / Neighbours], 1u);
    __syncthreads();
    // The path whose places this thread's own number falls into, and which of
    // its threads takes this one.
    int rank = at.thread;
    new_path = 0;
    int size = size_of(shared, groups, 0);
    while (rank >= size) {
      rank -= size;
      size = size_of(shared, groups, ++new_path);
    }
    if (size == at.threads)
      return false;
    int group = 0;
    for (int here; rank >= (here = shared.members[new_path][group]); ++group)
      rank -= here;
    id = group * Neighbours;
    for (;; ++id)
      if (shared.paths[id] == new_path && rank-- == 0)
        return true;
  }

private:
  RECONVERGE_DEVICE static int size_of(const storage &shared, int groups,
                                       int p) {
    int sum = 0;
    for (int g = 0; g < groups; ++g)
      sum += shared.members[p][g];
    return sum;
  }
};

} // namespace reconverge::detail

#endif
