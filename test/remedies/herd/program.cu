// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Each kernel has a reference in the host's code that votes as the kernel does,
// warp by warp, and the program fails if a byte differs: whatever the parameters,
// and in whatever order the VM runs lanes.
// RUN: %reconverge cc -Rpass=reconverge-herd %s -I %source/include -o four 2>four.err
// RUN: FileCheck %s --check-prefix=FOUR <four.err
// FOUR-DAG: remark: herded: lanes leave the loop once no more than 16 of 32 are inside, with a vote every 4 rounds
// FOUR-DAG: remark: herded: lanes are dropped from an arm that no more than 16 of 32 want
// RUN: env RECONVERGE_DEVICE=cpu ./four | FileCheck %s
// CHECK: mandelbrot: {{[1-9][0-9]*}} lanes left early, as the reference
// CHECK: nested: {{[1-9][0-9]*}} lanes left early, as the reference
// CHECK: arm: {{[1-9][0-9]*}} lanes dropped, as the reference
// CHECK: sides: {{[1-9][0-9]*}} lanes dropped, as the reference
// CHECK: plane: {{[1-9][0-9]*}} lanes dropped, as the reference
// CHECK: pure: {{[1-9][0-9]*}} lanes sent, as the reference
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=ipdom ./four | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=tier=blocks ./four | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=seed=7,threads=1 ./four | FileCheck %s
// RUN: %reconverge cc -DEVERY=1 -DTHRESHOLD=24 %s -I %source/include -o one
// RUN: env RECONVERGE_DEVICE=cpu ./one | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=ipdom,seed=3 ./one | FileCheck %s

// Where nobody is too few, nobody is dropped.
// RUN: %reconverge cc -DTHRESHOLD=0 %s -I %source/include -o none
// RUN: env RECONVERGE_DEVICE=cpu ./none | FileCheck %s --check-prefix=NONE
// NONE: mandelbrot: 0 lanes left early, as the reference
// NONE: nested: 0 lanes left early, as the reference
// NONE: arm: 0 lanes dropped, as the reference
// NONE: sides: 0 lanes dropped, as the reference
// NONE: plane: 0 lanes dropped, as the reference

// Without a bound, optimize does not try it.
// RUN: %reconverge optimize --device cpu -DTHRESHOLD=0 %s -I %source/include -o best >%t.out 2>&1
// RUN: FileCheck %s --check-prefix=UNTRIED <%t.out
// UNTRIED-NOT: herd (

#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#ifndef EVERY
#define EVERY 4
#endif
#ifndef THRESHOLD
#define THRESHOLD 16
#endif
#define TEXT(X) #X
#define HERD_BY(E, T) _Pragma(TEXT(reconverge herd every(E) threshold(T)))
#define HERD_WITH(E, T) HERD_BY(E, T)
#define HERD HERD_WITH(EVERY, THRESHOLD)
#define ROLLED _Pragma("unroll 1") // the rounds that the reference has

__host__ __device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}

// In fixed point, which the host computes alike.
struct Point {
  long long X = 0, Y = 0, A, B;
  unsigned N = 0;
  __host__ __device__ Point(unsigned I, unsigned Width)
      : A((long long)(I % Width) * 3 * 65536 / Width - 2 * 65536),
        B((long long)(I / Width) * 2 * 65536 / Width - 65536) {}
  __host__ __device__ bool isInside() const {
    return X * X + Y * Y < 4ll << 32;
  }
  __host__ __device__ void step() {
    const long long Next = ((X * X - Y * Y) >> 16) + A;
    Y = (2 * X * Y >> 16) + B;
    X = Next;
    ++N;
  }
};

__global__ void mandelbrot(unsigned *Out, unsigned N, unsigned Width,
                           unsigned Most) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  Point P(I, Width);
  ROLLED HERD
  do P.step(); while ((P.N < Most) & P.isInside());
  Out[I] = P.N;
}

// In a loop that lanes leave at different times.
__global__ void nested(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned Sum = 0;
  ROLLED
  for (unsigned R = 0; R < mix(I) % 5; ++R) {
    unsigned K = mix(I + R) % 40 + 1;
    ROLLED HERD
    do Sum += mix(K + R); while (--K);
  }
  Out[I] = Sum;
}

__device__ __host__ unsigned heavy(unsigned X) {
  for (unsigned K = 0; K < 9; ++K) X = mix(X + K);
  return X;
}

__global__ void arm(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned X = I;
  HERD
  if (mix(I / 8) % 3 == 0) {
    X = heavy(I);
    Out[N + I] = X;
  }
  Out[I] = X;
}

// Neither side leaves a value.
__global__ void sides(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  HERD
  if (mix(I / 8) % 2)
    Out[I] = heavy(I);
  else
    Out[N + I] = heavy(mix(I));
}

// Blocks of two dimensions: of the first 32 threads, 20 have threadIdx.y == 0.
__global__ void plane(unsigned *Out, unsigned N) {
  const unsigned I =
      (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (I >= N) return;
  HERD
  if (mix(I / 8) % 3 == 0) Out[I] = heavy(I);
}

// Both sides only compute: all lanes may take the one that most want.
__device__ __host__ bool wantsFirst(unsigned Thread, unsigned Block) {
  return Thread % 32 < (Block + Thread / 32) % 4 * 8 + 5; // never half
}
__global__ void pure(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned X;
#pragma reconverge herd ways(two)
  if (wantsFirst(threadIdx.x, blockIdx.x))
    X = heavy(I);
  else
    X = heavy(mix(I));
  Out[I] = X;
}

static const unsigned Threads = 100; // so that a block's last warp has 4

/// Calls Do with the first item and the number of items of each warp.
template <typename DoT> static void forWarps(unsigned N, DoT Do) {
  for (unsigned Block = 0; Block < N; Block += Threads)
    for (unsigned First = Block; First < Block + Threads && First < N;
         First += 32) {
      unsigned End = std::min(std::min(First + 32, Block + Threads), N);
      Do(First, End - First);
    }
}

static bool areEnough(unsigned Lanes, unsigned Here) {
  return Lanes * 32 > THRESHOLD * Here;
}

/// Rounds of a loop: Round runs one of lane L, and whether it wants another.
/// How many lanes left early.
template <typename RoundT>
static unsigned rounds(const std::vector<unsigned> &Lanes, RoundT Round) {
  std::vector<unsigned> Inside = Lanes;
  do {
    std::vector<unsigned> Still;
    for (unsigned L : Inside) {
      unsigned K = 0;
      while (K != EVERY && Round(L)) ++K;
      if (K == EVERY) Still.push_back(L);
    }
    Inside = Still;
  } while (areEnough(Inside.size(), Lanes.size()));
  return Inside.size();
}

int main() {
  const unsigned N = 6390, Width = 80;
  unsigned *Out;
  cudaMalloc(&Out, N * 8);
  std::vector<unsigned> Host(2 * N), Expected(2 * N);
  auto Check = [&](const char *Name, unsigned Dropped, const char *How) {
    cudaMemcpy(Host.data(), Out, N * 8, cudaMemcpyDeviceToHost);
    for (unsigned I = 0; I < 2 * N; ++I)
      if (Host[I] != Expected[I]) {
        std::printf("%s: item %u is %u, not %u\n", Name, I, Host[I], Expected[I]);
        std::exit(1);
      }
    std::printf("%s: %u lanes %s, as the reference\n", Name, Dropped, How);
    cudaMemset(Out, 0, N * 8);
    Expected.assign(2 * N, 0);
  };
  auto All = [](unsigned Lanes) {
    std::vector<unsigned> L(Lanes);
    for (unsigned I = 0; I < Lanes; ++I) L[I] = I;
    return L;
  };
  cudaMemset(Out, 0, N * 8);
  const unsigned Blocks = (N + Threads - 1) / Threads;

  unsigned Dropped = 0;
  mandelbrot<<<Blocks, Threads>>>(Out, N, Width, 200);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    std::vector<Point> P;
    for (unsigned L = 0; L < Lanes; ++L) P.emplace_back(First + L, Width);
    Dropped += rounds(All(Lanes), [&](unsigned L) {
      P[L].step();
      return (P[L].N < 200) & P[L].isInside();
    });
    for (unsigned L = 0; L < Lanes; ++L) Expected[First + L] = P[L].N;
  });
  Check("mandelbrot", Dropped, "left early");

  Dropped = 0;
  nested<<<Blocks, Threads>>>(Out, N);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    for (unsigned R = 0; R < 5; ++R) {
      std::vector<unsigned> Here, K(Lanes);
      for (unsigned L = 0; L < Lanes; ++L)
        if (R < mix(First + L) % 5) {
          Here.push_back(L);
          K[L] = mix(First + L + R) % 40 + 1;
        }
      if (!Here.empty())
        Dropped += rounds(Here, [&](unsigned L) {
          Expected[First + L] += mix(K[L] + R);
          return --K[L] != 0;
        });
    }
  });
  Check("nested", Dropped, "left early");

  Dropped = 0;
  arm<<<Blocks, Threads>>>(Out, N);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    std::vector<unsigned> Want;
    for (unsigned L = 0; L < Lanes; ++L) {
      Expected[First + L] = First + L;
      if (mix((First + L) / 8) % 3 == 0) Want.push_back(First + L);
    }
    if (!areEnough(Want.size(), Lanes)) {
      Dropped += Want.size();
      return;
    }
    for (unsigned I : Want) Expected[I] = Expected[N + I] = heavy(I);
  });
  Check("arm", Dropped, "dropped");

  Dropped = 0;
  sides<<<Blocks, Threads>>>(Out, N);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    std::vector<unsigned> Want[2];
    for (unsigned I = First; I < First + Lanes; ++I)
      Want[mix(I / 8) % 2].push_back(I);
    for (unsigned Side : {0, 1})
      if (!areEnough(Want[Side].size(), Lanes))
        Dropped += Want[Side].size();
      else
        for (unsigned I : Want[Side])
          Expected[Side ? I : N + I] = heavy(Side ? I : mix(I));
  });
  Check("sides", Dropped, "dropped");

  Dropped = 0;
  plane<<<Blocks, dim3(20, 5)>>>(Out, N);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    std::vector<unsigned> Want;
    for (unsigned I = First; I < First + Lanes; ++I)
      if (mix(I / 8) % 3 == 0) Want.push_back(I);
    if (!areEnough(Want.size(), Lanes))
      Dropped += Want.size();
    else
      for (unsigned I : Want) Expected[I] = heavy(I);
  });
  Check("plane", Dropped, "dropped");

  unsigned Sent = 0;
  pure<<<Blocks, Threads>>>(Out, N);
  forWarps(N, [&](unsigned First, unsigned Lanes) {
    unsigned Want = 0;
    for (unsigned I = First; I < First + Lanes; ++I)
      Want += wantsFirst(I % Threads, I / Threads);
    const bool Takes = 2 * Want > Lanes;
    Sent += Takes ? Lanes - Want : Want;
    for (unsigned I = First; I < First + Lanes; ++I)
      Expected[I] = heavy(Takes ? I : mix(I));
  });
  Check("pure", Sent, "sent");
}
