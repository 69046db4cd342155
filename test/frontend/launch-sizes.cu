// nvcc takes lists in braces for the sizes of a launch, where clang takes
// expressions alone, and brackets that are parted as `<< <` and `>> >`.
//
// REQUIRES: reconverge
// RUN: %clangxx -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
#include <cstdio>

#define HALF {16, 2}

__managed__ char names[10][16] = {
    "block", "both",  "template", "class",     "inside",
    "call",  "macro", "parted",   "parted of", "both parted"};

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
  // clang-format off
  void runParted() const { shape << <{2, 3}, {x, 5} >> >(name); }
  // clang-format on
  unsigned x;
  const char *name;
};

struct Pair {
  int first, second;
};
// Not parts of a launch: explicit arguments, and three lists that end.
template <class T> Pair operator<<(Pair p, T x) {
  return {p.first + int(x), p.second};
}
template <class T> struct Of {
  T x;
};
static Pair shifted(Pair p) { return operator<< <int>(p, 1); }
static Of<Of<Of<int>>> nested;

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
  Launcher{7, names[3]}.runParted();
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
  // clang-format off
  shape << <sum(shifted({1, 1})), nested.x.x.x + 3 >> > (names[7]);
  cudaDeviceSynchronize();
  shapeOf<6> <<
      <1, dim3(8 >> 2, 16 >> (1 > 0)) >> >(names[8]);
  cudaDeviceSynchronize();
  shape <<	<{1, 1}, {4, 2}>> > (names[9]);
  cudaDeviceSynchronize();
  // clang-format on
}
// CHECK: block: 2 1, 32 4 1
// CHECK-NEXT: both: 2 2, 8 2 2
// CHECK-NEXT: template: 5, 5 6
// CHECK-NEXT: class: 2 3, 7 4 1
// CHECK-NEXT: class: 2 3, 7 5 1
// CHECK-NEXT: inside: 1 1, 9 1 1
// CHECK-NEXT: call: 3 1, 7 2 1
// CHECK-NEXT: macro: 1 1, 16 2 1
// CHECK-NEXT: parted: 3 1, 3 1 1
// CHECK-NEXT: parted of: 6, 2 8
// CHECK-NEXT: both parted: 1 1, 4 2 1
