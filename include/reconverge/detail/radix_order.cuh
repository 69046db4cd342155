//===- reconverge/detail/radix_order.cuh - A stable order -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of regroup (device/regroup.cuh): a radix sort from the lowest
// digit, stable, of the numbers of items by their keys. A pass takes a digit of
// up to eight bits and has three launches, none of which waits for a block:
//
//   count_digits  a block has a chunk of the items, of one or more tiles: how
//                 many of each digit are there?
//   scan_counts   a block has a digit: how many of it have the chunks before?
//   place_items   a block orders its chunk, tile by tile. An item's place in
//                 its tile is
//                     items of the tile with lower digits
//                   + those of its digit in earlier warps + earlier in its own
//                 so that neighbours there go to neighbours in memory.
//
// Of the first pass an item is its own number, and the last one leaves no keys,
// if nobody wants them: an order by eight bits reads each key twice and writes
// each number once. Its inverse costs four bytes more an item, in a row, and
// where classes begin nothing.
//
// The arithmetic is that of D. Merrill, A. Grimshaw, "High Performance and
// Scalable Radix Sorting", Parallel Processing Letters 21 (2011).
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

/// What a pass reads and writes.
template <typename Key> struct order_pass {
  const Key *keys;
  const int *ids; ///< null: items are numbered as they lie
  Key *keys_out;  ///< null: not wanted
  int *ids_out;
  int shift, bits; ///< the digit
};

/// Where the last pass also writes to, or null. Classes are the highest
/// class_bits of the digit.
struct order_result {
  int *inverse = nullptr, *offsets = nullptr;
  int class_bits = 0;
};

template <typename Key> RECONVERGE_DEVICE Key low_bits(Key key, int bits) {
  return Key(key & Key(Key(~Key(0)) >> (8 * int(sizeof(Key)) - bits)));
}

template <typename Key>
RECONVERGE_DEVICE unsigned digit_of(Key key, int shift, int bits) {
  return unsigned(key >> shift) & ((1u << bits) - 1);
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
RECONVERGE_DEVICE void
rank_tile(const Key (&keys)[order_items], unsigned here, unsigned mine,
          int shift, int bits, unsigned *seen, unsigned (&rank)[order_items]) {
  const unsigned lower = (1u << threadIdx.x % 32) - 1;
#pragma unroll
  for (int k = 0; k < order_items; ++k) {
    const bool has = mine + 32 * k < here;
    const unsigned digit = digit_of(keys[k], shift, bits);
    const unsigned same = lanes_alike(digit, has, bits);
    rank[k] = seen[digit] + __popc(same & lower);
    __syncwarp();
    if (has && !(same & lower))
      seen[digit] += __popc(same);
    __syncwarp();
  }
}

/// counts[digit][block]. key_bits: those of a key that may be set.
template <typename Key>
__global__ void __launch_bounds__(order_threads)
    count_digits(const Key *keys, unsigned count, unsigned chunk, int shift,
                 int bits, [[maybe_unused]] int key_bits, unsigned *counts) {
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
      RECONVERGE_ASSERT(tile[k] == low_bits(tile[k], key_bits) &&
                        "a key beyond regroup's bits");
#endif
    rank_tile(tile, end - first, mine, shift, bits, seen[threadIdx.x / 32],
              rank);
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
    place_items(order_pass<Key> pass, unsigned count, unsigned chunk,
                const unsigned *counts, const unsigned *totals,
                order_result result) {
  constexpr int widest = sizeof(Key) > sizeof(int) ? sizeof(Key) : sizeof(int);
  __shared__ unsigned place[order_warps][order_digits], base[order_digits],
      sums[order_warps];
  __shared__ std::uint64_t staged[order_tile * widest / 8];
  __shared__ unsigned char digits[order_tile];
  const unsigned warp = threadIdx.x / 32;
  const unsigned mine = warp * (32 * order_items) + threadIdx.x % 32;
  const bool is_digit = threadIdx.x < 1u << pass.bits;

  // Where items of this thread's digit go next.
  unsigned all;
  const unsigned lower =
      sum_before(is_digit ? totals[threadIdx.x] : 0, sums, all);
  unsigned next =
      is_digit ? lower + counts[threadIdx.x * gridDim.x + blockIdx.x] : 0;
  if (result.offsets && blockIdx.x == 0) {
    const int below = pass.bits - result.class_bits;
    if (is_digit && !(threadIdx.x & ((1u << below) - 1)))
      result.offsets[threadIdx.x >> below] = int(lower);
    if (threadIdx.x == 0)
      result.offsets[1 << result.class_bits] = int(count);
  }

  const unsigned begin = blockIdx.x * chunk;
  const unsigned end = count - begin < chunk ? count : begin + chunk;
  for (unsigned first = begin; first < end; first += order_tile) {
    const unsigned here = end - first < order_tile ? end - first : order_tile;
    Key keys[order_items];
    unsigned at[order_items]; // an item's place in the tile
    load_tile(pass.keys + first, here, mine, keys);
    for (int w = 0; w < order_warps; ++w)
      place[w][threadIdx.x] = 0;
    __syncthreads();
    rank_tile(keys, here, mine, pass.shift, pass.bits, place[warp], at);
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

    int *ids = reinterpret_cast<int *>(staged);
#pragma unroll
    for (int k = 0; k < order_items; ++k) {
      const unsigned i = mine + 32 * k;
      if (i >= here)
        break;
      const unsigned digit = digit_of(keys[k], pass.shift, pass.bits);
      at[k] += place[warp][digit];
      const int id = pass.ids ? pass.ids[first + i] : int(first + i);
      ids[at[k]] = id;
      digits[at[k]] = (unsigned char)digit;
      if (result.inverse)
        result.inverse[id] = int(base[digit] + at[k]);
    }
    __syncthreads();
    for (unsigned t = threadIdx.x; t < here; t += order_threads)
      pass.ids_out[base[digits[t]] + t] = ids[t];
    __syncthreads();
    if (!pass.keys_out)
      continue;
    Key *sorted = reinterpret_cast<Key *>(staged);
#pragma unroll
    for (int k = 0; k < order_items; ++k)
      if (mine + 32 * k < here)
        sorted[at[k]] = keys[k];
    __syncthreads();
    for (unsigned t = threadIdx.x; t < here; t += order_threads)
      pass.keys_out[base[digits[t]] + t] = sorted[t];
    __syncthreads();
  }
}

} // namespace reconverge::detail

#endif
