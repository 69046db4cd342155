// REQUIRES: reconverge
// RUN: %reconverge cc -O1 -g %s -o %t
// DEFINE: %{name} =
// DEFINE: %{vm} = guard=on
// DEFINE: %{run} = env RECONVERGE_DEVICE=cpu RECONVERGE_VM=%{vm} \
// DEFINE:   not %t %{name} 2>&1 | FileCheck %s --check-prefix=%{name}

// What a kernel does wrong is said with kernel, line, block, thread and the
// nearest allocation, and comes back as CUDA's error; the program's own exit
// code says which (its low byte here is the error's number).

#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *P, long At) {
  if (blockIdx.x == 1)
    P[At + threadIdx.x] = 1; // store
}

// REDEFINE: %{name} = null
// RUN: %{run}
// null: kernel store(int*, long): an illegal write of 4 bytes at address 0x10,
// null-SAME: near the null pointer
// null-NEXT: at {{.*}}faults.cu:[[#@LINE-7]], in block (1,0,0), thread (0,0,0)
// null-SAME: and 31 more of its warp
// null-NEXT: exit 700 cudaErrorIllegalAddress
// null-NEXT: later cudaErrorIllegalAddress

// REDEFINE: %{name} = far
// RUN: %{run}
// far: store(int*, long): an illegal write of 4 bytes at address 0x{{[0-9a-f]+}},
// far-SAME: {{[0-9]+}} bytes past the end of an allocation of 16384 bytes by call 2
// far-SAME: of cudaMalloc
// far-NEXT: faults.cu:[[#@LINE-17]], in block (1,0,0), thread (0,0,0)
// far-NEXT: exit 700 cudaErrorIllegalAddress

// Lane by lane: only the last 12 threads are past the end.
__global__ void scale(float *Data, const int *Index) {
  const int T = blockIdx.x * blockDim.x + threadIdx.x;
  Data[Index[T]] *= 2;
}

// REDEFINE: %{name} = past
// RUN: %{run}
// past: kernel scale(float*, int const*): an illegal read of 4 bytes at
// past-SAME: 0 bytes past the end of an allocation of 4096 bytes by call 1 of
// past-SAME: cudaMalloc
// past-NEXT: faults.cu:[[#@LINE-8]], in block (7,0,0), thread (116,0,0) and 11
// past-SAME: more of its warp
// past-NEXT: exit 700

// Without the guard it goes on, as on a GPU, and is noted once.
// RUN: env RECONVERGE_DEVICE=cpu %t over 2>&1 | FileCheck %s --check-prefix=over
// over: kernel scale(float*, int const*): an access past the end of an
// over-SAME: allocation of 4096 bytes by call 1 of cudaMalloc, which a GPU lets
// over-SAME: pass
// over-NEXT: profile --check says where
// over-NEXT: exit 0 cudaSuccess

// REDEFINE: %{name} = freed
// RUN: %{run}
// freed: kernel store({{.*}}): an illegal write of 4 bytes at
// freed-SAME: 400 bytes into a freed allocation of 4096 bytes by call 1 of
// freed-SAME: cudaMalloc
// freed-NEXT: faults.cu:[[#@LINE-48]], in block (1,0,0), thread (0,0,0) and 31
// freed-NEXT: exit 700

// The access that is wrong is in a function, in a loop, of a thread in 3-D.
__device__ int sumOf(const int *P, int N) {
  int Sum = 0;
  for (int I = 0; I <= N; ++I)
    Sum += P[I * 1024]; // sum
  return Sum;
}
__global__ void sums(const int *P, int N, int *Out) {
  if (threadIdx.x == 2 && threadIdx.y == 3 && threadIdx.z == 1)
    *Out = sumOf(P, N);
}

// REDEFINE: %{name} = loop
// RUN: %{run}
// loop: kernel sums(int const*, int, int*): an illegal read of 4 bytes at
// loop-SAME: 0 bytes past the end of an allocation of 16384 bytes by call 2
// loop-NEXT: faults.cu:[[#@LINE-12]], in block (0,0,0), thread (2,3,1){{$}}
// loop-NEXT: exit 700

// A pointer of the host's: seen in the kernel's parameters, and found out.
// REDEFINE: %{name} = host
// RUN: %{run}
// host: kernel store({{.*}}): an illegal write of 4 bytes at
// host-SAME: host memory, which a kernel cannot reach
// host-NEXT: faults.cu:[[#@LINE-75]], in block (1,0,0), thread (0,0,0) and 31
// host-NEXT: exit 700

struct Places {
  int *Used, *Carried;
  int Count;
};
__global__ void storeTo(Places P) {
  if (int(threadIdx.x) < P.Count)
    P.Used[threadIdx.x] = 1;
}

// The same in a class, also where the kernel is in the cache by then.
// REDEFINE: %{name} = class
// RUN: rm -rf %t.cache
// REDEFINE: %{vm} = guard=on,cache=%t.cache
// RUN: %{run}
// RUN: %{run}
// REDEFINE: %{vm} = guard=on
// class: carried: no error
// class-NEXT: kernel storeTo(Places): an illegal write of 4 bytes at
// class-SAME: host memory, which a kernel cannot reach
// class-NEXT: faults.cu:[[#@LINE-13]], in block (0,0,0), thread (0,0,0) and 9
// class-NEXT: exit 700

__global__ void shared(int *Out, int At) {
  extern __shared__ int Dynamic[];
  Dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  Dynamic[At] = 1;
  __syncthreads();
  *Out = Dynamic[0];
}

// REDEFINE: %{name} = shared
// RUN: %{run}
// shared: kernel shared(int*, int): an illegal write of 4 bytes at
// shared-SAME: 256 bytes past the end of dynamic shared memory of 256 bytes
// shared-NEXT: faults.cu:[[#@LINE-9]], in block (0,0,0), thread (0,0,0) and 31
// shared-NEXT: exit 700

__global__ void check(int N) { assert(int(threadIdx.x) < N && "too many"); }

// REDEFINE: %{name} = assert
// RUN: %{run}
// assert: kernel check(int): assertion `int(threadIdx.x) < N && "too many"`
// assert-SAME: failed in
// assert-NEXT: faults.cu:[[#@LINE-6]], in block (0,0,0), thread (50,0,0) and 13
// assert-NEXT: exit 710 cudaErrorAssert

__global__ void stop() {
  if (threadIdx.x == 40)
    __trap();
}

// REDEFINE: %{name} = trap
// RUN: %{run}
// trap: kernel stop(): the kernel executed a trap
// trap-NEXT: faults.cu:[[#@LINE-6]], in block (0,0,0), thread (40,0,0)
// trap-NEXT: exit 719 cudaErrorLaunchFailure

// A block alone has no other's memory to copy to.
__global__ void pass() {
  __shared__ alignas(16) int From[4], To[4];
  __shared__ unsigned long long Barrier;
  auto At = [](void *P) { return unsigned(__cvta_generic_to_shared(P)); };
  if (threadIdx.x == 5)
    asm volatile("cp.async.bulk.shared" // not a line for FileCheck
                 "::cluster.shared"
                 "::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::
                     "r"(At(To)),
                 "r"(At(From)), "r"(At(&Barrier)));
}

// REDEFINE: %{name} = pass
// RUN: %{run}
// pass: kernel pass(): a bulk copy from shared to shared memory in a launch
// pass-SAME: without clusters
// pass-NEXT: faults.cu:[[#@LINE-11]], in block (0,0,0), thread (5,0,0)
// pass-NEXT: exit 715 cudaErrorIllegalInstruction

// No thread will ever set the flag: nobody can go on, and that is sure.
__global__ void spin(volatile int *Flag) {
  while (*Flag == 0) // spin
    ;
  *Flag = 2;
}

// REDEFINE: %{name} = spin
// RUN: %{run}
// spin: kernel spin(int volatile*): deadlock: every thread that is left waits
// spin-SAME: for what no other will do
// spin-NEXT: faults.cu:[[#@LINE-9]]
// spin-NEXT: exit 702 cudaErrorLaunchTimeout

// A loop without end that waits for nobody needs a limit.
__global__ void endless(int *Out) {
  for (unsigned I = 1; I; I += 2) // endless
    Out[I & 7] = I;
}

// REDEFINE: %{vm} = steps=100000
// REDEFINE: %{name} = endless
// RUN: %{run}
// endless: kernel endless(int*): a loop went past the step limit
// endless-NEXT: faults.cu:[[#@LINE-7]], in block (0,0,0), thread (0,0,0) and 31
// endless-NEXT: exit 702 cudaErrorLaunchTimeout

int main(int, char **Arguments) {
  auto Is = [&](const char *What) { return !std::strcmp(Arguments[1], What); };
  int *Device, *Big, OnTheStack[64] = {};
  cudaMalloc(&Device, 4096);
  cudaMalloc(&Big, 4 * 4096);
  cudaMemset(Device, 0, 4096);
  cudaMemset(Big, 0, 4 * 4096);
  if (Is("null"))
    store<<<2, 32>>>(nullptr, 4);
  if (Is("far"))
    store<<<2, 32>>>(Device, (1l << 24) + 192);
  if (Is("past") || Is("over")) {
    int Index[1024];
    for (int I = 0; I < 1024; ++I)
      Index[I] = I < 1012 ? 0 : I + 12;
    cudaMemcpy(Big, Index, sizeof Index, cudaMemcpyHostToDevice);
    for (int Times = 0; Times < 2; ++Times)
      scale<<<8, 128>>>(reinterpret_cast<float *>(Device), Big);
  }
  if (Is("freed")) {
    cudaFree(Device);
    store<<<2, 32>>>(Device, 100);
  }
  if (Is("loop"))
    sums<<<1, dim3(4, 4, 2)>>>(Big, 4, Device);
  if (Is("host"))
    store<<<2, 32>>>(OnTheStack, 0);
  if (Is("class")) {
    storeTo<<<1, 32>>>({Device, OnTheStack, 10});
    std::printf("carried: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    std::fflush(stdout);
    storeTo<<<1, 32>>>({OnTheStack, Device, 10});
  }
  if (Is("shared"))
    shared<<<1, 64, 256>>>(Device, 128);
  if (Is("assert"))
    check<<<1, 64>>>(50);
  if (Is("trap"))
    stop<<<1, 64>>>();
  if (Is("pass"))
    pass<<<1, 32>>>();
  if (Is("endless"))
    endless<<<1, 32>>>(Device);
  if (Is("spin"))
    spin<<<1, 32>>>(Device);
  const cudaError_t E = cudaDeviceSynchronize();
  std::printf("exit %d %s\n", int(E), cudaGetErrorName(E));
  std::printf("later %s\n", cudaGetErrorName(cudaMalloc(&Device, 16)));
  return int(E) & 255;
}

// To a profile, what `over` does is a note: the kernel was run, and is counted.
// RUN: %reconverge profile --device cpu --no-cache --fail-if refused -o %t.json \
// RUN:   %t -- over 2>&1 | FileCheck %s --check-prefix=noted \
// RUN:   --implicit-check-not="Left out"
// noted: {{^}}scale
// noted: note: kernel scale(float*, int const*): an access past the end
