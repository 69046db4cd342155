// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DEFINE: %{device} = clang -x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version --cuda-gpu-arch=sm_80 -I %source/include
// DEFINE: %{optimise} = %{device} -O2 -S -emit-llvm -fpass-plugin=%plugin
//
// RECONVERGE_REMAP and RECONVERGE_NO_REMAP in stock clang.
// RUN: %{optimise} -Wall -Werror -gline-tables-only %s -o - | FileCheck %s
// RUN: clang -x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version -I %source/include -Wall -Werror -fsyntax-only %s
//
// What is forbidden stays when the pass is asked for.
// RUN: %{optimise} -Xclang -load -Xclang %plugin -mllvm -reconverge-remap -Rpass-missed=reconverge-remap -gline-tables-only %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=ALL
//
// Without line numbers a kernel's attribute is enough, and a device function's
// is an error.
// RUN: %{optimise} -DKERNELS %s -o - | FileCheck %s --check-prefix=KERNELS
// RUN: not %{optimise} %s -o - 2>&1 | FileCheck %s --check-prefix=LINES
//
// What cannot be is an error.
// RUN: not %{optimise} -DKERNELS -DWORD %s -o - 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not %{optimise} -DKERNELS -DNAME %s -o - 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %{optimise} -DKERNELS -DPLACE %s -o - 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not %{optimise} -DKERNELS -DBOTH %s -o - 2>&1 | FileCheck %s --check-prefix=BOTH
#include <reconverge/attributes.cuh>
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
extern "C" __device__ int __nvvm_read_ptx_sreg_tid_x();

// What others annotate is left to them.
// CHECK: @llvm.global.annotations = appending global [1 x
// CHECK-SAME: @_Z7anotherPi
__global__ __attribute__((annotate("reconvergence"))) void another(int *p) {
  *p = 0;
}

__device__ int work(int x, int n) {
  for (int i = 0; i < n; ++i)
    x = x * x % 1000003 + i * x + x % 77 + (x >> i) * n;
  return x;
}

// CHECK-LABEL: @_Z6markedPi(
// CHECK: call i32 @llvm.nvvm.barrier0.popc
// CHECK-NOT: call i32 @llvm.nvvm.barrier0.popc
// CHECK: ret void
// KERNELS-LABEL: @_Z6markedPi(
// KERNELS: call i32 @llvm.nvvm.barrier0.popc
RECONVERGE_REMAP __global__ void marked(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  int x = p[i];
  if (x > 0)
    x = work(x, p[77]);
  p[i] = x;
  if (p[x] < 0) // too little
    p[i] = p[x] * 9;
}

// CHECK-LABEL: @_Z9forbiddenPi(
// CHECK-NOT: barrier0
// CHECK: ret void
// ALL: attributes.cu:[[#@LINE+3]]:{{.*}} not remapped: the source forbids it [RC231]
RECONVERGE_NO_REMAP __global__ void forbidden(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  if (p[i] > 0)
    p[i] = work(p[i], p[77]);
}

// CHECK-LABEL: @_Z7unaskedPi(
// CHECK-NOT: barrier0
// CHECK: ret void
__global__ void unasked(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  if (p[i] > 0)
    p[i] = work(p[i], p[77]);
}

#ifndef KERNELS
// A device function's attribute is about its code, wherever that is inlined.
// LINES: attributes.cu:[[#@LINE+2]]: the branches of device function 'inner(int*, int)' cannot be found without line numbers
// LINES-NEXT: Compile with -gline-tables-only, or give the attribute to kernels.
RECONVERGE_REMAP __device__ void inner(int *p, int i) {
  if (p[i] > 0)
    p[i] = work(p[i], p[77]);
}
RECONVERGE_NO_REMAP __device__ void not_here(int *p, int i) {
  if (p[i] > 0)
    p[i] = work(p[i], p[77]);
}
// CHECK-LABEL: @_Z5outerPi(
// CHECK: call i32 @llvm.nvvm.barrier0.popc
// CHECK-NOT: call i32 @llvm.nvvm.barrier0.popc
// CHECK: ret void
__global__ void outer(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  if (p[i] > 3)
    p[i] = work(p[i], p[76]);
  inner(p, i);
}
// The innermost one holds.
// CHECK-LABEL: @_Z9otherwisePi(
// CHECK-NOT: barrier0
// CHECK: ret void
RECONVERGE_REMAP __global__ void otherwise(int *p) {
  not_here(p, __nvvm_read_ptx_sreg_tid_x());
}
#endif

#ifdef WORD
// WORD: attributes.cu:[[#@LINE+2]]: there is no attribute "reconverge remap sideways"
// WORD-NEXT: Write one of reconverge/attributes.cuh, or annotate("reconverge <remedy>
__global__ __attribute__((annotate("reconverge remap sideways"))) void f() {}
#endif
#ifdef NAME
// NAME: attributes.cu:[[#@LINE+2]]: there is no algorithm 'sort'
// NAME-NEXT: The values are automatic, warp_aggregated
__global__ __attribute__((annotate("reconverge remap algorithm(sort)"))) void f() {}
#endif
#ifdef PLACE
// PLACE: attributes.cu:[[#@LINE+1]]: only kernels and device functions have branches
__device__ RECONVERGE_REMAP int Variable;
#endif
#ifdef BOTH
// BOTH: attributes.cu:[[#@LINE+1]]: 'f()' has another attribute, at {{.*}}attributes.cu:[[#@LINE+1]]
RECONVERGE_REMAP RECONVERGE_NO_REMAP __global__ void f() {}
#endif
