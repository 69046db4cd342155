// REQUIRES: reconverge
// RUN: %reconverge cc -O2 -std=c++17 -I%source/include %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// CHECK: 0 wrong of

//===- test/remap/cluster.cu - cluster_remap against its contract ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each cluster has another distribution, each round the next one. on-gpu.py runs
// this too, on a GPU of compute capability 9.0 or more.
//
//===----------------------------------------------------------------------===//
#include "../vm/Inputs/check.h"
#include <reconverge/device/cluster_remap.cuh>
#include <vector>

static constexpr int Clusters = 12, Rounds = 4;

struct Note {
  double Value;
  int Id, Path, Identity, Home;
  char Byte;
};

template <int Threads, int Size, int Paths>
__global__ void rounds(const int *Path, Note *Notes) {
  using Remap = reconverge::cluster_remap<Threads, Size, Paths, 9>;
  __shared__ typename Remap::temp_storage Storage;
  Remap R(Storage);
  const int All = Clusters * Size * Threads;
  const int Self = blockIdx.x * Threads + threadIdx.x - R.first();
#pragma unroll 1
  for (int I = 0; I < Rounds; ++I) {
    const int At = I * All + R.first() + Self;
    double Value = Self * 1.5 + I;
    char Byte = Self % 128;
    const auto Got = R(Path[At], Byte, Value);
    int Home = Got.id;
    if (I % 2)
      R.exchange_back(Got, Home);
    else
      Home = Self;
    Notes[At] = {Value, Got.id, Got.path, Got.is_identity, Home == Self, Byte};
  }
}

static int pathOf(int Kind, int Thread, int Threads, int Paths) {
  switch (Kind % 6) {
  case 0:
    return Paths - 1;
  case 1:
    return (Thread == Threads / 2) * (Paths - 1);
  case 2:
    return Thread % Paths;
  case 3:
    return Thread * Paths / Threads;
  case 4:
    return Paths - 1 - Thread * Paths / Threads;
  default:
    return next() % Paths;
  }
}

template <int Threads, int Size, int Paths> static void check() {
  const int Cluster = Size * Threads, All = Clusters * Cluster;
  int *Path = managed<int>(Rounds * All);
  Note *Notes = managed<Note>(Rounds * All);
  for (int I = 0; I < Rounds; ++I)
    for (int T = 0; T < All; ++T)
      Path[I * All + T] = pathOf(I + T / Cluster, T % Cluster, Cluster, Paths);
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Clusters * Size;
  Config.blockDim = Threads;
  cudaLaunchAttribute Attribute;
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim = {Size, 1, 1};
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CALL(cudaLaunchKernelEx(&Config, rounds<Threads, Size, Paths>,
                          const_cast<const int *>(Path), Notes));
  finish();
  for (int From = 0; From < Rounds * All; From += Cluster) {
    std::vector<int> Order;
    for (int P = 0; P < Paths; ++P)
      for (int T = 0; T < Cluster; ++T)
        if (Path[From + T] == P)
          Order.push_back(T);
    bool One = true, Right = true;
    for (int T = 0; T < Cluster; ++T)
      One &= Path[From + T] == Path[From];
    for (int T = 0; T < Cluster; ++T) {
      const Note &N = Notes[From + T];
      Right &= N.Id == Order[T] && N.Path == Path[From + Order[T]] && N.Home &&
               bool(N.Identity) == One && N.Byte == char(N.Id % 128) &&
               N.Value == N.Id * 1.5 + From / All;
    }
    expect("round", From / Cluster, Right, true);
  }
}

int main() {
  cudaDeviceProp Device;
  CALL(cudaGetDeviceProperties(&Device, 0));
  if (Device.major < 9) {
    std::printf("skipped: clusters need compute capability 9.0\n");
    return 0;
  }
  check<32, 1, 2>();
  check<256, 2, 2>();
  check<256, 8, 2>();
  check<1024, 4, 2>();
  check<96, 3, 5>();
  check<512, 8, 4>();
  check<1024, 8, 32>();
  check<128, 4, 1>();
  return summary();
}
