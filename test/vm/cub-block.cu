// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks %t | FileCheck %s

// CUB's block- and warp-wide collectives, with block sizes that are no multiple
// of a warp.

#include "Inputs/check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <numeric>
#include <vector>

template <int Threads, int Items> struct Block {
  static constexpr int N = Threads * Items;
  static constexpr bool Merges = (Threads & (Threads - 1)) == 0;
  using Scan = cub::BlockScan<int, Threads>;
  using Reduce = cub::BlockReduce<int, Threads>;
  using Rake = cub::BlockReduce<int, Threads, cub::BLOCK_REDUCE_RAKING>;
  using Radix = cub::BlockRadixSort<int, Threads, Items, int>;
  using Merge = cub::BlockMergeSort<int, Merges ? Threads : 32, Items>;
  using Exchange = cub::BlockExchange<int, Threads, Items>;
  using Heads = cub::BlockDiscontinuity<int, Threads>;
  using Load = cub::BlockLoad<int, Threads, Items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store =
      cub::BlockStore<int, Threads, Items, cub::BLOCK_STORE_TRANSPOSE>;
  union Storage {
    typename Scan::TempStorage Scan_;
    typename Reduce::TempStorage Reduce_;
    typename Rake::TempStorage Rake_;
    typename Radix::TempStorage Radix_;
    typename Merge::TempStorage Merge_;
    typename Exchange::TempStorage Exchange_;
    typename Heads::TempStorage Heads_;
    typename Load::TempStorage Load_;
    typename Store::TempStorage Store_;
  };
  /// What the kernel gives, a row each.
  enum Row { Sums, Sorted, Places, Striped, Descending, FirstOfRun, Before };
};

template <int Threads, int Items>
__global__ void block(const int *In, int *Out, int *Single) {
  using B = Block<Threads, Items>;
  __shared__ typename B::Storage S;
  const int T = threadIdx.x;
  int X[Items], Y[Items], Place[Items];
  typename B::Load(S.Load_).Load(In, X);
  auto Give = [&](int Row, int(&Values)[Items]) {
    __syncthreads();
    typename B::Store(S.Store_).Store(Out + Row * B::N, Values);
    __syncthreads();
  };
  __syncthreads();
  typename B::Scan(S.Scan_).InclusiveSum(X, Y);
  Give(B::Sums, Y);
  const int Sum = typename B::Reduce(S.Reduce_).Sum(X);
  __syncthreads();
  const int Max = typename B::Rake(S.Rake_).Reduce(X, cuda::maximum<>());
  __syncthreads();
  int Total, Least;
  typename B::Scan(S.Scan_).ExclusiveScan(X[0], Least, 5, cuda::maximum<>(),
                                          Total);
  Out[B::Before * B::N + T] = Least;
  if (T == 0) {
    Single[0] = Sum;
    Single[1] = Max;
    Single[2] = Total;
  }
  for (int I = 0; I < Items; ++I) {
    Y[I] = X[I];
    Place[I] = T * Items + I;
  }
  __syncthreads();
  typename B::Radix(S.Radix_).Sort(Y, Place);
  Give(B::Sorted, Y);
  Give(B::Places, Place);
  typename B::Exchange(S.Exchange_).BlockedToStriped(X, Y);
  __syncthreads();
  for (int I = 0; I < Items; ++I)
    Out[B::Striped * B::N + I * Threads + T] = Y[I];
  for (int I = 0; I < Items; ++I)
    Y[I] = X[I];
  if constexpr (B::Merges)
    typename B::Merge(S.Merge_).Sort(Y, [](int A, int C) { return A > C; });
  Give(B::Descending, Y);
  for (int I = 0; I < Items; ++I)
    Y[I] = X[I] / 100;
  int Flags[Items];
  typename B::Heads(S.Heads_).FlagHeads(Flags, Y, cuda::std::not_equal_to<>());
  Give(B::FirstOfRun, Flags);
}

template <int Threads, int Items>
static void checkBlock(const int *In, int *Out, int *Single) {
  using B = Block<Threads, Items>;
  constexpr int N = B::N;
  block<Threads, Items><<<1, Threads>>>(In, Out, Single);
  finish();
  std::vector<int> Order(N), Down(In, In + N);
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int A, int C) { return In[A] < In[C]; });
  std::sort(Down.rbegin(), Down.rend());
  int Sum = 0, Most = 5;
  for (int I = 0; I < N; ++I) {
    expect("scan", I, Out[B::Sums * N + I], Sum += In[I]);
    expect("sort", I, Out[B::Sorted * N + I], In[Order[I]]);
    expect("sort's value", I, Out[B::Places * N + I], Order[I]);
    expect("striped", I, Out[B::Striped * N + I], In[I]);
    if (B::Merges)
      expect("merge", I, Out[B::Descending * N + I], Down[I]);
    expect("head", I, Out[B::FirstOfRun * N + I],
           I == 0 || In[I] / 100 != In[I - 1] / 100);
  }
  expect("sum", Threads, Single[0], Sum);
  expect("max", Threads, Single[1], Down[0]);
  for (int T = 0; T < Threads; ++T) {
    expect("max before", T, Out[B::Before * N + T], Most);
    Most = std::max(Most, In[T * Items]);
  }
  int Total = 0;
  for (int T = 0; T < Threads; ++T)
    Total = std::max(Total, In[T * Items]);
  expect("total", Threads, Single[2], Total);
}

enum WarpRow { Inclusive, Exclusive, WarpSum, PartMax, Exchanged, Pairs = 8 };
static constexpr int Lanes = 96;

template <int Width> __global__ void warps(const int *In, int *Out) {
  using Scan = cub::WarpScan<int, Width>;
  using Reduce = cub::WarpReduce<int, Width>;
  using Exchange = cub::WarpExchange<int, 4, Width>;
  using Merge = cub::WarpMergeSort<int, 2, Width>;
  __shared__ typename Scan::TempStorage ScanS[Lanes / Width];
  __shared__ typename Reduce::TempStorage ReduceS[Lanes / Width];
  __shared__ typename Exchange::TempStorage ExchangeS[Lanes / Width];
  __shared__ typename Merge::TempStorage MergeS[Lanes / Width];
  const int T = threadIdx.x, G = T / Width;
  int Sum, Before;
  Scan(ScanS[G]).Scan(In[T], Sum, Before, 0, cuda::std::plus<>());
  Out[Inclusive * Lanes + T] = Sum;
  Out[Exclusive * Lanes + T] = Before;
  const int Whole = Reduce(ReduceS[G]).Sum(In[T]);
  __syncwarp();
  const int Part =
      Reduce(ReduceS[G]).Reduce(In[T], cuda::maximum<>(), Width / 2 + 1);
  if (T % Width == 0) {
    Out[WarpSum * Lanes + T] = Whole;
    Out[PartMax * Lanes + T] = Part;
  }
  int Four[4] = {4 * T, 4 * T + 1, 4 * T + 2, 4 * T + 3};
  Exchange(ExchangeS[G]).BlockedToStriped(Four, Four);
  for (int I = 0; I < 4; ++I)
    Out[Exchanged * Lanes + 4 * T + I] = Four[I];
  int Two[2] = {In[2 * T], In[2 * T + 1]};
  Merge(MergeS[G]).Sort(Two, cuda::std::less<>());
  Out[Pairs * Lanes + 2 * T] = Two[0];
  Out[Pairs * Lanes + 2 * T + 1] = Two[1];
}

template <int Width> static void checkWarps(const int *In, int *Out) {
  warps<Width><<<1, Lanes>>>(In, Out);
  finish();
  for (int First = 0; First < Lanes; First += Width) {
    int Sum = 0;
    for (int T = First; T < First + Width; ++T) {
      expect("warp before", T, Out[Exclusive * Lanes + T], Sum);
      expect("warp scan", T, Out[Inclusive * Lanes + T], Sum += In[T]);
      for (int I = 0; I < 4; ++I)
        expect("warp striped", T, Out[Exchanged * Lanes + 4 * T + I],
               4 * First + I * Width + T - First);
    }
    expect("warp sum", First, Out[WarpSum * Lanes + First], Sum);
    expect("warp max", First, Out[PartMax * Lanes + First],
           *std::max_element(In + First, In + First + Width / 2 + 1));
    std::vector<int> Keys(In + 2 * First, In + 2 * (First + Width));
    std::sort(Keys.begin(), Keys.end());
    for (int I = 0; I < 2 * Width; ++I)
      expect("warp sort", I, Out[Pairs * Lanes + 2 * First + I], Keys[I]);
  }
}

// CHECK: 0 wrong of
int main() {
  int *In = managed<int>(4096), *Out = managed<int>(7 * 4096);
  int *Single = managed<int>(3);
  for (int I = 0; I < 4096; ++I)
    In[I] = next() % 1000;
  checkBlock<64, 4>(In, Out, Single);
  checkBlock<97, 3>(In, Out, Single);
  checkBlock<33, 5>(In, Out, Single);
  checkBlock<512, 4>(In, Out, Single);
  checkWarps<32>(In, Out);
  checkWarps<8>(In, Out);
  return summary();
}
