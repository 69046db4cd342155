// REQUIRES: reconverge
// RUN: %reconverge cc -O1 -g %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t good 0 | FileCheck %s --check-prefix=GOOD
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=1 %t good 0 \
// RUN:   | FileCheck %s --check-prefix=GOOD
// RUN: not %reconverge profile --check --no-cache -o %t.json %t -- near 0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=near
// DEFINE: %{name} =
// DEFINE: %{run} = env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on \
// DEFINE:   not %t %{name} 2 2>&1 | FileCheck %s --check-prefix=%{name}

// What only a test of each access can see.

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

// Within the page of its allocation, past its end.
__global__ void near(int *P, int N, int Beyond) {
  if (threadIdx.x < N + Beyond)
    P[threadIdx.x] = threadIdx.x; // near
}

// REDEFINE: %{name} = near
// RUN: %{run}
// near: kernel near(int*, int, int): an illegal write of 4 bytes at
// near-SAME: 0 bytes past the end of an allocation of 40 bytes by call 1
// near-NEXT: check.cu:[[#@LINE-7]], in block (0,0,0), thread (10,0,0)
// near: exit 700 cudaErrorIllegalAddress

// From one shared variable into the next.
__global__ void shared(int *Out, int Beyond) {
  __shared__ int First[32], Second[32];
  First[threadIdx.x + Beyond] = threadIdx.x;
  Second[threadIdx.x] = 1;
  __syncthreads();
  Out[threadIdx.x % 8] = First[31 - threadIdx.x] + Second[threadIdx.x];
}

// REDEFINE: %{name} = shared
// RUN: %{run}
// shared: kernel shared(int*, int): an illegal write of 4 bytes at
// shared-SAME: 0 bytes past the end of the shared variable 'First' of 128 bytes
// shared-NEXT: check.cu:[[#@LINE-10]], in block (0,0,0), thread (30,0,0) and 1
// shared-SAME: more of its warp
// shared-NEXT: exit 700

__global__ void local(int *Out, int Beyond) {
  int Bins[8] = {}, More[8] = {};
  for (int I = 0; I < 8; ++I) {
    Bins[(Out[I] + I) % 8 + Beyond] += I;
    More[Out[I] % 8] += 1;
  }
  for (int I = 0; I < 8; ++I)
    Out[I] += Bins[I] * More[I];
}

// REDEFINE: %{name} = local
// RUN: %{run}
// local: kernel local(int*, int): an illegal {{read|write}} of 4 bytes at
// local-SAME: 0 bytes past the end of the local variable{{.*}} of 32 bytes
// local-NEXT: check.cu:[[#@LINE-11]]
// local-NEXT: exit 700

__global__ void align(char *P, int Beyond) {
  *reinterpret_cast<int *>(P + Beyond) = 1;
}
__global__ void alignVector(float *P, int Beyond) {
  *reinterpret_cast<float4 *>(P + Beyond) = float4{1, 2, 3, 4};
}

// REDEFINE: %{name} = align
// RUN: %{run}
// align: kernel align(char*, int): a misaligned write of 4 bytes at address
// align-SAME: 2, which is not a multiple of 4
// align-NEXT: check.cu:[[#@LINE-10]], in block (0,0,0), thread (0,0,0)
// align-NEXT: exit 716 cudaErrorMisalignedAddress

// REDEFINE: %{name} = vector
// RUN: %{run}
// vector: kernel alignVector(float*, int): a misaligned write of {{[0-9]+}} bytes
// vector-SAME: which is not a multiple of 16
// vector-NEXT: check.cu:[[#@LINE-14]]
// vector-NEXT: exit 716 cudaErrorMisalignedAddress

__constant__ int Table[4] = {1, 2, 3, 4};
__global__ void constant(int *P, int Beyond) {
  const int *From = Beyond ? Table : P;
  const_cast<int *>(From)[threadIdx.x % 4] = Table[1];
}

// REDEFINE: %{name} = constant
// RUN: %{run}
// constant: kernel constant(int*, int): an illegal write of 4 bytes
// constant-SAME: constant memory: 0 bytes into the __constant__ variable 'Table'
// constant-NEXT: check.cu:[[#@LINE-7]]
// constant-NEXT: exit 700

// A pointer of the host's inside device memory.
__global__ void list(int **P, int) { *P[threadIdx.x % 2] = 1; }

// REDEFINE: %{name} = list
// RUN: %{run}
// list: kernel list(int**, int): an illegal write of 4 bytes
// list-SAME: host memory, which a kernel cannot reach
// list-NEXT: check.cu:[[#@LINE-6]], in block (0,0,0), thread (1,0,0) and 15
// list-NEXT: exit 700

__global__ void atomic(unsigned long long *P, int Beyond) {
  atomicAdd(P + threadIdx.x / 8 + Beyond, 1ull);
}

// REDEFINE: %{name} = atomic
// RUN: %{run}
// atomic: kernel atomic(unsigned long long*, int): an illegal atomic operation of
// atomic-SAME: 8 bytes
// atomic-SAME: 0 bytes past the end of an allocation of 40 bytes by call 1
// atomic-NEXT: check.cu:[[#@LINE-8]], in block (0,0,0), thread (24,0,0) and 7
// atomic-NEXT: exit 700

int main(int, char **Arguments) {
  const bool Good = !std::strcmp(Arguments[1], "good");
  auto Is = [&](const char *W) { return Good || !std::strcmp(Arguments[1], W); };
  const int Beyond = Arguments[2][0] - '0';
  int *Small, *Other, *Pinned, OnTheStack;
  int **Pointers;
  cudaMalloc(&Small, 40);
  cudaMalloc(&Other, 400);
  cudaMallocHost(&Pinned, 4);
  cudaMallocManaged(&Pointers, 2 * sizeof(int *));
  cudaMemset(Small, 0, 40);
  Pointers[0] = Pinned;
  Pointers[1] = Good ? Other : &OnTheStack;
  if (Is("near"))
    near<<<1, 32>>>(Small, 10, Good ? 0 : 1);
  if (Is("shared"))
    shared<<<1, 32>>>(Small, Beyond);
  if (Is("local"))
    local<<<1, 1>>>(Small, Beyond);
  if (Is("align"))
    align<<<1, 1>>>(reinterpret_cast<char *>(Other), Beyond);
  if (Is("vector"))
    alignVector<<<1, 1>>>(reinterpret_cast<float *>(Other), Beyond);
  if (Is("constant"))
    constant<<<1, 32>>>(Small, Beyond);
  if (Is("list"))
    list<<<1, 32>>>(Pointers, 0);
  if (Is("atomic"))
    atomic<<<1, 32>>>(reinterpret_cast<unsigned long long *>(Small), Beyond);
  const cudaError_t E = cudaDeviceSynchronize();
  std::printf("exit %d %s\n", int(E), cudaGetErrorName(E));
  return int(E) & 255;
}

// GOOD: exit 0 cudaSuccess
