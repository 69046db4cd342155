// REQUIRES: reconverge
// RUN: %reconverge cc -std=c++17 -Wall -Werror -I %source/include %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s --implicit-check-not=wrong
// CHECK: bytes: right, some of another block
// CHECK-NEXT: shorts: right, some of another block
// CHECK-NEXT: floats: right, some of another block
// CHECK-NEXT: doubles: right, some of another block
// CHECK-NEXT: side by side: right, all its own

// The device library's herded load gives what the host says.
#include <reconverge/warp/warp_herd.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

template <typename T>
__global__ void gather(const int *Index, const T *Table, T *Out, int Count) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  // The last warp is not whole.
  const unsigned Here = __ballot_sync(~0u, I < Count);
  if (I < Count)
    Out[I] = reconverge::warp_herd_load(Table + Index[I], Here);
}

template <typename T>
static void tryOn(const char *Name, bool IsSideBySide = false) {
  constexpr int Count = 4096 - 11, Whole = 4096;
  std::vector<int> Index(Count);
  std::vector<T> Table(Whole), Got(Count);
  uint32_t Random = 1;
  for (int I = 0; I != Whole; ++I)
    Table[I] = T(I % 251);
  for (int &I : Index)
    I = IsSideBySide ? int(&I - Index.data())
                     : int((Random = Random * 1664525 + 1013904223) >> 20);
  int *DeviceIndex;
  T *DeviceTable, *Out;
  cudaMalloc(&DeviceIndex, Count * sizeof(int));
  cudaMalloc(&DeviceTable, Whole * sizeof(T));
  cudaMalloc(&Out, Count * sizeof(T));
  cudaMemcpy(DeviceIndex, Index.data(), Count * sizeof(int),
             cudaMemcpyHostToDevice);
  cudaMemcpy(DeviceTable, Table.data(), Whole * sizeof(T),
             cudaMemcpyHostToDevice);
  gather<<<Whole / 128, 128>>>(DeviceIndex, DeviceTable, Out, Count);
  cudaMemcpy(Got.data(), Out, Count * sizeof(T), cudaMemcpyDeviceToHost);
  int Wrong = 0, Moved = 0;
  for (int I = 0; I != Count; ++I) {
    const int First = Index[I / 32 * 32], Now = First / 32 * 32 + Index[I] % 32;
    Wrong += Got[I] != Table[Now];
    Moved += Now != Index[I];
  }
  printf("%s: %s, %s\n", Name, Wrong ? "wrong" : "right",
         Moved ? "some of another block" : "all its own");
}

int main() {
  tryOn<uint8_t>("bytes");
  tryOn<uint16_t>("shorts");
  tryOn<float>("floats");
  tryOn<double>("doubles");
  tryOn<float>("side by side", true);
}
