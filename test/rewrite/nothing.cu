// REQUIRES: reconverge
//
// Where there is nothing to write, a line says why, and the source stays.
// RUN: cp %s %t.cu
// RUN: %reconverge rewrite --in-place %t.cu 2>&1 | FileCheck %s --check-prefix=UNASKED
// UNASKED: nothing.cu.tmp.cu: nothing to rewrite: no pragma, attribute, decision, --remap or --collect asks for it
// RUN: %reconverge rewrite --in-place --remap %t.cu 2>&1 | FileCheck %s
// CHECK: nothing.cu.tmp.cu: nothing to rewrite: no kernel has a branch at which threads part
// RUN: diff %s %t.cu
// RUN: echo '// no code' > %t.empty.cu
// RUN: %reconverge rewrite --remap %t.empty.cu 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: nothing.cu.tmp.empty.cu: nothing to rewrite: no kernel has a branch at which threads part
//
// What cannot be done at all ends with 2, and says what to do.
// RUN: not %reconverge rewrite %t.none.cu 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: no such file: {{.*}}nothing.cu.tmp.none.cu
// RUN: not %reconverge rewrite --diff --in-place %t.cu 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: rewrite: more than one of --diff, --in-place and -o
// TWICE-NEXT: Say once where the text goes.
// RUN: not %reconverge rewrite --remap=threds=4 %t.cu 2>&1 | FileCheck %s --check-prefix=PARAMETER
// PARAMETER: error: remapping has no parameter 'threds=4'
// RUN: not %reconverge rewrite --remap --kernel=nobody %t.cu 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: --kernel=nobody: {{.*}} has no such kernel
// RUN: not %reconverge rewrite --decisions %t.cu %t.cu 2>&1 | FileCheck %s --check-prefix=DECISIONS
// DECISIONS: error: {{.*}}nothing.cu.tmp.cu:1:1: not valid JSON
// RUN: not %reconverge rewrite %t.cu -o %t.none/out.cu 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: cannot write '{{.*}}out.cu'

__global__ void step(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}
