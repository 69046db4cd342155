// What the programs of this folder share: calls checked, wrong values counted.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static int Checks = 0, Wrong = 0;

#define CALL(E)                                                                \
  do {                                                                         \
    cudaError_t Status = (E);                                                  \
    if (Status != cudaSuccess) {                                               \
      std::printf("line %d: %s: %s\n", __LINE__, #E,                           \
                  cudaGetErrorName(Status));                                   \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

template <typename A, typename B>
static void expect(const char *What, int Index, A Got, B Want) {
  ++Checks;
  if (double(Got) == double(Want))
    return;
  if (++Wrong <= 10)
    std::printf("%s[%d] is %g, not %g\n", What, Index, double(Got), double(Want));
}

/// Memory for \p N elements that both sides reach; kept to the program's end.
template <typename T> static T *managed(size_t N) {
  void *P;
  CALL(cudaMallocManaged(&P, N * sizeof(T)));
  return static_cast<T *>(P);
}

/// Waits for the kernel and says what went wrong with it.
static void finish() {
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
}

/// Pseudo-random 24 bits.
static unsigned next() {
  static unsigned State = 7;
  State = State * 1664525 + 1013904223;
  return State >> 8;
}

static int summary() {
  std::printf("%d wrong of %d\n", Wrong, Checks);
  return Wrong != 0;
}
