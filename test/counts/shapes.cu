//===- test/counts/shapes.cu - Kernels whose counts are known by hand -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel a shape of control flow. docs/by-hand.md derives what each branch
// and block must count; shapes.json holds the result and check_counts.py
// compares. Each arm does an atomic operation of its own kind, so that no
// optimiser can merge two arms or turn a branch into a select. A count belongs
// to the line it stands on: keep statements on lines of their own.
//
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Lane l of a warp walks the list l+1 -> l -> ... -> 1 -> 0: l+1 rounds.
__global__ void listWalk(const int *Next, int *Out) {
  int At = int(threadIdx.x) % 32 + 1, Rounds = 0;
  do {
    At = Next[At]; // round
    ++Rounds;
  } while (At != 0); // walk on
  atomicAdd(&Out[0], Rounds); // after the walk
}

// Odd lanes ask a second question.
__global__ void nestedIf(int *Out) {
  const int Tid = int(threadIdx.x); // nestedIf begins
  if (Tid & 1) {                    // odd
    atomicAdd(&Out[0], 1);          // odd lanes
    if (Tid & 2)                    // odd and second bit
      atomicXor(&Out[1], Tid);      // both bits
    else
      atomicMax(&Out[2], Tid); // first bit alone
  } else {
    atomicMin(&Out[3], -Tid); // even lanes
  }
  atomicOr(&Out[4], Tid); // together again
}

// Every fourth lane returns at once; the rest work on.
__global__ void earlyReturn(int *Out) {
  const int Tid = int(threadIdx.x); // earlyReturn begins
  if (Tid % 4 == 3)                 // leaves
    return;
  atomicAdd(&Out[0], 1);     // those that stay
  if (Tid < 16)              // first half warp
    atomicXor(&Out[1], Tid); // its arm
  atomicMax(&Out[2], Tid);   // stay to the end
}

// Four ways; the second has no lanes in the second warp.
__global__ void fourWays(const int *Way, int *Out) {
  const int Tid = int(threadIdx.x); // fourWays begins
  switch (Way[Tid]) {               // which way
  case 0:
    atomicAdd(&Out[0], 1); // way 0
    break;
  case 1:
    atomicXor(&Out[1], Tid); // way 1
    break;
  case 2:
    atomicMax(&Out[2], Tid); // way 2
    break;
  default:
    atomicMin(&Out[3], -Tid); // any other way
    break;
  }
  atomicOr(&Out[4], Tid); // all ways
}

static void check(cudaError_t Status) {
  if (Status != cudaSuccess) {
    std::printf("shapes: %s\n", cudaGetErrorString(Status));
    std::exit(1);
  }
}

int main() {
  int List[33], Ways[64], *Next, *Way, *Out;
  for (int I = 0; I < 33; ++I)
    List[I] = I - 1;
  for (int I = 0; I < 64; ++I) // 0 1 2 3 repeated; then 0 2 3 3 repeated
    Ways[I] = I < 32 ? I % 4 : I % 4 + (I % 4 == 1) + (I % 4 == 2);
  check(cudaMalloc(&Next, sizeof List));
  check(cudaMalloc(&Way, sizeof Ways));
  check(cudaMalloc(&Out, 32 * sizeof(int)));
  check(cudaMemcpy(Next, List, sizeof List, cudaMemcpyHostToDevice));
  check(cudaMemcpy(Way, Ways, sizeof Ways, cudaMemcpyHostToDevice));
  check(cudaMemset(Out, 0, 32 * sizeof(int)));
  listWalk<<<1, 48>>>(Next, Out);
  nestedIf<<<3, 64>>>(Out + 8);
  earlyReturn<<<2, 40>>>(Out + 16);
  fourWays<<<1, 64>>>(Way, Out + 24);
  check(cudaGetLastError());
  int Got[32];
  check(cudaMemcpy(Got, Out, sizeof Got, cudaMemcpyDeviceToHost));

  // The sums say that every lane went its way exactly once.
  const bool Right = Got[0] == 664 && Got[8] == 96 && Got[10] == 61 &&
                     Got[11] == -62 && Got[12] == 63 && Got[16] == 60 &&
                     Got[18] == 38 && Got[24] == 16 && Got[28] == 63;
  std::printf("shapes: %s\n", Right ? "right" : "WRONG");
  return Right ? 0 : 1;
}
