// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Arrays in whose rows threads lie side by side are copied into the order: the
// program prints the same, and says which launches were by the recipe.
// RUN: %reconverge cc %s -o plain
// RUN: env RECONVERGE_DEVICE=cpu ./plain >expected
// RUN: FileCheck %s <expected
// CHECK: done
// RUN: %reconverge cc '--regroup=least=1;layout=rows' -Rpass=reconverge-regroup %s -o rows 2>&1 | FileCheck %s --check-prefix=MADE
// MADE-DAG: walk{{.*}}1 arrays with {{[0-9]+}} accesses lie in the order
// MADE-DAG: both{{.*}}2 arrays with {{[0-9]+}} accesses lie in the order
// MADE-DAG: strided{{.*}}1 arrays with {{[0-9]+}} accesses lie in the order
// MADE-DAG: stack{{.*}}1 arrays with {{[0-9]+}} accesses lie in the order
// MADE-DAG: bytes{{.*}}1 arrays with {{[0-9]+}} accesses lie in the order
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1 ./rows >out 2>which
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=WHICH <which
// WHICH-DAG: walk(Walk, float*, float*): 1 launches of 32 to 63 threads, 1 with the remedy
// WHICH-DAG: walk(Walk, float*, float*): 2 launches of 256 to 511 threads, 1 with the remedy
// WHICH-DAG: walk(Walk, float*, float*): 2 launches of 512 to 1023 threads, 2 with the remedy
// WHICH-DAG: strided(float*, int const*, int, int): 1 launches of 512 to 1023 threads, 1 with the remedy
// WHICH-DAG: walk(Walk, float*, float*): 1 launches of 1024 to 2047 threads, 1 with the remedy
// WHICH-DAG: walk(Walk, float*, float*): 1 launches of 4096 to 8191 threads, 0 with the remedy
// WHICH-DAG: both(Cell*, float const*, int const*, float*, int): 1 launches of {{.*}}, 1 with the remedy
// WHICH-DAG: stack(int*, int const*, int*, int): 1 launches of 512 to 1023 threads, 1 with the remedy
// WHICH-DAG: stack(int*, int const*, int*, int): 1 launches of 1024 to 2047 threads, 1 with the remedy
// WHICH-DAG: bytes(unsigned char*, int const*, int): 1 launches of {{.*}}, 1 with the remedy
// RUN: %reconverge cc '--regroup=least=1;layout=rows;window=on;locality=8' %s -o window
// RUN: env RECONVERGE_DEVICE=cpu ./window >out
// RUN: diff expected out
// RUN: %reconverge cc '--regroup=least=1;layout=rows;reuse=on' %s -o reuse
// RUN: env RECONVERGE_DEVICE=cpu ./reuse >out
// RUN: diff expected out

// `optimize` tries it by itself.
// RUN: %reconverge optimize --device cpu %s --no-cache --log log >out 2>err
// RUN: diff expected out
// RUN: grep -q 'branch=.*layout=rows' log
// RUN: grep -q 'estimate=.*layout=rows' log

#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)

struct Walk {
  const int *steps;
  int count, cells;
};

// How often a thread goes over its column is in memory; the way through it is
// backwards at first, from the end of the array.
__global__ void walk(Walk w, float *rows, float *sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w.count)
    return;
  float s = 0;
  for (int r = 0; r < w.steps[i]; ++r)
    for (int k = 0; k < w.cells; ++k) {
      float &cell = rows[(r & 1 ? k - 1 : -k) * size_t(w.count) + i];
      s += cell;
      cell = s * 0.5f + k;
    }
  sum[i] = s;
}

struct Cell {
  float a;
  short b;
  short c;
  int d;
};

// Two arrays, of which one is only read; an int that may not wrap is the index.
__global__ void both(Cell *cells, const float *weights, const int *steps, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int r = 0; r < steps[i]; ++r)
      for (int k = 0; k < 5; ++k) {
        Cell &c = cells[k * n + i];
        c.a += weights[size_t(k) * n + i] * c.b;
        if (c.a > 10)
          c.d += r;
      }
    out[i] = cells[size_t(2) * n + i].a;
  }
}

// A thread's stack: where its top is depends on what it holds. Rows are as long
// as the grid.
__global__ void stack(int *own, const int *steps, int *out, int n) {
  const unsigned threads = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  int top = 0, s = 0;
  for (int r = 0; r < steps[i]; ++r) {
    if (top && (s ^ r) & 1)
      s += own[size_t(--top) * threads + i];
    else if (top < n)
      own[size_t(top++) * threads + i] = s + r;
  }
  out[i] = s * 16 + top;
}

__global__ void bytes(unsigned char *rows, const int *steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int r = 0; r < steps[i]; ++r)
    for (int k = 0; k < 3; ++k)
      rows[size_t(k) * n + i] += (unsigned char)(rows[size_t((k + r) % 3) * n + i] ^ r);
}

// One loop over the grid: each iteration is a thread, and has a column.
__global__ void strided(float *rows, const int *steps, int n, int cells) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (int r = 0; r < steps[i]; ++r)
      for (int k = 0; k < cells; ++k)
        rows[size_t(k) * n + i] = rows[size_t(k) * n + i] * 0.5f + r;
}

template <typename T> static T *upload(const std::vector<T> &from) {
  T *to;
  CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
  CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

static void print(const char *what, const void *at, size_t size) {
  std::vector<unsigned char> got(size);
  CHECK(cudaMemcpy(got.data(), at, size, cudaMemcpyDeviceToHost));
  unsigned long long hash = 14695981039346656037ull;
  for (unsigned char byte : got)
    hash = (hash ^ byte) * 1099511628211ull;
  printf("%s %016llx\n", what, hash);
}

int main() {
  const int n = 777, cells = 6, threads = 128, blocks = (n + threads - 1) / threads;
  std::vector<int> lengths(1024);
  for (int i = 0; i < 1024; ++i)
    lengths[i] = (i * 7919 % 31) % 5 ? i % 3 : 9 + i % 11;
  int *steps = upload(lengths);

  // Rows before and behind the pointer, and a part of a row at both ends.
  std::vector<float> numbers(n * 13 + 55);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i % 97) / 8;
  float *array = upload(numbers), *sums = upload(std::vector<float>(n));
  float *rows = array + 5 * n + 33;
  const Walk w{steps, n, cells};
  walk<<<blocks, threads>>>(w, rows, sums);
  print("walk", array, numbers.size() * 4);
  print("sums", sums, n * 4);
  // Fewer threads than a row has, then more than one.
  walk<<<2, threads>>>(w, rows, sums);
  print("few", array, numbers.size() * 4);
  walk<<<blocks + 1, threads>>>(w, rows, sums);
  print("more", array, numbers.size() * 4);
  walk<<<1, 32>>>(w, rows, sums);
  print("one warp", array, numbers.size() * 4);
  // Not by the recipe: what is written lies in the same allocation; too many
  // threads beyond the end of a row.
  walk<<<2, threads>>>(w, rows, array + 11 * n);
  print("same", array, numbers.size() * 4);
  walk<<<32, threads>>>(w, rows, sums);
  print("many", array, numbers.size() * 4);

  std::vector<Cell> all(n * 5);
  for (int i = 0; i < n * 5; ++i)
    all[i] = {i % 7 * 0.25f, short(i % 5), short(i), i};
  Cell *table = upload(all);
  both<<<blocks, threads>>>(table, array, steps, sums, n);
  print("both", table, all.size() * sizeof(Cell));
  print("out", sums, n * 4);

  int *own = upload(std::vector<int>(4 * 1024, -1)), *out = upload(std::vector<int>(1024));
  for (int grid : {4, 8}) {
    stack<<<grid, 128>>>(own, steps, out, 4);
    print("stack", own, 4 * 1024 * 4);
    print("out", out, 1024 * 4);
  }
  unsigned char *small = upload(std::vector<unsigned char>(3 * n + 1, 3));
  bytes<<<blocks, threads>>>(small + 1, steps, n);
  print("bytes", small, 3 * n + 1);
  strided<<<2, 64>>>(array, steps, n, 4);
  print("strided", array, numbers.size() * 4);

  // In a graph, twice.
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  walk<<<blocks, threads, 0, stream>>>(w, rows, sums);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  for (int i = 0; i < 2; ++i)
    CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaStreamSynchronize(stream));
  print("graph", array, numbers.size() * 4);
  printf("done\n");
}
