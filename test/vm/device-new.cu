// REQUIRES: reconverge
// RUN: %reconverge cc -std=c++14 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: %reconverge cc -std=c++17 -O0 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefixes=CHECK,ALIGN
// RUN: %reconverge cc -rdc=true %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefixes=CHECK,ALIGN

// new and delete of device code are there without <new>, as with nvcc; this
// includes nothing that reaches it.
#include <cstdio>

struct Plain {
  int V;
};
struct alignas(256) Wide {
  int V;
};

__global__ void plain(int *Out) {
  Plain *One = new Plain{int(threadIdx.x)}, *Many = new Plain[5];
  Many[4].V = 100;
  Out[threadIdx.x] = One->V + Many[4].V;
  delete One;
  delete[] Many;
  ::operator delete(::operator new(8));
}

__device__ bool isAligned(const void *P) {
  return reinterpret_cast<unsigned long long>(P) % 256 == 0;
}

// Nothing is lost: a heap of 8 MB gives 40 MB one after the other.
__global__ void aligned(int *Out) {
  bool Good = true;
  for (int I = 0; I < 20000; ++I) {
    Wide *One = new Wide{I}, *Many = new Wide[3];
    Good &= One && Many && isAligned(One) && isAligned(Many) && One->V == I;
    delete One;
    delete[] Many;
  }
  Out[0] = Good;
}

int main() {
  int *Out, H[32];
  cudaMalloc(&Out, sizeof H);
  plain<<<1, 32>>>(Out);
  cudaMemcpy(H, Out, sizeof H, cudaMemcpyDeviceToHost);
  // CHECK: cudaSuccess 107
  std::printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), H[7]);
#ifdef __cpp_aligned_new
  aligned<<<1, 1>>>(Out);
  cudaMemcpy(H, Out, sizeof H, cudaMemcpyDeviceToHost);
  // ALIGN: cudaSuccess 1
  std::printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), H[0]);
#endif
}
