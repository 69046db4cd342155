//===- remedies/regroup/Sort.cu - An order by key, on the device ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A radix sort from the lowest digit, stable, of the numbers 0 to items - 1 by
// keys of 32 bits. One pass a digit:
//
//   count    a block has a tile of the items: how many of each digit are there
//   scan     a block has a digit: how many of it the tiles before have
//   scatter  to  items of lower digits + those of earlier tiles
//              + those of earlier warps of the tile + those before it
//
// No block waits for another, so that it runs on any machine in any order. It
// is compiled when the tool is built and linked into the device code of a
// program (Sort.cpp), without CUDA's headers.
//
// After D. Merrill, A. Grimshaw, "High Performance and Scalable Radix Sorting",
// Parallel Processing Letters 21 (2011).
//
//===----------------------------------------------------------------------===//

#define KERNEL extern "C" __attribute__((global))
#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

typedef unsigned int u32;
typedef unsigned long long u64;

namespace {
constexpr u32 Threads = 256, Warps = Threads / 32, Digits = 256,
              ItemsOfThread = 16, Tile = Threads * ItemsOfThread;
constexpr u32 All = 0xffffffff;
} // namespace

DEVICE u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u64 item() { return u64(block()) * Threads + thread(); }

/// The sum of Value over threads before this one; Total: over all.
DEVICE u32 sumBefore(u32 Value, u32 *Sums, u32 &Total) {
  Sums[thread()] = Value;
  __syncthreads();
  for (u32 Step = 1; Step != Threads; Step *= 2) {
    const u32 Other = thread() >= Step ? Sums[thread() - Step] : 0;
    __syncthreads();
    Sums[thread()] += Other;
    __syncthreads();
  }
  Total = Sums[Threads - 1];
  const u32 Before = Sums[thread()] - Value;
  __syncthreads();
  return Before;
}

/// keys[i] = class and, below it, where in the range of its class's lines
/// lines[i] is, in Bits bits. range[2 c] is the complement of the least of class
/// c, range[2 c + 1] the greatest.
KERNEL void compose(u32 *keys, const u32 *lines, const u32 *range, u64 items,
                    u64 Bits) {
  const u64 I = item();
  if (I >= items)
    return;
  const u32 Class = keys[I], Line = lines[I];
  const u32 Least = ~range[2 * Class], Most = range[2 * Class + 1];
  // An item without a line is none of the range.
  const u64 Part = Line < Least || Line > Most
                       ? 0
                       : (u64(Line - Least) << Bits) / (u64(Most - Least) + 1);
  keys[I] = Class << Bits | u32(Part);
}

//===----------------------------------------------------------------------===//
// Whether an order is still good
//===----------------------------------------------------------------------===//

/// The thread at place At of a sample of one warp in 1024.
DEVICE u32 sampled(u64 At, u64 items) {
  const u64 I = At / 32 * 32 * 1024 + At % 32;
  return u32(I < items ? I : items - 1);
}

/// Which threads a probe looks at.
KERNEL void sample(u32 *ids, u64 number, u64 items, u32 *differing) {
  const u64 At = item();
  if (At == 0)
    *differing = 0;
  if (At < number)
    ids[At] = sampled(At, items);
}

/// The classes of these as the order is made.
KERNEL void remember(const u32 *keys, u64 number, u64 items, u32 *classes) {
  const u64 At = item();
  if (At < number)
    classes[At] = keys[sampled(At, items)];
}

/// How many have another now.
KERNEL void compare(const u32 *keys, u64 number, u64 items, const u32 *classes,
                    u32 *differing) {
  const u64 At = item();
  if (At < number && classes[At] != keys[sampled(At, items)])
    __nvvm_atom_add_gen_i((int *)differing, 1);
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// counts[digit][tile].
KERNEL void count(const u32 *keys, u64 items, u64 shift, u64 digits,
                  u32 *counts, u64 tiles) {
  SHARED static u32 Had[Digits];
  Had[thread()] = 0;
  __syncthreads();
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    const u64 I = u64(block()) * Tile + K * Threads + thread();
    if (I < items)
      __nvvm_atom_add_gen_i((int *)&Had[keys[I] >> shift & (digits - 1)], 1);
  }
  __syncthreads();
  counts[thread() * tiles + block()] = Had[thread()];
}

/// counts[digit][tile] becomes the sum over tiles before; totals[digit].
KERNEL void scan(u32 *counts, u64 tiles, u32 *totals) {
  SHARED static u32 Sums[Threads];
  u32 *Row = counts + block() * tiles;
  u32 Before = 0;
  for (u64 First = 0; First < tiles; First += Threads) {
    const u64 At = First + thread();
    const u32 Here = At < tiles ? Row[At] : 0;
    u32 Total;
    const u32 Sum = sumBefore(Here, Sums, Total);
    if (At < tiles)
      Row[At] = Before + Sum;
    Before += Total;
  }
  if (thread() == 0)
    totals[block()] = Before;
}

/// Lanes of the warp with the same digit; none: this lane has no item.
DEVICE u32 alike(u32 Digit, bool Has) {
  u32 Lanes = __nvvm_vote_ballot_sync(All, Has);
  for (u32 Bit = 0; Bit != 8; ++Bit) {
    const bool Set = Digit >> Bit & 1;
    const u32 With = __nvvm_vote_ballot_sync(All, Set);
    Lanes &= Set ? With : ~With;
  }
  return Has ? Lanes : 0;
}

/// The order goes to ids; without in_ids an item is its own number.
KERNEL void scatter(const u32 *in_keys, const u32 *in_ids, u64 numbered,
                    u32 *keys, u32 *ids, u64 items, u64 shift, u64 digits,
                    const u32 *counts, const u32 *totals, u64 tiles) {
  SHARED static u32 Place[Warps][Digits];
  SHARED static u32 Sums[Threads];
  const u32 Warp = thread() / 32, Lane = thread() % 32;
  for (u32 W = 0; W != Warps; ++W)
    Place[W][thread()] = 0;
  __syncthreads();
  const u64 Mine = u64(block()) * Tile + Warp * 32 * ItemsOfThread + Lane;
  for (u32 K = 0; K != ItemsOfThread; ++K)
    if (Mine + 32 * K < items)
      __nvvm_atom_add_gen_i(
          (int *)&Place[Warp]
                       [in_keys[Mine + 32 * K] >> shift & (digits - 1)],
          1);
  u32 Whole;
  const u32 Lower = sumBefore(totals[thread()], Sums, Whole);
  u32 Next = Lower + counts[thread() * tiles + block()];
  for (u32 W = 0; W != Warps; ++W) {
    const u32 Here = Place[W][thread()];
    Place[W][thread()] = Next;
    Next += Here;
  }
  __syncthreads();
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    const u64 I = Mine + 32 * K;
    const bool Has = I < items;
    const u32 Key = Has ? in_keys[I] : 0;
    const u32 Digit = Key >> shift & (digits - 1);
    const u32 Same = alike(Digit, Has);
    const u32 Before = __builtin_popcount(Same & ((1u << Lane) - 1));
    const u32 To = Place[Warp][Digit] + Before;
    __nvvm_bar_warp_sync(All);
    if (Has) {
      keys[To] = Key;
      ids[To] = numbered ? u32(I) : in_ids[I];
      if (Before == 0)
        Place[Warp][Digit] = To + __builtin_popcount(Same);
    }
    __nvvm_bar_warp_sync(All);
  }
}
