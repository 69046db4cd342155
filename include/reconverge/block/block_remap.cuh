//===- reconverge/block/block_remap.cuh - Threads trade places --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// block_remap: right before a divergent branch, the threads of a block exchange
// their identities, so that the threads of a path stand in a row and all warps
// but a few take one side of the branch.
//
//   before   thread  0 1 2 3 4 5 6 7      path  0 1 1 0 1 0 0 1
//   remap(path)
//   after    thread  0 1 2 3 4 5 6 7      id    0 3 5 6 1 2 4 7
//                                         path  0 0 0 0 1 1 1 1
//
// From then on a thread works on the data of thread r.id: it reads and writes
// what r.id would have. What only lived in r.id's registers, it gets through
// exchange(), or in the same round as further arguments.
//
// The page for users is docs/remap.md.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BLOCK_BLOCK_REMAP_CUH
#define RECONVERGE_BLOCK_BLOCK_REMAP_CUH

#include "../detail/block_algorithms.cuh"
#include "../detail/pack.cuh"

#include <cstdint>
#include <type_traits>

namespace reconverge {

enum class remap_algorithm {
  /// The paper's for two paths: a pool filled from both ends by an atomic a
  /// thread. The order within a path is any.
  head_or_tail,
  /// The paper's for many paths: counts of neighbourhoods. Stable.
  data_group_indexing,
  /// Ballots, and counts a warp and path, without atomics. Stable.
  warp_aggregated,
  /// warp_aggregated, but the mapping stays as it is if a round cannot make it
  /// better: if at most one warp has more than one path. One path or one warp
  /// costs nothing at all.
  automatic,
};

/// What a thread is after a round.
struct remap_result {
  int id;           ///< the thread whose data it works on, linear
  int path;         ///< the path of that data
  bool is_identity; ///< the mapping stays: id is its own; the same block-wide
};

/// A block's threads exchange identities by path.
///
/// BlockThreads   the threads of the block, 1 to 1024, or at most so many
///                where the constructor is told how many there are
/// Paths          1 to 32
/// Algorithm      see remap_algorithm
/// ExchangeBytes  the most bytes of a thread's state that one call moves; 0:
///                identities only
/// Neighbours     data_group_indexing's neighbourhood: 4 to 64, the paper's 16
///
/// Who takes part: all threads of the block, in each call, as with
/// __syncthreads(); what has no data gives a path of its own. Blocks of two or
/// three dimensions are counted linearly, x first.
///
/// Where results are valid: in every thread. Except after automatic's choice
/// to leave the mapping, the threads of path 0 come first, then those of path
/// 1, and so on; where stable, in the order of their ids within a path.
///
/// Storage: one temp_storage in shared memory a block, of any content.
/// Calls on one object need no barrier between them, in any order, in loops
/// too. Before another object or purpose uses the same storage: a barrier.
///
/// Cost of a round, for 256 threads; of registers, two stay: id and path.
///                        barriers  if one path  shared bytes
///   automatic                   2  1            2 a thread, 1 a path and warp
///                                               (paths: 1 for two)
///   warp_aggregated             2  1            the same, twice the second
///   head_or_tail                2  1            2 a thread, 8
///   data_group_indexing         2  2            1 a thread, 4 a path and
///                                               neighbourhood
///   further arguments           0               4 a thread and word
///   exchange, exchange_back   1-2  0            the same
///
/// \code
///   __global__ void scale(const float *in, float *out) {
///     using remap_t = reconverge::block_remap<256>;
///     __shared__ remap_t::temp_storage storage;
///     remap_t remap(storage);
///     const float *block = in + blockIdx.x * 256;
///     const auto r = remap(block[threadIdx.x] > 0);
///     const float x = block[r.id];
///     out[blockIdx.x * 256 + r.id] = r.path ? sqrtf(x) : expf(x);
///   }
/// \endcode
template <int BlockThreads, int Paths = 2,
          remap_algorithm Algorithm = remap_algorithm::automatic,
          int ExchangeBytes = 0, int Neighbours = 16>
class block_remap {
  static_assert(BlockThreads >= 1 && BlockThreads <= 1024,
                "a block has 1 to 1024 threads");
  static_assert(Paths >= 1 && Paths <= 32, "a round takes 1 to 32 paths");
  static_assert(Algorithm != remap_algorithm::head_or_tail || Paths <= 2,
                "head_or_tail takes two paths; data_group_indexing and "
                "warp_aggregated take up to 32");
  static_assert(ExchangeBytes >= 0, "bytes of state are 0 or more");

  static constexpr bool automatic = Algorithm == remap_algorithm::automatic;
  static constexpr bool by_index =
      Algorithm == remap_algorithm::data_group_indexing;
  /// Nothing to gain, and known before the program runs.
  static constexpr bool never_moves =
      Paths == 1 || (automatic && BlockThreads <= detail::warp_threads);
  static constexpr int state_words = (ExchangeBytes + 3) / 4;
  // A pool's entry is a thread and its path.
  static constexpr int id_bits = 10;

  using algorithm = std::conditional_t<
      Algorithm == remap_algorithm::head_or_tail, detail::head_or_tail,
      std::conditional_t<
          by_index,
          detail::data_group_indexing<BlockThreads, Paths, Neighbours>,
          detail::warp_aggregated<BlockThreads, Paths, automatic>>>;

  struct counts_part {
    typename algorithm::storage counts;
  };
  struct pool_part {
    std::uint16_t entries[BlockThreads];
  };
  static constexpr int state_size = state_words * BlockThreads;
  struct state_part {
    unsigned word[state_size > 0 ? state_size : 1];
  };
  template <int> struct nothing {};
  template <bool Wanted, typename Part, int Which>
  using only_if = std::conditional_t<Wanted, Part, nothing<Which>>;

public:
  struct temp_storage : only_if<!never_moves, counts_part, 0>,
                        only_if<!never_moves && !by_index, pool_part, 1>,
                        only_if<(state_words > 0), state_part, 2> {};

  /// For a block of exactly BlockThreads threads.
  RECONVERGE_DEVICE explicit block_remap(temp_storage &storage)
      : block_remap(storage, detail::linear_thread()) {}

  /// The same; `thread` is the caller's linear number, for blocks of one
  /// dimension threadIdx.x, where a kernel has it at hand. With `threads`, for
  /// a block of that many, BlockThreads at most.
  RECONVERGE_DEVICE block_remap(temp_storage &storage, int thread,
                                int threads = BlockThreads)
      : storage_(storage), at_{thread, threads} {
    RECONVERGE_ASSERT(threads <= BlockThreads);
    RECONVERGE_ASSERT(threads == int(blockDim.x * blockDim.y * blockDim.z));
    RECONVERGE_ASSERT(thread == detail::linear_thread());
  }

  /// A round: `path`, from 0 to Paths - 1, is that of the caller's own data.
  /// Each of the values becomes what thread r.id had given: trivially copyable,
  /// ExchangeBytes together at most, packed in the order given. They cost no
  /// further barrier.
  template <typename... Values>
  RECONVERGE_DEVICE remap_result operator()(int path, Values &...values) {
    check_size<Values...>();
    RECONVERGE_ASSERT(path >= 0 && path < Paths);
    const remap_result stays = {at_.thread, path, true};
    if constexpr (never_moves) {
      return stays;
    } else if constexpr (by_index) {
      settle();
      remap_result r = {0, 0, false};
      put(at_.thread, values...);
      const bool moves =
          algorithm_.find(storage_.counts, at_, path, r.id, r.path);
      readers_left_ = true;
      if (!moves)
        return stays;
      get(r.id, values...);
      return r;
    } else {
      int slot = 0;
      // The barrier in it also ends all reads of the last round.
      readers_left_ = false;
      if (!algorithm_.place(storage_.counts, at_, path, slot))
        return stays;
      storage_.entries[slot] = std::uint16_t(at_.thread | path << id_bits);
      put(slot, values...);
      __syncthreads();
      const int entry = storage_.entries[at_.thread];
      get(at_.thread, values...);
      readers_left_ = sizeof...(Values) > 0;
      return {entry & ((1 << id_bits) - 1), entry >> id_bits, false};
    }
  }

  /// Each of the values becomes what thread r.id has given. `r` is of any
  /// earlier round of this block.
  template <typename... Values>
  RECONVERGE_DEVICE void exchange(remap_result r, Values &...values) {
    check_size<Values...>();
    if (r.is_identity)
      return;
    settle();
    put(at_.thread, values...);
    __syncthreads();
    get(r.id, values...);
    readers_left_ = true;
  }

  /// The inverse: each of the values becomes what the thread that works as
  /// this one has given; state goes home after the branch.
  template <typename... Values>
  RECONVERGE_DEVICE void exchange_back(remap_result r, Values &...values) {
    check_size<Values...>();
    if (r.is_identity)
      return;
    settle();
    put(r.id, values...);
    __syncthreads();
    get(at_.thread, values...);
    readers_left_ = true;
  }

private:
  template <typename... Values> RECONVERGE_DEVICE static void check_size() {
    static_assert(detail::packed<Values...>::words <= state_words,
                  "the values are more bytes than block_remap's ExchangeBytes");
  }
  /// Before what readers may still need is written: a barrier if there are any.
  /// The same in all threads; known at compile time outside of loops.
  RECONVERGE_DEVICE void settle() {
    if (readers_left_)
      __syncthreads();
    readers_left_ = false;
  }
  template <typename... Values>
  RECONVERGE_DEVICE void put(int to, const Values &...values) {
    if constexpr (sizeof...(Values) > 0)
      detail::store_state(storage_.word, BlockThreads, to, values...);
  }
  template <typename... Values>
  RECONVERGE_DEVICE void get(int from, Values &...values) const {
    if constexpr (sizeof...(Values) > 0)
      detail::load_state(storage_.word, BlockThreads, from, values...);
  }

  temp_storage &storage_;
  detail::position at_;
  algorithm algorithm_;
  bool readers_left_ = false;
};

} // namespace reconverge

#endif
