// REQUIRES: reconverge
// RUN: env RECONVERGE_DEVICE=cpu %reconverge profile -o %t.json %s 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// Counts of a recursive function, each depth its own. The optimiser makes a
// loop of the second call, so that fib(N) enters the function itself
// 1, 1, 2, 3 times for N = 0, 1, 2, 3, and goes round the loop 0, 0, 1, 2 times
// in all of these together. 64 threads, 16 of each N:
//   entry  16 (1 + 1 + 2 + 3) = 112 lanes; N = 2 and 3, then N = 3 alone go
//          deeper: 3 times a warp
//   N < 2  splits at depths 1 and 2: of 6 warps, 4; 48 of 112 lanes go on
#include <cuda_runtime.h>

__device__ __noinline__ int fib(int N) {
  // CHECK: calls-profile.cu:[[#@LINE+2]] N < 2
  // CHECK-NEXT: in kernel; 66.7% of 6 warps split, lanes in/past 43/57%
  if (N < 2)
    return N;
  return fib(N - 1) + fib(N - 2);
}

// JSON: "warps":6,"lanes":112,"partialIdle":0,"exitedIdle":0,"where":[{"file":"{{[^"]*}}calls-profile.cu","line":[[#@LINE-5]],"column":9,"function":"fib"}]
__global__ void kernel(int *Out) { Out[threadIdx.x] = fib(threadIdx.x % 4); }

int main() {
  int *D;
  cudaMalloc(&D, 64 * sizeof(int));
  kernel<<<1, 64>>>(D);
  return cudaDeviceSynchronize();
}
