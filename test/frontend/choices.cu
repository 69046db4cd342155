// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// The two least of four: selects, though floats are compared.
// CHECK-LABEL: .entry least(
// CHECK-NOT: bra
// CHECK: ret;
extern "C" __global__ void least(const float *p, float *q) {
  float a = 1000, b = 1000;
  int at = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float x = p[i];
    if (x < a) {
      b = a;
      a = x;
      at = i;
    } else if (x < b) {
      b = x;
    }
  }
  q[0] = a;
  q[1] = b;
  q[2] = at;
}

// An arm that does something, or much, is jumped over.
// CHECK-LABEL: .entry effect(
// CHECK: bra
// CHECK: st.global
// CHECK: ret;
extern "C" __global__ void effect(const float *p, float *q) {
  if (*p < 1)
    *q = 2;
}
// CHECK-LABEL: .entry much(
// CHECK: bra
// CHECK: ret;
extern "C" __global__ void much(const float *p, float *q) {
  float x = *p;
  if (x < 1)
    x = ((((x * x + 2) * x + 3) * x + 4) * x + 5) * x * x * x + x * 7 + 8;
  *q = x;
}

// Counted on the way on alone: one addition of one, no choice before the branch.
// CHECK-LABEL: .entry steps(
// CHECK: setp.ge.f32
// CHECK-NOT: selp
// CHECK: bra
// CHECK: add.s32 {{%r[0-9]+}}, {{%r[0-9]+}}, 1;
// CHECK: ret;
extern "C" __global__ void steps(const float *c, int limit, int *out) {
  float x = *c;
  int count = 0;
  for (int i = 0; i < limit; ++i) {
    float square = x * x;
    if (square >= 4)
      break;
    x = square + *c;
    count++;
  }
  *out = count;
}

// IEEE divisions are branched around, ...
// CHECK-LABEL: .entry divided(
// CHECK: bra
// CHECK: div.rn.f32
// CHECK-NOT: selp
// CHECK: ret;
extern "C" __global__ void divided(float *p, int k) {
  float x = *p;
  if (k > 1)
    x /= k;
  *p = x;
}

// ... those by a constant power of two are products.
// CHECK-LABEL: .entry halved(
// CHECK-NOT: bra
// CHECK: selp
// CHECK: ret;
extern "C" __global__ void halved(float *p, int k) {
  float x = *p;
  if (k > 1)
    x /= 2;
  *p = x;
}
