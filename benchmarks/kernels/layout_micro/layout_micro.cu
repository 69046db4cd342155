//===- benchmarks/kernels/layout_micro/layout_micro.cu - Records ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items of eight kinds, drawn, each with a record that its thread alone reads.
// In order of kinds over the grid (common/regroup.h), and then
//
//   redirected   thread t reads the record of item order[t], where it is
//   moved        a kernel before copies records into the order, a record's
//                pieces by neighbouring threads; one behind puts results back
//
// Whole numbers, so that every build computes the same.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

static constexpr int Block = 256, Kinds = 8;

template <int Bytes> struct Record {
  unsigned Word[Bytes / 4];
};

HD static unsigned mix(unsigned X, unsigned By) {
  X ^= X >> 15;
  X *= By;
  return X ^ X >> 13;
}

/// One of four ways over the record, then rounds, more the higher the kind.
template <int Bytes>
HD static unsigned work(const Record<Bytes> &R, int Kind, int Rounds) {
  constexpr int Words = Bytes / 4;
  unsigned X = Kind + 1;
  switch (Kind & 3) {
  case 0:
#pragma unroll
    for (int W = 0; W < Words; ++W)
      X = X * 31 + R.Word[W];
    break;
  case 1:
#pragma unroll
    for (int W = 0; W < Words; ++W)
      X = (X ^ R.Word[W]) * 16777619u;
    break;
  case 2:
#pragma unroll
    for (int W = 0; W < Words; ++W)
      X += R.Word[W] > X ? R.Word[W] - X : X / 3;
    break;
  default:
#pragma unroll
    for (int W = 0; W < Words; ++W)
      X = mix(X + R.Word[W], 0x85ebca6bu);
  }
#pragma unroll 1
  for (int Round = Rounds * (1 + Kind); Round > 0; --Round)
    X = mix(X, 0xc2b2ae35u + Round);
  return X;
}

template <int Bytes>
__global__ void plain(const Record<Bytes> *__restrict__ In,
                      const unsigned char *__restrict__ Kind,
                      unsigned *__restrict__ Out, int Rounds, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Out[I] = work(In[I], Kind[I], Rounds);
}

// The longest first.
__global__ void findKeys(const unsigned char *Kind, unsigned char *Keys,
                         int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = Kinds - 1 - Kind[I];
}

template <int Bytes>
__global__ void redirected(const Record<Bytes> *__restrict__ In,
                           const unsigned char *__restrict__ Kind,
                           unsigned *__restrict__ Out, int Rounds, int Count,
                           const int *__restrict__ Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Out[I] = work(In[I], Kind[I], Rounds);
}

/// A thread has 16 bytes of a record; the first of a record also its kind.
template <int Bytes>
__global__ void
gather(const uint4 *__restrict__ In, const unsigned char *__restrict__ Kind,
       uint4 *__restrict__ Moved, unsigned char *__restrict__ KindMoved,
       int Count, const int *__restrict__ Ids) {
  constexpr int Pieces = Bytes / 16;
  const long Q = long(blockIdx.x) * Block + threadIdx.x, T = Q / Pieces;
  if (T >= Count)
    return;
  const int I = Ids[T], Piece = int(Q % Pieces);
  Moved[Q] = In[long(I) * Pieces + Piece];
  if (Piece == 0)
    KindMoved[T] = Kind[I];
}

__global__ void putBack(const unsigned *__restrict__ Moved,
                        unsigned *__restrict__ Out, int Count,
                        const int *__restrict__ Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T < Count)
    Out[Ids[T]] = Moved[T];
}

template <int Bytes>
static int run(Bench &Run, int Count, int Rounds, long Chosen) {
  using Item = Record<Bytes>;
  std::vector<Item> Drawn(Count);
  std::vector<unsigned char> KindOf(Count);
  Random Draw = Run.random();
  for (int I = 0; I < Count; ++I) {
    KindOf[I] = (unsigned char)(Draw.below(Kinds));
    for (unsigned &W : Drawn[I].Word)
      W = unsigned(Draw.bits());
  }
  const size_t MovedCount = Chosen >= 3 ? size_t(Count) : 1;
  DeviceArray<Item> In(Drawn), Moved(std::vector<Item>(MovedCount, Item{}));
  DeviceArray<unsigned char> Kind(KindOf),
      KindMoved(std::vector<unsigned char>(MovedCount, 0));
  DeviceArray<unsigned> Out(std::vector<unsigned>(Count, 0)),
      OutMoved(std::vector<unsigned>(MovedCount, 0));
  GridOrder<unsigned char> Order(Chosen ? Count : 0, 3);
  const int Blocks = (Count + Block - 1) / Block,
            Copying = int((long(Count) * (Bytes / 16) + Block - 1) / Block);
  const auto Sort = [&] {
    findKeys<<<Blocks, Block>>>(Kind, Order.keys(), Count);
    Order.make();
  };
  const auto Redirected = [&] {
    redirected<Bytes>
        <<<Blocks, Block>>>(In, Kind, Out, Rounds, Count, Order.ids());
  };
  const auto InOrder = [&] {
    gather<Bytes><<<Copying, Block>>>(
        reinterpret_cast<const uint4 *>(static_cast<Item *>(In)), Kind,
        reinterpret_cast<uint4 *>(static_cast<Item *>(Moved)), KindMoved, Count,
        Order.ids());
    plain<Bytes><<<Blocks, Block>>>(Moved, KindMoved, OutMoved, Rounds, Count);
    putBack<<<Blocks, Block>>>(OutMoved, Out, Count, Order.ids());
  };
  if (Chosen)
    Sort();
  const auto Plain = reinterpret_cast<const void *>(&plain<Bytes>),
             ByIndex = reinterpret_cast<const void *>(&redirected<Bytes>);
  const std::vector<Way> Ways = {
      {"original", Plain, Block,
       [&] { plain<Bytes><<<Blocks, Block>>>(In, Kind, Out, Rounds, Count); }},
      {"redirected", ByIndex, Block,
       [&] {
         Sort();
         Redirected();
       }},
      {"redirected-ordered", ByIndex, Block, Redirected},
      {"moved", Plain, Block,
       [&] {
         Sort();
         InOrder();
       }},
      {"moved-ordered", Plain, Block, InOrder}};
  return runWays(
      Run, Ways, Chosen, [&] { Out.clear(); }, [&] { return Out.get(); },
      [&](const std::vector<unsigned> &Got) {
        bool Right = true;
        for (int I = 0; I < Count; ++I)
          Right &= Got[I] == work(Drawn[I], KindOf[I], Rounds);
        return Right;
      });
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "layout_micro");
  const int Count = int(Run.integer("items", 5000, 1, 1 << 26));
  const int Rounds = int(Run.integer("rounds", 32, 0, 1 << 16));
  const long Bytes = Run.integer("bytes", 64, 16, 256);
  const long Chosen = Run.integer("way", 0, 0, 5); // 5: all in turns
  Run.ready();
  switch (Bytes) {
  case 16:
    return run<16>(Run, Count, Rounds, Chosen);
  case 32:
    return run<32>(Run, Count, Rounds, Chosen);
  case 64:
    return run<64>(Run, Count, Rounds, Chosen);
  case 128:
    return run<128>(Run, Count, Rounds, Chosen);
  case 256:
    return run<256>(Run, Count, Rounds, Chosen);
  default:
    std::fprintf(stderr, "bytes is 16, 32, 64, 128 or 256\n");
    return 2;
  }
}
