// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// Classes of two bases, whose objects have two tables and functions that correct
// `this`; a class below, one that is final, destructors: called by name, they do
// what the same objects do on the host.
// RUN: %reconverge cc -O3 %s -o whole
// RUN: env RECONVERGE_DEVICE=cpu ./whole | FileCheck %s
// RUN: %reconverge cc -O1 -c %s -o unit.o && %reconverge cc unit.o -o unit
// RUN: env RECONVERGE_DEVICE=cpu ./unit | FileCheck %s
// RUN: %reconverge cc -O0 %s -o slow
// RUN: env RECONVERGE_DEVICE=cpu ./slow | FileCheck %s
// CHECK: 0 of 10000 differ
//
// RUN: %reconverge cc --whole-program --emit-device-bc %s -o only.bc
// RUN: llvm-dis only.bc -o - | FileCheck %s --check-prefix=TABLES
// TABLES-LABEL: define {{.*}} @_Z4walk
// TABLES-DAG: icmp eq ptr {{.*}}@_ZTV4Both, i64 16
// TABLES-DAG: icmp eq ptr {{.*}}@_ZTV4Both, i64 64
// TABLES-DAG: icmp eq ptr {{.*}}@_ZTV5Below, i64 64
// TABLES-DAG: icmp eq ptr {{.*}}@_ZTV4Last, i64 16
#include <cstdio>
#define HD __host__ __device__

struct Left {
  int A;
  HD Left(int A) : A(A) {}
  HD virtual int f(int X) const { return A + X; }
  HD virtual ~Left() {}
};
struct Right {
  int B;
  HD Right(int B) : B(B) {}
  HD virtual int g(int X) const { return B * X; }
  HD virtual ~Right() {}
};
struct Both : Left, Right {
  HD Both(int I) : Left(I), Right(I + 1) {}
  HD int g(int X) const override { return A * 100 + B + X; }
};
struct Below : Both {
  HD Below(int I) : Both(I) {}
  HD int f(int X) const override { return B * 7 - X; }
  HD int g(int X) const override { return Both::g(X) + f(X); }
};
struct Last final : Right {
  const Left *In;
  HD Last(int I, const Left *In) : Right(I), In(In) {}
  HD int g(int X) const override { return In->f(X) ^ B; }
};

HD void makeAll(Left **L, Right **R) {
  Both *C = new Both(3);
  Below *D = new Below(5);
  L[0] = new Left(2);
  L[1] = C;
  L[2] = D;
  R[0] = new Right(9);
  R[1] = C;
  R[2] = D;
  R[3] = new Last(4, D);
}

HD int walkOne(Left *const *L, Right *const *R, int I) {
  int Sum = 0;
  for (int K = 0; K <= I % 7; ++K)
    Sum = Sum * 3 + L[(I + K) % 3]->f(K) + R[(I * 5 + K + Sum) & 3]->g(I);
  return Sum;
}

HD void dropAll(Left **L, Right **R) {
  delete R[0];
  delete R[3];
  for (int I = 0; I < 3; ++I)
    delete L[I];
}

__global__ void make(Left **L, Right **R) { makeAll(L, R); }
__global__ void walk(Left **L, Right **R, int *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = walkOne(L, R, I);
}
__global__ void drop(Left **L, Right **R) { dropAll(L, R); }

int main() {
  constexpr int N = 10000;
  Left **L;
  Right **R;
  int *Out;
  cudaMallocManaged(&L, 3 * sizeof *L);
  cudaMallocManaged(&R, 4 * sizeof *R);
  cudaMallocManaged(&Out, N * sizeof *Out);
  make<<<1, 1>>>(L, R);
  walk<<<(N + 127) / 128, 128>>>(L, R, Out, N);
  drop<<<1, 1>>>(L, R);
  if (cudaError_t E = cudaDeviceSynchronize())
    return std::printf("%s\n", cudaGetErrorString(E)) < 0;
  Left *OwnL[3];
  Right *OwnR[4];
  makeAll(OwnL, OwnR);
  int Differ = 0;
  for (int I = 0; I < N; ++I)
    Differ += Out[I] != walkOne(OwnL, OwnR, I);
  dropAll(OwnL, OwnR);
  std::printf("%d of %d differ\n", Differ, N);
  return 0;
}
