// A word of a union that may be a pointer and looks like one of the host's. The first
// launches are tested; a program that makes the mistake in its fifth is let pass, so
// that one which only leaves such words unwritten is not slow for ever.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t 3 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t 4 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,check=on %t 4 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t 4 plain 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: host memory, which a kernel cannot reach
// EARLY: an illegal memory access was encountered
// LATE-NOT: host memory
// LATE: no error

#include <cstdio>
#include <cstdlib>

struct Value {
  union {
    const int *There;
    int Here;
  };
  bool IsThere;
};

__global__ void give(int *Out, Value V) { *Out = V.IsThere ? *V.There : V.Here; }
__global__ void giveThere(int *Out, const int *There, bool IsThere) {
  *Out = IsThere ? *There : 7;
}

int main(int Count, char **Args) {
  const int Before = std::atoi(Args[1]);
  const bool Plain = Count > 2;
  int *Out, *Host = static_cast<int *>(std::calloc(1, 1 << 20));
  cudaMalloc(&Out, sizeof(int));
  Value V;
  V.There = Host;
  for (int I = 0; I <= Before; ++I) {
    V.IsThere = I == Before;
    if (Plain)
      giveThere<<<1, 1>>>(Out, Host, V.IsThere);
    else
      give<<<1, 1>>>(Out, V);
  }
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
