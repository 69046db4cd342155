// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=threads=3 %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu \
// RUN:   RECONVERGE_VM=compile=fast,tier=blocks,warp=64,check=on %t few \
// RUN:   | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast,seed=5 %t few \
// RUN:   | FileCheck %s

// Cooperative launches: a barrier of all blocks, met often, split into arrival
// and wait, and by as many blocks as the device holds at once. The expected
// values are the host's; nothing here is the VM's own.

#include "Inputs/check.h"
#include <cooperative_groups.h>
#include <cstring>

namespace cg = cooperative_groups;

// Each block hands a number to the next one, round after round.
__global__ void relay(unsigned *Slots, int Rounds) {
  auto Grid = cg::this_grid();
  const unsigned B = blockIdx.x, N = gridDim.x;
  for (int R = 0; R < Rounds; ++R) {
    const unsigned Got = Slots[(B + N - 1) % N];
    Grid.sync();
    if (threadIdx.x == 0)
      Slots[B] = Got * 5 + B + R;
    Grid.sync();
  }
}

static void checkRelay(int Blocks, int Threads, int Rounds) {
  unsigned *Slots = managed<unsigned>(Blocks);
  auto *Want = new unsigned[Blocks], *Next = new unsigned[Blocks];
  for (int B = 0; B < Blocks; ++B)
    Slots[B] = Want[B] = B * B;
  for (int R = 0; R < Rounds; ++R) {
    for (int B = 0; B < Blocks; ++B)
      Next[B] = Want[(B + Blocks - 1) % Blocks] * 5 + B + R;
    std::memcpy(Want, Next, Blocks * sizeof(*Want));
  }
  void *Args[] = {&Slots, &Rounds};
  CALL(cudaLaunchCooperativeKernel((void *)relay, dim3(Blocks), dim3(Threads),
                                   Args, 0, 0));
  finish();
  for (int B = 0; B < Blocks; ++B)
    expect("relay", B, Slots[B], Want[B]);
  delete[] Want;
  delete[] Next;
  CALL(cudaFree(Slots));
}

// Sum by blocks, then the sum of sums, without another launch; what does not
// need the others is done between arrival and wait.
__global__ void sum(const int *In, int N, int *Partial, int *Between,
                    int *Out) {
  auto Grid = cg::this_grid();
  if (threadIdx.x == 0)
    Partial[blockIdx.x] = 0;
  __syncthreads();
  int Mine = 0;
  for (int I = int(Grid.thread_rank()); I < N; I += int(Grid.size()))
    Mine += In[I];
  atomicAdd(&Partial[blockIdx.x], Mine);
  auto Token = Grid.barrier_arrive();
  Between[Grid.thread_rank()] = Mine * 2;
  Grid.barrier_wait(std::move(Token));
  if (Grid.thread_rank() == 0)
    for (unsigned B = 0; B < gridDim.x; ++B)
      *Out += Partial[B];
}

static void checkSum() {
  constexpr int N = 5000, Blocks = 6, Threads = 72;
  int *In = managed<int>(N), *Partial = managed<int>(Blocks),
      *Between = managed<int>(Blocks * Threads), *Out = managed<int>(1);
  int Want = 0, Size = N;
  for (int I = 0; I < N; ++I)
    Want += In[I] = int(next() % 1000);
  *Out = 0;
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeCooperative;
  Attribute.val.cooperative = 1;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = dim3(Blocks);
  Config.blockDim = dim3(Threads / 8, 4, 2);
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  const int *Input = In;
  CALL(cudaLaunchKernelEx(&Config, sum, Input, Size, Partial, Between, Out));
  finish();
  expect("sum", 0, *Out, Want);
  int All = 0;
  for (int T = 0; T < Blocks * Threads; ++T)
    All += Between[T];
  expect("between", 0, All, 2 * Want);
}

__global__ void valid(int *Out) { *Out = cg::this_grid().is_valid(); }

static void checkValid() {
  int *Out = managed<int>(2), *Second = Out + 1;
  valid<<<1, 1>>>(Out);
  void *Args[] = {&Second};
  CALL(cudaLaunchCooperativeKernel((void *)valid, 1, 1, Args, 0, 0));
  finish();
  expect("valid", 0, Out[0], 0);
  expect("valid", 1, Out[1], 1);
}

/// As many blocks as there is room for run, one more does not.
static void checkRoom(int Threads, size_t Dynamic) {
  int Multiprocessors, Each, Rounds = 2, Cooperative;
  CALL(cudaDeviceGetAttribute(&Cooperative, cudaDevAttrCooperativeLaunch, 0));
  expect("attribute", 0, Cooperative, 1);
  CALL(cudaDeviceGetAttribute(&Multiprocessors, cudaDevAttrMultiProcessorCount,
                              0));
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Each, relay, Threads,
                                                     Dynamic));
  const int Most = Each * Multiprocessors;
  unsigned *Slots = managed<unsigned>(Most + 1);
  void *Args[] = {&Slots, &Rounds};
  std::memset(Slots, 0, (Most + 1) * sizeof(*Slots));
  expect("too many", Threads,
         cudaLaunchCooperativeKernel((void *)relay, Most + 1, Threads, Args,
                                     Dynamic, 0),
         cudaErrorCooperativeLaunchTooLarge);
  expect("last error", Threads, cudaGetLastError(),
         cudaErrorCooperativeLaunchTooLarge);
  CALL(cudaDeviceSynchronize()); // and nothing ran
  for (int B = 0; B <= Most; ++B)
    expect("untouched", B, Slots[B], 0);
  CALL(cudaLaunchCooperativeKernel((void *)relay, Most, Threads, Args, Dynamic,
                                   0));
  finish();
  for (int B = 0; B < Most; ++B) {
    const int Before = (B + Most - 1) % Most;
    expect("room", B, Slots[B], unsigned(Before * 5 + B + 1));
  }
  CALL(cudaFree(Slots));
}

// CHECK: 0 wrong
int main(int Count, char **) {
  checkValid();
  checkSum();
  checkRelay(1, 1, 3);
  checkRelay(7, 96, 50);
  checkRelay(33, 1024, 4);
  if (Count == 1) {
    checkRoom(64, 0);
    checkRoom(256, 40000);
  }
  return summary();
}
