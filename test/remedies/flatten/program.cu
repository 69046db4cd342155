// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Loops in loops of many shapes, in warps that are whole and that are not: the
// program prints the same, whatever the parameters.
// RUN: %reconverge cc -Rpass-missed=reconverge-flatten %s -I %source/include -o asked 2>asked.err
// RUN: env RECONVERGE_DEVICE=cpu ./asked >expected
// RUN: FileCheck %s <expected
// CHECK: rows {{[0-9a-f]+}}
// RUN: FileCheck %s --check-prefix=ASKED <asked.err
// RUN: %reconverge cc -DPLAIN %s -I %source/include -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >out
// RUN: diff expected out
// RUN: %reconverge cc -DPLAIN '--flatten=threshold=1' -arch sm_90 -Rpass=reconverge-flatten %s -I %source/include -o eager 2>&1 | FileCheck %s --check-prefix=COUNTED
// COUNTED: remark: flattened: {{.*}}, once 1 of 32 are; {{[0-9]+}} registers instead of {{[0-9]+}}, 64 warps on a multiprocessor instead of 64 [
// RUN: env RECONVERGE_DEVICE=cpu ./eager >out
// RUN: diff expected out
// RUN: %reconverge cc -DPLAIN '--flatten=threshold=0;rounds=2' -Rpass=reconverge-flatten %s -I %source/include -o once 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: remark: flattened: lanes that are through with the inner loop go on in the outer one, at once
// RUN: env RECONVERGE_DEVICE=cpu ./once >out
// RUN: diff expected out
// RUN: %reconverge cc -DPLAIN '--flatten=threshold=32;rounds=3' %s -I %source/include -o lazy
// RUN: env RECONVERGE_DEVICE=cpu ./lazy >out
// RUN: diff expected out

// The rows are what `optimize` tries it on, and what the report advises.
// RUN: %reconverge optimize --device cpu -DPLAIN %s -I %source/include -o best >%t.out 2>&1
// RUN: FileCheck %s --check-prefix=TRIED <%t.out
// TRIED: flatten (threshold={{.*}} {{[1-9]\.[0-9]+}}x{{.*}}identical

#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "reconverge/attributes.cuh"

#ifdef PLAIN
#define FLATTEN
#else
#define FLATTEN _Pragma("reconverge flatten threshold(4) rounds(2)")
#endif

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
// Some rounds, most few, some many, some none.
__device__ unsigned rounds(unsigned I) { return mix(I) >> (24 + mix(I + 7) % 8); }

// Rows of a matrix with a stride of the whole grid; in shared memory is what
// other threads leave there.
__global__ void rows(unsigned *Out, unsigned N) {
  __shared__ unsigned Shared[100];
  Shared[threadIdx.x] = mix(threadIdx.x);
  __syncthreads();
  FLATTEN
  for (unsigned R = blockIdx.x * blockDim.x + threadIdx.x; R < N;
       R += gridDim.x * blockDim.x) {
    unsigned Sum = R;
    for (unsigned K = 0, End = rounds(R); K < End; ++K)
      Sum = mix(Sum ^ Shared[(K + R) % blockDim.x]);
    Out[R] = Sum;
  }
}

// Returns, breaks out of both, rounds without an inner loop, two inner loops.
__global__ void ways(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned X = I, Y = 1;
  FLATTEN
  for (unsigned S = 0; S < 20; ++S) {
    if (mix(X + S) % 3 == 0) { Y += S; continue; }
    for (unsigned K = 0, End = rounds(X); K < End; ++K) {
      X = mix(X + K);
      if (X % 7001 == 0) { Out[I] = X; return; }
      if (X % 101 == 0) break;
    }
    for (unsigned K = X % 5; K; --K) Y += mix(K + Y);
    if (Y % 211 == 0) break;
  }
  Out[I] = X * 31 + Y;
}

// All lanes leave the inner loop at once: a pragma here is in vain.
__global__ void alike(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned X = I;
  // ASKED: not flattened: all lanes of a warp leave the inner loops at once [RC707]
#ifndef PLAIN
#pragma reconverge flatten
#endif
  for (unsigned K = 0; K < N; ++K) X = mix(X);
  Out[I] = X;
}

int main() {
  const unsigned N = 5000;
  unsigned *Out;
  cudaMalloc(&Out, N * 4);
  std::vector<unsigned> Host(N);
  auto Print = [&](const char *Name) {
    cudaMemcpy(Host.data(), Out, N * 4, cudaMemcpyDeviceToHost);
    unsigned long long Hash = 0;
    for (unsigned X : Host) Hash = Hash * 1000003 + X;
    std::printf("%s %llx\n", Name, Hash);
    cudaMemset(Out, 0, N * 4);
  };
  rows<<<3, 100>>>(Out, N);
  Print("rows");
  ways<<<40, 100>>>(Out, 3990);
  Print("ways");
  alike<<<10, 100>>>(Out, 17);
  Print("alike");
}
