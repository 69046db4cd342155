// REQUIRES: reconverge
//
// Rounds must not let fewer blocks run at a time: `reconverge cc` has ptxas
// count the registers of each kernel before and after. On an sm_90, eight blocks
// of 256 threads have up to 32 a thread.
// RUN: %reconverge cc --remap -arch sm_90 -Rpass=reconverge-remap -Rpass-missed=reconverge-remap --emit-ptx %s -o %t.ptx 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx

__device__ float mix(float a, float b, int n) {
  for (int i = 0; i < n; ++i)
    a = a * b + 0.25f * a - b / (a + 2);
  return a;
}

// Eight paths take too many: the third branch has a round of its own, or each.
// CHECK: remap-registers.cu:[[#@LINE+4]]:{{.*}} remark: {{[0-9]+}} registers instead of {{[0-9]+}}, 8 blocks of 256 threads on a multiprocessor as before; at most {{[24]}} paths a round, for more take {{[0-9]+}} registers
// CHECK: remark: remapped:
// CHECK-NOT: 8 paths
// CHECK: remark: remapped:
__global__ void __launch_bounds__(256) fewer_paths(float *p, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = p[i], b = p[i + n], c = p[i + 2 * n];
  if (a > 0) b = mix(b, c, n); else b = mix(b, c, 7) * c;
  if (a > 1) c = mix(c, a, n); else c = mix(c, b, 8) - a;
  if (a > 2) c = mix(c, a, n) + b; else b = mix(b, c, 9) - c;
  p[i] = a;
  p[i + n] = b;
  p[i + 2 * n] = c;
}

#define TWELVE_CASES                                                           \
  case 0: b = mix(b, a, n); break;                                             \
  case 1: b = mix(b, a, 9) * a; break;                                         \
  case 2: b = mix(b, a, n) * b - a; break;                                     \
  case 3: b = mix(b, a, n) * 3; break;                                         \
  case 4: b = mix(b, a, n) / 5; break;                                         \
  case 5: b = mix(b, a, n) + 3; break;                                         \
  case 6: b = mix(b, a, 3 * n) / b; break;                                     \
  case 7: b = mix(b, a, 2 * n) / b + 1; break;                                 \
  case 8: b = mix(b, a, n) / 15; break;                                        \
  case 9: b = mix(b, a, n) + 13; break;                                        \
  case 10: b = mix(b, a, 3 * n) / (b + 1); break;                              \
  case 11: b = mix(b, a, 2 * n) / b + 3; break;

// The kernel is left as it was.
// CHECK: remap-registers.cu:[[#@LINE+6]]:{{.*}} remark: not remapped: its registers would let fewer blocks run at a time ({{[0-9]+}} registers instead of {{[0-9]+}}, {{[1-7]}} blocks of 256 threads on a multiprocessor instead of 8) [RC225]
// PTX: .entry _Z7refusedPfi
// PTX-NOT: bar.
__global__ void __launch_bounds__(256) refused(float *p, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = p[i], b = p[i + n];
  switch (int(a) & 15) { TWELVE_CASES }
  p[i] = b;
}

// A pragma pays, and a remark says what.
// CHECK: remap-registers.cu:[[#@LINE+4]]:{{.*}} remark: {{[0-9]+}} registers instead of {{[0-9]+}}, {{[1-7]}} blocks of 256 threads on a multiprocessor instead of 8
// CHECK: remark: remapped:
// PTX: .entry _Z5askedPfi
// PTX: bar.red.popc
__global__ void __launch_bounds__(256) asked(float *p, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float a = p[i], b = p[i + n];
#pragma reconverge remap
  switch (int(a) & 15) { TWELVE_CASES }
  p[i] = b;
}
int main() {}
