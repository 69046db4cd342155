//===- micro/tags.cu - Lines that a load looks up at a time ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp makes one load for each pattern of a file, a launch each, so that a
// profiler's counters of a launch are of that load: 4, 8 or 16 bytes a lane, then
// 32 offsets into 64 MiB, -1 for a lane that stays away. Offsets come from the
// parameters, which have a cache of their own, and nothing is stored. tags.py
// makes the patterns and reads the counters.
//
//===----------------------------------------------------------------------===//

#include <cstdio>

struct Pattern {
  long At[32];
};

__device__ unsigned load(const char *P, unsigned) {
  unsigned V;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(V) : "l"(P));
  return V;
}
__device__ unsigned load(const char *P, uint2) {
  uint2 V;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(V.x), "=r"(V.y)
               : "l"(P));
  return V.x ^ V.y;
}
__device__ unsigned load(const char *P, uint4) {
  uint4 V;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(V.x), "=r"(V.y), "=r"(V.z), "=r"(V.w)
               : "l"(P));
  return V.x ^ V.y ^ V.z ^ V.w;
}

template <typename Word>
__global__ void once(const char *Memory, unsigned *Out,
                     const __grid_constant__ Pattern P) {
  const long At = P.At[threadIdx.x];
  if (At >= 0 && load(Memory + At, Word()) == 12345) // all is zero
    *Out = 1;
}

int main(int Argc, char **Argv) {
  constexpr size_t Bytes = 64 << 20;
  char *Memory;
  unsigned *Out;
  FILE *File = Argc == 2 ? std::fopen(Argv[1], "r") : nullptr;
  if (!File || cudaMalloc(&Memory, Bytes) || cudaMalloc(&Out, sizeof(*Out)) ||
      cudaMemset(Memory, 0, Bytes)) {
    std::fprintf(stderr, "tags: wants a file of patterns, and a GPU\n");
    return 2;
  }
  for (int Width; std::fscanf(File, "%d", &Width) == 1;) {
    Pattern P;
    for (long &At : P.At)
      if (std::fscanf(File, "%ld", &At) != 1 || At >= long(Bytes)) {
        std::fprintf(stderr, "tags: a pattern is cut or too wide\n");
        return 2;
      }
    if (Width == 4)
      once<unsigned><<<1, 32>>>(Memory, Out, P);
    else if (Width == 8)
      once<uint2><<<1, 32>>>(Memory, Out, P);
    else
      once<uint4><<<1, 32>>>(Memory, Out, P);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
