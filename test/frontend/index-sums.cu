// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// What stays the same in the loop is added once, in 64 bits; the next address is
// a step from this one, and no index is extended on the way.
// CHECK-LABEL: .entry planes(
// CHECK: ld.global.nc.f64 {{%fd[0-9]+}}, {{\[}}[[P:%rd[0-9]+]]{{\]}};
// CHECK-NOT: mul.wide
// CHECK: add.s64 [[P1:%rd[0-9]+]], [[P]], [[STEP:%rd[0-9]+]];
// CHECK-NEXT: ld.global.nc.f64 {{%fd[0-9]+}}, {{\[}}[[P1]]{{\]}};
// CHECK: add.s64 {{%rd[0-9]+}}, {{%rd[0-9]+}}, [[STEP]];
// CHECK: ret;
extern "C" __global__ void planes(const double *__restrict__ t, double *out,
                                  int a, int f, int rows, int columns, int n) {
  int b = threadIdx.x;
  double sum = 0;
  for (int c = 0; c < n; ++c)
    sum += t[a * rows + b * n + c * columns + f];
  out[b] = sum;
}

// Also where an outer loop changes a term.
// CHECK-LABEL: .entry nest(
// CHECK: ld.global.nc.f64 {{%fd[0-9]+}}, {{\[}}[[Q:%rd[0-9]+]]{{\]}};
// CHECK-NOT: mul.wide
// CHECK: add.s64 [[Q1:%rd[0-9]+]], [[Q]], [[BY:%rd[0-9]+]];
// CHECK-NEXT: ld.global.nc.f64 {{%fd[0-9]+}}, {{\[}}[[Q1]]{{\]}};
// CHECK: ret;
extern "C" __global__ void nest(const double *__restrict__ t, double *out, int f,
                                int rows, int columns, int n) {
  double sum = 0;
  for (int b = 0; b < n; ++b)
    for (int c = 0; c < n; ++c)
      sum += t[b * rows + c * columns + f];
  out[threadIdx.x] = sum;
}

// One index of two arrays is one register for both.
// CHECK-LABEL: .entry both(
// CHECK: mul.wide.s32 [[AT:%rd[0-9]+]], {{%r[0-9]+}}, 8;
// CHECK: add.s64 {{%rd[0-9]+}}, {{%rd[0-9]+}}, [[AT]];
// CHECK: add.s64 {{%rd[0-9]+}}, {{%rd[0-9]+}}, [[AT]];
// CHECK: ret;
extern "C" __global__ void both(const double *__restrict__ s,
                                const double *__restrict__ t, double *out, int a,
                                int rows, int columns, int n, int f) {
  double sum = 0;
  for (int c = 0; c < n; ++c) {
    int i = a * rows + c * columns + f;
    sum += s[i] * t[i];
  }
  out[threadIdx.x] = sum;
}

// Unsigned sums may wrap.
// CHECK-LABEL: .entry wraps(
// CHECK: mul.wide.u32 {{%rd[0-9]+}}, {{%r[0-9]+}}, 8;
// CHECK: ld.global.nc.f64
// CHECK: mul.wide.u32 {{%rd[0-9]+}}, {{%r[0-9]+}}, 8;
// CHECK: ld.global.nc.f64
// CHECK: ret;
extern "C" __global__ void wraps(const double *__restrict__ t, double *out,
                                 unsigned a, unsigned f, unsigned rows,
                                 unsigned columns, unsigned n) {
  double sum = 0;
  for (unsigned c = 0; c < n; ++c)
    sum += t[a * rows + c * columns + f];
  out[threadIdx.x] = sum;
}

// Addresses of shared memory have 32 bits.
// CHECK-LABEL: .entry shared(
// CHECK: bar.sync
// CHECK: mul.wide.s32
// CHECK: ld.shared.f64
// CHECK: mul.wide.s32
// CHECK: ld.shared.f64
// CHECK: ret;
extern "C" __global__ void shared(double *out, int a, int f, int rows,
                                  int columns, int n) {
  extern __shared__ double s[];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  double sum = 0;
  for (int c = 0; c < n; ++c)
    sum += s[a * rows + c * columns + f];
  out[threadIdx.x] = sum;
}

// Also of four bytes each.
// CHECK-LABEL: .entry words(
// CHECK: ld.global.nc.f32 {{%f[0-9]+}}, {{\[}}[[W:%rd[0-9]+]]{{\]}};
// CHECK-NOT: mul.wide
// CHECK: add.s64 [[W1:%rd[0-9]+]], [[W]], {{%rd[0-9]+}};
// CHECK-NEXT: ld.global.nc.f32 {{%f[0-9]+}}, {{\[}}[[W1]]{{\]}};
// CHECK: ret;
extern "C" __global__ void words(const float *__restrict__ t, float *out, int a,
                                 int f, int rows, int columns, int n) {
  int b = threadIdx.x;
  float sum = 0;
  for (int c = 0; c < n; ++c)
    sum += t[a * rows + b * n + c * columns + f];
  out[b] = sum;
}

// A product alone: the row in which a place is looked up.
// CHECK-LABEL: .entry lookup(
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[AT:%rd[0-9]+]]+-4{{\]}};
// CHECK: mul.wide.s32
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[AT]]{{\]}};
// CHECK: ret;
extern "C" __global__ void lookup(const int *__restrict__ t,
                                  const int *__restrict__ at, int *out, int cells,
                                  int n) {
  int sum = 0;
  for (int a = 0; a < n; ++a) {
    const int *row = t + a * cells + at[a];
    sum = sum * 5 + row[0];
  }
  out[threadIdx.x] = sum;
}

// Looking back: a - (k + 1) becomes a + ~k, of which nobody knows whether it wraps.
// CHECK-LABEL: .entry back(
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[B:%rd[0-9]+]]{{\]}};
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[B]]+-4{{\]}};
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[B]]+-8{{\]}};
// CHECK: ret;
extern "C" __global__ void back(const int *__restrict__ t, int *out, int a) {
  int sum = 0;
  for (int k = 0; k < 48; ++k)
    sum = sum * 5 + t[a - k] / a;
  out[threadIdx.x] = sum;
}

// A window of several arrays: each has one address in a row of it.
// CHECK-LABEL: .entry window(
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[S:%rd[0-9]+]]{{[+0-9-]*}}{{\]}};
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[T:%rd[0-9]+]]{{[+0-9-]*}}{{\]}};
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[S]]{{[+0-9-]*}}{{\]}};
// CHECK-NOT: mul.wide
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[T]]{{[+0-9-]*}}{{\]}};
// CHECK: ret;
extern "C" __global__ void window(const int *__restrict__ s,
                                  const int *__restrict__ t, int *out, int x,
                                  int y, int side, int first) {
  int sum = 0;
#pragma unroll 1
  for (int v = y - 2; v <= y + 2; ++v)
#pragma unroll
    for (int u = x - 1; u <= x + 1; ++u)
      if (s[first + (v * side + u)] == y)
        sum = sum * 5 + t[first + (v * side + u)];
  out[threadIdx.x] = sum;
}
