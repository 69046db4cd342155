// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Blocks in the order of what they will do, which a slice of the kernel says
// before each launch: with shared memory and barriers, in two streams, a graph,
// three dimensions, at odd sizes, where the work of blocks changes from launch to
// launch. The program prints the same.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: %reconverge cc '--reorder-blocks=order=slice;least=1' %s -o sliced 2>err
// RUN: FileCheck %s --check-prefix=REFUSED <err
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./sliced 2>said >out
// RUN: diff expected out
// RUN: FileCheck %s <said
// CHECK-DAG: neighbours({{.*}}): 4 launches of {{.*}}, 4 with the remedy
// CHECK-DAG: uneven({{.*}}): 3 launches of {{.*}}, 3 with the remedy

// Of `neighbours` a thread computes a block: 8 warps do 105, in each of 5 launches.
// Of `uneven`, whose threads differ, all do.
// RUN: %reconverge profile -o sliced.json ./sliced >out 2>table
// RUN: FileCheck %s --check-prefix=RAN <table
// RAN-DAG: in neighbours [remedied] [costs]; {{.*}} of 40 warps split
// RUN: FileCheck %s --check-prefix=NAMES <sliced.json
// NAMES-DAG: "uneven [remedied] [costs]"
// NAMES-DAG: "neighbours [remedied] [longest_first]"

// REFUSED-DAG: warning: written({{.*}}) is launched as it is: {{.*}}blocks not reordered: what decides is read where the kernel has written [RC611]
// REFUSED-DAG: warning: collatz({{.*}}) is launched as it is: {{.*}}blocks not reordered: to know it takes as long as the kernel [RC613]
// REFUSED-DAG: warning: alike({{.*}}) is launched as it is: {{.*}}blocks not reordered: nothing tells beforehand which thread blocks take long [RC804]

#include <cstdio>
#include <vector>

// A block has a range of points and looks at all pairs, a tile at a time.
__global__ void neighbours(const int *__restrict__ Starts, const unsigned *__restrict__ Points, unsigned *Near) {
  __shared__ unsigned Tile[64];
  const unsigned Cell = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int Begin = Starts[Cell], End = Starts[Cell + 1];
  for (int Mine = Begin; Mine < End; Mine += 64) {
    const int I = Mine + int(threadIdx.x);
    unsigned Count = 0;
    for (int First = Begin; First < End; First += 64) {
      const int Here = min(End - First, 64);
      __syncthreads();
      if (int(threadIdx.x) < Here)
        Tile[threadIdx.x] = Points[First + threadIdx.x];
      __syncthreads();
      for (int K = 0; K < Here; ++K)
        Count += (Tile[K] ^ Points[min(I, End - 1)]) % 5 < 2;
    }
    if (I < End)
      Near[I] = Count;
  }
}

// Each thread has its own number of rounds; some have a side that is longer.
__global__ void uneven(const int *__restrict__ Rounds, const unsigned *__restrict__ Points, unsigned *Out) {
  __shared__ unsigned All[64];
  const int I = blockIdx.x * 64 + threadIdx.x;
  All[threadIdx.x] = Points[I];
  __syncthreads();
  unsigned V = Points[I];
  for (int K = 0; K < Rounds[I] % 97; ++K)
    V = V * 3 + All[(V + K) % 64];
  if (Points[I] % 3 == 0)
    V = (V * 7 + All[V % 64]) * (V ^ All[63 - V % 64]) + V / 7;
  Out[I] = V;
}

// How long a block takes hangs on what it may have written,
__global__ void written(const int *Rounds, unsigned *Out) {
  unsigned V = threadIdx.x;
  Out[blockIdx.x * 64 + threadIdx.x] = V;
  for (int K = 0; K < Rounds[blockIdx.x] % 97; ++K)
    V = V * 3 + K;
  Out[blockIdx.x * 64 + threadIdx.x] = V;
}
// ... on all that it does,
__global__ void collatz(const unsigned *__restrict__ Points, unsigned *Out) {
  unsigned X = Points[blockIdx.x] | 1, Count = 0;
  for (; X != 1; ++Count)
    X = X & 1 ? 3 * X + 1 : X / 2;
  Out[blockIdx.x * 64 + threadIdx.x] = Count;
}
__global__ void change(int *Rounds) {
  Rounds[blockIdx.x * 64 + threadIdx.x] ^= 77;
}
// ... and on nothing.
__global__ void alike(const unsigned *__restrict__ Points, unsigned *Out, int N) {
  unsigned V = 0;
  for (int K = 0; K < N; ++K)
    V = V * 3 + Points[(blockIdx.x * 64 + K) % 4096];
  Out[blockIdx.x * 64 + threadIdx.x] = V;
}

int main() {
  constexpr int Cells = 105, N = 64 * Cells;
  unsigned Seed = 1;
  auto Draw = [&] { return (Seed = Seed * 1664525u + 1013904223u) >> 8; };
  std::vector<int> Starts{0}, Rounds(N);
  for (int C = 0; C < Cells; ++C)
    Starts.push_back(Starts.back() + int(Draw() % 8 ? Draw() % 40 : Draw() % 300));
  std::vector<unsigned> Points(Starts.back() + N), Host(Points.size());
  for (unsigned &P : Points)
    P = Draw() % 10000;
  for (int &R : Rounds)
    R = int(Draw() % 1000);
  int *S, *R;
  unsigned *P, *A, *B;
  const size_t Bytes = Points.size() * 4;
  cudaMalloc(&S, Starts.size() * 4);
  cudaMalloc(&R, N * 4);
  cudaMalloc(&P, Bytes);
  cudaMalloc(&A, Bytes);
  cudaMalloc(&B, Bytes);
  cudaMemset(A, 0, Bytes);
  cudaMemset(B, 0, Bytes);
  cudaMemcpy(S, Starts.data(), Starts.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(R, Rounds.data(), N * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(P, Points.data(), Bytes, cudaMemcpyHostToDevice);
  unsigned Sum = 0;
  auto Add = [&] {
    cudaDeviceSynchronize();
    for (unsigned *From : {A, B}) {
      cudaMemcpy(Host.data(), From, Bytes, cudaMemcpyDeviceToHost);
      for (unsigned V : Host)
        Sum = Sum * 31 + V;
    }
    std::printf("%u\n", Sum);
  };
  cudaStream_t One, Two;
  cudaStreamCreateWithFlags(&One, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&Two, cudaStreamNonBlocking);
  neighbours<<<Cells, 64, 0, One>>>(S, P, A);
  uneven<<<Cells, 64, 0, Two>>>(R, P, B);
  Add();
  neighbours<<<dim3(3, 5, 7), 64, 0, One>>>(S, P, B);
  written<<<Cells, 64, 0, Two>>>(R, A);
  Add();
  uneven<<<97, 64, 0, Two>>>(R, P, A);
  neighbours<<<Cells, 64, 0, One>>>(S, P, B);
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaStreamBeginCapture(One, cudaStreamCaptureModeGlobal);
  neighbours<<<dim3(7, 15), 64, 0, One>>>(S, P, B);
  uneven<<<Cells, 64, 0, One>>>(R, P, A);
  cudaStreamEndCapture(One, &Graph);
  cudaGraphInstantiate(&Exec, Graph, nullptr, nullptr, 0);
  Add();
  for (int I = 0; I != 2; ++I) {
    change<<<N / 64, 64, 0, One>>>(R);
    written<<<Cells, 64, 0, One>>>(R, B);
    cudaGraphLaunch(Exec, One);
    Add();
  }
  collatz<<<Cells, 64>>>(P, A);
  alike<<<Cells, 64>>>(P, B, 20);
  neighbours<<<0, 64>>>(S, P, A);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  Add();
}
