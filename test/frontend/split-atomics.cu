// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s
// RUN: %reconverge cc %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --check-prefix=VM
// RUN: %reconverge cc -O0 --emit-ptx %s -o - | FileCheck %s --check-prefix=O0

// 64-bit sums in shared memory, statically and dynamically sized, through plain
// atomicAdd: by halves, and the high ones are skipped where all are zero. Each
// thread adds numbers whose low words carry, negative ones, and ones that wrap.

#include <cstdio>

// CHECK-LABEL: .entry sums(
// CHECK: atom.shared.add.u32
// CHECK: atom.shared.add.u32
// CHECK: atom.shared.add.u32
// CHECK: or.b32
// CHECK: setp.{{eq|ne}}.s32
// CHECK: bra
// CHECK: atom.shared.add.u32
// CHECK: atom.shared.add.u32
// CHECK-NOT: add.u64
// CHECK: ret;
// O0-LABEL: .entry sums(
// O0: atom.add.u64
extern "C" __global__ void sums(const long long *values,
                                unsigned long long *out) {
  extern __shared__ unsigned long long dynamic[];
  __shared__ struct {
    unsigned long long sum;
    unsigned count;
  } own;
  if (threadIdx.x == 0) {
    dynamic[0] = own.sum = 0xfffffffffffffff0;
    own.count = 0;
  }
  __syncthreads();
  const long long value = values[threadIdx.x];
  atomicAdd(&own.sum, (unsigned long long)value);
  atomicAdd(&own.count, 1);
  atomicAdd(&dynamic[0], (unsigned long long)int(value));
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = own.sum;
    out[1] = dynamic[0];
    out[2] = own.count;
  }
}

int main() {
  constexpr int threads = 100;
  long long *values;
  unsigned long long *out, sum = 0xfffffffffffffff0, low = sum;
  cudaMallocManaged(&values, threads * sizeof *values);
  cudaMallocManaged(&out, 3 * sizeof *out);
  for (int t = 0; t < threads; ++t) {
    values[t] = (t % 3 - 1) * (0x123456789abcdll << t % 13) - t;
    sum += values[t];
    low += int(values[t]);
  }
  sums<<<1, threads, sizeof *out>>>(values, out);
  cudaDeviceSynchronize();
  // VM: sums right, 100 added
  std::printf("sums %s, %d added\n",
              out[0] == sum && out[1] == low ? "right" : "wrong", int(out[2]));
}
