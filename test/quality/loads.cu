// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What herding loads in software may come to is said beside what the search
// keeps: where memory decides it may gain, and where a kernel computes it loses.
// RUN: %reconverge optimize %s --device=cpu -q \
// RUN:   --quality out=device:gather:3,metric=mismatch,bound=50%% \
// RUN:   --held-out=2 -- 1 2>&1 | FileCheck %s
// CHECK: --quality: none: no candidate that changes results is faster
// CHECK-NEXT: note: herding 1 load of compute would make 32.0 sectors of a request 4.0: 0.9{{[0-9]+}}x at most by the model, as votes take more than that saves
// CHECK-NEXT: note: herding 1 load of gather would make 32.0 sectors of a request 4.0: 1.{{[0-9]+}}x at most by the model; warp_herd_load does it
// RUN: FileCheck %s --check-prefix=JSON <decisions.json
// JSON: "notes": [
// JSON: "herding 1 load of gather

// By hand it comes to these sectors, 4 for each of 32768 requests.
// RUN: %reconverge profile %s --device=cpu -o by-hand.json -DHERD -std=c++17 \
// RUN:   -I %source/include -- 1
// RUN: FileCheck %s --check-prefix=HAND <by-hand.json
// HAND: "space":"global","bytes":4,"requests":32768,"lanes":1048576,"sectors":131072,{{.*}}warp_herd_load

#ifdef HERD
#include <reconverge/warp/warp_herd.cuh>
#endif

#include <cstdlib>
#include <vector>

__device__ static float at(const float *Table, int Index) {
#ifdef HERD
  return reconverge::warp_herd_load(Table + Index);
#else
  return Table[Index];
#endif
}

__global__ void gather(const int *Index, const float *Table, float *Out) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  Out[I] = at(Table, Index[I]);
}

__global__ void compute(const int *Index, const float *Table, float *Out) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  float X = at(Table, Index[I]);
#pragma unroll 1
  for (int N = 0; N != 64; ++N)
    X = sqrtf(X * 1.25f + 0.5f);
  Out[I] = X;
}

int main(int, char **argv) {
  constexpr int Count = 1 << 20;
  std::vector<int> Index(Count);
  unsigned Random = atoi(argv[1]);
  for (int &I : Index)
    I = int((Random = Random * 1664525 + 1013904223) >> 12);
  int *DeviceIndex;
  float *Table, *Out;
  cudaMalloc(&DeviceIndex, Count * sizeof(int));
  cudaMalloc(&Table, Count * sizeof(float));
  cudaMalloc(&Out, Count * sizeof(float));
  cudaMemcpy(DeviceIndex, Index.data(), Count * sizeof(int),
             cudaMemcpyHostToDevice);
  gather<<<Count / 256, 256>>>(DeviceIndex, Table, Out);
  compute<<<Count / 256, 256>>>(DeviceIndex, Table, Out);
  return 0;
}
