// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,tier=blocks,warp=64 %t \
// RUN:   | FileCheck %s

// libcu++: atomics of every width and scope, flags, latches, semaphores,
// barriers with and without copies on the way (mbarrier, cp.async), pipelines,
// and the standard library's types. clang takes no variable of a class with a
// constructor for __shared__, so these are made in raw memory.

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

template <typename T> __global__ void numbers(T *V) {
  const T Mine = T(threadIdx.x % 100);
  cuda::atomic_ref<T, cuda::thread_scope_device>(V[0]).fetch_add(T(1));
  if (blockIdx.x == 0)
    cuda::atomic_ref<T, cuda::thread_scope_block>(V[1]).fetch_sub(
        T(1), cuda::memory_order_relaxed);
  cuda::atomic_ref<T, cuda::thread_scope_system>(V[2]).fetch_max(
      Mine, cuda::memory_order_acq_rel);
  cuda::atomic_ref<T>(V[3]).fetch_min(Mine, cuda::memory_order_release);
  cuda::atomic_ref<T> Twice(V[4]);
  T Seen = Twice.load(cuda::memory_order_acquire);
  while (!Twice.compare_exchange_weak(Seen, T(Seen + T(2)))) {
  }
  if (threadIdx.x == 3 && blockIdx.x == 0)
    V[6] = cuda::atomic_ref<T>(V[5]).exchange(T(42));
}

template <typename T> static void checkNumbers(const char *Name) {
  T *V = managed<T>(7);
  const int First[] = {1, 50, 0, 99, 0, 7, 0};
  const int Last[] = {81, 10, 39, 0, 160, 42, 7};
  for (int I = 0; I < 7; ++I)
    V[I] = T(First[I]);
  numbers<<<2, 40>>>(V);
  finish();
  for (int I = 0; I < 7; ++I)
    expect(Name, I, V[I], T(Last[I]));
}

template <typename T> using Device = cuda::atomic<T, cuda::thread_scope_device>;

template <typename T> __global__ void bits(Device<T> *V) {
  V[0].fetch_or(T(T(1) << (threadIdx.x % (8 * sizeof(T)))));
  V[1].fetch_and(T(~(T(1) << (threadIdx.x % 5))));
  V[2].fetch_xor(T(threadIdx.x));
  V[3]++;
  V[4] -= T(2);
}

template <typename T> static void checkBits(const char *Name) {
  auto *V = managed<Device<T>>(5);
  const int First[] = {0, -1, 0, 0, 127}, Last[] = {-1, ~31, 0, 64, -1};
  for (int I = 0; I < 5; ++I)
    V[I] = T(First[I]);
  bits<<<1, 64>>>(V);
  finish();
  for (int I = 0; I < 5; ++I)
    expect(Name, I, V[I].load(), T(Last[I]));
}

struct Pair {
  int A, B;
};
struct __align__(16) Wide {
  long long A, B;
};

__global__ void structures(Pair *P, Wide *W) {
  cuda::atomic_ref<Pair> R(*P);
  Pair Old = R.load();
  while (
      !R.compare_exchange_strong(Old, {Old.A + 1, Old.B + int(threadIdx.x)})) {
  }
  Wide Seen = *W, Before;
  for (;;) {
    Before = atomicCAS(W, Seen, Wide{Seen.A + 1, Seen.B + threadIdx.x});
    if (Before.A == Seen.A && Before.B == Seen.B)
      break;
    Seen = Before;
  }
}

__global__ void once(int *Out) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  using Two = cuda::counting_semaphore<cuda::thread_scope_block, 2>;
  __shared__ cuda::std::atomic_flag Taken;
  __shared__ long long LatchRoom[8], TwoRoom[8];
  Latch &L = *reinterpret_cast<Latch *>(LatchRoom);
  Two &S = *reinterpret_cast<Two *>(TwoRoom);
  if (threadIdx.x == 0) {
    Taken.clear();
    new (&L) Latch(64);
    new (&S) Two(2);
  }
  __syncthreads();
  if (!Taken.test_and_set())
    atomicAdd(Out, 1);
  if (threadIdx.x < 64) {
    atomicAdd(Out + 1, 1);
    L.count_down();
  }
  L.wait();
  if (threadIdx.x == 90)
    Out[2] = Out[1];
  S.acquire();
  atomicMax(Out + 4, atomicAdd(Out + 3, 1) + 1);
  atomicSub(Out + 3, 1);
  S.release();
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;
static constexpr int Threads = 128;

__global__ void rounds(int *Out) {
  __shared__ long long Room[4];
  __shared__ int S[Threads];
  Barrier &B = *reinterpret_cast<Barrier *>(Room);
  const int T = threadIdx.x;
  if (T == 0)
    init(&B, Threads);
  __syncthreads();
  for (int Round = 0; Round < 4; ++Round) {
    S[T] = T + Round;
    B.wait(B.arrive());
    Out[Round * Threads + T] = S[(T + 1) % Threads];
    B.arrive_and_wait();
  }
  if (T >= 100) {
    B.arrive_and_drop();
    return;
  }
  S[T] = T * 7;
  B.arrive_and_wait();
  Out[4 * Threads + T] = S[99 - T];
}

__global__ void copies(const int *In, int *Out) {
  __shared__ long long Room[4];
  __shared__ __align__(16) int S[Threads];
  Barrier &B = *reinterpret_cast<Barrier *>(Room);
  auto Block = cg::this_thread_block();
  const int T = threadIdx.x;
  if (T == 0)
    init(&B, Threads);
  __syncthreads();
  auto Next = [&] {
    B.arrive_and_wait();
    *Out = S[Threads - 1 - T];
    B.arrive_and_wait();
    In += Threads;
    Out += Threads;
  };
  Out += T;
  // One bulk copy, copies of 4 bytes by all, and each thread its own.
  cuda::memcpy_async(Block, S, In, cuda::aligned_size_t<16>(sizeof S), B);
  Next();
  cuda::memcpy_async(Block, S, In, sizeof S, B);
  Next();
  cuda::memcpy_async(S + T, In + T, sizeof(int), B);
  Next();
}

// The last bytes of each copy are not read but set to zero.
__global__ void filled(const int *In, int *Out) {
  __shared__ __align__(16) int S[4 * 32];
  for (int I = 0; I < 4; ++I)
    S[4 * threadIdx.x + I] = -1;
  __pipeline_memcpy_async(S + 4 * threadIdx.x, In + 4 * threadIdx.x, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int I = 0; I < 4; ++I)
    Out[4 * threadIdx.x + I] = S[4 * threadIdx.x + I];
}

__global__ void pipelined(const int *In, int *Out, int Tiles) {
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ long long Room[(sizeof(State) + 7) / 8];
  __shared__ int S[2][64];
  auto Block = cg::this_thread_block();
  auto P = cuda::make_pipeline(Block, reinterpret_cast<State *>(Room));
  int Ahead = 0;
  for (int Tile = 0; Tile < Tiles; ++Tile) {
    for (; Ahead < Tiles && Ahead < Tile + 2; ++Ahead) {
      P.producer_acquire();
      cuda::memcpy_async(Block, S[Ahead % 2], In + Ahead * 64, sizeof S[0], P);
      P.producer_commit();
    }
    P.consumer_wait();
    Out[Tile * 64 + threadIdx.x] = S[Tile % 2][63 - threadIdx.x];
    P.consumer_release();
  }
}

__global__ void acrossBlocks(cuda::barrier<cuda::thread_scope_device> *B,
                             int *Out) {
  const int T = blockIdx.x * 32 + threadIdx.x;
  Out[T] = blockIdx.x;
  B->arrive_and_wait();
  Out[128 + T] = Out[(T + 32) % 128];
}

__global__ void types(const int *In, float *Norm, float *Out) {
  namespace std = cuda::std;
  const int T = threadIdx.x;
  const std::complex<float> A(T, 1), B(2, T);
  Norm[T] = std::norm(A * B) - std::norm(A) * std::norm(B);
  std::optional<int> Some;
  if (T % 2)
    Some = T;
  std::array<int, 8> Turned{};
  for (int I = 0; I < 8; ++I)
    Turned[(I + T) % 8] = I;
  int Sum = 0;
  for (int X : std::span<const int>(In, 16).subspan(4, 8))
    Sum += X;
  std::variant<int, float> Either(T);
  if (T % 3)
    Either = 1.5f;
  const auto Three = std::make_tuple(T, 2.5f, 'c');
  Out[T] = Some.value_or(-1) + Turned[3] * 100 + Sum * 1000 +
           std::get<0>(Three) + std::get<1>(Three) + std::get<2>(Three) +
           std::visit([](auto X) { return float(X); }, Either);
}

// CHECK: 0 wrong of
int main() {
  checkNumbers<signed char>("signed char");
  checkNumbers<unsigned short>("unsigned short");
  checkNumbers<int>("int");
  checkNumbers<unsigned long long>("unsigned long long");
  checkNumbers<float>("float");
  checkNumbers<double>("double");
  checkBits<signed char>("bits of 8");
  checkBits<short>("bits of 16");
  checkBits<long long>("bits of 64");

  Pair *P = managed<Pair>(1);
  Wide *W = managed<Wide>(1);
  structures<<<2, 64>>>(P, W);
  finish();
  expect("pair", 0, P->A, 128);
  expect("pair", 1, P->B, 64 * 63);
  expect("wide", 0, W->A, 128);
  expect("wide", 1, W->B, 64 * 63);

  int *Out = managed<int>(1024), *In = managed<int>(1024);
  once<<<1, 96>>>(Out);
  finish();
  expect("flag", 0, Out[0], 1);
  expect("latch", 0, Out[2], 64);
  expect("semaphore", 0, Out[3], 0);
  expect("semaphore", 1, Out[4] == 1 || Out[4] == 2, true);

  rounds<<<1, Threads>>>(Out);
  finish();
  for (int I = 0; I < 4 * Threads; ++I)
    expect("round", I, Out[I], (I + 1) % Threads + I / Threads);
  for (int T = 0; T < 100; ++T)
    expect("dropped", T, Out[4 * Threads + T], (99 - T) * 7);

  for (int I = 0; I < 1024; ++I)
    In[I] = 5 * I;
  copies<<<1, Threads>>>(In, Out);
  finish();
  for (int I = 0; I < 3 * Threads; ++I)
    expect("copied", I, Out[I],
           5 * (I / Threads * Threads + Threads - 1 - I % Threads));
  filled<<<1, 32>>>(In, Out);
  finish();
  for (int I = 0; I < 4 * 32; ++I)
    expect("filled", I, Out[I], I % 4 < 2 ? 5 * I : 0);
  pipelined<<<1, 64>>>(In, Out, 9);
  finish();
  for (int I = 0; I < 9 * 64; ++I)
    expect("piped", I, Out[I], 5 * (I / 64 * 64 + 63 - I % 64));

  auto *All = managed<cuda::barrier<cuda::thread_scope_device>>(1);
  init(All, 128);
  acrossBlocks<<<4, 32>>>(All, Out);
  finish();
  for (int T = 0; T < 128; ++T)
    expect("across blocks", T, Out[128 + T], (T / 32 + 1) % 4);

  float *Reals = managed<float>(128);
  types<<<1, 64>>>(In, Reals, Reals + 64);
  finish();
  for (int T = 0; T < 64; ++T) {
    expect("norm", T, Reals[T], 0);
    expect("types", T, Reals[64 + T],
           (T % 2 ? T : -1) + (11 - T % 8) % 8 * 100 + 5 * 60000 + T + 2.5 +
               'c' + (T % 3 ? 1.5 : T));
  }
  return summary();
}
