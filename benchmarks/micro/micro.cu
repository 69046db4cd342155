//===- micro/micro.cu - Runs every measurement and prints it as JSON ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output: {"gpu": {...}, "benches": [...]}; a bench has the median of each SM
// in cycles: latency, of one unit; issue, of one unit of one warp on one of an
// SM's four schedulers. run.py reads it.
//
//===----------------------------------------------------------------------===//

#include "micro.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

void fillConstants(); // memory.cu

#define CHECK(Call)                                                            \
  do {                                                                         \
    if (cudaError_t E = (Call); E != cudaSuccess) {                            \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #Call,       \
                   cudaGetErrorString(E));                                     \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

std::vector<Bench> &benches() {
  static std::vector<Bench> List;
  return List;
}

/// Node i points to node (A i + C) mod Nodes, a permutation of one cycle when
/// Nodes is a power of two, A mod 4 is 1 and C is odd (Hull and Dobell).
static __global__ void fillRing(char *Ring, uint64_t Nodes, uint64_t A,
                                uint64_t C) {
  for (uint64_t I = blockIdx.x * blockDim.x + threadIdx.x; I < Nodes;
       I += uint64_t(gridDim.x) * blockDim.x) {
    uint64_t Next = (A * I + C) % Nodes;
    *reinterpret_cast<char **>(Ring + 256 * I) = Ring + 256 * Next;
  }
}

/// Brings a ring into L2, from every SM.
static __global__ void touchRing(const char *Ring, uint64_t Nodes, char *Out) {
  for (uint64_t I = threadIdx.x; I < Nodes; I += blockDim.x)
    if (__ldcg(reinterpret_cast<const uint64_t *>(Ring + 256 * I)) ==
        1) // never
      *Out = 1;
}

/// Cycles of the SM's clock and nanoseconds that went by meanwhile.
static __global__ void clockRate(long long *Out) {
  long long C0 = clock64(), N0, N1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(N0));
  while (clock64() - C0 < 200000000)
    ;
  long long C1 = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(N1));
  Out[0] = C1 - C0, Out[1] = N1 - N0;
}

static constexpr size_t FlushBytes = 256 << 20;

static Input makeInput(int Blocks) {
  Input In{};
  // X of four chains, then K0 to K3; element 7 is a value that no chain has.
  const float F[8] = {1.25f, 1.5f, 1.75f, 1.0625f, 0.4375f, 1.125f, 2.5f, 0};
  const uint64_t Wide = 0xfedcba9876543210;
  for (int I = 0; I < 8; ++I) {
    In.F[I] = F[I];
    In.D[I] = F[I];
    // Big enough for the general path of 64-bit division.
    In.Q[I] = I < 3 ? (uint64_t(1) << 40) + I : Wide >> (I - 3);
    In.U[I] = I < 3 ? 70001 + 2 * I : 0x7edcba98u >> (I - 3);
  }
  In.U[6] = 0;
  In.U[7] = 0xdeadbeef;
  const uint16_t H[8] = {0x3d00, 0x3e00, 0x3f00, 0x3c40,
                         0x3700, 0x3c80, 0x4100};
  std::memcpy(In.H, H, sizeof H);

  const uint64_t Bytes[4] = {8 << 10, 8 << 20, 256 << 20, uint64_t(8) << 30};
  for (int R = 0; R < 4; ++R) {
    In.RingNodes[R] = Bytes[R] / 256;
    CHECK(cudaMalloc(&In.Ring[R], Bytes[R]));
    fillRing<<<1024, 256>>>(In.Ring[R], In.RingNodes[R], R == 2 ? 1 : 1664525,
                            R == 2 ? 1 : 1013904223);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaMalloc(&In.Flush, FlushBytes));
  In.StreamBytes = uint64_t(4) << 30;
  CHECK(cudaMalloc(&In.Stream, In.StreamBytes));
  CHECK(cudaMemset(In.Stream, 0, In.StreamBytes));
  CHECK(cudaMalloc(&In.Own, 65536 * Blocks));
  CHECK(cudaMemset(In.Own, 0, 65536 * Blocks));

  int *Texels, Values[1024];
  for (int I = 0; I < 1024; ++I)
    Values[I] = I;
  CHECK(cudaMalloc(&Texels, sizeof Values));
  CHECK(cudaMemcpy(Texels, Values, sizeof Values, cudaMemcpyHostToDevice));
  cudaResourceDesc Resource{};
  Resource.resType = cudaResourceTypeLinear;
  Resource.res.linear.devPtr = Texels;
  Resource.res.linear.desc = cudaCreateChannelDesc<int>();
  Resource.res.linear.sizeInBytes = sizeof Values;
  cudaTextureDesc How{};
  CHECK(cudaCreateTextureObject(&In.Texture, &Resource, &How, nullptr));
  fillConstants();
  CHECK(cudaGetLastError());
  return In;
}

static void run(const Bench &B, const Input &Host, const Input *In,
                int64_t *Out, int Blocks, bool First) {
  if (B.Blocks)
    Blocks = std::min(Blocks, B.Blocks);
  constexpr int Reps = 15;
  // So much shared memory that an SM has room for one block.
  constexpr int Shared = 120 << 10;
  auto *Kernel = reinterpret_cast<const void *>(B.Kernel);
  CHECK(cudaFuncSetAttribute(
      Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shared));
  // L2 holds the one ring that fits, and nothing of the others.
  CHECK(cudaMemset(Host.Flush, 0, FlushBytes));
  touchRing<<<Blocks, 1024>>>(Host.Ring[1], Host.RingNodes[1], Host.Own);
  B.Kernel<<<Blocks, B.Threads, Shared>>>(In, Out, Reps, B.Iterations);
  CHECK(cudaGetLastError());
  std::vector<int64_t> Samples(Blocks * Reps);
  CHECK(cudaMemcpy(Samples.data(), Out, Samples.size() * sizeof(int64_t),
                   cudaMemcpyDeviceToHost));
  double Units = 2.0 * B.Steps * B.Iterations * B.Per;
  if (B.Kind[0] == 'i')
    Units *= B.Threads / 32 / 4 * B.Ilp;
  const char *Symbol = nullptr;
  CHECK(cudaFuncGetName(&Symbol, Kernel));
  std::printf("%s{\"name\": \"%s\", \"kind\": \"%s\", \"sass\": \"%s\", "
              "\"per\": %g, \"threads\": %d, \"ilp\": %d, \"steps\": %d, "
              "\"symbol\": \"%s\", \"cycles\": [",
              First ? "" : ",\n", B.Name, B.Kind, B.Sass, B.Per, B.Threads,
              B.Ilp, B.Steps, Symbol);
  for (int Block = 0; Block < Blocks; ++Block) {
    auto Begin = Samples.begin() + Block * Reps;
    std::nth_element(Begin, Begin + Reps / 2, Begin + Reps);
    std::printf("%s%.3f", Block ? ", " : "", double(Begin[Reps / 2]) / Units);
  }
  std::printf("]}");
}

int main() {
  cudaDeviceProp P;
  CHECK(cudaGetDeviceProperties(&P, 0));
  int Blocks = P.multiProcessorCount, Driver, Runtime;
  CHECK(cudaDriverGetVersion(&Driver));
  CHECK(cudaRuntimeGetVersion(&Runtime));
  Input Host = makeInput(Blocks), *In;
  CHECK(cudaMalloc(&In, sizeof *In));
  CHECK(cudaMemcpy(In, &Host, sizeof Host, cudaMemcpyHostToDevice));
  int64_t *Out;
  CHECK(cudaMalloc(&Out, 1 << 20));
  long long *Rate, Counted[2];
  CHECK(cudaMalloc(&Rate, sizeof Counted));
  clockRate<<<1, 1>>>(Rate);
  CHECK(cudaMemcpy(Counted, Rate, sizeof Counted, cudaMemcpyDeviceToHost));
  std::printf("{\"gpu\": {\"name\": \"%s\", \"compute-capability\": \"%d.%d\", "
              "\"sms\": %d, \"l2-bytes\": %d, \"memory-bytes\": %zu, "
              "\"clock-mhz\": %.0f, \"cuda-driver\": %d, \"runtime\": %d},\n"
              "\"benches\": [\n",
              P.name, P.major, P.minor, Blocks, P.l2CacheSize, P.totalGlobalMem,
              1e3 * double(Counted[0]) / double(Counted[1]), Driver, Runtime);
  bool First = true;
  for (const Bench &B : benches()) {
    run(B, Host, In, Out, Blocks, First);
    First = false;
  }
  std::printf("\n]}\n");
}
