// REQUIRES: reconverge
// RUN: %reconverge cc -O1 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t > %t.codes 2> %t.said
// RUN: FileCheck %s --check-prefix=CODE < %t.codes
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: %reconverge profile --no-cache -o %t.json %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PROFILE

// Calls that are wrong return CUDA's codes, say what is wrong, and leave the
// device as it was.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__device__ int Counter = 100;
__global__ void add(int *Out) { *Out = ++Counter; }
__global__ void __launch_bounds__(128) bounded(int *Out) { *Out = 1; }

int Number = 0;
void say(cudaError_t E) { std::printf("%d %s\n", ++Number, cudaGetErrorName(E)); }

int main() {
  int *D, *Other, Host[4] = {}, Value = 0;
  cudaMalloc(&D, 400);
  cudaMalloc(&Other, 400);

  // Launches: no blocks, too many threads, too much shared memory, more threads
  // than the kernel's bounds. CUDA 13 has another code for the first two.
  add<<<0, 32>>>(D);
  say(cudaGetLastError());
  // CODE: 1 {{cudaErrorInvalidValue|cudaErrorInvalidConfiguration}}
  // SAID: kernel 'add(int*)' is not launched: no device has a grid of (0,1,1)
  // SAID-SAME: blocks of (32,1,1) threads
  add<<<1, 1025>>>(D);
  say(cudaGetLastError());
  // CODE: 2 {{cudaErrorInvalidValue|cudaErrorInvalidConfiguration}}
  // SAID: a grid of (1,1,1) blocks of (1025,1,1) threads
  add<<<1, 32, 1 << 20>>>(D);
  say(cudaGetLastError());
  // CODE: 3 cudaErrorInvalidValue
  // SAID: 1048576 bytes of dynamic shared memory, and it may have 49152
  bounded<<<1, 256>>>(D);
  say(cudaGetLastError());
  // CODE: 4 cudaErrorInvalidValue
  // SAID: a block of 256 threads, and its __launch_bounds__ allow 128
  say(cudaDeviceSynchronize()); // nothing was launched, nothing failed
  // CODE: 5 cudaSuccess

  // Freeing.
  say(cudaFree(Other));
  // CODE: 6 cudaSuccess
  say(cudaFree(Other));
  // CODE: 7 cudaErrorInvalidValue
  // SAID: cudaFree: the pointer is 0 bytes into a freed allocation of 400 bytes by
  // SAID-SAME: call 2 of cudaMalloc
  say(cudaFree(D + 4));
  // CODE: 8 cudaErrorInvalidValue
  // SAID: cudaFree: the pointer is 16 bytes into an allocation of 400 bytes
  say(cudaFree(Host));
  // CODE: 9 cudaErrorInvalidValue
  // SAID: cudaFree: the pointer is not device memory: a host pointer
  say(cudaFreeHost(D));
  // CODE: 10 cudaErrorInvalidValue
  // SAID: cudaFreeHost: the pointer is 0 bytes into an allocation of 400 bytes

  // Copying: freed memory, past the end, the wrong direction.
  say(cudaMemcpy(Host, Other, 16, cudaMemcpyDeviceToHost));
  // CODE: 11 cudaErrorInvalidValue
  say(cudaMemcpy(D + 98, Host, 16, cudaMemcpyHostToDevice));
  // CODE: 12 cudaErrorInvalidValue
  say(cudaMemcpy(Host, Host + 2, 8, cudaMemcpyHostToDevice));
  // CODE: 13 cudaErrorInvalidValue
  say(cudaMemcpy(Host, D, 16, cudaMemcpyKind(7)));
  // CODE: 14 cudaErrorInvalidMemcpyDirection
  say(cudaMemset(Other, 0, 4));
  // CODE: 15 cudaErrorInvalidValue

  // The errors above are the thread's until it asks; then all is well.
  say(cudaGetLastError());
  // CODE: 16 cudaErrorInvalidValue
  add<<<1, 1>>>(D);
  say(cudaMemcpy(&Value, D, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", Value);
  // CODE: 17 cudaSuccess
  // CODE-NEXT: 101

  // A reset frees memory and gives variables their first values.
  say(cudaDeviceReset());
  say(cudaFree(D));
  cudaMalloc(&D, 4);
  add<<<1, 1>>>(D);
  say(cudaMemcpy(&Value, D, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", Value);
  // CODE: 18 cudaSuccess
  // CODE: 19 cudaErrorInvalidValue
  // CODE: 20 cudaSuccess
  // CODE-NEXT: 101
}

// PROFILE: add(int*)
