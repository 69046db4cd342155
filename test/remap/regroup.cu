// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -DRECONVERGE_CHECK -I%source/include %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu not %t bad-key 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD
// CHECK: 0 wrong of
// BAD: a key beyond regroup's bits

//===- test/remap/regroup.cu - regroup against its contract ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of items from none on, keys of 8 to 64 bits of which few or all
// count, classes of few or all of them, keys that are drawn, all the same,
// sorted or backward; each result held against std::stable_sort's. Then what a
// caller may do wrong, temporary storage of the least size at an odd address
// with what lies beside it watched, two streams, and a graph whose keys change
// between its runs.
//
// The same source runs on the warp VM (`make test`) and, by nvcc, on a GPU
// (test/remap/on-gpu.py).
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <reconverge/device/regroup.cuh>
#include <vector>

using reconverge::regroup;
using reconverge::regroup_order;

#ifdef RECONVERGE_EVERY_SIZE
static constexpr int Most = 3000000;
#else
static constexpr int Most = 20000;
#endif
/// More than a tile of items for each block that takes part.
static constexpr int Chunked = 1024 * 4096 + 5000;
static constexpr int MostClasses = 1 << 12;
static constexpr int Guard = -77;

/// A result, with one value more behind each part that must stay.
struct Arrays {
  const int Room;
  int *Ids = managed<int>(Room + 1), *Inverse = managed<int>(Room + 1),
      *Offsets = managed<int>(MostClasses + 2);

  explicit Arrays(int Room = Most) : Room(Room) {}
  void fill() {
    std::fill(Ids, Ids + Room + 1, Guard);
    std::fill(Inverse, Inverse + Room + 1, Guard);
    std::fill(Offsets, Offsets + MostClasses + 2, Guard);
  }
};

/// Exactly the bytes that are needed, at an odd address, between guards.
struct Temporary {
  unsigned char *Bytes;
  size_t Size = 0;

  template <typename Key>
  Temporary(const Key *Keys, int Bits, int Count, regroup_order O) {
    CALL(regroup(nullptr, Size, Keys, Bits, Count, O));
    Bytes = managed<unsigned char>(Size + 2);
    Bytes[0] = Bytes[Size + 1] = 0xA5;
  }
  void *get() { return Bytes + 1; }
  void expectGuards() {
    expect("guard", 0, Bytes[0], 0xA5);
    expect("guard", 1, Bytes[Size + 1], 0xA5);
    CALL(cudaFree(Bytes));
  }
};

template <typename Key>
static bool isRight(const Key *Keys, int Bits, int Count, int ClassBits,
                    const Arrays &Got) {
  std::vector<int> Want(Count);
  std::iota(Want.begin(), Want.end(), 0);
  std::stable_sort(Want.begin(), Want.end(),
                   [&](int A, int B) { return Keys[A] < Keys[B]; });
  bool Right = std::equal(Want.begin(), Want.end(), Got.Ids);
  for (int P = 0; P < Count; ++P)
    Right &= Got.Inverse[Want[P]] == P;
  std::vector<int> Offsets((size_t(1) << ClassBits) + 1, 0);
  for (int I = 0; I < Count; ++I)
    ++Offsets[(ClassBits ? size_t(Keys[I] >> (Bits - ClassBits)) : 0) + 1];
  for (size_t C = 1; C < Offsets.size(); ++C)
    Offsets[C] += Offsets[C - 1];
  Right &= std::equal(Offsets.begin(), Offsets.end(), Got.Offsets);
  return Right && Got.Ids[Count] == Guard && Got.Inverse[Count] == Guard &&
         Got.Offsets[Offsets.size()] == Guard;
}

enum Kind { Drawn, Same, Sorted, Backward, Kinds };

template <typename Key>
static void draw(Key *Keys, int Kind, int Bits, int Count) {
  const Key Top = Key(Key(~Key(0)) >> (8 * sizeof(Key) - Bits));
  for (int I = 0; I < Count; ++I) {
    const uint64_t Any =
        uint64_t(next()) << 40 ^ uint64_t(next()) << 20 ^ next();
    const uint64_t Part = Count > 1 ? uint64_t(I) * 64 / Count : 0;
    Keys[I] = Kind == Drawn    ? Key(Any & Top)
              : Kind == Same   ? Top
              : Kind == Sorted ? Key(Part & Top)
                               : Key((63 - Part) & Top);
  }
  if (Kind == Sorted || Kind == Backward)
    std::sort(Keys, Keys + Count);
  if (Kind == Backward)
    std::reverse(Keys, Keys + Count);
}

template <typename Key>
static void check(Arrays &A, int Bits, int ClassBits, int Count, int Kind) {
  Key *const Keys = managed<Key>(std::max(Count, 1));
  draw(Keys, Kind, Bits, Count);
  A.fill();
  regroup_order O = {A.Ids, A.Inverse, A.Offsets};
  if (ClassBits != Bits)
    O.class_bits = ClassBits;
  Temporary T(Keys, Bits, Count, O);
  CALL(regroup(T.get(), T.Size, Keys, Bits, Count, O));
  finish();
  const bool Right = isRight(Keys, Bits, Count, ClassBits, A);
  expect("order", Count, Right, true);
  if (!Right && Wrong <= 10)
    std::printf("  %d items, %d bits of %zu bytes, classes of %d, kind %d\n",
                Count, Bits, sizeof(Key), ClassBits, Kind);
  T.expectGuards();
  CALL(cudaFree(Keys));
}

/// What is refused, and leaves everything as it was.
static void checkRefusals(Arrays &A) {
  uint8_t *Keys = managed<uint8_t>(100);
  std::fill(Keys, Keys + 100, uint8_t(1));
  A.fill();
  const regroup_order O = {A.Ids};
  Temporary T(Keys, 3, 100, O);
  int Case = 0;
  const auto Refused = [&](void *Temp, size_t Size, const uint8_t *K, int Bits,
                           int64_t Count, regroup_order Order) {
    expect("refused", Case++, regroup(Temp, Size, K, Bits, Count, Order),
           cudaErrorInvalidValue);
  };
  Refused(T.get(), T.Size - 1, Keys, 3, 100, O);
  Refused(T.get(), 0, Keys, 3, 100, O);
  Refused(T.get(), T.Size, Keys, 3, 5000, O); // made for fewer
  Refused(T.get(), T.Size, Keys, 0, 100, O);
  Refused(T.get(), T.Size, Keys, 9, 100, O);
  Refused(T.get(), T.Size, Keys, 3, -1, O);
  Refused(nullptr, 0, Keys, 3, int64_t(1) << 31, O);
  Refused(T.get(), T.Size, nullptr, 3, 100, O);
  Refused(T.get(), T.Size, Keys, 3, 100, {nullptr});
  Refused(T.get(), T.Size, Keys, 3, 100, {A.Ids, nullptr, A.Offsets, 4});
  finish();
  expect("untouched", 0, A.Ids[0], Guard);
  // Classes of all bits of a large key would take too much memory.
  uint32_t *Wide = managed<uint32_t>(1);
  size_t Size = 0;
  expect("classes", 0,
         regroup(nullptr, Size, Wide, 25, 1, {A.Ids, nullptr, A.Offsets}),
         cudaErrorInvalidValue);
  expect("classes", 1, regroup(nullptr, Size, Wide, 25, 1, {A.Ids}),
         cudaSuccess);
  T.expectGuards();
}

/// Two orders on two streams at once, then a graph that makes one again.
static void checkStreams(Arrays &A) {
  constexpr int Count = 5000, Bits = 5;
  Arrays B;
  uint16_t *Keys[2] = {managed<uint16_t>(Count), managed<uint16_t>(Count)};
  Arrays *Out[2] = {&A, &B};
  cudaStream_t Streams[2];
  std::vector<Temporary> Temps;
  const auto Order = [&](int S) {
    return regroup_order{Out[S]->Ids, Out[S]->Inverse, Out[S]->Offsets};
  };
  for (int S = 0; S < 2; ++S) {
    draw(Keys[S], Drawn, Bits, Count);
    Out[S]->fill();
    CALL(cudaStreamCreate(&Streams[S]));
    Temps.emplace_back(Keys[S], Bits, Count, Order(S));
  }
  const auto Go = [&](int S) {
    CALL(regroup(Temps[S].get(), Temps[S].Size, Keys[S], Bits, Count, Order(S),
                 Streams[S]));
  };
  Go(0);
  Go(1);
  finish();
  for (int S = 0; S < 2; ++S)
    expect("stream", S, isRight(Keys[S], Bits, Count, Bits, *Out[S]), true);

  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CALL(cudaStreamBeginCapture(Streams[0], cudaStreamCaptureModeGlobal));
  Go(0);
  CALL(cudaStreamEndCapture(Streams[0], &Graph));
  CALL(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Run = 0; Run < 3; ++Run) {
    draw(Keys[0], Run == 1 ? Backward : Drawn, Bits, Count);
    A.fill();
    CALL(cudaGraphLaunch(Exec, Streams[0]));
    finish();
    expect("graph", Run, isRight(Keys[0], Bits, Count, Bits, A), true);
  }
  for (Temporary &T : Temps)
    T.expectGuards();
}

/// With RECONVERGE_CHECK this ends in an assertion.
static void giveBadKey(Arrays &A) {
  uint8_t *Keys = managed<uint8_t>(3);
  Keys[0] = Keys[1] = 0;
  Keys[2] = 4;
  Temporary T(Keys, 2, 3, {A.Ids});
  CALL(regroup(T.get(), T.Size, Keys, 2, 3, {A.Ids}));
  finish();
}

int main(int argc, char **) {
  Arrays A;
  if (argc > 1)
    giveBadKey(A);
  for (int Kind = 0; Kind < Kinds; ++Kind)
    for (int Count : {0, 1, 2, 31, 256, 257, 5000, Most}) {
      check<uint8_t>(A, 3, 3, Count, Kind);
      if (Count > 300 && Count < Most && Kind != Drawn)
        continue;
      check<uint8_t>(A, 8, 0, Count, Kind);
      check<uint16_t>(A, 12, 12, Count, Kind);
      check<uint32_t>(A, 16, 4, Count, Kind);
      check<uint32_t>(A, 32, 7, Count, Kind);
      check<uint64_t>(A, 41, 1, Count, Kind);
      check<uint64_t>(A, 64, 12, Count, Kind);
    }
  Arrays Large(Chunked);
  check<uint8_t>(Large, 2, 2, Chunked, Drawn);
  checkRefusals(A);
  checkStreams(A);
  return summary();
}
