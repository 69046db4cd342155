// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -g -c %s -o %t.o
// RUN: %reconverge cc %t.o -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t wild 2>&1 | FileCheck %s --check-prefix=WILD
// RUN: env RECONVERGE_DEVICE=cpu %t null 2>&1 | FileCheck %s --check-prefix=NULL
// RUN: env RECONVERGE_DEVICE=cpu %t type 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: env RECONVERGE_DEVICE=cpu %t body 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: env RECONVERGE_DEVICE=cpu %t endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
//
// Of a program in one piece it is known what a pointer can lead to.
// RUN: %reconverge cc -O2 -g %s -o %t.whole
// RUN: env RECONVERGE_DEVICE=cpu %t.whole wild 2>&1 | FileCheck %s --check-prefixes=FEW,X1234
// RUN: env RECONVERGE_DEVICE=cpu %t.whole null 2>&1 | FileCheck %s --check-prefixes=FEW,X0
// RUN: env RECONVERGE_DEVICE=cpu %t.whole type 2>&1 | FileCheck %s --check-prefixes=FEW,ANY
// RUN: env RECONVERGE_DEVICE=cpu %t.whole body 2>&1 | FileCheck %s --check-prefix=ANY
//
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on %t barrier 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: env RECONVERGE_DEVICE=cpu %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT

// Calls that go wrong: the program goes on with CUDA's error, and the message
// has kernel, line and thread.

#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

using Function = int (*)(int);
__device__ __noinline__ int good(int X) { return X + 1; }
__device__ __noinline__ float real(float X) { return X + 1; }
__device__ Function Known = good;
__device__ float (*Real)(float) = real;

__global__ void through(int *Out, unsigned long Bits) {
  Function F = Known;
  if (threadIdx.x == 5)
    F = reinterpret_cast<Function>(Bits);
  Out[threadIdx.x] =
      F(threadIdx.x); // the call
}
// WILD: kernel through{{.*}}call through the pointer 0x1234, which is not a function's address
// WILD-NEXT: at {{.*}}calls-bad.cu:[[#@LINE-3]], in block (0,0,0), thread (5,0,0)
// WILD: cudaErrorIllegalAddress
// FEW: kernel through
// X1234-SAME: a call through the pointer 0x1234, which is not the address of a function of its type with a body
// X0-SAME: a call through the pointer 0x0, which is not
// ANY: a call through the pointer 0x{{.*}}, which is not
// FEW-NEXT: at {{.*}}calls-bad.cu:[[#@LINE-9]], in block (0,0,0), thread (5,0,0)
// ANY: cudaErrorLaunchFailure
// NULL: call through the pointer 0x0, which is not a function's address
// NULL: cudaErrorIllegalAddress
// TYPE: call through a pointer to real(float), which has another type
// TYPE-NEXT: thread (5,0,0)
// TYPE: cudaErrorIllegalAddress

struct Abstract {
  __device__ Abstract() { early(); }
  __device__ __noinline__ void early() { late(); }
  __device__ virtual void late() = 0;
};
struct Whole : Abstract {
  __device__ void late() override {}
};
__global__ void unfinished() { Whole W; }
// BODY: call through a pointer to __cxa_pure_virtual, which cannot run: it has no body
// BODY: cudaErrorLaunchFailure

__device__ __noinline__ int down(int X, volatile int *Out) {
  Out[0] = X;
  return down(X + 1, Out) + Out[1]; // deeper
}
__global__ void endless(int *Out) {
  if (threadIdx.x == 9)
    Out[0] = down(0, Out);
}
// ENDLESS: kernel endless(int*): stack overflow: the call of down(int, int volatile*), {{[0-9]+}} calls deep, takes more than 512 KiB for a thread
// ENDLESS-NEXT: at {{.*}}calls-bad.cu:[[#@LINE-7]], in block (0,0,0), thread (9,0,0)
// ENDLESS: cudaErrorIllegalAddress

__device__ __noinline__ int meet(int Depth) {
  if (Depth > 0)
    return meet(Depth - 1) + 1;
  if (threadIdx.x < 40)
    __syncthreads(); // not for all
  return 0;
}
__global__ void barrier(int *Out) {
  Out[threadIdx.x] = meet(threadIdx.x % 3);
  if (threadIdx.x >= 40)
    __syncthreads(); // another
}
// BARRIER: __syncthreads() is met at different places: thread (40,0,0) waits at {{.*}}calls-bad.cu:[[#@LINE-2]]
// BARRIER-NEXT: at {{.*}}calls-bad.cu:[[#@LINE-9]]
// BARRIER: cudaErrorLaunchFailure

__device__ __noinline__ int deny(int Depth) {
  assert(Depth != 3 && "too deep");
  return Depth ? deny(Depth - 1) * 2 : 1;
}
__global__ void denies(int *Out) { Out[threadIdx.x] = deny(threadIdx.x); }
// ASSERT: too deep
// ASSERT: calls-bad.cu:[[#@LINE-5]]
// ASSERT: cudaErrorAssert

int main(int, char **Arguments) {
  const char *What = Arguments[1];
  int *Out;
  cudaMalloc(&Out, 4096);
  cudaMemset(Out, 0, 4096);
  unsigned long Bits = 0x1234;
  if (!std::strcmp(What, "type"))
    cudaMemcpyFromSymbol(&Bits, Real, sizeof(Bits));
  if (!std::strcmp(What, "null"))
    Bits = 0;
  if (!std::strcmp(What, "endless"))
    endless<<<1, 64>>>(Out);
  else if (!std::strcmp(What, "barrier"))
    barrier<<<1, 64>>>(Out);
  else if (!std::strcmp(What, "body"))
    unfinished<<<1, 1>>>();
  else if (!std::strcmp(What, "assert"))
    denies<<<1, 32>>>(Out);
  else
    through<<<1, 32>>>(Out, Bits);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
