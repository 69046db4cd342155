//===- micro/traffic.cu - Bandwidth, and latency under load ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the whole GPU moves: all SMs at once, 1024 threads each with four
// accesses under way, so that an SM has up to 64 KB on the way, and three times
// what bandwidth times latency asks for. Each access is of addresses that none
// was of before, in 4 GB, of which L2 holds a hundredth.
//
// Latency under load has a kernel of its own: one warp chases pointers through
// device memory (as ld_global_near does), others stream beside it until it is
// done. With 31 warps they take what there is; with six, each with four
// accesses of 512 bytes under way, about half of it: 12 KB an SM, where 24 KB
// are bandwidth times latency of an H200.
//
//===----------------------------------------------------------------------===//

#include "micro.h"

namespace {

constexpr int Chains = 4;
constexpr uint64_t Piece = 1024 * 16; ///< of one access of a block

/// Walks over the GPU's part of memory, from block to block.
struct Walk {
  uint64_t At, Stride, Mask, Base;
  uint4 V;
  uint32_t X;
  __device__ void start(const Input &In, int I) {
    At = (uint64_t(blockIdx.x) * Chains + I) * Piece + threadIdx.x * 16;
    Stride = uint64_t(gridDim.x) * Chains * Piece;
    Mask = In.StreamBytes - 1;
    Base = reinterpret_cast<uint64_t>(In.Stream);
    V = {In.U[6], In.U[6], In.U[6], In.U[6]};
    X = 0;
  }
  __device__ void load() {
    // What the access before brought; so it is over only now.
    X ^= V.x ^ V.y ^ V.z ^ V.w;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(V.x), "=r"(V.y), "=r"(V.z), "=r"(V.w)
                 : "l"(Base + At)
                 : "memory");
  }
  __device__ void store(uint64_t From) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(Base + From),
                 "r"(V.x), "r"(V.y), "r"(V.z), "r"(V.w)
                 : "memory");
  }
  __device__ void advance() { At = (At + Stride) & Mask; }
  __device__ uint32_t result() const { return X ^ V.x; }
};

struct ld_dram : Walk {
  __device__ void step(int) { load(), advance(); }
};
struct st_dram : Walk {
  __device__ void step(int) { store(At), advance(); }
};
/// From one half to the other.
struct copy_dram : Walk {
  __device__ void start(const Input &In, int I) {
    Walk::start(In, I);
    Mask = In.StreamBytes / 2 - 1;
  }
  __device__ void step(int) { load(), store(At + Mask + 1), advance(); }
};

/// Words at random in what L2 holds: 32 sectors a warp, none of them twice
/// where it could be in L1.
struct ld_l2_random {
  uint64_t Base;
  uint32_t N, X, Last;
  __device__ void start(const Input &In, int I) {
    Base = reinterpret_cast<uint64_t>(In.Ring[1]);
    N = (blockIdx.x * 1024 + threadIdx.x) * 2654435761u + I * 40503u;
    X = Last = In.U[6];
  }
  __device__ void step(int) {
    X ^= Last;
    N = N * 1664525u + 1013904223u;
    asm volatile("ld.global.cg.u32 %0, [%1];"
                 : "=r"(Last)
                 : "l"(Base + (N >> 9 & ((8u << 20) - 32)))
                 : "memory");
  }
  __device__ uint32_t result() const { return X ^ Last; }
};

/// 32 lines of 128 bytes a warp, all of them in L1.
struct ld_global_lines {
  uint64_t P;
  uint32_t X;
  __device__ void start(const Input &In, int) {
    P = reinterpret_cast<uint64_t>(In.Own) + 65536 * uint64_t(blockIdx.x) +
        threadIdx.x % 32 * 128 + threadIdx.x / 32 * 4;
    X = In.U[6];
  }
  __device__ void step(int) {
    asm volatile("{ .reg .u64 a; cvt.u64.u32 a, %0; add.u64 a, a, %1; "
                 "ld.global.ca.u32 %0, [a]; }"
                 : "+r"(X)
                 : "l"(P)
                 : "memory");
  }
  __device__ uint32_t result() const { return X; }
};

/// Writes for each repetition what 2 * Steps * Iterations loads of warp 0 took.
template <int Steps>
__global__ void __launch_bounds__(1024)
    loaded(const Input *In, int64_t *Out, int Reps, int Iterations) {
  __shared__ volatile int Done;
  if (threadIdx.x == 0)
    Done = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    Walk W[Chains];
    for (int I = 0; I < Chains; ++I)
      W[I].start(*In, I);
    while (!Done)
#pragma unroll
      for (int I = 0; I < Chains; ++I)
        W[I].load(), W[I].advance();
    for (int I = 0; I < Chains; ++I)
      if (W[I].result() == In->U[7]) // never
        Out[I] = 1;
    return;
  }
  uint64_t X = reinterpret_cast<uint64_t>(In->Ring[2]) +
               In->RingNodes[2] / (gridDim.x + 1) * blockIdx.x * 256;
  for (int R = -1; R < Reps; ++R) {
    const int64_t Start = now();
#pragma unroll 1
    for (int L = 0; L < Iterations; ++L)
#pragma unroll
      for (int S = 0; S < 2 * Steps; ++S)
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(X)::"memory");
    // The next repetition waits for the last load, as this one did.
    const int64_t End = now();
    if (R >= 0 && threadIdx.x == 0)
      Out[blockIdx.x * Reps + R] = End - Start;
  }
  if (X == In->U[7]) // never
    Out[0] = 1;
  __syncwarp();
  if (threadIdx.x == 0)
    Done = 1;
}

} // namespace

#define TRAFFIC(Op, Sass, Iterations)                                          \
  static Register Traffic_##Op({ISSUE(Op, Sass, 1, 4, 8, Iterations, 0)});
#define LOADED(Op, Warps)                                                      \
  static Register Loaded_##Op(                                                 \
      {Bench{#Op, "latency", "-", 1, 32 * Warps, 1, 8, 8, 0, loaded<8>}});

TRAFFIC(ld_dram, "LDG", 16)
TRAFFIC(st_dram, "STG", 16)
TRAFFIC(copy_dram, "LDG|STG*2", 16)
TRAFFIC(ld_l2_random, "LDG", 16)
TRAFFIC(ld_global_lines, "LDG", 8)
LOADED(ld_dram_half, 7)
LOADED(ld_dram_full, 32)
