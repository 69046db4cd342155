// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Loops of many shapes, in warps that are whole and that are not: the program
// prints the same, shared always, or where it pays, or not at all.
// RUN: %reconverge cc -DPLAIN %s -I %source/include -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: sums {{[0-9a-f]+}}
// RUN: %reconverge cc -Rpass-missed=reconverge-share %s -I %source/include -o asked 2>asked.err
// RUN: env RECONVERGE_DEVICE=cpu ./asked >out
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=ASKED <asked.err
// RUN: %reconverge cc -DPLAIN '--share=threshold=0;occupancy=0' -arch sm_90 -Rpass=reconverge-share %s -I %source/include -o always 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED-COUNT-7: remark: shared: lanes of a warp run the loop's iterations together; {{[0-9]+}} registers instead of {{[0-9]+}}, {{.*}} [
// RUN: env RECONVERGE_DEVICE=cpu ./always >out
// RUN: diff expected out
// RUN: %reconverge cc -DPLAIN '--share=threshold=150' %s -I %source/include -o seldom
// RUN: env RECONVERGE_DEVICE=cpu ./seldom >out
// RUN: diff expected out

#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "reconverge/attributes.cuh"

#ifdef PLAIN
#define SHARE
#else
#define SHARE _Pragma("reconverge share threshold(0)")
#endif
#define ROLLED _Pragma("unroll 1")

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
// Some rounds, most few, some many, some none.
__device__ unsigned rounds(unsigned I) { return mix(I) >> (24 + mix(I + 7) % 8); }

// Sums in order, of numbers of all sizes; the least, and where it is; rows of a
// stride of the whole grid, and lanes without a row.
__global__ void sums(unsigned *Out, unsigned N) {
  for (unsigned R = blockIdx.x * blockDim.x + threadIdx.x; R < N;
       R += gridDim.x * blockDim.x) {
    float Sum = 1;
    double Wide = 0;
    unsigned Least = ~0u, At = 0, End = rounds(R), Odd = 0;
    ROLLED
    SHARE
    for (unsigned K = 0; K < End; ++K) {
      unsigned X = mix(R + K * 7);
      Sum += float(X >> (X % 30)) * 1.1f;
      Wide += double(X) * 0x1p-40;
      if (X < Least) { Least = X; At = K; }
      if (X & 1) Odd += X;
      Odd += At; // what is added hangs on the order
    }
    Out[R] = __float_as_uint(Sum) ^ Least ^ At * 31 ^ Odd ^
             unsigned(__double_as_longlong(Wide));
  }
}

// Sums of integers, which may be made in any order.
__global__ void orders(unsigned *Out, const unsigned *From, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = I, Product = 1, Any = 0, All = ~I, Parity = I;
  int Least = 1 << 30;
  unsigned long long Wide = I, Most = 0;
  unsigned char Few = 3;
  bool Found = false;
  const unsigned End = I < N && I % 7 ? rounds(I) : 0;
  SHARE
  for (unsigned K = 0; K < End; ++K) {
    const unsigned X = mix(From[(I + K) % 1000] + K);
    Sum += X; Product *= X | 1; Any |= X & 4095; All &= X | 255; Parity ^= X;
    Least = min(Least, int(X));
    Most = max(Most, X * 0x100000001ull);
    Wide += X * 0x10000001ull;
    Few += X;
    Found |= X % 97 == 0;
  }
  if (I < N)
    Out[I] = Sum ^ Product ^ Any ^ All ^ Parity ^ Least ^ unsigned(Most >> 9) ^
             unsigned(Wide >> 20) ^ Few ^ Found << 30;
}

// Unrolled by the compiler; shared memory, and a barrier behind.
__global__ void unrolled(unsigned *Out, unsigned N) {
  __shared__ unsigned Shared[128];
  Shared[threadIdx.x] = mix(threadIdx.x);
  __syncthreads();
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = 0;
  float Product = 1;
  unsigned End = I < N ? rounds(I) : 0;
  SHARE
  for (unsigned K = 0; K < End; ++K) {
    Sum += Shared[(K + I) % blockDim.x];
    Product = Product * 1.0001f + float(Shared[(K * 3 + I) % blockDim.x]);
  }
  __syncthreads();
  Shared[threadIdx.x] = Sum;
  __syncthreads();
  if (I < N) Out[I] = Shared[threadIdx.x ^ 1] + __float_as_uint(Product);
}

// Stores along the loop, atomic operations, and an early return before it.
__global__ void stores(unsigned *__restrict__ Out, const unsigned *__restrict__ From,
                       const unsigned *__restrict__ Row, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  const unsigned End = Row[I + 1];
  ROLLED
  SHARE
  for (unsigned K = Row[I]; K < End; ++K) Out[K] = From[K] * 3 + I;
}
__global__ void counts(unsigned *__restrict__ Out, const unsigned *__restrict__ From,
                       const unsigned *__restrict__ Row, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N || From[I] % 5 == 0) return;
  const unsigned End = Row[I + 1];
  ROLLED
  SHARE
  for (unsigned K = Row[I]; K < End; ++K)
    if (From[K] & 1) atomicAdd(&Out[From[K] % 97], K);
    else for (unsigned Z = From[K] % 4; Z; --Z) atomicAdd(&Out[100 + (Z + K) % 50], From[K]);
}

// Down, in steps, of pointers and 64 bits; what the last iteration had.
__global__ void shapes(unsigned *Out, const unsigned *From, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Last = 5, Before = 7;
  long long Far = 0;
  if (I % 3 != 1) {
    const unsigned *P = From + I % 50;
    ROLLED
    SHARE
    for (long long K = rounds(I); K > 0; K -= 2, P += 3) {
      Before = Last;
      Last = P[0] + unsigned(K);
      Far = Far * 3 + P[1] * K;
    }
    Last += 3;
  }
  if (I < N) Out[I] = Last + Before * 5 + unsigned(Far >> 7);
}

// All lanes leave the loop at once: a pragma here is in vain.
__global__ void alike(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned X = I;
  // ASKED: not shared: all lanes of a warp leave the loop at once [RC916]
#ifndef PLAIN
#pragma reconverge share
#endif
  for (unsigned K = 0; K < N; ++K) X = mix(X);
  Out[I] = X;
}

// Two loops, one in the other: the inner one.
__global__ void nested(unsigned *Out, const unsigned *From, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned X = I;
  for (unsigned S = 0; S < 5; ++S) {
    if (mix(X + S) % 5 == 0) continue;
    unsigned End = rounds(X), Sum = X;
    ROLLED
    SHARE
    for (unsigned K = 0; K < End; ++K) Sum ^= mix(From[K % 64] + K + X);
    X = mix(Sum);
    if (X % 11 == 0) break;
  }
  Out[I] = X;
}

int main() {
  const unsigned N = 5000, M = 400000;
  unsigned *Out, *From, *Row;
  cudaMalloc(&Out, M * 4);
  cudaMalloc(&From, M * 4);
  cudaMalloc(&Row, M * 4);
  std::vector<unsigned> Host(M), Rows(N + 1);
  for (unsigned I = 0; I < M; ++I) Host[I] = I * 2654435761u >> 7;
  cudaMemcpy(From, Host.data(), M * 4, cudaMemcpyHostToDevice);
  for (unsigned I = 0; I < N; ++I)
    Rows[I + 1] = Rows[I] + (Host[I] % 64 ? Host[I] % 9 : Host[I] % 700);
  cudaMemcpy(Row, Rows.data(), (N + 1) * 4, cudaMemcpyHostToDevice);
  cudaMemset(Out, 0, M * 4);
  auto Print = [&](const char *Name) {
    cudaMemcpy(Host.data(), Out, M * 4, cudaMemcpyDeviceToHost);
    unsigned long long Hash = 0;
    for (unsigned X : Host) Hash = Hash * 1000003 + X;
    std::printf("%s %llx\n", Name, Hash);
    cudaMemset(Out, 0, M * 4);
  };
  sums<<<3, 100>>>(Out, N);
  Print("sums");
  orders<<<40, 128>>>(Out, From, N);
  Print("orders");
  unrolled<<<40, 128>>>(Out, N);
  Print("unrolled");
  stores<<<50, 100>>>(Out, From, Row, N);
  Print("stores");
  counts<<<50, 100>>>(Out, From, Row, N);
  Print("counts");
  shapes<<<50, 100>>>(Out, From, N);
  Print("shapes");
  alike<<<10, 100>>>(Out, 17);
  Print("alike");
  nested<<<50, 100>>>(Out, From, 4990);
  Print("nested");
}
