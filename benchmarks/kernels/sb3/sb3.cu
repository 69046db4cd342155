//===- benchmarks/kernels/sb3/sb3.cu - Two ifs in each arm ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each arm holds two if-thens, one after the other. Plain: their then-blocks
// compute the same on different arrays. With random=1 (SB3-R) they do not.
//
//===----------------------------------------------------------------------===//
#include "../common/sb.h"

/// On even threads, arrays a and b.
template <bool Random>
__host__ __device__ void upper(unsigned *a, unsigned *b, unsigned t, int i,
                               int j) {
  if ((a[t] + i) & 4) {
    b[t] = b[t] * 3 + a[t];
    a[t] = Random ? (a[t] ^ b[t]) * j : a[t] ^ (b[t] >> 5);
  }
  if ((b[t] + j) & 2) {
    a[t] = a[t] * 11 - b[t];
    b[t] = Random ? b[t] | (a[t] << 2) : b[t] + (a[t] & 255);
  }
}

/// On odd threads, arrays c and d.
template <bool Random>
__host__ __device__ void lower(unsigned *c, unsigned *d, unsigned t, int i,
                               int j) {
  if ((c[t] + i) & 8) {
    if (Random)
      d[t] = (d[t] & 0xffff) - c[t] * j;
    else
      d[t] = d[t] * 3 + c[t];
    c[t] = c[t] ^ (d[t] >> 5);
  }
  if ((d[t] + j) & 1) {
    if (Random)
      c[t] = c[t] % 17 + (d[t] >> 1) + j;
    else
      c[t] = c[t] * 11 - d[t];
    d[t] = d[t] + (c[t] & 255);
  }
}

template <bool Random>
__global__ void sb3(unsigned *A, unsigned *B, unsigned *C, unsigned *D,
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
  return runSb(argc, argv, "sb3", {sb3<false>, upper<false>, lower<false>},
               {sb3<true>, upper<true>, lower<true>});
}
