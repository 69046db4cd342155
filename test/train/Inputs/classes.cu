// The net of differ.cu in a kernel of its own: classes by threads, and by warps on
// tensor cores, which should hardly ever be others.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <reconverge/warp/warp_net.cuh>

#include "net.cuh"

__global__ void classify(const float *A, const float *B, int *Fma, int *Mma,
                         int N) {
  const reconverge::warp_net Net(differ_tiles);
  const int Threads = gridDim.x * blockDim.x;
  for (int First = blockIdx.x * blockDim.x; First < N; First += Threads) {
    const int I = First + threadIdx.x, At = I < N ? I : 0;
    const float X[2] = {A[At], B[At]};
    const int Class = Net(X);
    if (I >= N)
      continue;
    Fma[I] = reconverge::net_class(differ_net, X);
    Mma[I] = Class;
  }
}

int main() {
  constexpr int N = 5000;
  float *A, *B;
  int *Fma, *Mma;
  cudaMallocManaged(&A, N * sizeof *A);
  cudaMallocManaged(&B, N * sizeof *B);
  cudaMallocManaged(&Fma, N * sizeof *Fma);
  cudaMallocManaged(&Mma, N * sizeof *Mma);
  unsigned State = 11;
  const auto Uniform = [&] {
    State = State * 1664525u + 1013904223u;
    return float(State >> 8) / 16777216;
  };
  for (int I = 0; I < N; ++I) {
    A[I] = 1000 + 500 * Uniform();
    B[I] = A[I] + 12 * Uniform() - 6;
  }
  A[17] = std::nanf("");
  classify<<<3, 64>>>(A, B, Fma, Mma, N);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  int Alike = 0, Longest = 0, None = 0;
  for (int I = 0; I < N; ++I) {
    Alike += Fma[I] == Mma[I];
    Longest += Mma[I] == 0;
    None += Mma[I] < 0 || Mma[I] > 31;
  }
  std::printf("%s, %s, %s\n", Alike > N * 99 / 100 ? "alike" : "different",
              Longest > N / 5 && Longest < N / 3 ? "a quarter is long" : "no",
              None ? "a class too many" : "all are classes");
  std::printf("alike %d, longest %d\n", Alike, Longest);
  return 0;
}
