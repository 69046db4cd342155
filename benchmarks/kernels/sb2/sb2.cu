//===- benchmarks/kernels/sb2/sb2.cu - An if in each arm ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each arm holds a block, an if-then and another block. Plain: the then-blocks
// compute the same on different arrays. With random=1 (SB2-R) they do not.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

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

/// The reference: thread by thread; each touches its own words only.
template <bool Random>
static void onHost(std::vector<unsigned> (&V)[4], unsigned Block, int Outer,
                   int Inner) {
  for (size_t At = 0; At < V[0].size(); ++At) {
    unsigned W[4] = {V[0][At], V[1][At], V[2][At], V[3][At]};
    const unsigned t = At % Block;
    for (int i = 0; i < Outer; ++i)
      for (int j = 0; j < Inner; ++j) {
        if ((t + j) % 2 == 0)
          upper<Random>(W, W + 1, 0, i, j);
        else
          lower<Random>(W + 2, W + 3, 0, i, j);
      }
    for (int K = 0; K < 4; ++K)
      V[K][At] = W[K];
  }
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sb2");
  const long Blocks = Run.integer("blocks", 8, 1, 1 << 20);
  const long Block = Run.integer("block", 64, 1, 1024);
  const long Outer = Run.integer("outer", 4, 1, 1 << 20);
  const long Inner = Run.integer("inner", 8, 1, 1 << 20);
  const bool Mixed = Run.integer("random", 0, 0, 1); // the -R variant
  Run.ready();

  std::vector<unsigned> In[4], Out[4];
  Random Draw = Run.random();
  for (auto &V : In) {
    V.resize(Blocks * Block);
    for (unsigned &X : V)
      X = Draw.bits();
  }
  DeviceArray<unsigned> A(In[0]), B(In[1]), C(In[2]), D(In[3]);
  Run.run(
      [&] {
        A.set(In[0]);
        B.set(In[1]);
        C.set(In[2]);
        D.set(In[3]);
      },
      [&] {
        auto *Kernel = Mixed ? sb2<true> : sb2<false>;
        Kernel<<<Blocks, Block, 4 * Block * sizeof(unsigned)>>>(A, B, C, D,
                                                                Outer, Inner);
      });
  Out[0] = A.get();
  Out[1] = B.get();
  Out[2] = C.get();
  Out[3] = D.get();
  if (Run.checks())
    (Mixed ? onHost<true> : onHost<false>)(In, Block, Outer, Inner);
  uint64_t Sum = ChecksumSeed;
  bool Right = true;
  for (int K = 0; K < 4; ++K) {
    Sum = checksum(Out[K], Sum);
    Right &= In[K] == Out[K];
  }
  return Run.finish(Right, Sum);
}
