// nvcc takes lists in braces for the sizes of a launch, where clang takes
// expressions alone.
//
// REQUIRES: reconverge
// RUN: %clangxx -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
#include <cstdio>

#define HALF {16, 2}

__managed__ char names[7][16] = {"block",  "both", "template", "class",
                                 "inside", "call", "macro"};

__global__ void shape(const char *name) {
  if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y + threadIdx.z == 0)
    printf("%s: %d %d, %d %d %d\n", name, gridDim.x, gridDim.y, blockDim.x,
           blockDim.y, blockDim.z);
}
template <int n> __global__ void shapeOf(const char *name) {
  if (threadIdx.x + threadIdx.y == 0)
    printf("%s: %d, %d %d\n", name, n, blockDim.x, blockDim.y);
}

template <int n> void launch(const char *name) {
  shapeOf<n><<<1, {n, n + 1}>>>(name);
}

// The body of a function in a class is kept and read once the class is whole.
struct Launcher {
  void run() const { shape<<<{2, 3}, {x, 4}>>>(name); }
  unsigned x;
  const char *name;
};

struct Pair {
  int first, second;
};
static unsigned sum(Pair p) { return unsigned(p.first + p.second); }

int main() {
  shape<<<2, {32, 4}>>>(names[0]);
  cudaDeviceSynchronize();
  shape<<<{2, 2}, {8, 2, 2}, 0, 0>>>(names[1]);
  cudaDeviceSynchronize();
  launch<5>(names[2]);
  cudaDeviceSynchronize();
  Launcher{7, names[3]}.run();
  cudaDeviceSynchronize();
  auto Inside = [&](unsigned x) { shape<<<1, {x}>>>(names[4]); };
  Inside(9);
  cudaDeviceSynchronize();
  // Braces further in are not sizes, nor are those behind a comma of a call.
  shape<<<sum({1, 2}), dim3{sum(Pair{3, 4}), 2}>>>(names[5]);
  cudaDeviceSynchronize();
  if (bool again = true; again)
    shape<<<1, HALF>>>(names[6]);
  cudaDeviceSynchronize();
}
// CHECK: block: 2 1, 32 4 1
// CHECK-NEXT: both: 2 2, 8 2 2
// CHECK-NEXT: template: 5, 5 6
// CHECK-NEXT: class: 2 3, 7 4 1
// CHECK-NEXT: inside: 1 1, 9 1 1
// CHECK-NEXT: call: 3 1, 7 2 1
// CHECK-NEXT: macro: 1 1, 16 2 1
