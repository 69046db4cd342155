//===- reconverge/device/cluster_remap.cuh - Blocks trade too ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cluster_remap: block_remap over the threads of all blocks of a thread block
// cluster, through distributed shared memory. With P paths, up to P - 1 warps
// of a round still have more than one; a block of 256 threads has 8 warps, a
// cluster of 8 such blocks has 64. The price is two cluster barriers a round.
//
//   1. each block counts its threads by path (as block_remap does)   barrier
//   2. and shows the sums to the cluster                      cluster barrier
//   3. every warp reads the other blocks' sums, so each thread
//      knows its place, and writes its identity there         cluster barrier
//
// The second cluster barrier is there even where the mapping stays: until then
// other blocks read this one's sums, and a block must not end before.
//
// Compute capability 9.0 and up. For older ones the class compiles and traps.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DEVICE_CLUSTER_REMAP_CUH
#define RECONVERGE_DEVICE_CLUSTER_REMAP_CUH

#include "../block/block_remap.cuh"

namespace reconverge {
namespace detail {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
RECONVERGE_DEVICE int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
RECONVERGE_DEVICE int cluster_blocks() {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
/// All threads of the cluster; what they wrote before it, all see after it.
RECONVERGE_DEVICE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\n\t"
               "barrier.cluster.wait.acquire;" ::
                   : "memory");
}
/// Where the word of this block's shared memory is in that of another block.
RECONVERGE_DEVICE unsigned word_of(const unsigned *word, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(unsigned(__cvta_generic_to_shared(word))), "r"(rank));
  return there;
}
RECONVERGE_DEVICE unsigned read_word(const unsigned *word, int rank) {
  unsigned value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(value)
               : "r"(word_of(word, rank))
               : "memory");
  return value;
}
RECONVERGE_DEVICE void write_word(unsigned *word, int rank, unsigned value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(word_of(word, rank)),
               "r"(value)
               : "memory");
}
#else
RECONVERGE_DEVICE int cluster_rank() { return 0; }
RECONVERGE_DEVICE int cluster_blocks() { return 1; }
RECONVERGE_DEVICE void cluster_barrier() { __trap(); }
RECONVERGE_DEVICE unsigned read_word(const unsigned *, int) { return 0; }
RECONVERGE_DEVICE void write_word(unsigned *, int, unsigned) {}
#endif

} // namespace detail

/// The threads of a cluster exchange identities by path: stable.
///
/// BlockThreads   the threads of each block: a multiple of 32
/// ClusterBlocks  the blocks of the cluster: 1 to 8, or 16 where allowed
/// Paths          1 to 32
/// ExchangeBytes  as in block_remap
///
/// Who takes part: all threads of all blocks of the cluster, in each call.
/// r.id is the number in the cluster: block rank * BlockThreads + thread; so
/// the data must be reachable from every block: in global memory, or exchanged.
/// Where the kernel's blocks are of one dimension, the data of thread r.id is
/// at (blockIdx.x - %cluster_ctarank) * BlockThreads + r.id: see first().
///
/// Results, order and storage: as in block_remap, with a cluster barrier where
/// that says barrier. If all threads have one path, the mapping stays.
/// Cost of a round: a block barrier, two cluster barriers; shared bytes: 4 a
/// thread, 4 a thread and word, 4 a path, 1 a path and warp.
///
/// \code
///   __global__ void __cluster_dims__(4, 1, 1)
///       scale_in_clusters(const float *in, float *out) {
///     using remap_t = reconverge::cluster_remap<256, 4>;
///     __shared__ remap_t::temp_storage storage;
///     remap_t remap(storage);
///     const auto r = remap(in[blockIdx.x * 256 + threadIdx.x] > 0);
///     const float x = in[remap.first() + r.id];
///     out[remap.first() + r.id] = r.path ? sqrtf(x) : expf(x);
///   }
/// \endcode
template <int BlockThreads, int ClusterBlocks, int Paths = 2,
          int ExchangeBytes = 0>
class cluster_remap {
  static_assert(BlockThreads % detail::warp_threads == 0 &&
                    BlockThreads >= 32 && BlockThreads <= 1024,
                "a block of a cluster has 32 to 1024 threads, whole warps");
  static_assert(ClusterBlocks >= 1 && ClusterBlocks <= 16,
                "a cluster has 1 to 16 blocks");
  static_assert(Paths >= 1 && Paths <= 32, "a round takes 1 to 32 paths");

  static constexpr int threads = BlockThreads * ClusterBlocks;
  static constexpr int state_words = (ExchangeBytes + 3) / 4;
  // A pool's entry is a thread of the cluster and its path.
  static constexpr int id_bits = 14;
  // Five paths at least: for fewer, warp_counts has no row a path.
  using counts = detail::warp_counts<BlockThreads, (Paths > 5 ? Paths : 5)>;

public:
  struct temp_storage {
    typename counts::storage counts_;
    unsigned totals[32];
    unsigned entries[BlockThreads];
    unsigned state[state_words > 0 ? state_words *BlockThreads : 1];
  };

  RECONVERGE_DEVICE explicit cluster_remap(temp_storage &storage)
      : storage_(storage), at_{detail::linear_thread(), BlockThreads},
        rank_(detail::cluster_rank()) {
    RECONVERGE_ASSERT(detail::cluster_blocks() == ClusterBlocks);
  }

  /// The first thread of the cluster in a grid of one-dimensional blocks.
  RECONVERGE_DEVICE int first() const {
    return (blockIdx.x - rank_) * BlockThreads;
  }

  /// A round, as block_remap's.
  template <typename... Values>
  RECONVERGE_DEVICE remap_result operator()(int path, Values &...values) {
    check_size<Values...>();
    RECONVERGE_ASSERT(path >= 0 && path < Paths);
    const int self = rank_ * BlockThreads + at_.thread;
    int slot;
    const bool moves = place(path, slot);
    if (moves) {
      detail::write_word(&storage_.entries[slot % BlockThreads],
                         slot / BlockThreads, self | path << id_bits);
      put(slot, values...);
    }
    detail::cluster_barrier();
    if (!moves)
      return {self, path, true};
    const int entry = storage_.entries[at_.thread];
    get(values...);
    return {entry & ((1 << id_bits) - 1), entry >> id_bits, false};
  }

  /// State goes home: each of the values becomes what the thread that works as
  /// this one has given. Two cluster barriers.
  template <typename... Values>
  RECONVERGE_DEVICE void exchange_back(remap_result r, Values &...values) {
    check_size<Values...>();
    if (r.is_identity)
      return;
    detail::cluster_barrier(); // the readers of the last round
    put(r.id, values...);
    detail::cluster_barrier();
    get(values...);
  }

private:
  /// The place of the caller's data in the cluster; false, for all of it, if
  /// there is one path only.
  RECONVERGE_DEVICE bool place(int path, int &slot) {
    const int rank = counts::count(storage_.counts_, at_, path).rank;
    __syncthreads();
    const int lane = at_.lane(), row = lane < Paths ? lane : Paths - 1;
    const auto mine = counts::sum(storage_.counts_, at_, row);
    if (at_.warp() == 0)
      storage_.totals[lane] = mine.total;
    detail::cluster_barrier();
    int total = 0, before = mine.before;
#pragma unroll
    for (int block = 0; block < ClusterBlocks; ++block) {
      const int there = detail::read_word(&storage_.totals[row], block);
      total += there;
      before += block < rank_ ? there : 0;
    }
    int until = total;
#pragma unroll
    for (int step = 1; step < Paths; step *= 2) {
      const int below = __shfl_up_sync(detail::whole_warp, until, step);
      until += lane >= step ? below : 0;
    }
    slot = __shfl_sync(detail::whole_warp, until - total + before, path) + rank;
    return !__any_sync(detail::whole_warp, total == threads);
  }

  template <typename... Values> RECONVERGE_DEVICE static void check_size() {
    static_assert(detail::packed<Values...>::words <= state_words,
                  "the values are more bytes than cluster_remap's "
                  "ExchangeBytes");
  }
  template <typename... Values>
  RECONVERGE_DEVICE void put(int to, const Values &...values) {
    detail::packed<Values...> all;
    all.pack(values...);
#pragma unroll
    for (int k = 0; k < all.words; ++k)
      detail::write_word(&storage_.state[k * BlockThreads + to % BlockThreads],
                         to / BlockThreads, all.word[k]);
  }
  template <typename... Values> RECONVERGE_DEVICE void get(Values &...values) {
    detail::load_state(storage_.state, BlockThreads, at_.thread, values...);
  }

  temp_storage &storage_;
  detail::position at_;
  int rank_;
};

} // namespace reconverge

#endif
