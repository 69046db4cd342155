// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s

// CUB's device-wide algorithms, against the host's standard library. Scans are
// one pass with decoupled look-back: blocks wait for others. Sizes: one item,
// a part of a tile, more blocks than CPU threads. cub-device-more.test compiles
// the rest of it, and kernels well, which takes minutes.

#include "Inputs/check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <iterator>
#include <numeric>
#include <vector>

/// Calls a CUB function as it wants it: for the size of its memory, then again.
template <typename F> static void run(F Call) {
  static void *Memory;
  static size_t Held;
  size_t Bytes = 0;
  CALL(Call(nullptr, Bytes));
  if (Bytes > Held) {
    CALL(cudaFree(Memory));
    CALL(cudaMalloc(&Memory, Bytes));
    Held = Bytes;
  }
  CALL(Call(Memory, Bytes));
  finish();
}
#define RUN(FUNCTION, ...)                                                     \
  run([&](void *Memory, size_t &Bytes) {                                       \
    return cub::FUNCTION(Memory, Bytes, __VA_ARGS__);                          \
  })

// x -> A x + B; composing two is associative and not commutative.
struct Affine {
  unsigned A, B;
};
struct Compose {
  __host__ __device__ Affine operator()(Affine F, Affine G) const {
    return {F.A * G.A, F.B * G.A + G.B};
  }
};
struct Even {
  __host__ __device__ bool operator()(int X) const { return X % 2 == 0; }
};
struct Less {
  __host__ __device__ bool operator()(int X, int Y) const { return X < Y; }
};

template <typename T> static void scans(int N) {
  T *In = managed<T>(N), *Out = managed<T>(N);
  for (int I = 0; I < N; ++I)
    In[I] = T(next() % 8); // sums are exact in every type
  RUN(DeviceScan::InclusiveSum, In, Out, N);
  T Sum = 0;
  for (int I = 0; I < N; ++I)
    expect("inclusive", I, Out[I], Sum += In[I]);
  RUN(DeviceScan::ExclusiveSum, In, Out, N);
  Sum = 0;
  for (int I = 0; I < N; ++I) {
    expect("exclusive", I, Out[I], Sum);
    Sum += In[I];
  }
}

static void scanOfMaps(int N) {
  auto *In = managed<Affine>(N), *Out = managed<Affine>(N);
  for (int I = 0; I < N; ++I)
    In[I] = {next() | 1, next()};
  RUN(DeviceScan::InclusiveScan, In, Out, Compose(), N);
  Affine Whole{1, 0};
  for (int I = 0; I < N; ++I) {
    Whole = Compose()(Whole, In[I]);
    expect("map", I, Out[I].A, Whole.A);
    expect("map", I, Out[I].B, Whole.B);
  }
}

template <typename T> static T anyKey() {
  if (T(0.5) != T(0))
    return T((int(next() % 20001) - 10000) / 8.0);
  return T(next() * 77773ull * (next() | 1));
}

template <typename T> static void sorts(int N) {
  T *In = managed<T>(N), *Out = managed<T>(N);
  int *Place = managed<int>(N), *Moved = managed<int>(N);
  for (int I = 0; I < N; ++I) {
    In[I] = anyKey<T>();
    Place[I] = I;
  }
  std::vector<int> Order(Place, Place + N);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int A, int B) { return In[A] < In[B]; });
  RUN(DeviceRadixSort::SortPairs, In, Out, Place, Moved, N);
  for (int I = 0; I < N; ++I) {
    expect("sorted key", I, Out[I], In[Order[I]]);
    expect("sorted value", I, Moved[I], Order[I]);
  }
#ifdef MORE
  RUN(DeviceRadixSort::SortKeysDescending, In, Out, N);
  for (int I = 0; I < N; ++I)
    expect("descending", I, Out[I], In[Order[N - 1 - I]]);
#endif
}

static void mergeSort(int N) {
  int *Keys = managed<int>(N), *Values = managed<int>(N);
  for (int I = 0; I < N; ++I) {
    Keys[I] = next() % 1000;
    Values[I] = I;
  }
  std::vector<int> Old(Keys, Keys + N), Order(Values, Values + N);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int A, int B) { return Old[A] < Old[B]; });
  RUN(DeviceMergeSort::StableSortPairs, Keys, Values, N, Less());
  for (int I = 0; I < N; ++I) {
    expect("merged key", I, Keys[I], Old[Order[I]]);
    expect("merged value", I, Values[I], Order[I]);
  }
}

static void reductions(int N, const int *In) {
  int *Out = managed<int>(1);
  RUN(DeviceReduce::Sum, In, Out, N);
  expect("sum", N, *Out, std::accumulate(In, In + N, 0));
#ifdef MORE
  RUN(DeviceReduce::Min, In, Out, N);
  expect("min", N, *Out, *std::min_element(In, In + N));
#endif
  auto *Best = managed<cub::KeyValuePair<int, int>>(1);
  RUN(DeviceReduce::ArgMax, In, Best, N);
  expect("where max", N, Best->key, std::max_element(In, In + N) - In);
  expect("max", N, Best->value, *std::max_element(In, In + N));
}

static void selections(int N, const int *In) {
  int *Out = managed<int>(N), *Count = managed<int>(1);
  std::vector<int> Want;
  std::copy_if(In, In + N, std::back_inserter(Want), Even());
  const int Evens = int(Want.size());
  RUN(DeviceSelect::If, In, Out, Count, N, Even());
  expect("selected", N, *Count, Evens);
  for (int I = 0; I < Evens; ++I)
    expect("selected", I, Out[I], Want[I]);
  // The rest comes from the end, backwards.
  std::remove_copy_if(In, In + N, std::back_inserter(Want), Even());
  std::reverse(Want.begin() + Evens, Want.end());
  RUN(DevicePartition::If, In, Out, Count, N, Even());
  expect("partition", N, *Count, Evens);
  for (int I = 0; I < N; ++I)
    expect("partition", I, Out[I], Want[I]);
#ifdef MORE
  char *Flags = managed<char>(N);
  Want.clear();
  for (int I = 0; I < N; ++I)
    if ((Flags[I] = In[I] % 3 == 0))
      Want.push_back(In[I]);
  RUN(DeviceSelect::Flagged, In, Flags, Out, Count, N);
  expect("flagged", N, *Count, int(Want.size()));
  for (size_t I = 0; I < Want.size(); ++I)
    expect("flagged", int(I), Out[I], Want[I]);
#endif
}

// Runs of equal keys: summed by key, encoded, made unique.
static void runs(int N, const int *In) {
  int *Keys = managed<int>(N), *Unique = managed<int>(N);
  int *Sums = managed<int>(N), *Lengths = managed<int>(N);
  int *Count = managed<int>(1);
  std::vector<int> Key, Length, Sum;
  for (int I = 0; I < N; ++I) {
    Keys[I] = I ? Keys[I - 1] + (next() % 4 == 0) : 0;
    if (!I || Keys[I] != Keys[I - 1]) {
      Key.push_back(Keys[I]);
      Length.push_back(0);
      Sum.push_back(0);
    }
    ++Length.back();
    Sum.back() += In[I];
  }
  auto Check = [&](const char *What, const int *Got, const auto &Want) {
    expect(What, -1, *Count, int(Want.size()));
    for (size_t I = 0; I < Want.size(); ++I)
      expect(What, int(I), Got[I], Want[I]);
  };
  RUN(DeviceReduce::ReduceByKey, Keys, Unique, In, Sums, Count,
      cuda::std::plus<>(), N);
  Check("key", Unique, Key);
  Check("sum by key", Sums, Sum);
#ifdef MORE
  RUN(DeviceRunLengthEncode::Encode, Keys, Unique, Lengths, Count, N);
  Check("run", Unique, Key);
  Check("length", Lengths, Length);
  RUN(DeviceSelect::Unique, Keys, Unique, Count, N);
  Check("unique", Unique, Key);
#endif
}

static void histogram(int N) {
  int *In = managed<int>(N), *Bins = managed<int>(64);
  std::vector<int> Want(64);
  for (int I = 0; I < N; ++I)
    ++Want[(In[I] = next() % 1024) / 16];
  RUN(DeviceHistogram::HistogramEven, In, Bins, 65, 0, 1024, N);
  for (int B = 0; B < 64; ++B)
    expect("bin", B, Bins[B], Want[B]);
}

#ifdef MORE
static void segments() {
  const int Segments = 300;
  int *Begin = managed<int>(Segments + 1);
  Begin[0] = 0;
  for (int I = 0; I < Segments; ++I) // some empty, some large
    Begin[I + 1] = Begin[I] + (I % 50 == 7 ? 3000 : next() % 60);
  const int N = Begin[Segments];
  int *In = managed<int>(N), *Out = managed<int>(N);
  for (int I = 0; I < N; ++I)
    In[I] = next() % 10000;
  std::vector<int> Want(In, In + N);
  RUN(DeviceSegmentedReduce::Sum, In, Out, Segments, Begin, Begin + 1);
  for (int I = 0; I < Segments; ++I) {
    expect("segment's sum", I, Out[I],
           std::accumulate(In + Begin[I], In + Begin[I + 1], 0));
    std::sort(Want.begin() + Begin[I], Want.begin() + Begin[I + 1]);
  }
  RUN(DeviceSegmentedSort::SortKeys, In, Out, N, Segments, Begin, Begin + 1);
  for (int I = 0; I < N; ++I)
    expect("segment", I, Out[I], Want[I]);
  RUN(DeviceSegmentedRadixSort::SortKeys, In, Out, N, Segments, Begin,
      Begin + 1);
  for (int I = 0; I < N; ++I)
    expect("segment by digits", I, Out[I], Want[I]);
}
#endif

// CHECK: 0 wrong of
int main() {
  for (int N : {1, 77, 20011}) {
    int *In = managed<int>(N);
    for (int I = 0; I < N; ++I)
      In[I] = int(next() % 100000) - 50000;
    reductions(N, In);
    selections(N, In);
    runs(N, In);
    scans<int>(N);
    scanOfMaps(N);
    sorts<float>(N);
    mergeSort(N);
    histogram(N);
#ifdef MORE
    scans<double>(N);
    scans<float>(N);
    scans<long long>(N);
    scans<short>(N);
    sorts<unsigned>(N);
    sorts<unsigned char>(N);
    sorts<long long>(N);
    sorts<double>(N);
#endif
  }
#ifdef MORE
  segments();
#endif
  return summary();
}
