// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DEFINE: %{device} = clang -x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version --cuda-gpu-arch=sm_80 -fplugin=%pragmas
// DEFINE: %{optimise} = %{device} -O2 -S -emit-llvm -fpass-plugin=%plugin
//
// #pragma reconverge remap in stock clang: the branch after it is remapped, and
// nothing else is touched.
// RUN: %{optimise} -Wall -Werror -gline-tables-only %s -o - | FileCheck %s
//
// Host code gets no warning.
// RUN: clang -x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version -Wall -Werror -fsyntax-only %s -fplugin=%pragmas
//
// A pragma that no branch comes of is an error, and so is one without lines.
// RUN: not %{optimise} -gline-tables-only -DGONE %s -o - 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not %{optimise} %s -o - 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: pragmas.cu:[[#]]: no branch is left of the statement after this pragma{{.*}}(-gline-tables-only)
//
// So is one that is written wrongly, or stands elsewhere.
// RUN: not %{device} -DWRONG -fsyntax-only %s 2>&1 | FileCheck %s --check-prefix=WRONG
//
// What a pragma asks for and does not get is a warning.
// RUN: %{optimise} -gline-tables-only -DWARP %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=WARP
// So is a remedy for which launches would change.
// RUN: %{optimise} -gline-tables-only -DLAUNCH %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=LAUNCH
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define REMAP _Pragma("reconverge remap algorithm(warp_aggregated)")
extern "C" __device__ int __nvvm_read_ptx_sreg_tid_x();

// The variable that hands the pragmas over is gone.
// CHECK-NOT: __reconverge_pragmas
// CHECK: @__reconverge_words__Z3onePi

// CHECK-LABEL: @_Z3onePi(
// CHECK: [[MIXED:%.*]] = {{.*}}call i32 @llvm.nvvm.barrier0.popc
// CHECK: icmp ugt i32 [[MIXED]], 1
__global__ void one(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  int x = p[i];
#pragma reconverge remap
  // This may stand between.

  if (x > 0 && // a branch for each: the first is enough
      p[x] != 77)
    p[i] = x * p[x];
}

// CHECK-LABEL: @_Z5macroPi(
// CHECK: [[MIXED:%.*]] = {{.*}}call i32 @llvm.nvvm.barrier0.popc
// CHECK: icmp ugt i32 [[MIXED]], 0
__global__ void macro(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  REMAP switch (p[i]) {
  case 1: p[i] = p[i + 1] * 3; break;
  case 2: p[i] = p[i + 2] * p[i]; break;
  case 7: p[i + 3] /= 7; break;
  }
}

// CHECK-LABEL: @_Z7unaskedPi(
// CHECK-NOT: barrier0
// CHECK: ret void
__global__ void unasked(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
#pragma reconverge remap off
  if (p[i] > 0)
    p[i] = p[p[i]];
}

#ifdef GONE
__global__ void gone(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
// GONE: pragmas.cu:[[#@LINE+1]]: no branch is left of the statement after this pragma
#pragma reconverge remap
  if (i & 1)
    ++i;
  p[i] = i;
}
#endif

#ifdef WRONG
#define MISSPELT _Pragma("reconverge remap algorithm(first)")
__global__ void wrong(int *p) {
// WRONG: [[#@LINE+1]]:36: error: there is no algorithm 'warp_agregated'; write one of automatic, {{.*}}
#pragma reconverge remap algorithm(warp_agregated)
  if (*p)
    ++*p;
// WRONG: [[#@LINE+1]]:3: error: there is no algorithm 'first'
  MISSPELT if (*p)
    ++*p;
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy> [<parameter>(<value>)] [off]; remap takes algorithm(automatic, {{.*}}
#pragma reconverge remap sideways
  if (*p)
    ++*p;
// WRONG: [[#@LINE+1]]:1: error: write #pragma reconverge <remedy> [<parameter>(<value>)] [off]; there is no 'remapp', but remap, refill, {{.*}}collect
#pragma reconverge remapp
  if (*p)
    ++*p;
// WRONG: [[#@LINE+1]]:1: error: #pragma reconverge remap must come right before one of these: if, switch
#pragma reconverge remap
  ++*p;
}
#endif

#ifdef LAUNCH
// LAUNCH: warning: the source asks for refill, which changes launches: only `reconverge cc` can do that
__global__ void launch(int *p) {
#pragma reconverge refill
  while (*p > p[__nvvm_read_ptx_sreg_tid_x()])
    ++*p;
}
#endif

#ifdef WARP
extern "C" __device__ void __nvvm_bar_warp_sync(unsigned);
__global__ void warp(int *p) {
  int i = __nvvm_read_ptx_sreg_tid_x();
// WARP: pragmas.cu:[[#@LINE+2]]:{{.*}} warning: not remapped, which a pragma asks for: code after the branch depends on its warp or lane (llvm.nvvm.bar.warp.sync) [RC211]
#pragma reconverge remap
  if (p[i] > 0)
    p[i] = p[p[i]];
  __nvvm_bar_warp_sync(~0u);
}
#endif
