// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t good | FileCheck %s --check-prefix=GOOD
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=tier=blocks,warp=64 %t good \
// RUN:   | FileCheck %s --check-prefix=GOOD
// DEFINE: %{name} =
// DEFINE: %{vm} = check=on
// DEFINE: %{run} = env RECONVERGE_DEVICE=cpu RECONVERGE_VM=%{vm} \
// DEFINE:   not %t %{name} 2>&1 | FileCheck %s --check-prefix=%{name}

// Where threads of a block meet, and what happens to those who never do.

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

// Two warps, two barriers: one to a GPU, and to us unless all is tested.
__global__ void warps(int *Out) {
  if (threadIdx.x < 32) {
    Out[threadIdx.x] = 1;
    __syncthreads(); // first
    Out[threadIdx.x] += Out[32];
  } else {
    Out[threadIdx.x] = 2;
    __syncthreads(); // second
  }
}

// REDEFINE: %{name} = warps
// RUN: %{run}
// warps: kernel warps(int*): __syncthreads() is met at different places: thread
// warps-SAME: (32,0,0) waits at {{.*}}barriers.cu:[[#@LINE-7]]
// warps-NEXT: at {{.*}}barriers.cu:[[#@LINE-12]], in block (0,0,0), thread (0,0,0)
// warps-NEXT: exit 719 cudaErrorLaunchFailure

// The same in one warp.
__global__ void lanes(int *Out) {
  if (Out[threadIdx.x] & 1) {
    Out[threadIdx.x] = 1;
    __syncthreads();
    Out[threadIdx.x] += Out[threadIdx.x ^ 1];
  } else {
    Out[threadIdx.x] = 2;
    __syncthreads();
  }
}

// REDEFINE: %{name} = lanes
// RUN: %{run}
// lanes: kernel lanes(int*): __syncthreads() is met at different places
// lanes: exit 719 cudaErrorLaunchFailure

// Threads that return do not count; loops meet at one place, unrolled or not;
// so do the copies of a function.
__device__ __forceinline__ void meet(int *Shared, int X) {
  Shared[threadIdx.x] = X;
  __syncthreads();
}
__global__ void good(int *Out, int N) {
  __shared__ int Tile[96];
  if (threadIdx.x >= 90)
    return;
  int Sum = 0;
#pragma unroll
  for (int I = 0; I < 4; ++I) {
    meet(Tile, I + int(threadIdx.x));
    Sum += Tile[(threadIdx.x + I) % 90];
    __syncthreads();
  }
  for (int I = 0; I < N; ++I) {
    meet(Tile, Sum);
    Sum += Tile[(threadIdx.x + I) % 90];
    __syncthreads();
  }
  if (N & 1)
    meet(Tile, 7);
  else
    meet(Tile, 8);
  Out[threadIdx.x] = Sum + Tile[89 - threadIdx.x];
}

// Producers and consumers meet at named barriers: 1 says full, 2 says empty.
__device__ void sync(int Id, int Count) {
  asm volatile("barrier.sync %0, %1;" ::"r"(Id), "r"(Count) : "memory");
}
__device__ void arrive(int Id, int Count) {
  asm volatile("bar.arrive %0, %1;" ::"r"(Id), "r"(Count) : "memory");
}
// The producer goes on without waiting for whoever takes what it made.
__global__ void feed(int *Out, int N) {
  __shared__ int Buffer[64];
  const int Lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int I = 0; I < N; ++I) {
      if (I >= 2)
        sync(3 + I % 2, 64); // empty?
      Buffer[I % 2 * 32 + Lane] = I * 32 + Lane;
      __threadfence_block();
      arrive(1 + I % 2, 64); // full!
    }
  } else {
    int Sum = 0;
    for (int I = 0; I < N; ++I) {
      sync(1 + I % 2, 64);
      Sum += Buffer[I % 2 * 32 + 31 - Lane];
      if (I + 2 < N)
        arrive(3 + I % 2, 64);
    }
    Out[Lane] = Sum;
  }
}
__global__ void pipe(int *Out, int N) {
  __shared__ int Buffer[32];
  const int Lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int I = 0; I < N; ++I) {
      Buffer[Lane] = I * 32 + Lane;
      sync(1, 64);
      sync(2, 64);
    }
  } else if (threadIdx.x < 64) {
    int Sum = 0;
    for (int I = 0; I < N; ++I) {
      sync(1, 64);
      Sum += Buffer[31 - Lane];
      sync(2, 64);
    }
    Out[Lane] = Sum;
  } else {
    sync(3, 32); // a warp by itself
    Out[Lane + 32] = Lane;
  }
}

// Nobody else comes to barrier 5.
__global__ void alone() {
  if (threadIdx.x < 32)
    sync(5, 64);
}

// REDEFINE: %{vm} =
// REDEFINE: %{name} = alone
// RUN: %{run}
// alone: kernel alone(): barrier 5 waits for 64 threads, 32 have come, and no
// alone-SAME: other thread can go on
// alone-NEXT: in block (0,0,0), thread (0,0,0) and 31 more of its warp
// alone-NEXT: exit 702 cudaErrorLaunchTimeout

// A lock that nobody gives back.
__global__ void lock(int *Lock) {
  while (atomicCAS(Lock, 0, 1) != 0) // lock
    ;
  Lock[1] += 1;
}

// REDEFINE: %{name} = lock
// RUN: %{run}
// lock: kernel lock(int*): deadlock: every thread that is left waits for what no
// lock-SAME: other will do
// lock-NEXT: barriers.cu:[[#@LINE-9]]
// lock-NEXT: exit 702 cudaErrorLaunchTimeout

// Each block waits for the next one's flag before it sets its own.
__global__ void ring(volatile int *Flags) {
  if (threadIdx.x == 0) {
    while (!Flags[(blockIdx.x + 1) % gridDim.x])
      ;
    Flags[blockIdx.x] = 1;
  }
  __syncthreads();
}

// REDEFINE: %{name} = ring
// RUN: %{run}
// ring: kernel ring(int volatile*): deadlock
// ring: exit 702 cudaErrorLaunchTimeout

// Long, and with much spinning, but each round brings a thread on; and a wait
// for the clock, which looks like no progress at all.
__global__ void tickets(volatile int *Turn, int *Sum) {
  const int Mine = blockIdx.x * blockDim.x + threadIdx.x;
  while (*Turn != Mine)
    ;
  *Sum += Mine;
  __threadfence();
  *Turn = Mine + 1;
}
__global__ void sleepLong(int *Out) {
  const long long Begin = clock64();
  while (clock64() - Begin < 400000000)
    ;
  *Out = 1;
}

int main(int, char **Arguments) {
  auto Is = [&](const char *What) { return !std::strcmp(Arguments[1], What); };
  int *D, Got[128];
  cudaMalloc(&D, 4096);
  int Odd[64];
  for (int I = 0; I < 64; ++I)
    Odd[I] = I;
  cudaMemset(D, 0, 4096);
  cudaMemcpy(D, Odd, sizeof Odd, cudaMemcpyHostToDevice);
  if (Is("warps"))
    warps<<<1, 64>>>(D);
  if (Is("lanes"))
    lanes<<<1, 64>>>(D);
  if (Is("alone"))
    alone<<<1, 64>>>();
  if (Is("lock"))
    lock<<<1, 64>>>(D);
  if (Is("ring"))
    ring<<<40, 32>>>(D + 64);
  if (Is("good")) {
    warps<<<1, 64>>>(D);
    cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost);
    int Wrong = Got[31] != 3;
    good<<<3, 96>>>(D, 5);
    good<<<3, 96>>>(D, 6);
    pipe<<<2, 96>>>(D, 10);
    cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost);
    for (int L = 0; L < 32; ++L)
      Wrong += (Got[L] != 45 * 32 + 10 * (31 - L)) + (Got[32 + L] != L);
    feed<<<2, 64>>>(D, 11);
    cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost);
    for (int L = 0; L < 32; ++L)
      Wrong += Got[L] != 55 * 32 + 11 * (31 - L);
    cudaMemset(D, 0, 8);
    tickets<<<8, 64>>>(D, D + 1);
    sleepLong<<<2, 32>>>(D + 2);
    cudaMemcpy(Got, D, sizeof Got, cudaMemcpyDeviceToHost);
    Wrong += (Got[0] != 512) + (Got[1] != 512 * 511 / 2);
    std::printf("%d wrong\n", Wrong);
  }
  const cudaError_t E = cudaDeviceSynchronize();
  std::printf("exit %d %s\n", int(E), cudaGetErrorName(E));
  return int(E) & 255;
}

// GOOD: 0 wrong
// GOOD: exit 0 cudaSuccess
