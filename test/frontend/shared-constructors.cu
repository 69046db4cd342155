// A __shared__ variable of a class with a constructor is left as it is, as nvcc
// has it: libraries' are made by init(), and for the user's own there is a
// warning.
//
// REQUIRES: reconverge
// RUN: %clangxx %s -o %t 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// SAID-NOT: warning:
// SAID: shared-constructors.cu:[[#@LINE+18]]:{{.*}} warning: the constructor of
// SAID-SAME: a '__shared__' variable is not run
// SAID-NOT: note:
// SAID-NOT: warning:
#include <cstdio>
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
struct Empty {
  __device__ Empty() {}
  int v[8];
};
struct Own {
  __device__ Own() : v(7) {}
  int v;
};

template <int N> __global__ void waits(int *out) {
  __shared__ Own own;
  __shared__ Barrier barriers[2], one;
  __shared__ Empty empty;
  if (threadIdx.x == 0) {
    init(&one, N);
    init(&barriers[1], N);
    own.v = 1;
  }
  __syncthreads();
  empty.v[threadIdx.x % 8] = 5;
  one.arrive_and_wait();
  barriers[1].arrive_and_wait();
  out[threadIdx.x] = own.v + empty.v[(threadIdx.x + 1) % 8];
}

int main() {
  int *out;
  cudaMallocManaged(&out, 64 * sizeof(int));
  waits<64><<<1, 64>>>(out);
  std::printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), out[63]);
  // CHECK: cudaSuccess 6
}
