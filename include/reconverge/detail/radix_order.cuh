//===- reconverge/detail/radix_order.cuh - A stable order -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of regroup (device/regroup.cuh) for keys of up to eight bits: a
// stable sort of the numbers of items, in three launches, none of which waits for
// a block:
//
//   count_digits  a block has a chunk of the items, of one or more tiles: how
//                 many of each key are there?
//   scan_counts   a block has a key: how many of it have the chunks before?
//   place_items   a block orders its chunk, tile by tile. An item's place in
//                 its tile is
//                     items of the tile with lower keys
//                   + those of its key in earlier warps + earlier in its own
//                 so that neighbours there go to neighbours in memory.
//
// A key is read twice and a number written once. The inverse costs four bytes
// more an item, in a row, and where classes begin nothing.
//
// One pass of the radix sort of D. Merrill, A. Grimshaw, "High Performance and
// Scalable Radix Sorting", Parallel Processing Letters 21 (2011). For keys of more
// digits, passes of this kind were slower on an H200 than CUB's.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_RADIX_ORDER_CUH
#define RECONVERGE_DETAIL_RADIX_ORDER_CUH

#include "config.cuh"

#include <cstdint>

namespace reconverge::detail {

constexpr int order_threads = 256, order_warps = order_threads / 32,
              order_items = 16, order_tile = order_threads * order_items,
              order_digit_bits = 8, order_digits = 1 << order_digit_bits,
              order_blocks = 1024;

/// Items of a block, and blocks.
struct order_shape {
  unsigned chunk, blocks;

  explicit order_shape(int count) {
    const unsigned tiles = (unsigned(count) + order_tile - 1) / order_tile;
    const unsigned each = (tiles + order_blocks - 1) / order_blocks;
    chunk = each * order_tile;
    blocks = each ? (tiles + each - 1) / each : 0;
  }
};

/// Where the order goes; all but ids may be null. Classes are the highest
/// class_bits of the key.
struct order_result {
  int *ids, *inverse, *offsets;
  int class_bits;
};

template <typename Key> RECONVERGE_DEVICE Key low_bits(Key key, int bits) {
  return Key(key & Key(Key(~Key(0)) >> (8 * int(sizeof(Key)) - bits)));
}

template <typename Key> RECONVERGE_DEVICE unsigned digit_of(Key key, int bits) {
  return unsigned(low_bits(key, bits));
}

/// Lanes of the warp that have an item of the same digit.
RECONVERGE_DEVICE unsigned lanes_alike(unsigned digit, bool has, int bits) {
  unsigned lanes = __ballot_sync(~0u, has);
  for (int b = 0; b < bits; ++b) {
    const bool set = digit >> b & 1;
    const unsigned with = __ballot_sync(~0u, set);
    lanes &= set ? with : ~with;
  }
  return lanes;
}

/// The sum of value over threads before this one. sums: a word for each warp,
/// that can be used again at once.
RECONVERGE_DEVICE unsigned sum_before(unsigned value, unsigned *sums,
                                      unsigned &total) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0u, sum, step);
    sum += lane >= unsigned(step) ? other : 0;
  }
  if (lane == 31)
    sums[warp] = sum;
  __syncthreads();
  unsigned before = sum - value;
  total = 0;
  for (unsigned w = 0; w < order_warps; ++w) {
    before += w < warp ? sums[w] : 0;
    total += sums[w];
  }
  __syncthreads();
  return before;
}

/// A tile's keys, a warp's items side by side: row k of this thread is item
/// mine + 32 k of the tile. Those behind the end are 0.
template <typename Key>
RECONVERGE_DEVICE void load_tile(const Key *tile, unsigned here, unsigned mine,
                                 Key (&keys)[order_items]) {
#pragma unroll
  for (int k = 0; k < order_items; ++k)
    keys[k] = mine + 32 * k < here ? tile[mine + 32 * k] : Key(0);
}

/// Adds the tile's digits to seen, of this warp; rank[k]: how many of the digit
/// came before.
template <typename Key>
RECONVERGE_DEVICE void rank_tile(const Key (&keys)[order_items], unsigned here,
                                 unsigned mine, int bits, unsigned *seen,
                                 unsigned (&rank)[order_items]) {
  const unsigned lower = (1u << threadIdx.x % 32) - 1;
#pragma unroll
  for (int k = 0; k < order_items; ++k) {
    const bool has = mine + 32 * k < here;
    const unsigned digit = digit_of(keys[k], bits);
    const unsigned same = lanes_alike(digit, has, bits);
    rank[k] = seen[digit] + __popc(same & lower);
    __syncwarp();
    if (has && !(same & lower))
      seen[digit] += __popc(same);
    __syncwarp();
  }
}

/// counts[digit][block].
template <typename Key>
__global__ void __launch_bounds__(order_threads)
    count_digits(const Key *keys, unsigned count, unsigned chunk, int bits,
                 unsigned *counts) {
  __shared__ unsigned seen[order_warps][order_digits];
  for (int w = 0; w < order_warps; ++w)
    seen[w][threadIdx.x] = 0;
  __syncthreads();
  const unsigned mine =
      threadIdx.x / 32 * (32 * order_items) + threadIdx.x % 32;
  const unsigned begin = blockIdx.x * chunk;
  const unsigned end = count - begin < chunk ? count : begin + chunk;
  for (unsigned first = begin; first < end; first += order_tile) {
    Key tile[order_items];
    unsigned rank[order_items];
    load_tile(keys + first, end - first, mine, tile);
#ifdef RECONVERGE_CHECK
    for (int k = 0; k < order_items; ++k)
      RECONVERGE_ASSERT(tile[k] == low_bits(tile[k], bits) &&
                        "a key beyond regroup's bits");
#endif
    rank_tile(tile, end - first, mine, bits, seen[threadIdx.x / 32], rank);
  }
  __syncthreads();
  unsigned all = 0;
  for (int w = 0; w < order_warps; ++w)
    all += seen[w][threadIdx.x];
  if (threadIdx.x < 1u << bits)
    counts[threadIdx.x * gridDim.x + blockIdx.x] = all;
}

/// counts[digit][block] becomes the sum over blocks before; totals[digit]. A
/// type of its own, so that the kernel can stand in a header.
template <typename Count>
__global__ void __launch_bounds__(order_threads)
    scan_counts(Count *counts, unsigned blocks, Count *totals) {
  __shared__ unsigned sums[order_warps];
  Count *row = counts + blockIdx.x * blocks;
  unsigned before = 0;
  for (unsigned first = 0; first < blocks; first += order_threads) {
    const unsigned at = first + threadIdx.x;
    unsigned total;
    const unsigned sum = sum_before(at < blocks ? row[at] : 0, sums, total);
    if (at < blocks)
      row[at] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0)
    totals[blockIdx.x] = before;
}

template <typename Key>
__global__ void __launch_bounds__(order_threads)
    place_items(const Key *all_keys, unsigned count, unsigned chunk, int bits,
                const unsigned *counts, const unsigned *totals,
                order_result to) {
  __shared__ unsigned place[order_warps][order_digits], base[order_digits],
      sums[order_warps], ids[order_tile];
  __shared__ unsigned char digits[order_tile];
  const unsigned warp = threadIdx.x / 32;
  const unsigned mine = warp * (32 * order_items) + threadIdx.x % 32;
  const bool is_digit = threadIdx.x < 1u << bits;

  // Where items of this thread's digit go next.
  unsigned all;
  const unsigned lower =
      sum_before(is_digit ? totals[threadIdx.x] : 0, sums, all);
  unsigned next =
      is_digit ? lower + counts[threadIdx.x * gridDim.x + blockIdx.x] : 0;
  if (to.offsets && blockIdx.x == 0) {
    const int below = bits - to.class_bits;
    if (is_digit && !(threadIdx.x & ((1u << below) - 1)))
      to.offsets[threadIdx.x >> below] = int(lower);
    if (threadIdx.x == 0)
      to.offsets[1 << to.class_bits] = int(count);
  }

  const unsigned begin = blockIdx.x * chunk;
  const unsigned end = count - begin < chunk ? count : begin + chunk;
  for (unsigned first = begin; first < end; first += order_tile) {
    const unsigned here = end - first < order_tile ? end - first : order_tile;
    Key keys[order_items];
    unsigned at[order_items]; // an item's place in the tile
    load_tile(all_keys + first, here, mine, keys);
    for (int w = 0; w < order_warps; ++w)
      place[w][threadIdx.x] = 0;
    __syncthreads();
    rank_tile(keys, here, mine, bits, place[warp], at);
    __syncthreads();
    unsigned in_tile = 0;
    for (int w = 0; w < order_warps; ++w)
      in_tile += place[w][threadIdx.x];
    unsigned begins = sum_before(in_tile, sums, all);
    base[threadIdx.x] = next - begins;
    next += in_tile;
    for (int w = 0; w < order_warps; ++w) {
      const unsigned in_warp = place[w][threadIdx.x];
      place[w][threadIdx.x] = begins;
      begins += in_warp;
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < order_items; ++k) {
      const unsigned i = mine + 32 * k;
      if (i >= here)
        break;
      const unsigned digit = digit_of(keys[k], bits);
      at[k] += place[warp][digit];
      ids[at[k]] = first + i;
      digits[at[k]] = (unsigned char)digit;
      if (to.inverse)
        to.inverse[first + i] = int(base[digit] + at[k]);
    }
    __syncthreads();
    for (unsigned t = threadIdx.x; t < here; t += order_threads)
      to.ids[base[digits[t]] + t] = int(ids[t]);
    __syncthreads();
  }
}

} // namespace reconverge::detail

#endif
