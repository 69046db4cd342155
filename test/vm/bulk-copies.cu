// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,check=on,tier=blocks %t | FileCheck %s
// CHECK: 0 wrong of 7200

// Bulk copies and reductions of sm_90, by way of barriers with transactions and
// of groups, each word checked on the host. nvcc compiles this file as well.

#include "Inputs/check.h"
#include <cstdint>

constexpr int Blocks = 7, Words = 256, Rounds = 3;

static __device__ uint32_t shared(const void *P) {
  return uint32_t(__cvta_generic_to_shared(P));
}

static __device__ void waitFor(uint32_t Barrier, uint32_t Parity) {
  uint32_t Over = 0;
  while (!Over)
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }"
                 : "=r"(Over)
                 : "r"(Barrier), "r"(Parity)
                 : "memory");
}

/// Lets copies see what threads wrote.
static __device__ void publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

static __device__ void waitForGroups() {
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// A tile a round: into shared memory, to another place there, their sum plus
/// one, and back.
__global__ void roundTrip(uint32_t *To, const uint32_t *From) {
  alignas(128) __shared__ uint32_t In[Words], Out[Words];
  __shared__ uint64_t Barrier;
  const uint32_t Bytes = sizeof(In), At = shared(&Barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(At));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  for (int Round = 0; Round < Rounds; ++Round) {
    const size_t Tile = size_t(Round * Blocks + blockIdx.x) * Words;
    if (threadIdx.x == 0) {
      uint64_t Policy;
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;"
                   : "=l"(Policy));
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(From +
                                                                      Tile),
                   "r"(Bytes)
                   : "memory");
      asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, "
                   "[%0], %1;" ::"r"(At),
                   "r"(Bytes)
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
          ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(shared(In)),
          "l"(From + Tile), "r"(Bytes), "r"(At), "l"(Policy)
          : "memory");
    }
    waitFor(At, 0);
    __syncthreads(); // a phase ahead, the first would look the same again
    if (threadIdx.x == 0) {
      asm volatile(
          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(At),
          "r"(Bytes)
          : "memory");
      asm volatile("cp.async.bulk.shared::cta.global.mbarrier::"
                   "complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared(Out)),
                   "l"(From + Tile), "r"(Bytes), "r"(At)
                   : "memory");
      asm volatile(
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
              At)
          : "memory");
    }
    waitFor(At, 1);
    for (int I = threadIdx.x; I < Words; I += blockDim.x)
      Out[I] += In[I] + 1;
    publish();
    if (threadIdx.x == 0) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
              To + Tile),
          "r"(shared(Out)), "r"(Bytes)
          : "memory");
      waitForGroups();
    }
    __syncthreads();
  }
}

#define REDUCE(FORM, TO, FROM)                                                 \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." FORM      \
               " [%0], [%1], %2;" ::"l"(TO),                                   \
               "r"(shared(FROM)), "r"(uint32_t(sizeof(FROM)))                  \
               : "memory")

/// All blocks reduce into the same words: block b brings b + i to word i.
__global__ void reduce(int *Ints, float *Floats, unsigned long long *Longs) {
  alignas(128) __shared__ int Int[Words];
  alignas(128) __shared__ float Float[Words];
  alignas(128) __shared__ unsigned long long Long[Words];
  for (int I = threadIdx.x; I < Words; I += blockDim.x) {
    Float[I] = Int[I] = blockIdx.x + I;
    Long[I] = ((unsigned long long)blockIdx.x << 32) + I;
  }
  publish();
  if (threadIdx.x)
    return;
  REDUCE("add.s32", Ints, Int);
  REDUCE("min.s32", Ints + Words, Int);
  REDUCE("max.u32", Ints + 2 * Words, Int);
  REDUCE("xor.b32", Ints + 3 * Words, Int);
  REDUCE("add.f32", Floats, Float);
  REDUCE("add.u64", Longs, Long);
  waitForGroups();
}

/// A phase is over when all 32 have arrived and the bytes that each expects
/// have come; with the forms for clusters, to a block alone.
__global__ void transactions(int *Out) {
  __shared__ uint64_t Barrier;
  const uint32_t At = shared(&Barrier);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(At));
  __syncwarp();
  uint64_t State;
  uint32_t Before, After;
  asm volatile("mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 %0, "
               "[%1], 8;"
               : "=l"(State)
               : "r"(At)
               : "memory");
  __syncwarp();
  asm volatile("{ .reg .pred p; mbarrier.test_wait.acquire.cluster.shared::cta."
               "b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(Before)
               : "r"(At), "l"(State)
               : "memory");
  __syncwarp();
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;" ::"r"(
                   At)
               : "memory");
  __syncwarp();
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared"
               "::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
               : "=r"(After)
               : "r"(At)
               : "memory");
  Out[threadIdx.x] = Before * 2 + After;
}

int main() {
  constexpr int All = Rounds * Blocks * Words;
  auto *From = managed<uint32_t>(All), *To = managed<uint32_t>(All);
  for (int I = 0; I < All; ++I)
    From[I] = next();
  roundTrip<<<Blocks, 96>>>(To, From);
  finish();
  for (int I = 0; I < All; ++I)
    expect("word", I, To[I], From[I] * 2 + 1);

  auto *Ints = managed<int>(4 * Words);
  auto *Floats = managed<float>(Words);
  auto *Longs = managed<unsigned long long>(Words);
  for (int I = 0; I < Words; ++I) {
    Ints[I] = Ints[2 * Words + I] = Ints[3 * Words + I] = 0;
    Ints[Words + I] = I + 3;
    Floats[I] = 0;
    Longs[I] = 0;
  }
  reduce<<<Blocks, 64>>>(Ints, Floats, Longs);
  finish();
  for (int I = 0; I < Words; ++I) {
    int Sum = 0, Odd = 0;
    for (int B = 0; B < Blocks; ++B) {
      Sum += B + I;
      Odd ^= B + I;
    }
    expect("add", I, Ints[I], Sum);
    expect("min", I, Ints[Words + I], I);
    expect("max", I, Ints[2 * Words + I], I + Blocks - 1);
    expect("xor", I, Ints[3 * Words + I], Odd);
    expect("add.f32", I, Floats[I], Sum);
    expect("add.u64, upper half", I, Longs[I] >> 32, 21);
    expect("add.u64, lower half", I, Longs[I] & ~0u, Blocks * I);
  }

  auto *Phases = managed<int>(32);
  transactions<<<1, 32>>>(Phases);
  finish();
  for (int I = 0; I < 32; ++I)
    expect("phase", I, Phases[I], 1);
  return summary();
}
