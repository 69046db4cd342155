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
// Keys of up to eight bits take three launches (detail/radix_order.cuh), with the
// inverse and where classes begin. Beyond that
//
//   1. writes the items' numbers                            one kernel
//   2. sorts them by key with cub::DeviceRadixSort          CUB's, by bits
//   3. scatters places to items                             if wanted
//   4. looks up where each class begins, a thread a class   if wanted
//
// Not in reconverge.cuh, because it needs CUB's device-wide headers, which take
// seconds to compile. The page for users is docs/regroup.md.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DEVICE_REGROUP_CUH
#define RECONVERGE_DEVICE_REGROUP_CUH

#include "../detail/radix_order.cuh"

#include <cub/device/device_radix_sort.cuh>
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

template <typename Key>
__global__ void number_items([[maybe_unused]] const Key *keys,
                             [[maybe_unused]] int bits, int count, int *ids) {
  const std::int64_t i = std::int64_t(blockIdx.x) * order_threads + threadIdx.x;
  if (i >= count)
    return;
  RECONVERGE_ASSERT(keys[i] == low_bits(keys[i], bits) &&
                    "a key beyond regroup's bits");
  ids[i] = int(i);
}

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
    if (class_bits > 0 && int(key >> (bits - class_bits)) < c)
      low = middle + 1;
    else
      high = middle;
  }
  // One class: all items are below the end.
  offsets[c] = class_bits > 0 ? low : c * count;
}

/// A type of its own, so that the kernel can stand in a header.
template <typename Id>
__global__ void invert(const Id *ids, int count, Id *inverse) {
  const std::int64_t i = std::int64_t(blockIdx.x) * order_threads + threadIdx.x;
  if (i < count)
    inverse[ids[i]] = Id(i);
}

inline int regroup_blocks(std::int64_t threads) {
  return int((threads + order_threads - 1) / order_threads);
}

constexpr std::size_t regroup_aligned(std::size_t bytes) {
  return (bytes + regroup_alignment - 1) / regroup_alignment *
         regroup_alignment;
}

/// The temporary storage of a sort by CUB: numbers, sorted keys, what CUB needs.
template <typename Key> struct regroup_storage {
  std::size_t ids, keys, sort;

  std::size_t all() const { return regroup_alignment + ids + keys + sort; }
};

inline void *regroup_begin(void *temp) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(temp);
  return static_cast<char *>(temp) + (regroup_aligned(begin) - begin);
}

/// Up to eight bits.
template <typename Key>
cudaError_t regroup_digit(void *temp, std::size_t &temp_bytes, const Key *keys,
                          int bits, int count, regroup_order order,
                          int class_bits, cudaStream_t stream) {
  const order_shape shape(count);
  const std::size_t need =
      regroup_alignment + sizeof(unsigned) * order_digits * (shape.blocks + 1);
  if (!temp) {
    temp_bytes = need;
    return cudaSuccess;
  }
  if (temp_bytes < need)
    return cudaErrorInvalidValue;
  unsigned *counts = static_cast<unsigned *>(regroup_begin(temp)),
           *totals = counts + std::size_t(order_digits) * shape.blocks;
  if (count > 0)
    count_digits<<<shape.blocks, order_threads, 0, stream>>>(
        keys, unsigned(count), shape.chunk, bits, counts);
  if (const cudaError_t e = cudaGetLastError())
    return e;
  if (count > 0) {
    scan_counts<<<1 << bits, order_threads, 0, stream>>>(counts, shape.blocks,
                                                         totals);
    place_items<<<shape.blocks, order_threads, 0, stream>>>(
        keys, unsigned(count), shape.chunk, bits, counts, totals,
        order_result{order.ids, order.inverse, order.offsets, class_bits});
  } else if (order.offsets) {
    find_classes<<<regroup_blocks((1 << class_bits) + 1), order_threads, 0,
                   stream>>>(keys, bits, 0, class_bits, order.offsets);
  }
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
/// or temp_bytes is less than needed; else what CUB or a launch returned.
///
/// Nothing is allocated or waited for, so a stream that is captured into a
/// graph may be given. The temporary storage can be used again on the same
/// stream at once, and elsewhere when the stream has come that far.
///
/// Cost: up to 8 bits a key is read twice, and a number written; 4 bytes more for
/// the inverse. Beyond that 4 bytes written, one pass of CUB's radix sort for each
/// 8 bits, and for the inverse 4 bytes read and 4 written, scattered. Temporary
/// storage: up to 8 bits at most 1 MiB, else about twice 4 bytes and a key an item.
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
  if (temp && n > 0 && (!keys || !order.ids))
    return cudaErrorInvalidValue;
  if (bits <= order_digit_bits)
    return regroup_digit(temp, temp_bytes, keys, bits, n, order, class_bits,
                         stream);
  const auto sort = [&](void *work, std::size_t &bytes, Key *sorted,
                        const int *numbers) {
    return cub::DeviceRadixSort::SortPairs(work, bytes, keys, sorted, numbers,
                                           order.ids, n, 0, bits, stream);
  };
  regroup_storage<Key> need = {regroup_aligned(sizeof(int) * count),
                               regroup_aligned(sizeof(Key) * count), 0};
  if (n > 0)
    if (const cudaError_t e = sort(nullptr, need.sort, nullptr, nullptr))
      return e;
  if (!temp) {
    temp_bytes = need.all();
    return cudaSuccess;
  }
  if (temp_bytes < need.all())
    return cudaErrorInvalidValue;

  char *parts = static_cast<char *>(regroup_begin(temp));
  int *numbers = reinterpret_cast<int *>(parts);
  Key *sorted = reinterpret_cast<Key *>(parts + need.ids);
  if (n > 0) {
    number_items<<<regroup_blocks(n), order_threads, 0, stream>>>(keys, bits, n,
                                                                  numbers);
    if (const cudaError_t e = cudaGetLastError())
      return e;
    if (const cudaError_t e =
            sort(parts + need.ids + need.keys, need.sort, sorted, numbers))
      return e;
    if (order.inverse)
      invert<<<regroup_blocks(n), order_threads, 0, stream>>>(order.ids, n,
                                                              order.inverse);
  }
  if (order.offsets)
    find_classes<<<regroup_blocks((std::int64_t(1) << class_bits) + 1),
                   order_threads, 0, stream>>>(sorted, bits, n, class_bits,
                                               order.offsets);
  return cudaGetLastError();
}

} // namespace reconverge

#endif
