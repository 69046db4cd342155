// __cluster_dims__ and __maxnreg__, which clang 19 would ignore with a warning,
// mean what they mean to nvcc.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -Werror -arch=sm_90 --emit-ptx %s -o - | FileCheck %s
// RUN: %reconverge cc -Werror -arch=sm_80 --emit-ptx %s -o - \
// RUN:   | FileCheck %s --check-prefix=OLD
// RUN: %reconverge cc -Werror -arch=sm_90 -c %s -o %t.o
// RUN: not %reconverge cc -DWRONG -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR

// OLD-NOT: cluster

#ifndef WRONG
// CHECK-LABEL: .entry _Z6inTwosPi(
// CHECK: )
// CHECK-NEXT: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 2, 1, 1
// CHECK: {
__global__ void __cluster_dims__(2) inTwos(int *Data) { Data[blockIdx.x] = 1; }

// CHECK-LABEL: .entry _Z13withBoundsTooPi(
// CHECK: .reqnctapercluster 1, 2, 2
// CHECK: .maxntid 128
__global__ void __cluster_dims__(1, 2, 2) __launch_bounds__(128)
    withBoundsToo(int *Data) {
  Data[blockIdx.x] = 1;
}

// CHECK-LABEL: .entry _Z7limitedPi(
// CHECK: .maxnreg 64
constexpr int Most = 64;
__global__ void __maxnreg__(Most) limited(int *Data) { Data[blockIdx.x] = 1; }

// Without either.
// CHECK-LABEL: .entry _Z5plainPi(
// CHECK-NOT: .reqnctapercluster
// CHECK-NOT: .maxnreg
__global__ void plain(int *Data) { Data[blockIdx.x] = 1; }

// The argument of a template, and another annotation beside it.
// CHECK-LABEL: .entry _Z2ofILi4EEvPi(
// CHECK: .reqnctapercluster 4, 1, 1
template <int Size>
__global__ void __cluster_dims__(Size, 1, Size / 4) of(int *Data) {
  Data[blockIdx.x] = Size;
}
template __global__ void of<4>(int *);
#else
int Variable = 3;
// ERROR: kernel-words.cu:[[#@LINE+2]]:{{.*}}: error: 'cluster_dims' needs
// ERROR-SAME: positive constants
__global__ void __cluster_dims__(0, 1, 1) none(int *Data) {}
// ERROR: kernel-words.cu:[[#@LINE+2]]:{{.*}}: error: 'maxnreg' needs
// ERROR-SAME: positive constants
__global__ void __maxnreg__(Variable) some(int *Data) {}
#endif
