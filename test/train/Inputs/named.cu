// Threads count down the numbers of their lists: what they read, they read in
// loops. The source names two features. -DUNNAMED: none; -DWRITTEN: one more that
// others may have written; -DMANY: 16 more; -DAPART: one more, by loops of which each
// needs what the one before has put into an array. Arguments: threads, seed.
#include <reconverge/device/feature.cuh>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static constexpr int Length = 16;

/// In a function of its own, which nobody inlines but a twin.
__device__ __attribute__((noinline)) void name(float Sum) {
#ifndef UNNAMED
  reconverge::feature(Sum);
#endif
}

__device__ void foretell(const unsigned char *Lists, int I) {
  int Sum = 0, Most = 0;
  for (int B = 0; B != Length; ++B) {
    const int Number = Lists[Length * I + B];
    Sum += Number;
    Most = Number > Most ? Number : Most;
#ifndef UNNAMED
    reconverge::feature(Most); // the last of them counts
#endif
  }
  name(0), name(float(Sum)); // this too
}

#ifdef APART
/// How many numbers there are above the middle one.
__device__ void rank(const unsigned char *Lists, int I) {
  int Sorted[Length], Above = 0;
  for (int B = 0; B != Length; ++B) {
    int At = B;
    for (; At > 0 && Sorted[At - 1] > Lists[Length * I + B]; --At)
      Sorted[At] = Sorted[At - 1];
    Sorted[At] = Lists[Length * I + B];
  }
  while (Above != Length && Sorted[Length - 1 - Above] > Sorted[Length / 2])
    ++Above;
  reconverge::feature(Above);
}
#endif

/// Each instance has a call of its own.
template <int Left> __device__ void more(int I) {
  reconverge::feature(I + Left);
  if constexpr (Left > 0)
    more<Left - 1>(I);
}

__global__ void walk(const unsigned char *Lists, unsigned *To, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
#ifdef WRITTEN
  reconverge::feature(atomicOr(To + I, 0u));
#endif
  foretell(Lists, I);
#ifdef APART
  rank(Lists, I);
#endif
#ifdef MANY
  more<15>(I);
#endif
  unsigned X = I;
#pragma unroll 1
  for (int B = 0; B != Length; ++B)
    for (int Left = Lists[Length * I + B]; Left > 0; --Left)
      X = (X ^ X >> 15) * 2654435761u + Left;
  To[I] = X;
}

int main(int, char **Args) {
  const int N = atoi(Args[1]);
  uint32_t State = uint32_t(atoi(Args[2]));
  const auto Draw = [&] {
    return (State = State * 1664525u + 1013904223u) >> 24;
  };
  std::vector<unsigned char> Lists(Length * N);
  std::vector<unsigned> Out(N);
  for (int I = 0; I != N; ++I)
    for (int B = 0, Most = 1 << Draw() % 7; B != Length; ++B)
      Lists[Length * I + B] = static_cast<unsigned char>(Draw() % Most);
  unsigned char *In = nullptr;
  unsigned *To = nullptr;
  cudaMalloc(&In, Lists.size());
  cudaMalloc(&To, Out.size() * sizeof(unsigned));
  cudaMemcpy(In, Lists.data(), Lists.size(), cudaMemcpyHostToDevice);
  walk<<<(N + 63) / 64, 64>>>(In, To, N);
  cudaMemcpy(Out.data(), To, Out.size() * sizeof(unsigned),
             cudaMemcpyDeviceToHost);
  uint64_t Hash = 0;
  for (unsigned X : Out)
    Hash = Hash * 31 + X;
  printf("%016llx\n", static_cast<unsigned long long>(Hash));
  return cudaGetLastError() != cudaSuccess;
}
