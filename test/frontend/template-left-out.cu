// nvcc takes a `<` behind a member of a dependent class for the start of
// arguments if the member is a function template, also where the source leaves
// out the word `template`.
//
// REQUIRES: reconverge
// RUN: %clangxx -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
#include <cstdio>

template <class To, class From> struct Cast {
  template <int n, int step = 1>
  static __device__ void cast(To *to, const From *from) {
    for (int i = 0; i < n; i += step)
      to[i] = To(from[i]);
  }
  template <int n> __device__ int times(int x) const { return n * x; }
  static constexpr int size = sizeof(To);
};
template <> struct Cast<float, short> {
  template <int n, int = 1>
  static __device__ void cast(float *to, const short *from) {
    for (int i = 0; i < n; ++i)
      to[i] = 2.0f * from[i];
  }
};

// Where the primary template is never defined, by its specialisations.
template <class T> struct Named;
template <class T> struct Named<T *> {
  template <unsigned n> static __device__ T first(T *p) { return p[n]; }
};

template <int n, class To, class From>
__device__ void convert(To *to, const From *from) {
  Cast<To, From>::cast<n>(to, from);
  if (n > 2)
    Cast<To, From>::cast<(n > 2), 1>(to, from);
  Cast<To, From>::template cast<n, 1>(to, from);
}

template <class T> struct Holder {
  template <int n> static __device__ T held(T *p) {
    return Named<T *>::first<n>(p) + (Cast<T, T>::size < n);
  }
};

template <int n, class T> __device__ T objects(T x, const Cast<T, T> &cast) {
  const Cast<T, T> own, *at = &own;
  return own.times<n>(x) + at->times<n>(x) + cast.times<n + 1>(x);
}

// A specialisation of a member is declared without the word.
template <> template <> __device__ int Cast<int, int>::times<5>(int x) const {
  return -x;
}

__global__ void all(float *out, const short *in) {
  convert<4>(out, in);
  out[4] = Holder<float>::held<3>(out) + Holder<float>::held<5>(out - 2);
  out[5] = objects<2>(3, Cast<int, int>()) + objects<5>(1, Cast<int, int>());
}

int main() {
  short *in;
  float *out;
  cudaMallocManaged(&in, 4 * sizeof(*in));
  cudaMallocManaged(&out, 6 * sizeof(*out));
  for (int i = 0; i < 4; ++i)
    in[i] = i + 1;
  all<<<1, 1>>>(out, in);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  // CHECK: 2 4 6 8 17 25
  for (int i = 0; i < 6; ++i)
    printf("%g ", out[i]);
}
