//===- micro/memory.cu - Memory spaces, caches, atomics, fences -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Latency is a chase of pointers: a word holds the address of the next, or its
// own. Issue takes independent chases of words that are in the cache.
//
//===----------------------------------------------------------------------===//

#include "micro.h"

namespace {

constexpr unsigned SharedBytes = 32768;

/// Shared memory: word w holds its address. A lane's word is Stride words
/// after its neighbour's, so that Stride lanes of a warp meet in a bank.
template <int Stride> struct Shared {
  uint32_t X, K0;
  __device__ void start(const Input &In, int I) {
    extern __shared__ uint32_t Words[];
    auto Base = static_cast<uint32_t>(__cvta_generic_to_shared(Words));
    for (unsigned W = threadIdx.x; W < SharedBytes / 4; W += blockDim.x)
      Words[W] = Base + 4 * W;
    __syncthreads();
    unsigned Word = threadIdx.x % 32 * Stride + threadIdx.x / 32 * 32 + I;
    X = Base + Word * 4 % SharedBytes;
    K0 = In.U[6]; // zero
  }
  __device__ uint32_t result() const { return X; }
};

#define SHARED(Name, Stride, Text)                                             \
  struct Name : Shared<Stride> {                                               \
    __device__ void step(int) {                                                \
      asm volatile(Text : "+r"(X) : "r"(K0) : "memory");                       \
    }                                                                          \
  };
SHARED(ld_shared, 1, "ld.shared.u32 %0, [%0];")
SHARED(ld_shared_2, 2, "ld.shared.u32 %0, [%0];")
SHARED(ld_shared_8, 8, "ld.shared.u32 %0, [%0];")
SHARED(ld_shared_32, 32, "ld.shared.u32 %0, [%0];")
SHARED(ld_shared_same, 0, "ld.shared.u32 %0, [%0];")
SHARED(st_ld_shared, 1,
       "st.volatile.shared.u32 [%0], %0; ld.volatile.shared.u32 %0, [%0];")
SHARED(st_shared, 1, "st.volatile.shared.u32 [%0], %1;")
SHARED(st_shared_32, 32, "st.volatile.shared.u32 [%0], %1;")
SHARED(atom_shared, 1, "atom.shared.or.b32 %0, [%0], %1;")
SHARED(atom_shared_same, 0, "atom.shared.or.b32 %0, [%0], %1;")
SHARED(atom_shared_cas, 1, "atom.shared.cas.b32 %0, [%0], %1, %1;")
SHARED(red_shared, 1, "red.shared.add.u32 [%0], %1;")
SHARED(red_shared_same, 0, "red.shared.add.u32 [%0], %1;")

/// Local memory: a word that holds its own address. All of it is assembly, so
/// that nothing else of the operation moves to local memory with it.
struct Local {
  uint32_t X, K0;
  __device__ void start(const Input &In, int) {
    uint32_t Words[16];
    asm volatile("{ .reg .u64 p; cvta.to.local.u64 p, %1; cvt.u32.u64 %0, p; "
                 "st.local.u32 [%0], %0; }"
                 : "=r"(X)
                 : "l"(Words));
    K0 = In.U[6];
  }
  __device__ uint32_t result() const { return X; }
};
#define LOCAL(Name, Text)                                                      \
  struct Name : Local {                                                        \
    __device__ void step(int) { asm volatile(Text : "+r"(X) : "r"(K0)); }      \
  };
LOCAL(ld_local, "ld.local.u32 %0, [%0];")
// Through an address of which ptxas does not know that it is the same.
LOCAL(st_local, "add.u32 %0, %0, %1; st.local.u32 [%0], %0;")
LOCAL(st_ld_local, "st.local.u32 [%0], %0; add.u32 %0, %0, %1; "
                   "ld.local.u32 %0, [%0];")

/// Constant memory: word w holds its offset. All lanes read one word, or each
/// its own, which the constant cache serves one after the other.
__constant__ uint32_t Offsets[1024];
template <int Stride> struct Const {
  uint32_t X;
  __device__ void start(const Input &In, int I) {
    X = 4 * (threadIdx.x % 32 * Stride + I) + In.U[6];
  }
  __device__ void step(int) {
    X = *reinterpret_cast<const uint32_t *>(
        reinterpret_cast<const char *>(Offsets) + X);
    asm volatile("" : "+r"(X));
  }
  __device__ uint32_t result() const { return X; }
};
struct ld_const : Const<0> {};
struct ld_const_2 : Const<0> {
  __device__ void start(const Input &In, int) {
    X = 4 * (threadIdx.x % 2) + In.U[6];
  }
};
struct ld_const_32 : Const<1> {};

/// Rings of pointers in global memory: 0 fits L1 and 1 L2; 2 fits neither and
/// goes from neighbour to neighbour, the others far away; 3 is so large that
/// translations of addresses could be missing too. Each block starts elsewhere
/// on the ring; the lanes of a warp go together.
template <int Which> struct Ring {
  uint64_t X;
  __device__ void start(const Input &In, int I) {
    uint64_t Node = In.RingNodes[Which] / (gridDim.x + 1) * blockIdx.x + I;
    if (Which != 2) // no two blocks behind one another
      Node = (blockIdx.x + 1) * 2654435761u % 999983 * 4099;
    X = reinterpret_cast<uint64_t>(In.Ring[Which]) +
        Node % In.RingNodes[Which] * 256;
    if (Which == 0)
      X = reinterpret_cast<uint64_t>(In.Ring[0]);
  }
  __device__ uint32_t result() const { return uint32_t(X); }
};
#define RING(Name, Which, Text)                                                \
  struct Name : Ring<Which> {                                                  \
    __device__ void step(int) { asm volatile(Text : "+l"(X)::"memory"); }      \
  };
RING(ld_global_l1, 0, "ld.global.ca.u64 %0, [%0];")
RING(ld_readonly_l1, 0, "ld.global.nc.u64 %0, [%0];")
RING(ld_generic_l1, 0, "ld.u64 %0, [%0];")
RING(ld_global_l2, 1, "ld.global.cg.u64 %0, [%0];")
RING(ld_global_near, 2, "ld.global.cg.u64 %0, [%0];")
RING(ld_global_far, 3, "ld.global.cg.u64 %0, [%0];")

/// 32-bit words that hold 0 of a block's own 64 KB, 4 KB further at each step:
/// consecutive words, or for Stride 0 one word for all.
template <int Stride> struct Own {
  uint64_t P;
  uint32_t X, K0;
  __device__ void start(const Input &In, int I) {
    P = reinterpret_cast<uint64_t>(In.Own) + 65536 * uint64_t(blockIdx.x) +
        4 * (threadIdx.x * Stride);
    X = K0 = In.U[6] & I;
  }
  __device__ uint32_t result() const { return X; }
};
#define OWN(Name, Stride, Text)                                                \
  struct Name : Own<Stride> {                                                  \
    __device__ void step(int S) {                                              \
      asm volatile("{ .reg .u64 a; cvt.u64.u32 a, %0; add.u64 a, a, %2; "      \
                   "add.u64 a, a, %3; " Text " }"                              \
                   : "+r"(X)                                                   \
                   : "r"(K0), "l"(P), "l"(uint64_t(S % 16) * 4096)             \
                   : "memory");                                                \
    }                                                                          \
  };
OWN(ld_global, 1, "ld.global.ca.u32 %0, [a];")
OWN(ld_global_l2_rate, 1, "ld.global.cg.u32 %0, [a];")
OWN(ld_generic, 1, "ld.u32 %0, [a];")
OWN(ld_readonly, 1, "ld.global.nc.u32 %0, [a];")
OWN(st_global, 1, "st.global.u32 [a], %1;")
OWN(st_global_one, 0, "st.global.u32 [a], %1;")
OWN(st_global_rate, 1, "st.global.u32 [a], %1;")
OWN(st_generic, 0, "st.u32 [a], %1;")
OWN(st_ld_global, 1, "st.global.u32 [a], %1; ld.global.cg.u32 %0, [a];")
OWN(atom_global, 1, "atom.global.add.u32 %0, [a], %1;")
OWN(atom_global_same, 0, "atom.global.add.u32 %0, [a], %1;")
OWN(red_global, 1, "red.global.add.u32 [a], %1;")
OWN(red_global_same, 0, "red.global.add.u32 [a], %1;")
OWN(fence_gl, 1, "membar.gl;")
OWN(fence_cta, 1, "membar.cta;")
OWN(st_fence_gl, 1, "st.global.u32 [a], %1; membar.gl;")

struct tex_1d {
  int X;
  cudaTextureObject_t T;
  __device__ void start(const Input &In, int I) {
    X = threadIdx.x % 32 + 32 * I + In.U[6];
    T = In.Texture;
  }
  __device__ void step(int) {
    X = tex1Dfetch<int>(T, X);
    asm volatile("" : "+r"(X));
  }
  __device__ uint32_t result() const { return X; }
};

} // namespace

void fillConstants() {
  uint32_t Values[1024];
  for (int W = 0; W < 1024; ++W)
    Values[W] = 4 * W;
  cudaMemcpyToSymbol(Offsets, Values, sizeof Values);
}

#define LAT(Op, Sass, Per)                                                     \
  static Register Lat_##Op({LATENCY(Op, Sass, Per, 32, 8, 4)});
#define RATE(Op, Sass, Per)                                                    \
  static Register Rate_##Op({ISSUE(Op, Sass, Per, 4, 8, 8, 0)});
#define SLOW(Op, Sass, Per)                                                    \
  LAT(Op, Sass, Per)                                                           \
  static Register Slow_##Op({ISSUE(Op, Sass, Per, 1, 8, 4, 0)});
/// What one SM can do when L2 has next to nothing else to do.
#define FEW(Op, Sass, Per)                                                     \
  static Register Few_##Op({ISSUE(Op, Sass, Per, 1, 8, 4, 4)});

BOTH(ld_shared, "LDS", 1)
SLOW(ld_shared_2, "LDS", 1)
SLOW(ld_shared_8, "LDS", 1)
SLOW(ld_shared_32, "LDS", 1)
SLOW(ld_shared_same, "LDS", 1)
LAT(st_ld_shared, "STS|LDS*2", 1)
RATE(st_shared, "STS", 1)
RATE(st_shared_32, "STS", 1)
SLOW(atom_shared, "ATOMS", 1)
SLOW(atom_shared_same, "ATOMS", 1)
SLOW(atom_shared_cas, "ATOMS", 1)
RATE(red_shared, "ATOMS", 1)
RATE(red_shared_same, "ATOMS", 1)
SLOW(ld_local, "LDL", 1)
FEW(st_local, "STL", 1)
LAT(st_ld_local, "STL|LDL*2", 1)
BOTH(ld_const, "LDC", 1)
SLOW(ld_const_2, "LDC", 1)
SLOW(ld_const_32, "LDC", 1)
LAT(ld_global_l1, "LDG", 1)
LAT(ld_readonly_l1, "LDG", 1)
LAT(ld_generic_l1, "LD", 1)
LAT(ld_global_l2, "LDG", 1)
LAT(ld_global_near, "LDG", 1)
LAT(ld_global_far, "LDG", 1)
RATE(ld_global, "LDG", 1)
RATE(ld_generic, "LD", 1)
RATE(ld_readonly, "LDG", 1)
RATE(ld_global_l2_rate, "LDG", 1)
RATE(st_global_rate, "STG", 1)
FEW(st_global, "STG", 1)
FEW(st_global_one, "STG", 1)
FEW(st_generic, "ST", 1)
LAT(st_ld_global, "STG|LDG*2", 1)
LAT(atom_global, "ATOMG", 1)
LAT(atom_global_same, "ATOMG", 1)
FEW(atom_global, "ATOMG", 1)
FEW(atom_global_same, "ATOMG", 1)
FEW(red_global, "RED", 1)
FEW(red_global_same, "RED", 1)
LAT(fence_gl, "MEMBAR", 1)
LAT(fence_cta, "MEMBAR", 1)
LAT(st_fence_gl, "STG|MEMBAR*2", 1)
FEW(fence_gl, "MEMBAR", 1)
FEW(fence_cta, "MEMBAR", 1)
SLOW(tex_1d, "TLD", 1)
