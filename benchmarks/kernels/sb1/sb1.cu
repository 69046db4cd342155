//===- benchmarks/kernels/sb1/sb1.cu - Diamond ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two arms of one block each. Plain: they compute the same on different arrays.
// With random=1 (SB1-R): similar lengths, different instructions.
//
//===----------------------------------------------------------------------===//
#include "../common/sb.h"

/// On even threads, arrays a and b.
template <bool Random>
__host__ __device__ void upper(unsigned *a, unsigned *b, unsigned t, int i,
                               int j) {
  unsigned x = a[t] * 5 + b[t];
  x ^= x >> 7;
  a[t] = x + i;
  if (Random)
    b[t] = (b[t] | x) - (x << 3) * j;
  else
    b[t] = b[t] * x + j;
}

/// On odd threads, arrays c and d.
template <bool Random>
__host__ __device__ void lower(unsigned *c, unsigned *d, unsigned t, int i,
                               int j) {
  unsigned y = c[t] * 9 + d[t];
  if (Random) {
    y += y << 11;
    c[t] = y * i;
    d[t] = d[t] % (y | 1) + j;
  } else {
    y ^= y >> 7;
    c[t] = y + i;
    d[t] = d[t] * y + j;
  }
}

template <bool Random>
__global__ void sb1(unsigned *A, unsigned *B, unsigned *C, unsigned *D,
                    int Outer, int Inner) {
  extern __shared__ unsigned Tile[];
  unsigned *a = Tile, *b = a + blockDim.x, *c = b + blockDim.x,
           *d = c + blockDim.x;
  const unsigned t = threadIdx.x, At = blockIdx.x * blockDim.x + t;
  a[t] = A[At];
  b[t] = B[At];
  c[t] = C[At];
  d[t] = D[At];
  __syncthreads();
  for (int i = 0; i < Outer; ++i)
    for (int j = 0; j < Inner; ++j) {
      if ((t + j) % 2 == 0)
        upper<Random>(a, b, t, i, j);
      else
        lower<Random>(c, d, t, i, j);
    }
  __syncthreads();
  A[At] = a[t];
  B[At] = b[t];
  C[At] = c[t];
  D[At] = d[t];
}

int main(int argc, char **argv) {
  return runSb(argc, argv, "sb1", {sb1<false>, upper<false>, lower<false>},
               {sb1<true>, upper<true>, lower<true>});
}
