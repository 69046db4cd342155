//===- micro/micro.h - How one instruction is timed -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation is a struct with a state and a step: one instruction of the kind
// that we mean, or a sequence, whose result the next step needs. One kernel
// times all of them:
//
//   barrier; clock; loop { N steps }; barrier; clock; loop { 3N }; barrier;
//   clock
//
// Both loops run equally often, so the second section less the first is 2N
// steps and nothing else: the clock, the barriers, the loop and the filling of
// the pipeline cancel out. run.py counts in the machine code that the two
// sections differ by 2N times the expected instruction.
//
//   latency   one warp an SM, one chain
//   issue     32 warps an SM, so eight to a scheduler, each with Ilp chains
//
// Inputs come from memory, so nothing folds. A sample is the difference in
// cycles; the program prints the median of each block, and there is one to an
// SM.
//
//===----------------------------------------------------------------------===//
#ifndef MICRO_H
#define MICRO_H

#include <cstdint>
#include <vector>

/// What operations read their starting values and keys from.
struct Input {
  float F[8];
  double D[8];
  uint32_t U[8];
  uint64_t Q[8];
  uint16_t H[8];         ///< halves
  char *Ring[4];         ///< rings of pointers in global memory (memory.cu)
  uint64_t RingNodes[4]; ///< their numbers of nodes
  char *Own;             ///< 64 KB for each block, words that hold 0
  char *Flush;           ///< larger than L2
  char *Stream;          ///< much larger, what it holds does not matter
  uint64_t StreamBytes;  ///< a power of two
  cudaTextureObject_t Texture; ///< integers, each its own index
};

/// The 64-bit clock: its register is read at issue, the 32-bit one's later.
__device__ inline int64_t now() {
  int64_t T;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(T)::"memory");
  return T;
}

__device__ inline void barrierOf(int Threads) {
  if (Threads == 32)
    __syncwarp();
  else
    __syncthreads();
}

template <class Op, int Threads, int Ilp, int Steps>
__global__ void __launch_bounds__(Threads)
    measure(const Input *In, int64_t *Out, int Reps, int Iterations) {
  asm volatile("" : "+r"(Iterations)); // in a register before the clock runs
  Op Chains[Ilp];
#pragma unroll
  for (int I = 0; I < Ilp; ++I)
    Chains[I].start(*In, I);
  for (int R = -1; R < Reps; ++R) {
    barrierOf(Threads);
    int L = 0;
    int64_t T0 = now();
#pragma unroll 1
    do {
#pragma unroll
      for (int S = 0; S < Steps; ++S)
#pragma unroll
        for (int I = 0; I < Ilp; ++I)
          Chains[I].step(S);
    } while (++L < Iterations);
    barrierOf(Threads);
    L = 0;
    int64_t T1 = now();
#pragma unroll 1
    do {
#pragma unroll
      for (int S = 0; S < 3 * Steps; ++S)
#pragma unroll
        for (int I = 0; I < Ilp; ++I)
          Chains[I].step(S);
    } while (++L < Iterations);
    barrierOf(Threads);
    int64_t T2 = now();
    // The first repetition fills the caches, of instructions too.
    if (R >= 0 && threadIdx.x == 0)
      Out[blockIdx.x * Reps + R] = (T2 - T1) - (T1 - T0);
  }
#pragma unroll
  for (int I = 0; I < Ilp; ++I)
    if (Chains[I].result() == In->U[7]) // never
      Out[I] = 1;
}

/// One measurement: what to launch and how to read its samples.
struct Bench {
  const char *Name; ///< of the operation
  const char *Kind; ///< "latency" or "issue"
  const char *Sass; ///< opcodes that one step must have: "A|B*2" is two of
                    ///< either; Per of them where no number is given; "-":
                    ///< the kernel is another than measure()
  double Per;       ///< what one step counts for
  int Threads, Ilp, Steps, Iterations;
  int Blocks; ///< at most so many SMs take part; 0: all
  void (*Kernel)(const Input *, int64_t *, int, int);
};

std::vector<Bench> &benches();

struct Register {
  explicit Register(std::initializer_list<Bench> List) {
    benches().insert(benches().end(), List);
  }
};

#define LATENCY(Op, Sass, Per, Threads, Steps, Iterations)                     \
  Bench {                                                                      \
    #Op, "latency", Sass, Per, Threads, 1, Steps, Iterations, 0,               \
        measure<Op, Threads, 1, Steps>                                         \
  }
#define ISSUE(Op, Sass, Per, Ilp, Steps, Iterations, Blocks)                   \
  Bench {                                                                      \
    #Op, "issue", Sass, Per, 1024, Ilp, Steps, Iterations, Blocks,             \
        measure<Op, 1024, Ilp, Steps>                                          \
  }
/// Both measurements of a single instruction. The code of a section stays
/// within the innermost instruction cache. Issue is taken with two numbers of
/// chains, because registers that fall into one bank can slow either.
#define BOTH(Op, Sass, Per)                                                    \
  static Register Both_##Op({LATENCY(Op, Sass, Per, 32, 32, 4),                \
                             ISSUE(Op, Sass, Per, 4, 16, 8, 0),                \
                             ISSUE(Op, Sass, Per, 2, 32, 8, 0)});
/// The same where ptxas would pack neighbouring chains into one instruction.
#define ALONE(Op, Sass, Per)                                                   \
  static Register Alone_##Op(                                                  \
      {LATENCY(Op, Sass, Per, 32, 32, 4), ISSUE(Op, Sass, Per, 1, 32, 8, 0)});
/// For sequences of many instructions.
#define LONG(Op, Sass, Per)                                                    \
  static Register Long_##Op(                                                   \
      {LATENCY(Op, Sass, Per, 32, 4, 4), ISSUE(Op, Sass, Per, 1, 2, 8, 0)});

#endif
