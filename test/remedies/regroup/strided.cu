// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// A kernel whose threads go over items by strides as long as the grid, launched
// with a thread an item: what they read in their first round tells.
// RUN: %reconverge predict --estimate --no-cache %s -- 8192 1 >plain 2>table
// RUN: FileCheck %s --check-prefix=FIT <table
// FIT: relax none - {{[0-9.]+}}% 0.0%
// FIT: sum 0.9{{[0-9]+}} {{[0-9]+\.[0-9]}}% {{[2-4][0-9]\.[0-9]}}%
// FIT: loads: {{[0-9]+}} at strided.cu:35
// FIT: tree 0.9

// Launched with half as many, it tells of one item of two.
// RUN: %reconverge predict --estimate --no-cache %s -- 8192 2 2>&1 >two | FileCheck %s --check-prefix=TWO
// TWO: relax none -
// TWO: sum 0.{{[2-7]}}
// RUN: diff two plain

// `optimize` fits and tries it by itself; bytes are the same, whatever the launch.
// RUN: %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- 8192 1 2>&1 >again | FileCheck %s --check-prefix=KEPT
// KEPT: kept: regroup
// KEPT: (estimate=
// RUN: env RECONVERGE_DEVICE=cpu ./app 8192 1 | diff - plain
// RUN: env RECONVERGE_DEVICE=cpu ./app 8192 2 | diff - plain
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// y' = -Stiff y from 0 to 1, by Heun's method in steps as long as the error
/// allows.
__global__ void relax(const float *Stiff, const float *From, float *To, int N) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x) {
    const float K = Stiff[I];
    float Y = From[I], Time = 0, Step = 0.01f;
    while (Time < 1) {
      const float Slope = -K * Y, Next = -K * (Y + Step * Slope);
      const float Error = 0.5f * Step * fabsf(Next - Slope);
      if (Error < 1e-3f) {
        Y += 0.5f * Step * (Slope + Next);
        Time += Step;
      }
      Step *= fminf(2, fmaxf(0.3f, 0.9f * sqrtf(1e-3f / (Error + 1e-12f))));
      Step = fminf(Step, fminf(1 - Time + 1e-6f, 1 / K));
    }
    To[I] = Y;
  }
}

int main(int, char **Args) {
  const int N = atoi(Args[1]), Rounds = atoi(Args[2]);
  uint32_t State = 1;
  std::vector<float> Values(2 * N), Ys(N);
  for (int I = 0; I != N; ++I)
    for (int Half = 0; Half != 2; ++Half) {
      State = State * 1664525u + 1013904223u;
      const float Uniform = float(State >> 8) / 16777216;
      Values[Half * N + I] = Half ? 1 + Uniform : 1 + 200 * Uniform;
    }
  float *From, *To;
  cudaMalloc(&From, 2 * N * sizeof(float));
  cudaMalloc(&To, N * sizeof(float));
  cudaMemcpy(From, Values.data(), 2 * N * sizeof(float),
             cudaMemcpyHostToDevice);
  relax<<<(N + 127) / 128 / Rounds, 128>>>(From, From + N, To, N);
  cudaMemcpy(Ys.data(), To, N * sizeof(float), cudaMemcpyDeviceToHost);
  uint64_t Hash = 0;
  for (float Y : Ys)
    Hash = Hash * 31 + uint64_t(Y * 1e6f);
  printf("%016llx\n", static_cast<unsigned long long>(Hash));
  return cudaGetLastError() != cudaSuccess;
}
