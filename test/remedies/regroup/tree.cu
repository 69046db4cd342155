// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Who is near the middle is slow: no sum of what threads load says so, three
// questions do. How many steps a thread makes no slice knows before.
// RUN: %reconverge predict --estimate --no-cache %s -- 8192 1 >plain 2>table
// RUN: FileCheck %s --check-prefix=FIT <table
// FIT: middle none -
// FIT: sum {{-?0\.[01]}}
// FIT: tree 0.9{{[0-9]+}} {{[0-9]+\.[0-9]}}% {{[3-9][0-9]\.[0-9]}}%
// FIT-NEXT: --regroup='tree={{[0-9]+}}:
// FIT-NEXT: loads: {{[0-9]+}} at tree.cu:

// `optimize` takes what is better on threads that it was not fitted to.
// RUN: %reconverge optimize --device cpu %s -o app --no-cache --decisions d.json -- 8192 1 2>&1 >again | FileCheck %s --check-prefix=KEPT
// KEPT: kept: regroup
// KEPT: (tree=
// RUN: diff again plain
// RUN: env RECONVERGE_DEVICE=cpu ./app 8192 1 | diff - plain
// RUN: env RECONVERGE_DEVICE=cpu ./app 9001 7 >other

// The same bytes whatever the tree says, be it of something else or of nothing;
// on other data than it was fitted to as well.
// RUN: %reconverge cc %s -o app
// RUN: env RECONVERGE_DEVICE=cpu ./app 9001 7 | diff - other
// RUN: %reconverge cc '--regroup=tree=0:1e30/thread:99.5/7/1e9/0;least=1' %s -o app 2>&1 | FileCheck %s --allow-empty --check-prefix=MADE
// MADE-NOT: not regrouped
// RUN: env RECONVERGE_DEVICE=cpu ./app 9001 7 | diff - other
// RUN: %reconverge cc '--regroup=tree=1:0.5/0:-3/5/0:4/3/9/thread:4000/0:0/1/2/8;locality=6;reuse=on;least=1' %s -o app
// RUN: env RECONVERGE_DEVICE=cpu ./app 9001 7 | diff - other
// RUN: env RECONVERGE_DEVICE=cpu ./app 8192 1 | diff - plain

// RUN: not %reconverge cc '--regroup=tree=0:1/2' %s -o app 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: regrouping has no parameter 'tree=0:1/2'
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Iterates until the value leaves a band: soon, unless it starts in the middle. One
/// value in 31 is not a number.
__global__ void middle(const float *Start, const float *Gain, float *To, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  const float G = Gain[I];
  float X = Start[I];
  float Steps = 0;
  while (fabsf(X) < 1 && Steps < 400) {
    X += X * X * X * G + copysignf(2e-3f, X) * sqrtf(fabsf(X));
    Steps += 1;
  }
  To[I] = X + Steps;
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
  std::vector<float> Start(N), Gain(N), Ys(N);
  for (int I = 0; I != N; ++I) {
    Start[I] = I % 31 ? 4 * Uniform() - 2 : 0.0f / 0.0f;
    Gain[I] = 0.01f + 0.01f * Uniform();
  }
  float *Y = onDevice(Ys);
  middle<<<(N + 127) / 128, 128>>>(onDevice(Start), onDevice(Gain), Y, N);
  cudaMemcpy(Ys.data(), Y, N * sizeof(float), cudaMemcpyDeviceToHost);
  uint64_t Hash = 0;
  for (int I = 0; I != N; ++I)
    Hash = Hash * 31 + uint64_t(Ys[I] * 1e6f);
  printf("%016llx\n", static_cast<unsigned long long>(Hash));
  return cudaGetLastError() != cudaSuccess;
}
