//===- reconverge/block/block_collect.cuh - Items by path -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// block_collect: a block takes more items than it has threads, sorts them by
// the path that each will take, and its warps work on them a chunk at a time,
// each claiming the next chunk when it is done with its last.
//
//   item   0 1 2 3 4 5 6 7 8 9 ...      path  0 1 1 0 2 0 0 1 0 1 ...
//
//   queue  0 3 5 6 8 ... . . | 1 2 7 9 ... . | 4 ...
//          path 0              path 1          path 2
//          `--- chunk 0 ---' `- chunk 1 -' ...
//
// 1. A warp goes through its own items, 32 at a time: ballots give each item
//    its rank among those of its path in this warp.
// 2. Barrier. Sums over the counts that the warps have left say where each path
//    begins (detail/item_counts.cuh): at a multiple of 32, so that no warp ever
//    has two paths. Each path is then run by as few warps as there can be; in a
//    queue without gaps a warp between two paths would run both.
// 3. Items go to their places in the queue, in the order of their numbers
//    within a path. Barrier.
// 4. Warps claim chunks of the queue, by an atomic addition in shared memory.
//
// Two barriers and a sort are paid once for ItemsPerThread items a thread, and
// after them no warp waits for another.
//
// The page for users is docs/collect.md.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BLOCK_BLOCK_COLLECT_CUH
#define RECONVERGE_BLOCK_BLOCK_COLLECT_CUH

#include "../detail/item_counts.cuh"

#include <cstdint>
#include <type_traits>

namespace reconverge {

/// What a lane has of a chunk.
struct collect_result {
  int id;   ///< the item, or below 0: this lane has none
  int path; ///< its path; the same in all lanes of the warp that have an item

  RECONVERGE_DEVICE explicit operator bool() const { return id >= 0; }
};

/// A block's warps work on its items, path by path.
///
/// BlockThreads    the threads of the block, 1 to 1024, or at most so many
///                 where the constructor is told how many there are
/// Paths           1 to 32
/// ItemsPerThread  a block takes up to BlockThreads times as many items, 1 to
///                 32
/// Chunk           the items of one claim: a multiple of 32
///
/// Who takes part: all threads of the block in each call of operator() and
/// sort(); all threads of a warp, converged, in each call of next(). Blocks of
/// two or three dimensions are counted linearly, x first.
///
/// What happens once: path_of(i) is called once for each i from 0 to count - 1,
/// by any thread; then work(i, path) once for each i whose path was not
/// negative, by any other, in any order. Both may use all of the caller's
/// variables that are the same in the whole block, and no thread's own. work()
/// must not use collectives, of block or warp: other lanes may be without an
/// item.
///
/// Order: chunks are claimed by rising path, so give the longest path the
/// number 0; within a path, items stand by rising number.
///
/// Storage: one temp_storage in shared memory a block, of any content. Calls
/// on one object need no barrier between them. Before another object or
/// purpose uses the same storage: a barrier.
///
/// Cost of a call: two barriers. Shared bytes, of up to 2048 items and 32
/// paths: 2 an item, 2 a path and warp, 62 a path, 4; of more items 4 an item
/// and 124 a path may be needed. Of registers five stay.
///
/// \code
///   __global__ void scale(const float *in, float *out, int n) {
///     using collect_t = reconverge::block_collect<256, 2, 4>;
///     __shared__ collect_t::temp_storage storage;
///     const int first = blockIdx.x * collect_t::items;
///     collect_t collect(storage);
///     collect(
///         n - first, [&](int i) { return in[first + i] > 0; },
///         [&](int i, int path) {
///           const float x = in[first + i];
///           out[first + i] = path ? sqrtf(x) : expf(x);
///         });
///   }
/// \endcode
template <int BlockThreads, int Paths = 2, int ItemsPerThread = 4,
          int Chunk = 32>
class block_collect {
  static_assert(BlockThreads >= 1 && BlockThreads <= 1024,
                "a block has 1 to 1024 threads");
  static_assert(Paths >= 1 && Paths <= 32, "1 to 32 paths can be told apart");
  static_assert(ItemsPerThread >= 1 && ItemsPerThread <= 32,
                "a thread has 1 to 32 items");
  static_assert(Chunk >= 32 && Chunk % 32 == 0,
                "a chunk is a multiple of 32 items");

public:
  /// The most items of a call.
  static constexpr int items = BlockThreads * ItemsPerThread;

private:
  static constexpr int bits_below(int n) {
    return n <= 1 ? 0 : 1 + bits_below((n + 1) / 2);
  }
  // A place in the queue has an item and its path; all ones: none.
  static constexpr int id_bits = bits_below(items);
  static constexpr int path_bits = bits_below(Paths);
  static constexpr bool is_short =
      (unsigned(Paths - 1) << id_bits | unsigned(items - 1)) < 0xffff;
  using entry = std::conditional_t<is_short, std::uint16_t, std::uint32_t>;
  static constexpr entry none = entry(-1);

  using counts = detail::item_counts<BlockThreads, Paths>;

public:
  struct temp_storage {
    entry queue[items + Paths * (detail::warp_threads - 1)];
    typename counts::storage counted;
    int next;
  };

  /// For a block of exactly BlockThreads threads.
  RECONVERGE_DEVICE explicit block_collect(temp_storage &storage)
      : block_collect(storage, detail::linear_thread()) {}

  /// The same; `thread` is the caller's linear number. With `threads`, for a
  /// block of that many, BlockThreads at most.
  RECONVERGE_DEVICE block_collect(temp_storage &storage, int thread,
                                  int threads = BlockThreads)
      : storage_(storage), at_{thread, threads} {
    RECONVERGE_ASSERT(threads <= BlockThreads);
    RECONVERGE_ASSERT(threads == int(blockDim.x * blockDim.y * blockDim.z));
    RECONVERGE_ASSERT(thread == detail::linear_thread());
  }

  /// Works on the items 0 to count - 1: none if count is below 1, and not more
  /// than ItemsPerThread times the block's threads.
  template <typename PathOf, typename Work>
  RECONVERGE_DEVICE void operator()(int count, PathOf path_of, Work work) {
    sort(count, path_of);
    collect_result r;
    while (next(r))
      if (r)
        work(r.id, r.path);
  }

  /// The first half: sorts the items; what warps have not yet taken of an
  /// earlier sort is lost.
  template <typename PathOf>
  RECONVERGE_DEVICE void sort(int count, PathOf path_of) {
    const int most = at_.threads * ItemsPerThread;
    count = count < most ? count : most;
    const int lanes = __popc(at_.members());
    const int first = (at_.thread - at_.lane()) * ItemsPerThread + at_.lane();
    // All paths before any ballot, so that their reads are under way together.
    int path[ItemsPerThread]; // and then, above it, the rank in this warp
#pragma unroll
    for (int v = 0; v < ItemsPerThread; ++v) {
      const int item = first + v * lanes;
      path[v] = item < count ? path_of(item) : -1;
      RECONVERGE_ASSERT(path[v] < Paths);
    }
    counts among(storage_.counted, at_);
#pragma unroll
    for (int v = 0; v < ItemsPerThread; ++v)
      path[v] |= among.rank(path[v]) << path_bits;
    // The barrier in it also ends all reads of the last call's queue.
    among.done();
    if (at_.thread == 0)
      storage_.next = 0;
#pragma unroll
    for (int v = 0; v < ItemsPerThread; ++v) {
      const int p = path[v] < 0 ? 0 : path[v] & ((1 << path_bits) - 1);
      const int place = among.place(p) + (path[v] >> path_bits);
      if (path[v] >= 0)
        storage_.queue[place] =
            entry(unsigned(p) << id_bits | unsigned(first + v * lanes));
    }
    // The gap behind each path.
    for (int p = at_.warp(); p < Paths; p += at_.warps()) {
      const int total = among.total(p), begin = among.first(p);
      for (int i = total + at_.lane(); i < detail::whole_warps(total);
           i += lanes)
        storage_.queue[begin + i] = none;
    }
    end_ = among.first(Paths - 1) + detail::whole_warps(among.total(Paths - 1));
    position_ = stop_ = 0;
    __syncthreads();
  }

  /// The second half: the next items of this warp, at most one a lane. False,
  /// for the whole warp, if none are left.
  RECONVERGE_DEVICE bool next(collect_result &r) {
    const unsigned members = at_.members();
    const bool whole = members == detail::whole_warp;
    __syncwarp(members);
    if ((whole && Chunk == detail::warp_threads) || position_ == stop_) {
      int from = 0;
      if (at_.lane() == 0)
        from = atomicAdd(&storage_.next, Chunk);
      position_ = __shfl_sync(members, from, 0);
      stop_ = position_ + Chunk;
    }
    r = {-1, 0};
    if (position_ >= end_)
      return false;
    // A partial last warp takes several turns for what stands together.
    const int left = detail::warp_threads - position_ % detail::warp_threads;
    const int turn = whole                    ? int(detail::warp_threads)
                     : __popc(members) < left ? __popc(members)
                                              : left;
    if (at_.lane() < turn) {
      const unsigned found = storage_.queue[position_ + at_.lane()];
      r.path = int(found >> id_bits);
      r.id = found == none ? -1 : int(found & ((1u << id_bits) - 1));
    }
    position_ += turn;
    return true;
  }

private:
  temp_storage &storage_;
  detail::position at_;
  int end_ = 0, position_ = 0, stop_ = 0;
};

} // namespace reconverge

#endif
