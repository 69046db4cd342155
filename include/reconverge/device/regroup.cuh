//===- reconverge/device/regroup.cuh - A grid's items by key ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// regroup: before a launch, the items of the whole grid are put in order by a
// key that says how each will behave. The kernel then reads through the order
// which item is its own, so that warps hold items that behave alike.
//
//   item      0 1 2 3 4 5 6 7     key 2 0 1 2 0 1 0 2   (2 bits)
//   ids       1 4 6 2 5 0 3 7     key 0 0 0 1 1 2 2 2
//   offsets   0 3 5 8 8           where each key's items begin, and the end
//   inverse   5 0 3 6 1 4 2 7     where each item is
//
// The sort is our own (detail/radix_order.cuh): three launches for each eight
// bits. Where classes begin and where each item is come with its last pass, but
// for classes of more than eight bits, which are looked up in the sorted keys.
//
// The page for users is docs/regroup.md.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DEVICE_REGROUP_CUH
#define RECONVERGE_DEVICE_REGROUP_CUH

#include "../detail/radix_order.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace reconverge {

/// Where an order goes: device memory of the caller.
struct regroup_order {
  int *ids;               ///< of [count]: the items, by rising key
  int *inverse = nullptr; ///< of [count], or null: each item's place in ids
  /// Of [2^class_bits + 1], or null: where the items of each class begin in
  /// ids; the last is count.
  int *offsets = nullptr;
  /// An item's class is the highest so many of its key's bits: 0 to 24, no more
  /// than the key has; negative: all bits of the key.
  int class_bits = -1;
};

namespace detail {

/// Parts of the temporary storage begin at multiples of so many bytes.
constexpr std::size_t regroup_alignment = 256;

/// offsets[c] = how many of the keys, which rise, are of classes below c.
template <typename Key>
__global__ void find_classes(const Key *keys, int bits, int count,
                             int class_bits, int *offsets) {
  const int c = int(blockIdx.x) * order_threads + int(threadIdx.x);
  if (c > 1 << class_bits)
    return;
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const std::uint64_t key = low_bits(keys[middle], bits);
    if (int(key >> (bits - class_bits)) < c)
      low = middle + 1;
    else
      high = middle;
  }
  offsets[c] = low;
}

constexpr std::size_t regroup_aligned(std::size_t bytes) {
  return (bytes + regroup_alignment - 1) / regroup_alignment *
         regroup_alignment;
}

/// How the sort goes, and the temporary storage: counts and totals of digits,
/// and beyond one pass two arrays of keys, and numbers.
template <typename Key> struct regroup_plan {
  int passes;
  unsigned chunk, blocks; ///< items of a block, and blocks
  std::size_t counts, keys, ids;

  regroup_plan(int bits, unsigned count)
      : passes((bits + order_digit_bits - 1) / order_digit_bits) {
    const unsigned tiles = (count + order_tile - 1) / order_tile;
    const unsigned each = (tiles + order_blocks - 1) / order_blocks;
    chunk = each * order_tile;
    blocks = each ? (tiles + each - 1) / each : 0;
    counts = regroup_aligned(sizeof(unsigned) * order_digits * (blocks + 1));
    keys = passes > 1 ? regroup_aligned(sizeof(Key) * count) : 0;
    ids = passes > 1 ? regroup_aligned(sizeof(int) * count) : 0;
  }
  std::size_t all() const {
    return regroup_alignment + counts + 2 * keys + ids;
  }
};

/// One pass. key_bits: those that may be set in a key.
template <typename Key>
cudaError_t run_pass(const regroup_plan<Key> &plan, order_pass<Key> pass,
                     int count, unsigned *counts, order_result result,
                     int key_bits, cudaStream_t stream) {
  unsigned *totals = counts + std::size_t(order_digits) * plan.blocks;
  count_digits<<<plan.blocks, order_threads, 0, stream>>>(
      pass.keys, unsigned(count), plan.chunk, pass.shift, pass.bits, key_bits,
      counts);
  if (const cudaError_t e = cudaGetLastError())
    return e;
  scan_counts<<<1 << pass.bits, order_threads, 0, stream>>>(counts, plan.blocks,
                                                            totals);
  place_items<<<plan.blocks, order_threads, 0, stream>>>(
      pass, unsigned(count), plan.chunk, counts, totals, result);
  return cudaGetLastError();
}

} // namespace detail

/// Puts items in order by key: by rising key, and by number where keys are the
/// same.
///
/// temp, temp_bytes  temporary device memory, of any alignment and content. If
///                   temp is null, only temp_bytes is set, to what these bits
///                   and this count need, and nothing is launched
/// keys              of [count], on the device: unsigned integers of 8, 16, 32
///                   or 64 bits; not changed
/// bits              of a key that count, its lowest: 1 to all. Higher bits
///                   must be 0; they are not looked at, and asserted on the
///                   device with RECONVERGE_CHECK
/// count             of items, 0 to 2^31 - 1
/// order             where the result goes
/// stream            on which all of it happens
///
/// Returns cudaErrorInvalidValue, before anything is launched, if bits, count
/// or class_bits are out of range, ids or keys are null where there are items,
/// or temp_bytes is less than needed; else what a launch returned.
///
/// Nothing is allocated or waited for, so a stream that is captured into a
/// graph may be given. The temporary storage can be used again on the same
/// stream at once, and elsewhere when the stream has come that far.
///
/// Cost: for each 8 bits a key is read twice and a number written once; a pass
/// that is not the first also reads the number, one that is not the last writes
/// the key. The inverse takes 4 bytes written, scattered beyond 8 bits.
/// Temporary storage: at most 1 MiB, and beyond 8 bits about 4 bytes and two
/// keys an item.
///
/// \code
///   __global__ void find_paths(const float *x, unsigned char *paths, int n) {
///     const int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n)
///       paths[i] = x[i] > 0;
///   }
///   __global__ void apply(const float *x, float *y, const int *ids, int n) {
///     const int t = blockIdx.x * blockDim.x + threadIdx.x;
///     if (t >= n)
///       return;
///     const int i = ids[t]; // was: t
///     y[i] = x[i] > 0 ? sqrtf(x[i]) : expf(x[i]);
///   }
///   inline cudaError_t by_path(const float *x, float *y, unsigned char *paths,
///                              int *ids, void *temp, size_t temp_bytes, int n,
///                              cudaStream_t stream) {
///     const int blocks = (n + 255) / 256;
///     find_paths<<<blocks, 256, 0, stream>>>(x, paths, n);
///     cudaError_t e = reconverge::regroup(temp, temp_bytes, paths, 1, n,
///                                         {ids}, stream);
///     if (e == cudaSuccess)
///       apply<<<blocks, 256, 0, stream>>>(x, y, ids, n);
///     return e;
///   }
/// \endcode
template <typename Key>
cudaError_t regroup(void *temp, std::size_t &temp_bytes, const Key *keys,
                    int bits, std::int64_t count, regroup_order order,
                    cudaStream_t stream = nullptr) {
  static_assert(std::is_unsigned_v<Key> && !std::is_same_v<Key, bool>,
                "regroup's keys are unsigned integers");
  using namespace detail;
  const int class_bits = order.class_bits < 0 ? bits : order.class_bits;
  if (bits < 1 || bits > 8 * int(sizeof(Key)) || count < 0 || count > INT32_MAX)
    return cudaErrorInvalidValue;
  if ((order.offsets || order.class_bits >= 0) &&
      (class_bits > bits || class_bits > 24))
    return cudaErrorInvalidValue;
  const int n = int(count);
  const regroup_plan<Key> plan(bits, unsigned(n));
  if (!temp) {
    temp_bytes = plan.all();
    return cudaSuccess;
  }
  if (temp_bytes < plan.all() || (n > 0 && (!keys || !order.ids)))
    return cudaErrorInvalidValue;

  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(temp);
  char *parts = static_cast<char *>(temp) + (regroup_aligned(begin) - begin);
  unsigned *counts = reinterpret_cast<unsigned *>(parts);
  Key *sorted[2];
  for (int k = 0; k < 2; ++k)
    sorted[k] = reinterpret_cast<Key *>(parts + plan.counts + k * plan.keys);
  int *ids = reinterpret_cast<int *>(parts + plan.counts + 2 * plan.keys);

  // Classes of more bits than the last digit has are looked up.
  const bool look_up =
      order.offsets && (n == 0 || class_bits > order_digit_bits);
  const Key *from = keys;
  for (int p = 0, shift = 0; n > 0 && p < plan.passes; ++p) {
    const bool last = p + 1 == plan.passes;
    // The last digit has the most bits, so that its classes are the key's.
    const int digit_bits =
        p > 0 || last ? (bits < order_digit_bits ? bits : order_digit_bits)
                      : bits - order_digit_bits * (plan.passes - 1);
    const bool to_ids = (plan.passes - 1 - p) % 2 == 0;
    order_pass<Key> pass = {from,
                            p == 0   ? nullptr
                            : to_ids ? ids
                                     : order.ids,
                            last && !look_up ? nullptr : sorted[p % 2],
                            to_ids ? order.ids : ids,
                            shift,
                            digit_bits};
    order_result result;
    if (last)
      result = {order.inverse, look_up ? nullptr : order.offsets, class_bits};
    if (const cudaError_t e =
            run_pass(plan, pass, n, counts, result, bits, stream))
      return e;
    from = pass.keys_out;
    shift += digit_bits;
  }
  if (look_up)
    find_classes<<<((1 << class_bits) + order_threads) / order_threads,
                   order_threads, 0, stream>>>(
        sorted[(plan.passes - 1) % 2], bits, n, class_bits, order.offsets);
  return cudaGetLastError();
}

} // namespace reconverge

#endif
