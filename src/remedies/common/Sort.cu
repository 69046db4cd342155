//===- remedies/common/Sort.cu - An order by key, on the device -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A radix sort from the lowest digit, stable, of the numbers 0 to items - 1 by
// keys of 32 bits. One pass a digit:
//
//   count    a block has a tile of the items: how many of each digit are there
//   scan     a block has a digit: how many of it the tiles before have
//   scatter  a block orders its tile in shared memory; an item's place there is
//              items of the tile with lower digits
//              + those of its digit in earlier warps + those before it in its own
//            and then writes it out, neighbours to neighbours, to
//              items of lower digits + those of its digit in earlier tiles + ...
//
// or, where windows of so many items as a tile has are sorted each by itself,
//
//   within   a block has a tile and does the same, all digits in shared memory
//
// Beside it, what is done with an order: whether it is still good, and arrays
// that lie in it.
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

/// The sum of Value over threads before this one; Total: over all. Sums: room of
/// a word for each warp.
DEVICE u32 sumBefore(u32 Value, u32 *Sums, u32 &Total) {
  const u32 Warp = thread() / 32, Lane = thread() % 32;
  u32 Sum = Value;
  for (u32 Step = 1; Step != 32; Step *= 2) {
    const u32 Other = __nvvm_shfl_sync_up_i32(All, Sum, Step, 0);
    Sum += Lane >= Step ? Other : 0;
  }
  if (Lane == 31)
    Sums[Warp] = Sum;
  __syncthreads();
  u32 Before = Sum - Value;
  Total = 0;
  for (u32 W = 0; W != Warps; ++W) {
    Before += W < Warp ? Sums[W] : 0;
    Total += Sums[W];
  }
  __syncthreads();
  return Before;
}

/// keys[i], a class of Classes, becomes a number of Bits bits: those are shared
/// out among the classes that there are, and a class's share among the places
/// between the least and the greatest of its lines. range[2 c] is the complement
/// of the least of class c, range[2 c + 1] the greatest or, without lines, 1; 0:
/// there are none of c. Only some items were asked, so neither holds for all.
KERNEL void compose(u32 *keys, const u32 *lines, const u32 *range, u64 items,
                    u64 Classes, u64 Bits) {
  SHARED static u32 Begin[Digits], End[Digits], Least[Digits];
  SHARED static float PartsOfLine[Digits];
  SHARED static u32 Sums[Warps];
  const u32 Class = thread();
  const u32 Most = Class < Classes ? range[2 * Class + 1] : 0;
  u32 There;
  const u32 Rank = sumBefore(Most != 0, Sums, There);
  if (Class < Classes) {
    const u32 All = There ? There : 1;
    Begin[Class] = (Rank << Bits) / All;
    End[Class] = ((Rank + 1) << Bits) / All;
    Least[Class] = ~range[2 * Class];
    PartsOfLine[Class] =
        Most > Least[Class]
            ? float(End[Class] - Begin[Class]) / float(Most - Least[Class])
            : 0;
  }
  __syncthreads();
  const u64 First = u64(block()) * Tile;
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    const u64 I = First + K * Threads + thread();
    if (I >= items)
      return;
    const u32 Of = keys[I], Line = lines[I], Last = End[Of] - 1;
    u32 Key = Begin[Of];
    if (Line > Least[Of]) { // floats rise with their integers, and are fast
      const float Part = float(Line - Least[Of]) * PartsOfLine[Of];
      Key = Part < float(Last - Key) ? Key + u32(Part) : Last;
    }
    // A class that nobody was asked of lies where the next one begins.
    keys[I] = Key < 1u << Bits ? Key : (1u << Bits) - 1;
  }
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
// Arrays in the order (core/Recipe.h, RecipeRows)
//===----------------------------------------------------------------------===//

namespace {
/// An array of rows, or what of one is in its allocation.
struct Rows {
  u64 First, Begin, End, Count, Pitch, Cell, Tile, Step;
};
} // namespace

/// Where row 0 of the thread at Place is in a copy.
DEVICE u64 inCopy(const Rows &R, u64 Place) {
  return Place / R.Tile * R.Step + Place % R.Tile * R.Cell;
}

/// For the cells of a column of which this warp takes its turn: the address in the
/// array, and how far behind row 0 of its thread it is in a copy.
template <typename Function>
DEVICE void forCells(const Rows &R, u64 Number, Function Do) {
  const u64 Column = Number * R.Cell;
  if (Column >= R.Pitch) // there is none
    return;
#pragma unroll 1
  for (u64 Row = thread() / 32; Row < R.Count; Row += Warps) {
    const u64 At = R.First + Row * R.Pitch + Column;
    if (At >= R.Begin && At + R.Cell <= R.End)
      Do(At, Row * R.Tile * R.Cell);
  }
}

/// Calls Do for words as wide as all of these addresses and sizes allow.
template <typename Function> DEVICE void byWords(u64 All, Function Do) {
  if (All % 4 == 0)
    Do(u32());
  else if (All % 2 == 0)
    Do((unsigned short)0);
  else
    Do((unsigned char)0);
}

/// The cells of an array go to own, in the order; and to before, if that is not
/// null, where they would be if each thread ran at its own number. A block has 32
/// threads of each.
KERNEL void take_rows(const u32 *ids, u64 items, u64 cell, u64 tile, char *own,
                      char *before, u64 first, u64 begin, u64 end, u64 count,
                      u64 pitch, u64 step) {
  const Rows R = {first, begin, end, count, pitch, cell, tile, step};
  const u64 Place = u64(block()) * 32 + thread() % 32;
  if (Place >= items)
    return;
  byWords(first | pitch | cell, [&](auto Word) {
    const auto Copy = [&](char *To, u64 Number) {
      forCells(R, Number, [&](u64 At, u64 Row) {
#pragma unroll 1
        for (u64 Byte = 0; Byte < cell; Byte += sizeof Word)
          *(decltype(Word) *)(To + Row + Byte) =
              *(const decltype(Word) *)(At + Byte);
      });
    };
    Copy(own + inCopy(R, Place), ids[Place]);
    if (before)
      Copy(before + inCopy(R, Place), Place);
  });
}

/// Where each item is in the order.
KERNEL void invert(const u32 *ids, u64 items, u32 *places) {
  if (item() < items)
    places[ids[item()]] = u32(item());
}

/// Words of own that are no longer as before go into the array. All others are
/// left alone: they may be somebody else's. Neighbours write to neighbours, since
/// scattered writes take much longer than scattered reads.
KERNEL void bring_rows(const u32 *places, u64 items, u64 cell, u64 tile,
                       const char *own, const char *before, u64 first,
                       u64 begin, u64 end, u64 count, u64 pitch, u64 step) {
  const Rows R = {first, begin, end, count, pitch, cell, tile, step};
  const u64 Number = u64(block()) * 32 + thread() % 32;
  if (Number >= items)
    return;
  own += inCopy(R, places[Number]);
  before += inCopy(R, Number);
  byWords(first | pitch | cell, [&](auto Word) {
    forCells(R, Number, [&](u64 At, u64 Row) {
#pragma unroll 1
      for (u64 Byte = 0; Byte < cell; Byte += sizeof Word) {
        Word = *(const decltype(Word) *)(own + Row + Byte);
        if (Word != *(const decltype(Word) *)(before + Row + Byte))
          *(decltype(Word) *)(At + Byte) = Word;
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// Long ones first
//===----------------------------------------------------------------------===//

/// keys[i], of eight bits: the less, the more costs[i] is; eight for each power of
/// two, so that what is within an eighth of another may be its equal.
KERNEL void longest_first(const u32 *costs, u32 *keys, u64 items) {
  const u64 I = item();
  if (I >= items)
    return;
  const u32 Cost = costs[I] < 8 ? 8 : costs[I];
  const u32 Power = 31 - __builtin_clz(Cost); // 3 to 31
  keys[I] = 8 * 31 + 7 - (8 * Power + (Cost >> (Power - 3) & 7));
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
  if (thread() < digits)
    counts[thread() * tiles + block()] = Had[thread()];
}

/// counts[digit][tile] becomes the sum over tiles before; totals[digit].
KERNEL void scan(u32 *counts, u64 tiles, u32 *totals) {
  SHARED static u32 Sums[Warps];
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
DEVICE u32 alike(u32 Digit, bool Has, u32 Digits) {
  u32 Lanes = __nvvm_vote_ballot_sync(All, Has);
  for (u32 Bit = 0; 1u << Bit < Digits; ++Bit) {
    const bool Set = Digit >> Bit & 1;
    const u32 With = __nvvm_vote_ballot_sync(All, Set);
    Lanes &= Set ? With : ~With;
  }
  return Has ? Lanes : 0;
}

/// This thread's items of a tile: row K is item mine() + 32 K.
DEVICE u32 mine() { return thread() / 32 * 32 * ItemsOfThread + thread() % 32; }

DEVICE u32 digitOf(u32 Key, u32 Shift, u32 Digits) {
  return Key >> Shift & (Digits - 1);
}

typedef u32 OfItems[ItemsOfThread], OfWarps[Warps][Digits];

/// How many of a digit each warp has in Keys: Place[warp][digit]; and how many
/// of an item's digit its warp had before: Rank.
DEVICE void rankTile(const OfItems &Keys, u32 Here, u32 Shift, u32 digits,
                     OfWarps &Place, OfItems &Rank) {
  const u32 Warp = thread() / 32, Lane = thread() % 32;
  for (u32 W = 0; W != Warps; ++W)
    Place[W][thread()] = 0;
  __syncthreads();
#pragma unroll
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    const bool Has = mine() + 32 * K < Here;
    const u32 Digit = digitOf(Keys[K], Shift, digits);
    u32 &Seen = Place[Warp][Digit];
    const u32 Same = alike(Digit, Has, digits);
    const u32 Before = __builtin_popcount(Same & ((1u << Lane) - 1));
    Rank[K] = Seen + Before;
    __nvvm_bar_warp_sync(All);
    if (Has && Before == 0)
      Seen = Rank[K] + __builtin_popcount(Same);
    __nvvm_bar_warp_sync(All);
  }
  __syncthreads();
}

/// Place[warp][digit] becomes where the first of them goes in the tile. Returns
/// where this thread's digit begins there; Whole: items of the tile.
DEVICE u32 placeTile(OfWarps &Place, u32 *Sums, u32 &Whole) {
  u32 InTile = 0;
  for (u32 W = 0; W != Warps; ++W)
    InTile += Place[W][thread()];
  const u32 Begin = sumBefore(InTile, Sums, Whole);
  u32 Next = Begin;
  for (u32 W = 0; W != Warps; ++W) {
    const u32 InWarp = Place[W][thread()];
    Place[W][thread()] = Next;
    Next += InWarp;
  }
  return Begin;
}

/// The order goes to ids; without in_ids an item is its own number. The last
/// pass leaves no keys.
KERNEL __attribute__((launch_bounds(Threads, 4))) void
scatter(const u32 *in_keys, const u32 *in_ids, u64 numbered, u32 *keys,
        u32 *ids, u64 last, u64 items, u64 shift, u64 digits, const u32 *counts,
        const u32 *totals, u64 tiles) {
  SHARED static OfWarps Place;
  SHARED static u32 Base[Digits];
  SHARED static u32 Key[Tile], Id[Tile];
  SHARED static u32 Sums[Warps];
  const u64 First = u64(block()) * Tile;
  const u32 Here = items - First < Tile ? u32(items - First) : Tile;
  in_keys += First;
  const u32 Shift = u32(shift), Warp = thread() / 32;
  OfItems Keys, Rank;
#pragma unroll
  for (u32 K = 0; K != ItemsOfThread; ++K)
    Keys[K] = mine() + 32 * K < Here ? in_keys[mine() + 32 * K] : 0;
  rankTile(Keys, Here, Shift, u32(digits), Place, Rank);
  const bool IsDigit = thread() < digits;
  u32 Whole, Launch;
  const u32 Begin = placeTile(Place, Sums, Whole);
  const u32 Lower = sumBefore(IsDigit ? totals[thread()] : 0, Sums, Launch);
  Base[thread()] =
      Lower + (IsDigit ? counts[thread() * tiles + block()] : 0) - Begin;
  __syncthreads();
#pragma unroll
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    const u32 I = mine() + 32 * K;
    if (I >= Here)
      break;
    const u32 To = Place[Warp][digitOf(Keys[K], Shift, u32(digits))] + Rank[K];
    Key[To] = Keys[K];
    Id[To] = numbered ? u32(First) + I : in_ids[First + I];
  }
  __syncthreads();
  for (u32 At = thread(); At < Whole; At += Threads) {
    const u32 To = Base[digitOf(Key[At], Shift, u32(digits))] + At;
    ids[To] = Id[At];
    if (!last)
      keys[To] = Key[At];
  }
}

/// The order of each window of a tile's items by the lowest so many bits of
/// their keys.
KERNEL __attribute__((launch_bounds(Threads, 4))) void
within(const u32 *keys, u64 items, u64 bits, u32 *ids) {
  SHARED static OfWarps Place;
  SHARED static u32 Key[Tile], Id[Tile];
  SHARED static u32 Sums[Warps];
  const u32 First = block() * Tile, Warp = thread() / 32;
  const u32 Here = items - First < Tile ? u32(items) - First : Tile;
  OfItems Keys, Ids, Rank;
#pragma unroll
  for (u32 K = 0; K != ItemsOfThread; ++K) {
    Ids[K] = First + mine() + 32 * K;
    Keys[K] = mine() + 32 * K < Here ? keys[Ids[K]] : 0;
  }
  for (u32 Shift = 0; Shift < bits; Shift += 8) {
    const u32 digits = bits - Shift < 8 ? 1u << (u32(bits) - Shift) : Digits;
    rankTile(Keys, Here, Shift, digits, Place, Rank);
    u32 Whole;
    placeTile(Place, Sums, Whole);
    __syncthreads();
#pragma unroll
    for (u32 K = 0; K != ItemsOfThread; ++K) {
      if (mine() + 32 * K >= Here)
        break;
      const u32 To = Place[Warp][digitOf(Keys[K], Shift, digits)] + Rank[K];
      Key[To] = Keys[K];
      Id[To] = Ids[K];
    }
    __syncthreads();
#pragma unroll
    for (u32 K = 0; K != ItemsOfThread; ++K) {
      Keys[K] = Key[mine() + 32 * K];
      Ids[K] = Id[mine() + 32 * K];
    }
  }
#pragma unroll
  for (u32 K = 0; K != ItemsOfThread; ++K)
    if (mine() + 32 * K < Here)
      ids[First + mine() + 32 * K] = Ids[K];
}
