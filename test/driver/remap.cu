// REQUIRES: reconverge
//
// --remap, its remarks, and pragmas and attributes with it and without.
// RUN: %reconverge cc -I %source/include --remap -Rpass=reconverge-remap -Rpass-missed=reconverge-remap --emit-ptx %s -o %t.ptx 2>&1 | FileCheck %s
// RUN: %reconverge cc -I %source/include -Rpass=reconverge-remap --emit-ptx %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PRAGMA
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx --implicit-check-not=_Z7inlined
// PTX: .entry _Z5askedPi
// PTX: bar.red.popc
// PTX-NOT: bar.red.popc
// PTX: .entry _Z6markedPi
// PTX: bar.red.popc
//
// RUN: not %reconverge cc --remap=tread=1 -c %s 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: error: remapping has no parameter 'tread=1'
// SLIP-NEXT: threshold=
// RUN: not %reconverge optimize --remap %s -o %t 2>&1 | FileCheck %s --check-prefix=OPTIMIZE
// OPTIMIZE: optimize: --remap says what optimize is to find out
#include <reconverge/attributes.cuh>

__device__ int work(int x, int n) {
  for (int i = 0; i < n; ++i)
    x = x * x % 1000003 + i;
  return x;
}

// CHECK-DAG: remap.cu:[[#@LINE+4]]:{{[0-9]+}}: remark: remapped: {{.*}} threads (__launch_bounds__) [-Rpass=reconverge-remap]
// PRAGMA-NOT: remap.cu:[[#@LINE+3]]
__global__ void __launch_bounds__(256) unasked(int *p) {
  int x = p[threadIdx.x];
  if (x > 0)
    p[threadIdx.x] = work(x, p[0]);
  else
    p[threadIdx.x] = work(x, p[1]) % 7;
}

// CHECK-DAG: remap.cu:[[#@LINE+5]]:{{[0-9]+}}: remark: remapped:
// PRAGMA: remap.cu:[[#@LINE+4]]:{{[0-9]+}}: remark: remapped:
__global__ void asked(int *p) {
  int x = p[threadIdx.x];
#pragma reconverge remap
  if (x > 0)
    p[x] = p[p[threadIdx.x + 1]];
}

// CHECK-DAG: remap.cu:[[#@LINE+4]]:{{[0-9]+}}: remark: not remapped: the source forbids it [RC231] [-Rpass-missed=reconverge-remap]
__global__ void left_alone(int *p) {
  int x = p[threadIdx.x];
#pragma reconverge remap off
  if (x > 0)
    p[threadIdx.x] = work(x, p[0]);
}

// CHECK-DAG: remap.cu:[[#@LINE+3]]:{{[0-9]+}}: remark: not remapped: the source forbids it [RC231] [-Rpass-missed=reconverge-remap]
RECONVERGE_NO_REMAP __global__ void forbidden(int *p) {
  int x = p[threadIdx.x];
  if (x > 0)
    p[threadIdx.x] = work(x, p[0]);
}

// Of a device function, nothing is left but what was inlined.
// CHECK-DAG: remap.cu:[[#@LINE+3]]:{{[0-9]+}}: remark: remapped:
// PRAGMA: remap.cu:[[#@LINE+2]]:{{[0-9]+}}: remark: remapped:
RECONVERGE_REMAP __device__ void inlined(int *p, int x) {
  if (x > 0)
    p[threadIdx.x] = work(x, p[0]);
}
__global__ void marked(int *p) {
  inlined(p, p[threadIdx.x]);
  if (p[threadIdx.x] < 0)
    p[threadIdx.x] = work(p[threadIdx.x], p[2]);
}
int main() {}
