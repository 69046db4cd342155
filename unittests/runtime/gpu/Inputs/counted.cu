// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are hard to count on hardware, for check_counted.py.
//
//   counted deep LIMIT DEPTH   calls that recurse, on a stack of LIMIT bytes
//   counted parts              warps whose lanes come in parts
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(cudaError_t E) {
  if (E != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(E));
    std::exit(3);
  }
}

/// Calls that end at different depths.
__device__ __noinline__ unsigned walk(unsigned N, unsigned X) {
  if (N == 0)
    return X;
  unsigned Sum = walk(N - 1, X * 3 + N);
  if (Sum % 3 == 1)
    Sum += N > 4 ? walk(N % 4, X ^ Sum) : X;
  else if (Sum % 3 == 2)
    for (unsigned I = 0; I < N % 5; ++I)
      Sum = Sum * 5 + I;
  return Sum * 5 + N;
}

__global__ void deep(unsigned *Out, unsigned Depth) {
  const unsigned T = blockIdx.x * blockDim.x + threadIdx.x;
  Out[T] = walk(Depth - T % 3, T);
}

/// Lanes leave a waiting loop one by one, then come to a branch that all take.
__global__ void locked(unsigned *Lock, unsigned *Out, unsigned N) {
  const unsigned T = threadIdx.x;
  for (unsigned I = 0; I < N; ++I) {
    bool Done = false;
    while (!Done)
      if (atomicCAS(Lock, 0, 1) == 0) {
        Out[64] += T;
        __threadfence();
        atomicExch(Lock, 0);
        Done = true;
      }
    // Not divided by anything, yet hardware may come here lane by lane.
    if ((T + I) % 5 == 0)
      atomicAdd(&Out[T % 64], I);
    else
      atomicAdd(&Out[(T + 7) % 64], 1);
  }
}

/// Lanes part, do not meet, and come to a barrier in a loop.
__global__ void rounds(volatile unsigned *In, unsigned *Out, unsigned N) {
  __shared__ unsigned Sum[256];
  const unsigned T = threadIdx.x;
  Sum[T] = 0;
  for (unsigned I = 0; I < N; ++I) {
    if (In[(T + I) % 64] % 2)
      for (unsigned J = 0; J < T % 7; ++J)
        Sum[T] += In[J];
    if (T % 32 > I) {
      __syncwarp(__activemask());
      Sum[T] += I;
    }
    __syncthreads();
    if (Sum[(T + 1) % 256] % 3 == 0)
      atomicAdd(&Out[T % 64], Sum[T] % 2);
    __syncthreads();
  }
}

int main(int Count, char **Arguments) {
  const bool Deep = Count == 4 && !std::strcmp(Arguments[1], "deep");
  unsigned *In, *Out, Host[1024], Sum = 0;
  if (Deep)
    check(cudaDeviceSetLimit(cudaLimitStackSize, std::atoi(Arguments[2])));
  check(cudaMalloc(&In, 256));
  check(cudaMalloc(&Out, sizeof(Host)));
  check(cudaMemset(In, 1, 256));
  check(cudaMemset(Out, 0, sizeof(Host)));
  if (Deep) {
    deep<<<8, 128>>>(Out, std::atoi(Arguments[3]));
  } else {
    unsigned *Lock;
    check(cudaMalloc(&Lock, 4));
    check(cudaMemset(Lock, 0, 4));
    locked<<<2, 96>>>(Lock, Out, 20);
    rounds<<<8, 256>>>(In, Out, 20);
  }
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost));
  for (unsigned Word : Host)
    Sum = Sum * 31 + Word;
  size_t Limit = 0;
  check(cudaDeviceGetLimit(&Limit, cudaLimitStackSize));
  if (Deep)
    std::printf("%u, stack %zu\n", Sum, Limit);
  else
    std::printf("done\n");
}
