//===- examples/radixsort/radixsort.cu - Lesson 13: radix sort with CUB ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts records by a 32-bit key, stably, four bits at a time, least significant
// first. A pass of three kernels:
//
//   countDigits     a tile a block: how many keys of each digit
//                   counts, digit by digit, tile by tile:
//                     digit 0: t0 t1 t2 ... | digit 1: t0 t1 t2 ... | ...
//   scanCounts      sums of all before: where each tile's run of each digit
//                   goes. One block, cub::BlockScan over its elements in turn
//   scatter         cub::BlockRadixSort orders the tile by the digit; then the
//                   runs are contiguous, and go where the sums say
//
// The counting kernel adds in shared memory with an atomic a key; equal digits
// take turns. CUB's own code does the rest without divergence: ranks by
// scans, exchanges through shared memory. What diverges is the last tile.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <numeric>
#include <vector>

static constexpr int Threads = 128, Each = 4, Tile = Threads * Each;
static constexpr int DigitBits = 4, Digits = 1 << DigitBits;

__host__ __device__ inline int digitOf(uint32_t Key, int Shift) {
  return int(Key >> Shift) & (Digits - 1);
}

__global__ void countDigits(const uint32_t *Keys, int Count, int Shift,
                            int *Counts) {
  __shared__ int OfDigit[Digits];
  if (threadIdx.x < Digits)
    OfDigit[threadIdx.x] = 0;
  __syncthreads();
  const int First = int(blockIdx.x) * Tile;
  const int End = min(First + Tile, Count);
  for (int At = First + int(threadIdx.x); At < End; At += Threads)
    atomicAdd(&OfDigit[digitOf(Keys[At], Shift)], 1);
  __syncthreads();
  if (threadIdx.x < Digits)
    Counts[threadIdx.x * gridDim.x + blockIdx.x] = OfDigit[threadIdx.x];
}

/// What the blocks of a scan found so far, handed on from round to round.
struct RunningTotal {
  int Total;
  __device__ int operator()(int OfRound) {
    const int Before = Total;
    Total += OfRound;
    return Before;
  }
};

__global__ void scanCounts(int *Counts, int Size) {
  using Load = cub::BlockLoad<int, Threads, Each, cub::BLOCK_LOAD_TRANSPOSE>;
  using Scan = cub::BlockScan<int, Threads>;
  __shared__ union {
    typename Load::TempStorage Load;
    typename Scan::TempStorage Scan;
  } Storage;
  RunningTotal Running = {0};
  for (int First = 0; First < Size; First += Tile) {
    int Items[Each];
    Load(Storage.Load).Load(Counts + First, Items, Size - First, 0);
    __syncthreads();
    Scan(Storage.Scan).ExclusiveSum(Items, Items, Running);
    for (int I = 0; I < Each; ++I)
      if (const int At = First + int(threadIdx.x) * Each + I; At < Size)
        Counts[At] = Items[I];
    __syncthreads();
  }
}

__global__ void scatter(const uint32_t *Keys, const int *Values, int Count,
                        int Shift, const int *Starts, uint32_t *KeysOut,
                        int *ValuesOut) {
  using Sort = cub::BlockRadixSort<uint32_t, Threads, Each, int>;
  __shared__ typename Sort::TempStorage Storage;
  __shared__ int FirstOf[Digits]; // in the sorted tile
  const int First = int(blockIdx.x) * Tile;
  const int Size = min(Tile, Count - First);
  uint32_t Key[Each];
  int Value[Each];
  for (int I = 0; I < Each; ++I) {
    const int At = int(threadIdx.x) * Each + I;
    // Behind the end: highest digit and last, so they stay behind.
    Key[I] = At < Size ? Keys[First + At] : 0xffffffffu;
    Value[I] = At < Size ? Values[First + At] : -1;
  }
  Sort(Storage).Sort(Key, Value, Shift, Shift + DigitBits);

  // A run's first element is where the digit differs from the one before.
  __shared__ int LastDigit[Threads];
  LastDigit[threadIdx.x] = digitOf(Key[Each - 1], Shift);
  __syncthreads();
  int Before = threadIdx.x ? LastDigit[threadIdx.x - 1] : -1;
  for (int I = 0; I < Each; ++I) {
    const int Digit = digitOf(Key[I], Shift);
    if (Digit != Before)
      FirstOf[Digit] = int(threadIdx.x) * Each + I;
    Before = Digit;
  }
  __syncthreads();
  for (int I = 0; I < Each; ++I) {
    const int At = int(threadIdx.x) * Each + I;
    if (At >= Size)
      break;
    const int Digit = digitOf(Key[I], Shift);
    const int To =
        Starts[Digit * gridDim.x + blockIdx.x] + (At - FirstOf[Digit]);
    KeysOut[To] = Key[I];
    ValuesOut[To] = Value[I];
  }
}

/// An array on the device, freed at the end of its scope.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(size_t Count) {
    CHECK_CUDA(cudaMalloc(&Pointer, Count * sizeof(T)));
  }
  DeviceArray(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(Pointer); }
  operator T *() const { return Pointer; }
  friend void swap(DeviceArray &A, DeviceArray &B) {
    std::swap(A.Pointer, B.Pointer);
  }

private:
  T *Pointer = nullptr;
};

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("records", 200000, 1, 1 << 26);
  const long Bits = Args.integer("bits", 32, 1, 32); // of the keys
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  std::vector<uint32_t> Keys(Count);
  std::vector<int> Values(Count);
  Random Draw(uint64_t(Seed), 14);
  for (uint32_t &Key : Keys)
    Key = Draw.bits() >> (32 - Bits);
  std::iota(Values.begin(), Values.end(), 0);

  const unsigned Tiles = unsigned((Count + Tile - 1) / Tile);
  DeviceArray<uint32_t> KeysIn(Count), KeysOut(Count);
  DeviceArray<int> ValuesIn(Count), ValuesOut(Count), Counts(Tiles * Digits);
  CHECK_CUDA(cudaMemcpy(KeysIn, Keys.data(), Count * sizeof(uint32_t),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(ValuesIn, Values.data(), Count * sizeof(int),
                        cudaMemcpyHostToDevice));
  for (int Shift = 0; Shift < Bits; Shift += DigitBits) {
    countDigits<<<Tiles, Threads>>>(KeysIn, int(Count), Shift, Counts);
    CHECK_LAUNCH();
    scanCounts<<<1, Threads>>>(Counts, int(Tiles) * Digits);
    CHECK_LAUNCH();
    scatter<<<Tiles, Threads>>>(KeysIn, ValuesIn, int(Count), Shift, Counts,
                                KeysOut, ValuesOut);
    CHECK_LAUNCH();
    swap(KeysIn, KeysOut);
    swap(ValuesIn, ValuesOut);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<uint32_t> Sorted(Count);
  std::vector<int> Order(Count);
  CHECK_CUDA(cudaMemcpy(Sorted.data(), KeysIn, Count * sizeof(uint32_t),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(Order.data(), ValuesIn, Count * sizeof(int),
                        cudaMemcpyDeviceToHost));

  long Wrong = 0;
  if (Check) {
    std::stable_sort(Values.begin(), Values.end(),
                     [&](int A, int B) { return Keys[A] < Keys[B]; });
    for (long I = 0; I < Count; ++I)
      Wrong += Order[I] != Values[I] || Sorted[I] != Keys[Values[I]];
  }
  std::printf("radixsort: %ld records, keys of %ld bits, from %08x to %08x: ",
              Count, Bits, Sorted.front(), Sorted.back());
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(
                                         checksum(Order, checksum(Sorted))));
  return Wrong ? 1 : 0;
}
