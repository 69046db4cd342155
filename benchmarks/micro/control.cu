//===- micro/control.cu - Branches, calls, exchanges, barriers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch skips a body of 24 multiply-adds, too long for ptxas to predicate.
// Its condition is ready: one of six predicates, because with a single one the
// next branch would be known.
//
//===----------------------------------------------------------------------===//

#include "micro.h"

namespace {

#define FMA4                                                                   \
  "fma.rn.f32 %0, %0, %2, %3; fma.rn.f32 %0, %0, %2, %3; "                     \
  "fma.rn.f32 %0, %0, %2, %3; fma.rn.f32 %0, %0, %2, %3; "
#define BODY FMA4 FMA4 FMA4 FMA4 FMA4 FMA4

struct Branches {
  float X, K0, K1;
  bool P[6];
  __device__ void startWith(const Input &In, int I, bool Taken) {
    X = In.F[I & 3], K0 = In.F[3], K1 = In.F[4];
    for (int W = 0; W < 6; ++W)
      P[W] = (In.U[W & 3] == 0) != Taken; // no key is 0
  }
  /// The same, only that the compiler does not know.
  __device__ void mayDiverge(const Input &In) {
    for (int W = 0; W < 6; ++W)
      P[W] ^= threadIdx.x > In.U[3];
  }
  __device__ uint32_t result() const { return __float_as_uint(X); }
};
#define BRANCHES(Name, Taken, Text)                                            \
  struct Name : Branches {                                                     \
    __device__ void start(const Input &In, int I) {                            \
      startWith(In, I, Taken);                                                 \
      if (#Name[3] != 'u')                                                     \
        mayDiverge(In);                                                        \
    }                                                                          \
    __device__ void step(int S) {                                              \
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; " Text " }"          \
                   : "+f"(X)                                                   \
                   : "r"(unsigned(P[S % 6])), "f"(K0), "f"(K1));               \
    }                                                                          \
  };
// One warp goes one way, and the compiler knows.
BRANCHES(br_uniform_taken, true, "@p bra.uni L; " BODY "L:")
BRANCHES(br_uniform_not, false, "@p bra.uni L; " BODY "L:")
// It goes one way, but the compiler has to mark where it would reconverge.
BRANCHES(br_taken, true, "@p bra L; " BODY "L:")
BRANCHES(br_not, false, "@p bra L; " BODY "L:")
BRANCHES(br_diverge, threadIdx.x & 1, "@p bra L; " BODY "L:")
// Two sides.
#define TWO "@p bra L; " BODY "bra M; L: " BODY "mul.f32 %0, %0, %2; M:"
BRANCHES(br_two_taken, true, TWO)
BRANCHES(br_two_not, false, TWO)
BRANCHES(br_two_diverge, threadIdx.x & 1, TWO)
// The body without a branch, for comparison.
BRANCHES(br_body, false, BODY)

struct switch_8 {
  uint32_t X, K0, K1, K2, K3;
  __device__ void start(const Input &In, int I) {
    X = In.U[I & 3], K0 = In.U[3], K1 = In.U[4], K2 = In.U[5], K3 = In.U[1];
  }
  __device__ void step(int) {
#define CASE(N, Text)                                                          \
  case N:                                                                      \
    asm volatile(Text Text Text Text Text Text                                 \
                 : "+r"(X)                                                     \
                 : "r"(K0), "r"(K1), "r"(K2), "r"(K3));                        \
    break;
    switch (X & 7) {
      CASE(0, "mad.lo.u32 %0, %0, %1, %2;")
      CASE(1, "mad.lo.u32 %0, %0, %2, %1;")
      CASE(2, "mad.lo.u32 %0, %0, %1, %3;")
      CASE(3, "mad.lo.u32 %0, %0, %3, %1;")
      CASE(4, "mad.lo.u32 %0, %0, %2, %3;")
      CASE(5, "mad.lo.u32 %0, %0, %3, %2;")
      CASE(6, "mad.lo.u32 %0, %0, %1, %4;")
      CASE(7, "mad.lo.u32 %0, %0, %4, %1;")
    }
#undef CASE
  }
  __device__ uint32_t result() const { return X; }
};

__device__ __noinline__ uint32_t callee(uint32_t X, uint32_t K0, uint32_t K1) {
  asm volatile("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(X) : "r"(K0), "r"(K1));
  return X;
}
struct call_ret {
  uint32_t X, K0, K1;
  __device__ void start(const Input &In, int I) {
    X = In.U[I & 3], K0 = In.U[3], K1 = In.U[4];
  }
  __device__ void step(int) { X = callee(X, K0, K1); }
  __device__ uint32_t result() const { return X; }
};

/// Another value in each lane, or ptxas leaves exchanges out.
struct Word {
  uint32_t X, K0, K1;
  __device__ void start(const Input &In, int I) {
    X = In.U[I & 3] + threadIdx.x, K0 = In.U[6], K1 = In.U[3];
  }
  __device__ uint32_t result() const { return X; }
};
#define WORD(Name, Text)                                                       \
  struct Name : Word {                                                         \
    __device__ void step(int) {                                                \
      asm volatile(Text : "+r"(X) : "r"(K0), "r"(K1) : "memory");              \
    }                                                                          \
  };
// An addition in between, or ptxas takes the second exchange for the inverse.
WORD(shfl_idx, "shfl.sync.idx.b32 %0, %0, %0, 0x1f, -1; add.u32 %0, %0, %2;")
WORD(shfl_bfly, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, -1; "
                "add.u32 %0, %0, %2;")
WORD(vote_ballot, "{ .reg .pred p; setp.ne.u32 p, %0, %1; "
                  "vote.sync.ballot.b32 %0, p, -1; }")
WORD(vote_any, "{ .reg .pred p; setp.ne.u32 p, %0, %1; "
               "vote.sync.any.pred p, p, -1; selp.u32 %0, %2, %1, p; }")
WORD(match_any, "match.any.sync.b32 %0, %0, -1;")
WORD(match_same, "and.b32 %0, %0, %1; match.any.sync.b32 %0, %0, -1;")
WORD(match_all, "{ .reg .pred p; match.all.sync.b32 %0|p, %0, -1; }")
WORD(redux_add, "redux.sync.add.u32 %0, %0, -1;")
WORD(redux_min, "redux.sync.min.u32 %0, %0, -1;")
WORD(bar_warp, "bar.warp.sync -1;")
WORD(bar_block, "barrier.sync.aligned 0;")
// Special registers that may change while the kernel runs: not merged. They
// are read under a condition that the previous one decides.
WORD(sreg_smid, "{ .reg .pred p; setp.ne.u32 p, %0, -1; "
                "@p mov.u32 %0, %%smid; }")
WORD(clock_32, "{ .reg .pred p; setp.ne.u32 p, %0, -1; "
               "@p mov.u32 %0, %%clock; }")

/// Blocks of 256 threads: four groups of a block of 1024, a barrier each.
struct bar_groups : Word {
  __device__ void step(int) {
    asm volatile("barrier.sync.aligned %0, 256;" ::"r"(threadIdx.x / 256 + 1)
                 : "memory");
  }
};

} // namespace

#define LAT(Op, Sass, Per, Threads)                                            \
  static Register Lat_##Op##_##Threads({LATENCY(Op, Sass, Per, Threads, 8, 4)});
#define RATE(Op, Sass, Per)                                                    \
  static Register Rate_##Op({ISSUE(Op, Sass, Per, 1, 8, 8, 0)});
#define SLOW(Op, Sass, Per) LAT(Op, Sass, Per, 32) RATE(Op, Sass, Per)
/// Two branches, then six: no predicate is tested twice in a section.
#define BRANCH(Op, Sass, Per)                                                  \
  static Register Branch_##Op(                                                 \
      {LATENCY(Op, Sass, Per, 32, 2, 16), ISSUE(Op, Sass, Per, 1, 2, 16, 0)});

BRANCH(br_uniform_taken, "BRA", 1)
BRANCH(br_uniform_not, "BRA", 1)
BRANCH(br_taken, "BRA|BSYNC*2", 1)
BRANCH(br_not, "BRA|BSYNC*2", 1)
BRANCH(br_diverge, "BRA|BSYNC*2", 1)
BRANCH(br_two_taken, "BRA|BSYNC*3", 1)
BRANCH(br_two_not, "BRA|BSYNC*3", 1)
BRANCH(br_two_diverge, "BRA|BSYNC*3", 1)
BRANCH(br_body, "FFMA*24", 1)
SLOW(switch_8, "IMAD*48", 1)
SLOW(call_ret, "CALL", 1)
BOTH(shfl_idx, "SHFL", 1)
BOTH(shfl_bfly, "SHFL", 1)
BOTH(vote_ballot, "VOTE", 1)
BOTH(vote_any, "VOTE", 1)
SLOW(match_any, "MATCH", 1)
SLOW(match_same, "MATCH", 1)
SLOW(match_all, "MATCH", 1)
SLOW(redux_add, "REDUX", 1)
SLOW(redux_min, "REDUX", 1)
SLOW(bar_warp, "NOP", 1)
LAT(bar_block, "BAR", 1, 32)
LAT(bar_block, "BAR", 1, 64)
LAT(bar_block, "BAR", 1, 128)
LAT(bar_block, "BAR", 1, 256)
LAT(bar_block, "BAR", 1, 512)
LAT(bar_block, "BAR", 1, 1024)
RATE(bar_groups, "BAR", 1)
SLOW(sreg_smid, "S2R", 1)
SLOW(clock_32, "CS2R|S2R", 1)
