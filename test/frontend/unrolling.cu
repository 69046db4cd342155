// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// A few iterations that may end early: the eight loads stand in a row of
// blocks, and no branch goes back.
// CHECK-LABEL: define {{.*}}void @few(
// CHECK-COUNT-8: load i32
// CHECK-NOT: load i32
// CHECK-NOT: llvm.loop
// CHECK: {{^[}]}}
extern "C" __global__ void few(const int *p, long long bound, long long *out) {
  long long sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += (long long)p[i] * p[i];
    if (sum >= bound)
      break;
  }
  *out = sum;
}

// Iterations that take elements of an array of the thread's own, too large for
// LLVM to unroll: the elements are registers afterwards, and each is divided
// once for itself and once for its neighbour.
// CHECK-LABEL: define {{.*}}void @elements(
// CHECK-NOT: alloca
// CHECK-COUNT-18: sdiv i32
// CHECK-NOT: {{sdiv i32|llvm.loop}}
// CHECK: {{^[}]}}
extern "C" __global__ void elements(const int *p, int *out) {
  int r[3][3], best = *out;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      r[i][j] = p[9 * threadIdx.x + 3 * i + j];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int next = r[(i + 1) % 3][j], own = r[i][(j + 1) % 3];
      int here = best / (own | 1) + own / (next | 1);
      for (int k = 1; k < 7; ++k)
        here = (here ^ (next >> k)) * k + (own << k) - (here >> 3 | best);
      best = here > best ? here : best - own;
    }
  *out = best;
}

// A grid-stride loop: no count can be computed, four tests stand in the loop.
// CHECK-LABEL: define {{.*}}void @stride(
// CHECK-COUNT-4: load float
// CHECK-NOT: load float
// CHECK: {{^[}]}}
extern "C" __global__ void stride(const float *p, float *q, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += blockDim.x * gridDim.x)
    q[i] = p[i] * 2;
}

// A count with a minimum in it: four copies, and one for the rest.
// CHECK-LABEL: define {{.*}}void @least(
// CHECK-COUNT-5: atomicrmw
// CHECK-NOT: atomicrmw
// CHECK: {{^[}]}}
extern "C" __global__ void least(const unsigned *p, int n, int *bins) {
  int first = blockIdx.x * 512, end = min(first + 512, n);
  for (int i = first + threadIdx.x; i < end; i += 128)
    atomicAdd(&bins[p[i] & 15], 1);
}

// Whose end depends on data stays as it is; so does one that the source has an
// opinion on, and one with a barrier.
// CHECK-LABEL: define {{.*}}void @data(
// CHECK-COUNT-2: fcmp
// CHECK-NOT: fcmp
// CHECK: {{^[}]}}
extern "C" __global__ void data(float *p, int limit) {
  float x = *p;
  int n = 0;
  while (n < limit && x < 4.0f) {
    x = x * x + *p;
    ++n;
  }
  p[1] = n;
}

// CHECK-LABEL: define {{.*}}void @opinion(
// CHECK-COUNT-1: load float
// CHECK-NOT: load float
// CHECK: {{^[}]}}
extern "C" __global__ void opinion(const float *p, float *q, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    q[i] = p[i] * 2;
}

// CHECK-LABEL: define {{.*}}void @barrier(
// CHECK-COUNT-1: call void @llvm.nvvm.barrier0
// CHECK-NOT: call void @llvm.nvvm.barrier0
// CHECK: {{^[}]}}
extern "C" __global__ void barrier(float *p, int n, int step) {
  for (int i = 0; i < n; i += step) {
    p[threadIdx.x] += p[threadIdx.x + i];
    __syncthreads();
  }
}

// A sum over shared memory: sixteen, four and one iteration at a time.
// CHECK-LABEL: define {{.*}}void @sum(
// CHECK-COUNT-21: load float, ptr addrspace(3)
// CHECK-NOT: load float, ptr addrspace(3)
// CHECK: {{^[}]}}
extern "C" __global__ void sum(const float *p, float *q, int n) {
  __shared__ float words[256];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  float s = 0;
  for (int i = 0; i < n; ++i)
    s += words[i];
  q[threadIdx.x] = s;
}

// A load behind a load: eight iterations, four and one at a time.
// CHECK-LABEL: define {{.*}}void @chain(
// CHECK-COUNT-26: load {{i32|float}}
// CHECK-NOT: load
// CHECK: {{^[}]}}
extern "C" __global__ void chain(const int *column, const float *x, int n,
                                 float *q) {
  float s = 0;
  for (int i = 0; i < n; ++i)
    s += x[column[i]];
  *q = s;
}

// A division of 64 bits is a branch to a short one, so copies would not stand
// side by side.
// CHECK-LABEL: define {{.*}}void @divides(
// CHECK-COUNT-1: sdiv i64
// CHECK-NOT: sdiv i64
// CHECK: {{^[}]}}
extern "C" __global__ void divides(const int *p, long long by, int n,
                                   long long *q) {
  long long s = 0;
  for (int i = 0; i < n; ++i)
    s += (s + p[i]) / by;
  *q = s;
}
