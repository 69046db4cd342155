// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What ties threads to their places is said, and the kernel is launched as it
// was.
// RUN: %reconverge cc --permute %s -o app 2>err
// RUN: FileCheck %s --check-prefix=TIED <err
// TIED-DAG: reconverge: warning: reverse(int*) is launched as it is: ties.cu:[[#@LINE+14]]: not permuted: it uses shared memory [RC311]
// TIED-DAG: reconverge: warning: lanes(int*) is launched as it is: ties.cu:{{[0-9]+}}: not permuted: lanes of its warps work together (llvm.nvvm.shfl.sync.bfly.i32) [RC313]

// As whole blocks, both may change places.
// RUN: %reconverge cc --permute=unit=block %s -o blocks 2>err
// RUN: count 0 <err

// A kernel whose threads need what others leave in memory is a race. The
// permuted program shows it: its result depends on who runs when.
// RUN: env RECONVERGE_DEVICE=cpu ./app >permuted
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: not diff expected permuted
#include <cstdio>
__global__ void reverse(int *Out) { __shared__ int All[32]; All[threadIdx.x] = Out[threadIdx.x]; __syncthreads(); Out[threadIdx.x] = All[31 - threadIdx.x]; }
__global__ void lanes(int *Out) { Out[threadIdx.x] = __shfl_xor_sync(0xffffffff, Out[threadIdx.x], 1); }

__global__ void leaning(int *Out) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Out[I] = I ? Out[I - 1] + I : 0;
}

int main() {
  constexpr int N = 4096;
  int *Out, *Host = new int[N];
  cudaMalloc(&Out, N * sizeof(int));
  cudaMemset(Out, 0, N * sizeof(int));
  reverse<<<1, 32>>>(Out);
  lanes<<<1, 32>>>(Out);
  leaning<<<N / 64, 64>>>(Out);
  cudaMemcpy(Host, Out, N * sizeof(int), cudaMemcpyDeviceToHost);
  unsigned Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum = Sum * 31 + unsigned(Host[I]);
  std::printf("%u\n", Sum);
}

// Bad words are named.
// RUN: not %reconverge cc --permute=order=backwards %s 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: permuting has no parameter 'order=backwards'
// RUN: not %reconverge cc --permute=block=2000 %s 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: 'block=2000'
// RUN: not %reconverge cc -rdc=true --permute %s 2>&1 | FileCheck %s --check-prefix=RDC
// RDC: error: --permute: launches of relocatable device code cannot change
// RDC-NEXT: Build without -rdc=true and -dc.
