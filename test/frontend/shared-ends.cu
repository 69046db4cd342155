// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Two arms that do the same to different arrays: once, with the array chosen.
// CHECK-LABEL: .entry alike(
// CHECK: bar.sync
// CHECK-COUNT-1: ld.shared
// CHECK-NOT: ld.shared
// CHECK-COUNT-1: st.shared
// CHECK-NOT: st.shared
// CHECK: bar.sync
extern "C" __global__ void alike(int *p) {
  __shared__ int a[64], b[64];
  const int t = threadIdx.x;
  a[t] = p[t];
  b[t] = p[t + 64];
  __syncthreads();
  if (p[t] & 1)
    a[t] = (a[t] * 5 + 1) ^ t;
  else
    b[t] = (b[t] * 5 + 1) ^ t;
  __syncthreads();
  p[t] = a[t] + b[63 - t];
}

// Address and value differ: two PHIs cost what one store saves.
// CHECK-LABEL: .entry different(
// CHECK-COUNT-2: st.global
// CHECK-NOT: st.global
// CHECK: ret;
extern "C" __global__ void different(int *p, int *q, int x, int y) {
  if (p[threadIdx.x] & 1)
    p[threadIdx.x] = x;
  else
    q[threadIdx.x] = y;
}

// Atomics and volatile accesses stand where the source has them.
// CHECK-LABEL: .entry ordered(
// CHECK-COUNT-2: atom.global
// CHECK: ret;
extern "C" __global__ void ordered(int *p, int *q) {
  if (p[threadIdx.x] & 1)
    atomicAdd(p, 1);
  else
    atomicAdd(q, 1);
}

// What parts twice meets once.
// CHECK-LABEL: .entry partsTwice(
// CHECK-COUNT-1: st.global
// CHECK-NOT: st.global
// CHECK: ret;
extern "C" __global__ void partsTwice(const int *a, const int *b, int *p) {
  if (a[threadIdx.x] & 1 || b[a[threadIdx.x]] & 1)
    p[threadIdx.x] = 255;
  else
    p[threadIdx.x] = 0;
}
