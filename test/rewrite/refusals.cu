// REQUIRES: reconverge
//
// What is not written, by name and place, and nothing else is touched. Each
// kernel's branch is legal for the pass.
// RUN: %reconverge rewrite --meld -I %source/include -std=c++17 %s -o %t.cu 2>&1 | FileCheck %s
// RUN: diff %s %t.cu
// RUN: %reconverge rewrite -I %source/include -std=c++17 --diff %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: @@
//
// CHECK-NOT: has a round
#include "Inputs/header.cuh"
#include <reconverge/attributes.cuh>
#include <reconverge/block/block_remap.cuh>

__device__ float one(float x) {
  for (int k = 0; k < 100; ++k)
    x = sqrtf(x) / 3 + x * x;
  return x;
}
__device__ float other(float x) {
  for (int k = 0; k < 100; ++k)
    x = x / 7 - sqrtf(x) * x;
  return x;
}

// CHECK-DAG: header.cuh:3:{{[0-9]+}}: not rewritten: the kernel is in another file [RC1102]

#define BRANCH(C, A, B) if (C) A; else B
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: the code to change is written in a macro [RC1101]
RECONVERGE_REMAP __global__ void in_macro(const float *in, float *out) {
  const int i = threadIdx.x;
  BRANCH(in[i] > 0, out[i] = one(in[i]), out[i] = other(in[i]));
}

#define SELF threadIdx.x
// CHECK-DAG: refusals.cu:[[#@LINE+7]]:{{[0-9]+}}: not rewritten: the code to change is written in a macro (threadIdx) [RC1101]
__global__ void thread_in_macro(const float *in, float *out) {
  const float x = in[threadIdx.x];
#pragma reconverge remap
  if (x > 0)
    out[threadIdx.x] = one(x);
  else
    out[SELF] = other(x);
}

// CHECK-DAG: refusals.cu:[[#@LINE+1]]:{{[0-9]+}}: not rewritten: the kernel has code under #if [RC1103]
__global__ void by_architecture(const float *in, float *out) {
  const int i = threadIdx.x;
#if __CUDA_ARCH__ >= 800
  const float x = in[i];
#else
  const float x = in[i + 1];
#endif
#pragma reconverge remap
  if (x > 0)
    out[i] = one(x);
  else
    out[i] = other(x);
}

// An instance has what is too large to be exchanged.
struct Three {
  float of[5];
  __device__ Three &operator+=(float x) {
    of[0] += x;
    return *this;
  }
  __device__ operator float() const { return of[0]; }
};
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: instances of the template would be changed in different ways [RC1104]
template <typename T>
__global__ void
instances(const T *in, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    return;
  T x = in[i];
  x += 1;
#pragma reconverge remap
  if (x > 0)
    out[i] = one(x);
  else
    out[i] = other(x);
}
template __global__ void instances<float>(const float *, float *, int);
template __global__ void instances<Three>(const Three *, float *, int);

// A type that follows from what is declared behind the first way out.
// CHECK-DAG: refusals.cu:[[#@LINE+7]]:{{[0-9]+}}: not rewritten: instances of the template would be changed in different ways (x) [RC1104]
template <typename T>
__global__ void dependent(const T *in, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    return;
  const T &at = in[i];
  const auto x = at;
#pragma reconverge remap
  if (x > 0)
    out[i] = one(x);
  else
    out[i] = other(x);
}
template __global__ void dependent<float>(const float *, float *, int);

// CHECK-DAG: refusals.cu:[[#@LINE+2]]:{{[0-9]+}}: not rewritten: two statements are on one line [RC1106]
RECONVERGE_REMAP __global__ void one_line(const float *in, float *out) {
  const int i = threadIdx.x; if (in[i] > 0) out[i] = one(in[i]); else out[i] = other(in[i]);
}

// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: the branch is nested in other statements [RC1111]
__global__ void nested(const float *in, float *out, int n) {
  const int i = threadIdx.x;
  const float x = in[i];
  if (n > 3) {
#pragma reconverge remap
    if (x > 0)
      out[i] = one(x);
    else
      out[i] = other(x);
  }
  out[i + n] = x;
}

// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: the loop carries a thread's own values from one iteration to the next (sum) [RC1116]
__global__ void carries(const float *in, float *out, int n) {
  const int i = threadIdx.x;
  float sum = in[i];
  for (int t = 0; t < n; ++t) {
    const float x = in[i + t * 256];
#pragma reconverge remap
    if (x > 0)
      sum += one(x);
    else
      sum += other(x);
  }
  out[i] = sum;
}

__device__ float by_local(const float *in, int i) {
  const float twice = in[i] * 2;
  if (twice > 0)
    return one(twice);
  return other(twice);
}
// CHECK-DAG: refusals.cu:[[#@LINE-4]]:{{[0-9]+}}: not rewritten: the condition cannot be computed before its statement [RC1112]
RECONVERGE_REMAP __global__ void calls(const float *in, float *out) {
  const int i = threadIdx.x;
  out[i] = by_local(in, i);
}

// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: threads leave the kernel in a way that cannot be brought along [RC1113]
__global__ void leaves(const float *in, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    goto end;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
end:;
}

// A return in a macro's text.
#define LEAVE_IF(C) if (C) return;
// CHECK-DAG: refusals.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: the code to change is written in a macro [RC1101]
__global__ void leaves_in_macro(const float *in, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    return;
  LEAVE_IF(in[i] == 7)
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

#define CASES(N) \
  case N: out[i] = one(N); break; \
  case N + 1: out[i] = other(N); break; \
  case N + 2: out[i + 1] = one(N); break; \
  case N + 3: out[i + 2] = other(N); break;
// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: the branch has more than 31 ways [RC1115]
__global__ void ways(const int *in, float *out) {
  const int i = threadIdx.x;
#pragma reconverge remap
  switch (in[i] & 31) {
    CASES(0)
    CASES(4)
    CASES(8)
    CASES(12)
    CASES(16)
    CASES(20)
    CASES(24)
    CASES(28)
  }
}

// CHECK-DAG: refusals.cu:[[#@LINE+7]]:{{[0-9]+}}: not rewritten: how large blocks are is not known, and there is too little shared memory for 1024 threads [RC1118]
__global__ void large(const double *in, double *out) {
  const int i = threadIdx.x;
  const double a = in[i], b = in[i + 1024], c = in[i + 2048];
  const double d = in[i + 3072], e = in[i + 4096], f = in[i + 5120];
  const double x = in[i + 6144];
#pragma reconverge remap
  if (x > 0)
    out[i] = one(a + b * c - d / e * f);
  else
    out[i] = other(a - b + c * d / f * e);
}

// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: an array of the thread's own is in use across the branch (pair) [RC1121]
__global__ void array(const float *in, float *out) {
  const int i = threadIdx.x;
  const float pair[2] = {in[i], in[i + 256]};
#pragma reconverge remap
  if (pair[0] > 0)
    out[i] = one(pair[1]);
  else
    out[i] = other(pair[0]);
}

// CHECK-DAG: refusals.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: a pointer to a variable of the thread's own is in use across the branch (p) [RC1122]
__global__ void pointer(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = in[i];
  const float y = in[i + 256];
  float *p = &x;
#pragma reconverge remap
  if (y > 0)
    out[i] = one(*p);
  else
    out[i] = other(*p);
}

// A pointer to one of two variables, which is chosen later.
// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: a pointer to a variable of the thread's own is in use across the branch (p) [RC1122]
__global__ void pointer_later(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = in[i], y = in[i + 256];
  float *p;
  p = in[i + 512] > 0 ? &x : &y;
  *p += 1;
#pragma reconverge remap
  if (y > 0)
    *p += one(x);
  else
    *p -= other(y);
  out[i] = x - y;
}

// It is found by what changes afterwards.
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: a reference to a value that moves is in use across the branch (to) [RC1123]
__global__ void reference_of_before(const float *in, float *out) {
  int i = threadIdx.x;
  float &to = out[i];
  i += 256;
#pragma reconverge remap
  if (in[i] > 0)
    to = one(i);
  else
    to = other(i);
}

// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: a reference to a value that moves is in use across the branch (r) [RC1123]
__global__ void reference(const float *in, float *out) {
  const int i = threadIdx.x;
  const float x = in[i];
  const float &r = x;
#pragma reconverge remap
  if (in[i + 256] > 0)
    out[i] = one(r);
  else
    out[i] = other(r);
}

struct Pair {
  float first, second;
};
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: a structured binding is in use across the branch [RC1124]
__global__ void binding(const Pair *in, float *out) {
  const int i = threadIdx.x;
  auto [x, y] = in[i];
  x += y;
#pragma reconverge remap
  if (x > 0)
    out[i] = one(y);
  else
    out[i] = other(y);
}

struct Wide {
  double a, b, c;
  __device__ Wide(const double *p, double *q) : a(p[0]), b(p[1]), c(p[2]) {
    *q = a;
  }
};
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: a value that cannot be exchanged is in use across the branch (w) [RC1125]
__global__ void wide(const double *in, double *out) {
  const int i = threadIdx.x;
  Wide w(in + 3 * i, out + 256 + i);
#pragma reconverge remap
  if (w.a > 0)
    out[i] = one(w.b);
  else
    out[i] = other(w.c);
}
// What it was read from is written then.
// CHECK-DAG: refusals.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: a value that cannot be exchanged is in use across the branch (t) [RC1125]
__global__ void read_before(Three *all, float *out, int n) {
  const int i = threadIdx.x;
  if (i >= n)
    return;
  const Three t = all[i];
  all[i].of[1] = 7;
#pragma reconverge remap
  if (t.of[0] > 0)
    out[i] = one(t.of[1]);
  else
    out[i] = other(t.of[1]);
}
// A closure has a copy of what has changed since.
// CHECK-DAG: refusals.cu:[[#@LINE+4]]:{{[0-9]+}}: not rewritten: a value that cannot be exchanged is in use across the branch (add) [RC1125]
__global__ void closure(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = in[i];
  const auto add = [x](float y) { return x + y; };
  x += 1;
#pragma reconverge remap
  if (x > 0)
    out[i] = add(one(x));
  else
    out[i] = add(other(x));
}

using Fixed = const int;
// CHECK-DAG: refusals.cu:[[#@LINE+2]]:{{[0-9]+}}: not rewritten: a const cannot be taken from a declaration (i) [RC1126]
__global__ void fixed(const float *in, float *out) {
  Fixed i = threadIdx.x;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}

__device__ void put(float *out, float x) { out[threadIdx.x] = x; }
// CHECK-DAG: refusals.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: a function called after the branch asks which thread it is (put) [RC1127]
__global__ void asks(const float *in, float *out) {
  const float x = in[threadIdx.x];
#pragma reconverge remap
  if (x > 0)
    put(out, one(x));
  else
    put(out, other(x));
}

// CHECK-DAG: refusals.cu:[[#@LINE+5]]:{{[0-9]+}}: not rewritten: the kernel has a round already, or gets one now [RC1117]
__global__ void by_hand(const float *in, float *out) {
  using remap_t = reconverge::block_remap<128>;
  __shared__ remap_t::temp_storage storage;
  const float x = in[threadIdx.x];
  remap_t remap(storage, threadIdx.x, blockDim.x);
  const auto to = remap(x > 2);
  const float y = in[to.id];
#pragma reconverge remap
  if (y > 0)
    out[to.id] = one(y);
  else
    out[to.id] = other(y);
}

__device__ int many(const float *in, int i) {
  int sum = 0;
  for (int k = 0; k < int(in[i]); ++k)
    sum += int(one(k)) ^ k;
  return sum;
}
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: what differs is how often a loop runs [RC1119]
RECONVERGE_REMAP __global__ void trips(const float *in, int *out) {
  const int i = threadIdx.x;
  out[i] = many(in, i);
}
// CHECK-DAG: refusals.cu:[[#@LINE+3]]:{{[0-9]+}}: not rewritten: what differs is how often a loop runs [RC1119]
RECONVERGE_REMAP __global__ void steps(const int *in, int *out) {
  int n = in[threadIdx.x], k = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++k;
  }
  out[threadIdx.x] = k;
}

// CHECK-DAG: refusals.cu: not rewritten: this remedy is no patch to the source (refill: build by `reconverge cc`, or by hand: block_collect by the number of trips) [RC1131]
// CHECK-DAG: refusals.cu: not rewritten: this remedy is no patch to the source (meld: build by `reconverge cc --meld`) [RC1131]
__global__ void refilled(const float *in, float *out) {
  float x = in[threadIdx.x];
#pragma reconverge refill
  while (x > 1)
    x = one(x);
  out[threadIdx.x] = x;
}

// CHECK-DAG: refusals.cu:{{[0-9]+}}:{{[0-9]+}}: not rewritten: the branch cannot be found in the source [RC1105]
#line 10000
__global__ void moved_lines(const float *in, float *out) {
  const int i = threadIdx.x;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = other(in[i]);
}
