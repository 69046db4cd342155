// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Loops of many shapes, in launches of many shapes, by each source of items, few
// and many idle lanes, short and long slices. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: breaks 1000003 {{[0-9a-f]+}}
// RUN: %reconverge cc --refill %s -o default 2>err
// RUN: count 0 <err
// RUN: env RECONVERGE_DEVICE=cpu ./default >out
// RUN: diff expected out
// RUN: %reconverge cc '--refill=threshold=1;source=slice;slice=1;block=32' %s -o eager
// RUN: env RECONVERGE_DEVICE=cpu ./eager >out
// RUN: diff expected out
// RUN: %reconverge cc '--refill=threshold=32;source=slice;slice=3;block=96' %s -o lazy
// RUN: env RECONVERGE_DEVICE=cpu ./lazy >out
// RUN: diff expected out
// RUN: %reconverge cc '--refill=slice=2;items=7;threshold=5;rounds=3' %s -o counted
// RUN: env RECONVERGE_DEVICE=cpu ./counted >out
// RUN: diff expected out

// That lanes were refilled shows in what is counted: fewer warps go round.
// RUN: %reconverge profile %s -o plain.json -- breaks >%t.out 2>&1
// RUN: %reconverge profile --refill=items=16 %s -o refilled.json -- breaks >%t.out 2>&1
// RUN: python3 %S/Inputs/lanes.py plain.json refilled.json | FileCheck %s --check-prefix=LANES
// LANES: nearly twice as full

#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

__device__ unsigned mix(unsigned X) {
  X ^= X >> 16; X *= 0x7feb352du; X ^= X >> 15; X *= 0x846ca68bu;
  return X ^ X >> 16;
}
__device__ unsigned number() {
  const unsigned X = blockIdx.x * blockDim.x + threadIdx.x,
                 Y = blockIdx.y * blockDim.y + threadIdx.y,
                 Z = blockIdx.z * blockDim.z + threadIdx.z;
  return (Z * gridDim.y * blockDim.y + Y) * gridDim.x * blockDim.x + X;
}
// How many rounds: most few, some many, some none.
__device__ unsigned rounds(unsigned I) { return mix(I) >> (20 + mix(I + 7) % 12); }

// A return before the loop, a break in it, values of it after it.
__global__ void breaks(unsigned *Out, unsigned N) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N) return;
  unsigned X = I, K = 0;
  for (; K < rounds(I); ++K) {
    X = mix(X + K);
    if (X % 61 == 0) break;
    X += K;
  }
  Out[I] = X * 31 + K;
}

// Three ways out, to different code.
__global__ void exits(unsigned *Out, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  unsigned X = mix(I), Sum = 0;
  while (true) {
    X = mix(X);
    if (X % 37 == 0) { Out[I] = Sum + 1; return; }
    if (X % 53 == 0) { Sum = Sum * 3 + X; break; }
    if (X % 71 == 0) goto third;
    Sum += X;
  }
  Out[I] = Sum ^ 0x5555;
  return;
third:
  for (unsigned K = 0; K < X % 5; ++K) Sum = mix(Sum);
  Out[I] = Sum;
}

// A loop in a loop, an array of the thread's own, a parameter that is written.
struct Table { unsigned At[6]; };
__global__ void nested(unsigned *Out, unsigned N, Table T) {
  const unsigned I = number();
  if (I >= N) return;
  unsigned Own[8] = {I, 1, 2, 3, 4, 5, 6, 7}, Sum = 0;
  for (unsigned K = 0; K < rounds(I) % 40; ++K) {
    T.At[(I + K) % 6] += K;
    for (unsigned J = mix(I + K) >> 27; J; --J) {
      Own[(J + Sum) & 7] += mix(Sum + J);
      Sum += Own[(Sum >> 5) & 7] + T.At[Sum % 6];
    }
  }
  for (unsigned J = 0; J < 8; ++J) Sum = mix(Sum ^ Own[J]);
  Out[I] = Sum + T.At[I % 6];
}

// Two loops one behind the other; sums that all threads add to.
__global__ void twice(unsigned *Out, unsigned N) {
  const unsigned I = number();
  if (I >= N) return;
  unsigned long long Long = I;
  double Real = 0;
  for (unsigned K = rounds(I); K; K /= 2) Long = Long * 3 + K;
  do {
    Real += double(Long % 1024);
    Long /= 7;
  } while (Long > 5);
  Out[I] = unsigned(Real) + unsigned(Long);
  atomicAdd(&Out[N + unsigned(Long)], 1u);
}

// Numbers of the thread and the launch, inside the loop.
__global__ void places(unsigned *Out, unsigned N) {
  unsigned I = number(), X = threadIdx.x * 7 + threadIdx.y * 5 + threadIdx.z * 3;
  if (I >= N) return;
  while (mix(X) % 29) {
    X += blockIdx.x + 2 * blockIdx.y + 3 * blockIdx.z + blockDim.x + 1;
    X = mix(X) + gridDim.y;
  }
  Out[I] = X;
}

using Kernel = void (*)(unsigned *, unsigned);
struct Case { const char *Name; Kernel Run; };

static void report(const char *Name, unsigned N, unsigned *Device) {
  std::vector<unsigned> Host(N + 8);
  cudaMemcpy(Host.data(), Device, Host.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
  unsigned long Sum = 0;
  for (unsigned V : Host) Sum = Sum * 131 + V;
  std::printf("%s %u %lx %s\n", Name, N, Sum, cudaGetErrorName(cudaGetLastError()));
}

int main(int argc, char **argv) {
  const Case All[] = {{"breaks", breaks}, {"exits", exits}, {"twice", twice}, {"places", places}};
  struct { dim3 Grid, Block; unsigned N; } Shapes[] = {
      {1, 1, 1}, {1, 31, 31}, {2, 17, 33}, {3, 64, 100}, {1, 1024, 1000},
      {dim3(5, 3), dim3(9, 7), 900}, {dim3(2, 3, 2), dim3(5, 3, 4), 720},
      {dim3(1, 40), dim3(1, 33), 1320}, {7813, 128, 1000003}};
  unsigned *Device;
  cudaMalloc(&Device, 1100000 * sizeof(unsigned));
  for (auto &S : Shapes) {
    auto Fresh = [&] { cudaMemset(Device, 0, (S.N + 8) * sizeof(unsigned)); };
    for (const Case &C : All) {
      if (S.N > 2000 && std::strcmp(C.Name, "breaks"))
        continue; // it takes long
      if (C.Run == breaks && S.Grid.y * S.Grid.z * S.Block.y * S.Block.z > 1)
        continue; // of one dimension
      if (argc > 1 && (std::strcmp(C.Name, argv[1]) || S.N != 1000003))
        continue;
      Fresh();
      C.Run<<<S.Grid, S.Block>>>(Device, S.N);
      report(C.Name, S.N, Device);
    }
    if (S.N > 2000) continue;
    Fresh();
    if (argc == 1) {
      nested<<<S.Grid, S.Block>>>(Device, S.N, Table{{1, 2, 3, 4, 5, 6}});
      report("nested", S.N, Device);
    }
  }
  if (argc > 1) return 0;
  // Two streams, and a graph that is replayed.
  cudaStream_t A, B;
  cudaStreamCreate(&A);
  cudaStreamCreateWithFlags(&B, cudaStreamNonBlocking);
  cudaMemset(Device, 0, 20016 * sizeof(unsigned));
  exits<<<40, 250, 0, A>>>(Device, 10000);
  exits<<<40, 250, 0, B>>>(Device + 10008, 10000);
  cudaDeviceSynchronize();
  report("streams", 20008, Device);
  cudaMemset(Device, 0, 10008 * sizeof(unsigned));
  cudaGraph_t Graph;
  cudaGraphExec_t Runs;
  cudaStreamBeginCapture(A, cudaStreamCaptureModeGlobal);
  twice<<<40, 250, 0, A>>>(Device, 10000);
  cudaStreamEndCapture(A, &Graph);
  cudaGraphInstantiate(&Runs, Graph, nullptr, nullptr, 0);
  for (int R = 0; R < 3; ++R) cudaGraphLaunch(Runs, A);
  cudaDeviceSynchronize();
  report("graph", 10000, Device);
  breaks<<<dim3(0), 32>>>(Device, 0);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
