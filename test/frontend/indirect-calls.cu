// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
//
// Calls through pointers become direct calls of the few functions that they can
// lead to. In a program of one source there are no others.
// RUN: %reconverge cc %s -o whole
// RUN: env RECONVERGE_DEVICE=cpu ./whole >out
// RUN: FileCheck %s <out
// CHECK: each 499500
// CHECK-NEXT: table 20 22
// CHECK-NEXT: list 55
// CHECK-NEXT: rounds [[SUM:[0-9]+]]
//
// Another unit may have more of them: the pointer is called where it is none of
// these. Of virtual functions the tables are compared, which saves a load.
// RUN: %reconverge cc --emit-device-bc %s -o unit.bc
// RUN: llvm-dis unit.bc -o unit.ll
// RUN: FileCheck %s --check-prefix=UNIT <unit.ll
// UNIT-LABEL: define {{.*}} @_Z4eachPPK5ShapePi(
// UNIT: icmp eq ptr [[T:%[^,]+]], getelementptr {{.*}}@_ZTV6Square, i64 16
// UNIT: icmp eq ptr [[T]], getelementptr {{.*}}@_ZTV3Bar, i64 16
// UNIT: icmp eq ptr [[T]], getelementptr {{.*}}@_ZTV4List, i64 16
// UNIT: [[F:%[^ ]+]] = load ptr, ptr [[T]]
// UNIT-NEXT: call {{.*}}i32 [[F]](
// A constant table of two is seen through.
// UNIT-LABEL: define {{.*}} @_Z5tablePi(
// UNIT-NOT: call {{.*}}i32 %
// UNIT: ret void
//
// Not where a class has a virtual base: objects have other tables while they are
// made. Then pointers are compared.
// RUN: %reconverge cc -DBASE --emit-device-bc %s -o base.bc
// RUN: llvm-dis base.bc -o base.ll
// RUN: FileCheck %s --check-prefix=BASE <base.ll
// BASE-LABEL: define {{.*}} @_Z4eachPPK5ShapePi(
// BASE: icmp eq ptr [[F:%[^,]+]], @_ZNK6Square4areaEi
// BASE: icmp eq ptr [[F]], @_ZNK3Bar4areaEi
// RUN: %reconverge cc -DBASE %s -o base
// RUN: env RECONVERGE_DEVICE=cpu ./base | diff out -
// RUN: %reconverge cc -c %s -o unit.o
// RUN: %reconverge cc unit.o -o linked
// RUN: env RECONVERGE_DEVICE=cpu ./linked | diff out -
// RUN: %reconverge cc --whole-program --emit-device-bc %s -o only.bc
// RUN: llvm-dis only.bc -o - | FileCheck %s --check-prefix=ONLY
// ONLY-LABEL: define {{.*}} @_Z4eachPPK5ShapePi(
// ONLY: call void @reconverge.no.function(ptr
// ONLY: unreachable
// ONLY-NOT: call {{.*}}i32 %
// ONLY-LABEL: define {{.*}} @_Z5tablePi(
// A library of somebody's may have more as well, CUDA's have not.
// RUN: ar rc libempty.a
// RUN: %reconverge cc %s -L. -lempty --keep=theirs -o library
// RUN: not grep -q reconverge.no.function theirs/indirect-calls.container
// RUN: echo 'int other() { return 0; }' >other.cpp
// RUN: %reconverge cc %s other.cpp --keep=host -o library
// RUN: grep -q reconverge.no.function host/indirect-calls.container
// RUN: echo '__global__ void other() {}' >other.cu
// RUN: %reconverge cc %s other.cu --keep=two -o library
// RUN: not grep -q reconverge.no.function two/indirect-calls.container
// RUN: not %reconverge cc --whole-program %s other.cu -o two 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: --whole-program: there are several CUDA sources
// SEVERAL-NEXT: Leave it out, or build them with -rdc=true.
// RUN: %reconverge cc %s -L. -lcurand --keep=cuda -o library
// RUN: grep -q reconverge.no.function cuda/indirect-calls.container
//
// Linked relocatable code is whole again: nothing is called but the copy of the
// list's function that calls itself.
// RUN: %reconverge cc -rdc=true %s -o relocatable
// RUN: env RECONVERGE_DEVICE=cpu ./relocatable | diff out -
//
// As written they stay without optimisation, and where nine functions are too
// many to compare with.
// RUN: %reconverge cc -O0 --emit-device-bc %s -o slow.bc
// RUN: llvm-dis slow.bc -o - | FileCheck %s --check-prefix=SLOW
// SLOW-LABEL: define {{.*}} @_Z4eachPPK5ShapePi(
// SLOW-NOT: icmp eq ptr
// SLOW-LABEL: define
// RUN: %reconverge cc -DMANY --emit-device-bc %s -o many.bc
// RUN: llvm-dis many.bc -o - | FileCheck %s --check-prefix=MANY
// MANY-LABEL: define {{.*}} @_Z5tablePi(
// MANY-NOT: icmp eq ptr
// MANY: call {{.*}}i32 %
//
// What a lane does in such a call is known, so that remedies may move it.
// RUN: %reconverge optimize --device cpu %s --decisions d.json >out2 2>table
// RUN: diff out out2
// RUN: FileCheck %s --check-prefix=TRIED <table --implicit-check-not='a call through'
// TRIED: rounds
// TRIED: refill{{.*}}identical
#include <cstdio>

struct Shape {
  __device__ virtual int area(int I) const = 0;
};
struct Square : Shape {
  __device__ int area(int I) const override { return I; }
};
struct Bar : Shape {
  int More;
  __device__ Bar(int More) : More(More) {}
  __device__ int area(int I) const override { return I ^ More; }
};
/// A shape made of shapes, here of itself.
struct List : Shape {
  const Shape *First, *Rest;
  __device__ List(const Shape *First) : First(First), Rest(this) {}
  __device__ int area(int I) const override {
    return First->area(I) + (I > 1 ? Rest->area(I - 1) : 0);
  }
};

#ifdef BASE
struct Sized : virtual Square {
  int Size = 3;
};
__global__ void makeSized(const Shape **All) { All[2] = new Sized(); }
#endif

__global__ void make(const Shape **All) {
  All[0] = new Square();
  All[1] = new Bar(0);
  All[2] = new List(All[0]);
}

__global__ void each(const Shape **All, int *Out) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < 1000)
    Out[I] = All[I & 1]->area(I);
}

__device__ int twice(int X) { return 2 * X; }
__device__ int next(int X) { return X + 1; }
#ifdef MANY
template <int N> __device__ int add(int X) { return X + N; }
__device__ int (*const Table[])(int) = {twice,  next,   add<2>, add<3>, add<4>,
                                        add<5>, add<6>, add<7>, add<8>};
#else
__device__ int (*const Table[])(int) = {twice, next};
#endif

__global__ void table(int *Out) {
  const int I = threadIdx.x;
  Out[I] = Table[I & 1](10 + 11 * I);
}

__global__ void list(const Shape **All, int *Out) {
  Out[threadIdx.x] = All[2]->area(10);
}

/// As many calls as its number says.
__global__ void rounds(const Shape **All, const int *Wanted, int *Out, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  int Sum = 1;
  for (int R = 0; R < Wanted[I]; ++R)
    Sum = (Sum * 5 + All[(Sum >> 3 ^ R) & 1]->area(R)) & 0xffff;
  Out[I] = Sum;
}

int main() {
  constexpr int Threads = 1 << 16;
  const Shape **All;
  int *Out, *Wanted;
  cudaMallocManaged(&All, 3 * sizeof *All);
  cudaMallocManaged(&Out, Threads * sizeof *Out);
  cudaMallocManaged(&Wanted, Threads * sizeof *Wanted);
  make<<<1, 1>>>(All);
  each<<<8, 128>>>(All, Out);
  cudaDeviceSynchronize();
  int Sum = 0;
  for (int I = 0; I < 1000; ++I)
    Sum += Out[I];
  std::printf("each %d\n", Sum);
  table<<<1, 2>>>(Out);
  cudaDeviceSynchronize();
  std::printf("table %d %d\n", Out[0], Out[1]);
  list<<<1, 1>>>(All, Out);
  cudaDeviceSynchronize();
  std::printf("list %d\n", Out[0]);
  for (int I = 0; I < Threads; ++I)
    Wanted[I] = I * 2654435761u >> 26;
  rounds<<<Threads / 128, 128>>>(All, Wanted, Out, Threads);
  cudaDeviceSynchronize();
  unsigned Mixed = 0;
  for (int I = 0; I < Threads; ++I)
    Mixed = Mixed * 31 + Out[I];
  std::printf("rounds %u\n", Mixed);
  return 0;
}
