// A __grid_constant__ parameter is what nvcc makes of it: its address may be
// taken without a copy for each thread. clang 19 does not know the word.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -Werror --emit-ptx %s -o - | FileCheck %s
// RUN: %reconverge cc -Werror -O0 --emit-ptx %s -o - | FileCheck %s
// RUN: %clangxx -Werror %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t \
// RUN:   | FileCheck %s --check-prefix=RAN
#include <cstdio>

struct Table {
  int values[20];
};
__device__ __noinline__ int at(const Table *table, int i) {
  return table->values[i];
}

// CHECK-LABEL: .entry direct(
// CHECK-NOT: .local
// CHECK: cvta.param.u64
// CHECK: ret;
extern "C" __global__ void direct(int *out, int add,
                                  const __grid_constant__ Table table) {
  out[threadIdx.x] = at(&table, threadIdx.x) + add;
}

// Of two parameters one is copied, and a word that is no class is as ever.
// CHECK-LABEL: .entry one(
// CHECK: .local
// CHECK: ret;
extern "C" __global__ void one(int *out, const Table copied,
                               const __grid_constant__ int add,
                               __grid_constant__ const Table table) {
  out[threadIdx.x] = at(&copied, threadIdx.x) + at(&table, threadIdx.x) + add;
}

// CHECK-LABEL: .entry _Z9templatedI5TableEvPiT_(
// CHECK-NOT: .local
// CHECK: ret;
template <class T>
__global__ void templated(int *out, const __grid_constant__ T table) {
  out[threadIdx.x] = at(&table, threadIdx.x);
}

int main() {
  Table table;
  for (int i = 0; i < 20; ++i)
    table.values[i] = i;
  int *out, sum = 0;
  cudaMallocManaged(&out, 3 * 20 * sizeof(int));
  direct<<<1, 20>>>(out, 1, table);
  one<<<1, 20>>>(out + 20, table, 2, table);
  templated<<<1, 20>>>(out + 40, table);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  for (int i = 0; i < 60; ++i)
    sum += out[i];
  printf("%d\n", sum); // RAN: {{^}}820
}
