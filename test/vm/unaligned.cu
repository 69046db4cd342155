// REQUIRES: reconverge
// RUN: %reconverge cc -O3 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,isa=avx2,warp=64,tier=blocks %t | FileCheck %s

// Values of 1, 2, 4, 8 and 16 bytes at every offset from 0 to 15, by memcpy.

#include "Inputs/check.h"
#include <cstring>
#include <vector>

constexpr int Threads = 64, Offsets = 16, Words = 9;
constexpr int Known = 8; // offsets that the compiler knows

struct Area {
  unsigned Word[Words];
};
struct alignas(16) Quad {
  double X, Y;
};

// A value at an odd place and a neighbour: of a double at offset 1 that the
// compiler keeps in registers, it makes pieces of 3, 4 and 1 bytes.
template <typename T>
__host__ __device__ void fill(unsigned *Word, int Offset, T V, int I) {
  const short Behind = I * 257 + 3;
  unsigned char *At = reinterpret_cast<unsigned char *>(Word) + Offset;
  memcpy(At, &V, sizeof V);
  memcpy(At + sizeof V, &Behind, 2);
}

template <typename T, int Offset = 0>
__device__ void eachOffset(const T *In, Area *Out, T *Back) {
  const int I = threadIdx.x;
  unsigned Local[Words] = {};
  fill(Local, Offset, In[I], I);
  Area *Mine = Out + Offset * Threads + I;
  for (int W = 0; W < Words; ++W)
    Mine->Word[W] = Local[W];
  __syncthreads();
  const Area *Other = Out + Offset * Threads + (I ^ 1);
  for (int W = 0; W < Words; ++W)
    Local[W] = Other->Word[W];
  memcpy(&Back[Offset * Threads + I],
         reinterpret_cast<unsigned char *>(Local) + Offset, sizeof(T));
  if constexpr (Offset + 1 < Known)
    eachOffset<T, Offset + 1>(In, Out, Back);
}

template <typename T>
__global__ void registers(const T *In, Area *Out, T *Back) {
  eachOffset(In, Out, Back);
}

// In memory: each thread's own, the block's and the device's. Idle lanes too.
template <typename T>
__global__ void memories(const T *In, Area *Locals, Area *Globals) {
  __shared__ Area Shared[Threads];
  const int I = threadIdx.x;
#pragma unroll 1
  for (int Offset = 0; Offset < Offsets; ++Offset) {
    const int To = Offset * Threads + I;
    Area Local = {};
    Shared[I] = Local;
    __syncthreads();
    if (I % 5 != 2) {
      fill(Local.Word, Offset, In[I], I);
      fill(Shared[I ^ 1].Word, Offset, In[I], I);
    }
    __syncthreads();
    Locals[To] = Local;
    if (I % 5 != 2) {
      T V;
      memcpy(&V, reinterpret_cast<unsigned char *>(Shared[I ^ 1].Word) + Offset,
             sizeof V);
      fill(Globals[To].Word, Offset, V, I);
    }
    __syncthreads();
  }
}

// Steps by the value's size from an odd place: one vector access on the host.
template <typename T>
__global__ void shift(const unsigned char *From, unsigned char *To) {
  for (int Offset = 0; Offset < Offsets; ++Offset) {
    T V;
    memcpy(&V, From + Offset + threadIdx.x * sizeof V, sizeof V);
    if (threadIdx.x % 5 != 2)
      memcpy(To + Offset * 2 * Threads * sizeof V + threadIdx.x * sizeof V + 1,
             &V, sizeof V);
  }
}

template <typename T> void test(const char *Name) {
  T *In = managed<T>(Threads), *Back = managed<T>(Threads * Offsets);
  for (size_t B = 0; B < Threads * sizeof(T); ++B)
    reinterpret_cast<unsigned char *>(In)[B] = next();
  Area *Out = managed<Area>(Threads * Offsets);
  Area *Locals = managed<Area>(Threads * Offsets);
  Area *Globals = managed<Area>(Threads * Offsets);
  registers<T><<<1, Threads>>>(In, Out, Back);
  memories<T><<<1, Threads>>>(In, Locals, Globals);
  finish();
  for (int I = 0; I < Threads * Offsets; ++I) {
    const int T0 = I % Threads, Offset = I / Threads;
    Area Want = {};
    if (T0 % 5 == 2) {
      expect(Name, I, memcmp(&Locals[I], &Want, sizeof Want), 0);
      expect(Name, I, memcmp(&Globals[I], &Want, sizeof Want), 0);
    }
    fill(Want.Word, Offset, In[T0], T0);
    if (Offset < Known) {
      expect(Name, I, memcmp(&Out[I], &Want, sizeof Want), 0);
      expect(Name, I, memcmp(&Back[I ^ 1], &In[T0], sizeof(T)), 0);
    }
    if (T0 % 5 != 2) {
      expect(Name, I, memcmp(&Locals[I], &Want, sizeof Want), 0);
      expect(Name, I, memcmp(&Globals[I], &Want, sizeof Want), 0);
    }
  }

  const size_t Room = 2 * Threads * sizeof(T);
  auto *From = managed<unsigned char>(Room);
  auto *To = managed<unsigned char>(Room * Offsets);
  for (size_t B = 0; B < Room; ++B)
    From[B] = next();
  shift<T><<<1, Threads>>>(From, To);
  finish();
  std::vector<unsigned char> Moved(Room * Offsets);
  for (int Offset = 0; Offset < Offsets; ++Offset)
    for (int I = 0; I < Threads; ++I)
      if (I % 5 != 2)
        memcpy(&Moved[Offset * Room + I * sizeof(T) + 1],
               From + Offset + I * sizeof(T), sizeof(T));
  expect(Name, -1, memcmp(To, Moved.data(), Moved.size()), 0);
}

// CHECK: 0 wrong of 15365
int main() {
  test<unsigned char>("1 byte");
  test<short>("2 bytes");
  test<float>("4 bytes");
  test<double>("8 bytes");
  test<Quad>("16 bytes");
  return summary();
}
