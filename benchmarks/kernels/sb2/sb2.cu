//===- benchmarks/kernels/sb2/sb2.cu - An if in each arm ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each arm holds a block, an if-then and another block. Plain: the then-blocks
// compute the same on different arrays. With random=1 (SB2-R) they do not.
//
//===----------------------------------------------------------------------===//
#include "../common/sb.h"

/// On even threads, arrays a and b.
template <bool Random>
__host__ __device__ void upper(unsigned *a, unsigned *b, unsigned t, int i,
                               int j) {
  const unsigned x = a[t] + i;
  if (x & 4) {
    b[t] = b[t] * 3 + x;
    if (Random)
      a[t] = (a[t] ^ b[t]) * j;
    else
      a[t] = a[t] ^ (b[t] >> 5);
  }
  a[t] += b[t] * 7 + j;
}

/// On odd threads, arrays c and d.
template <bool Random>
__host__ __device__ void lower(unsigned *c, unsigned *d, unsigned t, int i,
                               int j) {
  const unsigned y = c[t] + i;
  if (y & 8) {
    if (Random) {
      d[t] = (d[t] | 7) - y;
      c[t] = c[t] + d[t] % 13 + (y << 2);
    } else {
      d[t] = d[t] * 3 + y;
      c[t] = c[t] ^ (d[t] >> 5);
    }
  }
  c[t] += d[t] * 7 + j;
}

template <bool Random>
__global__ void sb2(unsigned *A, unsigned *B, unsigned *C, unsigned *D,
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
  return runSb(argc, argv, "sb2", {sb2<false>, upper<false>, lower<false>},
               {sb2<true>, upper<true>, lower<true>});
}
