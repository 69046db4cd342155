// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s

// Thrust, against the host's standard library. thrust-more.test compiles the
// rest of it, and compiles kernels well.

#include "Inputs/check.h"
#include <algorithm>
#include <numeric>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <vector>
#ifdef MORE
#include <thrust/binary_search.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/merge.h>
#include <thrust/remove.h>
#include <thrust/scatter.h>
#include <thrust/set_operations.h>
#include <thrust/transform_reduce.h>
#endif

using Ints = thrust::device_vector<int>;

struct Square {
  __host__ __device__ int operator()(int X) const { return X * X % 1009; }
};
struct Odd {
  __host__ __device__ bool operator()(int X) const { return X & 1; }
};
struct ByLastDigit {
  __host__ __device__ bool operator()(int A, int B) const {
    return A % 10 < B % 10;
  }
};
struct SumOfPair {
  template <typename T> __host__ __device__ int operator()(T X) const {
    return thrust::get<0>(X) + 2 * thrust::get<1>(X);
  }
};
struct AddIndex {
  int *Values;
  __host__ __device__ void operator()(int I) const { Values[I] += I; }
};

template <typename Got, typename Want>
static void same(const char *What, const Got &Device, const Want &Host) {
  thrust::host_vector<typename Got::value_type> Back = Device;
  expect(What, -1, Back.size(), Host.size());
  for (size_t I = 0; I < std::min(Back.size(), Host.size()); ++I)
    expect(What, int(I), Back[I], Host[I]);
}

static constexpr int N = 10007;

static void basics(const Ints &D, const std::vector<int> &V) {
  Ints E(N);
  std::vector<int> W(N);
  thrust::transform(D.begin(), D.end(), E.begin(), Square());
  std::transform(V.begin(), V.end(), W.begin(), Square());
  same("transform", E, W);
  // An operation that CUB may copy elements for: by bulk copies on sm_90.
  thrust::transform(D.begin() + 1, D.end(), D.begin(), E.begin() + 1,
                    thrust::plus<int>());
  std::transform(V.begin() + 1, V.end(), V.begin(), W.begin() + 1,
                 std::plus<int>());
  same("transform of two", E, W);
  expect("reduce", N, thrust::reduce(D.begin(), D.end()),
         std::accumulate(V.begin(), V.end(), 0));
  thrust::exclusive_scan(D.begin(), D.end(), E.begin(), 10);
  std::exclusive_scan(V.begin(), V.end(), W.begin(), 10);
  same("exclusive scan", E, W);
  thrust::fill(E.begin(), E.end(), 3);
  thrust::for_each(thrust::make_counting_iterator(0),
                   thrust::make_counting_iterator(100),
                   AddIndex{thrust::raw_pointer_cast(E.data())});
  for (int I = 0; I < N; ++I)
    W[I] = I < 100 ? 3 + I : 3;
  same("for each", E, W);
  expect("element", 17, int(D[17]), V[17]);
}

static void sorting(const Ints &D, const std::vector<int> &V) {
  std::vector<int> Order(N), W = V;
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int A, int B) { return V[A] < V[B]; });
  Ints E = D, Place(N);
  thrust::sequence(Place.begin(), Place.end());
  thrust::sort_by_key(E.begin(), E.end(), Place.begin());
  std::sort(W.begin(), W.end());
  same("sort", E, W);
  same("sort by key", Place, Order);

  // Each distinct value, and how often it occurs.
  Ints Keys(N), Counts(N);
  auto End = thrust::reduce_by_key(E.begin(), E.end(),
                                   thrust::make_constant_iterator(1),
                                   Keys.begin(), Counts.begin());
  Keys.erase(End.first, Keys.end());
  Counts.erase(End.second, Counts.end());
  E.erase(thrust::unique(E.begin(), E.end()), E.end());
  W.erase(std::unique(W.begin(), W.end()), W.end());
  same("unique", E, W);
  same("reduce by key", Keys, W);
  for (int &X : W)
    X = int(std::count(V.begin(), V.end(), X));
  same("count", Counts, W);

  E = D;
  W = V;
  thrust::stable_sort(E.begin(), E.end(), ByLastDigit());
  std::stable_sort(W.begin(), W.end(), ByLastDigit());
  same("stable sort", E, W);
}

static void choosing(const Ints &D, const std::vector<int> &V) {
  Ints E = D;
  std::vector<int> W = V;
  thrust::stable_partition(E.begin(), E.end(), Odd());
  std::stable_partition(W.begin(), W.end(), Odd());
  same("stable partition", E, W);
  E.erase(thrust::copy_if(D.begin(), D.end(), E.begin(), Odd()), E.end());
  W.clear();
  std::copy_if(V.begin(), V.end(), std::back_inserter(W), Odd());
  same("copy if", E, W);
}

static void iterators(const Ints &D, const std::vector<int> &V) {
  Ints E(N), Backwards(N);
  std::vector<int> W(N);
  auto Pairs = thrust::make_zip_iterator(
      thrust::make_tuple(D.begin(), thrust::make_counting_iterator(0)));
  thrust::transform(Pairs, Pairs + N, E.begin(), SumOfPair());
  for (int I = 0; I < N; ++I)
    W[I] = V[I] + 2 * I;
  same("zip", E, W);
  thrust::sequence(Backwards.rbegin(), Backwards.rend());
  auto Permuted =
      thrust::make_permutation_iterator(D.begin(), Backwards.begin());
  thrust::copy(Permuted, Permuted + N, E.begin());
  std::reverse_copy(V.begin(), V.end(), W.begin());
  same("permutation", E, W);
}

#ifdef MORE
static void more(const Ints &D, const std::vector<int> &V) {
  expect("max", N, thrust::reduce(D.begin(), D.end(), -1, thrust::maximum<>()),
         *std::max_element(V.begin(), V.end()));
  expect("where max", N, thrust::max_element(D.begin(), D.end()) - D.begin(),
         std::max_element(V.begin(), V.end()) - V.begin());
  expect("count if", N, thrust::count_if(D.begin(), D.end(), Odd()),
         std::count_if(V.begin(), V.end(), Odd()));
  Ints E = D;
  auto Middle = thrust::partition(E.begin(), E.end(), Odd());
  expect("partition", N, Middle - E.begin(),
         std::count_if(V.begin(), V.end(), Odd()));
  expect("is partitioned", N, thrust::is_partitioned(E.begin(), E.end(), Odd()),
         true);
  int Sum = 0;
  for (int X : V)
    Sum += Square()(X);
  expect("transform reduce", N,
         thrust::transform_reduce(D.begin(), D.end(), Square(), 0,
                                  thrust::plus<>()),
         Sum);
  Ints Backwards(N);
  thrust::sequence(Backwards.rbegin(), Backwards.rend());
  Sum = 0;
  for (int I = 0; I < 100; ++I)
    Sum += V[I] * (N - 1 - I);
  expect(
      "inner product", N,
      thrust::inner_product(D.begin(), D.begin() + 100, Backwards.begin(), 0),
      Sum);

  Ints Sorted = D, Tens(500), At(500), Both(2 * N);
  std::vector<int> V1 = V, T(500), W(500);
  thrust::sort(Sorted.begin(), Sorted.end());
  std::sort(V1.begin(), V1.end());
  thrust::sequence(Tens.begin(), Tens.end(), 0, 10);
  for (int I = 0; I < 500; ++I)
    T[I] = 10 * I;
  thrust::lower_bound(Sorted.begin(), Sorted.end(), Tens.begin(), Tens.end(),
                      At.begin());
  for (int I = 0; I < 500; ++I)
    W[I] = int(std::lower_bound(V1.begin(), V1.end(), T[I]) - V1.begin());
  same("lower bound", At, W);
  Both.erase(thrust::merge(Sorted.begin(), Sorted.end(), Tens.begin(),
                           Tens.end(), Both.begin()),
             Both.end());
  W.clear();
  std::merge(V1.begin(), V1.end(), T.begin(), T.end(), std::back_inserter(W));
  same("merge", Both, W);
  Both.erase(thrust::set_intersection(Sorted.begin(), Sorted.end(),
                                      Tens.begin(), Tens.end(), Both.begin()),
             Both.end());
  W.clear();
  std::set_intersection(V1.begin(), V1.end(), T.begin(), T.end(),
                        std::back_inserter(W));
  same("intersection", Both, W);

  E.resize(N);
  thrust::scatter(D.begin(), D.end(), Backwards.begin(), E.begin());
  W.assign(V.rbegin(), V.rend());
  same("scatter", E, W);
  Ints Again(N);
  thrust::gather(Backwards.begin(), Backwards.end(), E.begin(), Again.begin());
  same("gather", Again, V);
  E = D;
  E.erase(thrust::remove_if(E.begin(), E.end(), Odd()), E.end());
  W = V;
  W.erase(std::remove_if(W.begin(), W.end(), Odd()), W.end());
  same("remove if", E, W);
  thrust::device_vector<double> Reals(1000);
  thrust::sequence(Reals.begin(), Reals.end());
  thrust::inclusive_scan(Reals.begin(), Reals.end(), Reals.begin());
  W.resize(1000);
  for (int I = 0; I < 1000; ++I)
    W[I] = I * (I + 1) / 2;
  same("scan of doubles", Reals, W);
}
#endif

// CHECK: 0 wrong of
int main() {
  std::vector<int> V(N);
  for (int &X : V)
    X = next() % 5000;
  const Ints D(V.begin(), V.end());
  basics(D, V);
  sorting(D, V);
  choosing(D, V);
  iterators(D, V);
#ifdef MORE
  more(D, V);
#endif
  return summary();
}
