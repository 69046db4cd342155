// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// How many steps a thread makes is known when it has made them: no slice of the
// kernel says it before. What a thread loads does, nearly.
// RUN: %reconverge cc --regroup %s -o app 2>&1 | FileCheck %s --check-prefix=NO-SLICE
// NO-SLICE: not regrouped: to know it takes as long as the kernel [RC613]

// RUN: %reconverge predict --estimate --no-cache %s -- 8192 1 >plain 2>table
// RUN: FileCheck %s --check-prefix=FIT <table
// FIT: What threads take, estimated from what they load before
// FIT: count none -
// FIT: 4.10k fitted sum 1.000
// FIT-NEXT: --regroup='estimate={{[0-9]+}}:{{[0-9.]+}};{{.*}}estimate=base:
// FIT-NEXT: loads: {{[0-9]+}} at estimate.cu:{{[0-9]+}}
// FIT: 4.10k tested tree 0.9
// FIT: relax none - {{[0-9.]+}}% 0.0%
// FIT: sum 0.9{{[0-9]+}} {{[0-9]+\.[0-9]}}% {{[34][0-9]\.[0-9]}}%
// FIT: tree 0.9{{[0-9]+}} {{[0-9]+\.[0-9]}}% {{[34][0-9]\.[0-9]}}%
// FIT: time - 9{{[0-9.]+}}% {{[34][0-9]\.[0-9]}}%
// FIT: byNumber - - - -

// On another input, to which nothing was fitted.
// RUN: %reconverge predict --estimate --test "16384 '7'" --no-cache %s -- 8192 1 2>&1 >both | FileCheck %s --check-prefix=OTHER
// OTHER: relax none -
// OTHER-NEXT: 8.19k fitted sum 0.9
// OTHER: 16.4k tested tree 0.9

// With weights by hand the same bytes, in fewer issue slots.
// RUN: %reconverge cc '--regroup=estimate=0:200;estimate=1:40;estimate=base:3000' %s -o app 2>&1 | FileCheck %s --check-prefix=MADE --implicit-check-not=relax
// MADE: count({{.*}} not regrouped: no load or feature of that number reads a number (0) [RC609]
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./app 8192 1 2>said | diff - plain
// RUN: FileCheck %s --check-prefix=SAID <said
// SAID: relax({{.*}}): 1 launches of 8192 to 16383 threads, 1 with the remedy

// `optimize` fits and tries it by itself.
// RUN: %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- 8192 1 2>&1 >again | FileCheck %s --check-prefix=KEPT
// KEPT: kept: regroup
// KEPT: (estimate=
// RUN: env RECONVERGE_DEVICE=cpu ./app 8192 1 | diff - plain

// RUN: not %reconverge cc '--regroup=estimate=x:1' %s -o app 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: regrouping has no parameter 'estimate=x:1'
// RUN: not %reconverge cc '--regroup=estimate=0:nan' %s -o app 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: regrouping has no parameter 'estimate=0:nan'
// RUN: not %reconverge cc '--regroup=estimate=0:1;gather=1' %s -o app 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: regrouping by a gather and by an estimate
// RUN: not %reconverge predict --test=3 %s 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: --test without --estimate
// RUN: not %reconverge predict --estimate --device gpu %s 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: --estimate: a GPU does not say what threads load
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// y' = -Stiff y from 0 to 1, by Heun's method in steps as long as the error
/// allows.
__global__ void relax(const float *Stiff, const float *From, float *To, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
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

/// Unsigned bytes, and doubles of which one is not a number.
__global__ void count(const uint8_t *Bytes, const double *More, unsigned *To,
                      int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  const int Rounds = Bytes[I] + (More[I] > 0 ? int(More[I]) : 0);
  unsigned Sum = I;
  for (int R = 0; R < Rounds; ++R)
    Sum = Sum * 5 + R / (Sum | 1);
  To[I] = Sum;
}

__global__ void byNumber(unsigned *To, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    To[I] += I % 3 ? 7 : I;
}

template <typename T> static T *onDevice(const std::vector<T> &From) {
  T *To = nullptr;
  cudaMalloc(&To, From.size() * sizeof(T));
  cudaMemcpy(To, From.data(), From.size() * sizeof(T), cudaMemcpyHostToDevice);
  return To;
}

int main(int, char **Args) {
  const int N = atoi(Args[1]);
  uint32_t State = uint32_t(atoi(Args[2]));
  const auto Uniform = [&] {
    State = State * 1664525u + 1013904223u;
    return float(State >> 8) / 16777216;
  };
  std::vector<float> Stiff(N), From(N), Ys(N);
  std::vector<uint8_t> Bytes(N);
  std::vector<double> More(N);
  std::vector<unsigned> Sums(N);
  for (int I = 0; I != N; ++I) {
    Stiff[I] = 1 + 200 * Uniform();
    From[I] = 1 + Uniform();
    Bytes[I] = uint8_t(256 * Uniform());
    More[I] = I == 5 ? 0.0 / 0.0 : 30 * Uniform();
  }
  float *Y = onDevice(Ys);
  unsigned *S = onDevice(Sums);
  const int Blocks = (N + 127) / 128;
  relax<<<Blocks, 128>>>(onDevice(Stiff), onDevice(From), Y, N);
  count<<<Blocks, 128>>>(onDevice(Bytes), onDevice(More), S, N);
  byNumber<<<Blocks, 128>>>(S, N);
  cudaMemcpy(Ys.data(), Y, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(Sums.data(), S, N * sizeof(unsigned), cudaMemcpyDeviceToHost);
  uint64_t Hash = 0;
  for (int I = 0; I != N; ++I)
    Hash = Hash * 31 + Sums[I] + uint64_t(Ys[I] * 1e6f);
  printf("%016llx\n", static_cast<unsigned long long>(Hash));
  return cudaGetLastError() != cudaSuccess;
}
