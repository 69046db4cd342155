// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// With next=on a launch also makes the order of the next one, whose arguments go on
// in equal steps. The program prints the same whatever is foretold.
// DEFINE: %{on} = env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1
// RUN: %reconverge cc %s -o plain
// RUN: %reconverge cc '--regroup=least=1;next=on' %s -o path
// RUN: %reconverge cc '--regroup=least=1;next=on;locality=12;layout=all' %s -o place

// Of eight batches the first shows where the data are, the second how far apart.
// Behind the eighth there is nothing.
// RUN: env RECONVERGE_DEVICE=cpu ./plain batches >batches.expected
// RUN: %{on} ./path batches 2>batches.err >out
// RUN: diff batches.expected out
// RUN: FileCheck %s --check-prefix=BATCHES <batches.err
// RUN: %{on} ./place batches 2>batches.err >out
// RUN: diff batches.expected out
// RUN: FileCheck %s --check-prefix=BATCHES <batches.err
// BATCHES: reconverge: rounds({{.*}}): 6 of 8 launches had an order that the launch before had made; 6 were made so

// The next batch comes late: what is foretold is of numbers that lead nowhere.
// RUN: %{on} ./path late 2>late.err >out
// RUN: diff batches.expected out
// RUN: FileCheck %s --check-prefix=BATCHES <late.err
// RUN: %{on} ./place late 2>late.err >out
// RUN: diff batches.expected out
// RUN: FileCheck %s --check-prefix=BATCHES <late.err

// Three rounds over the batches: the first of each round alone is not foretold.
// RUN: env RECONVERGE_DEVICE=cpu ./plain rounds >rounds.expected
// RUN: %{on} ./path rounds 2>&1 >out | FileCheck %s --check-prefix=ROUNDS
// RUN: diff rounds.expected out
// ROUNDS: 20 of 24 launches had an order

// Hardly in order (1, 4, 7 is); in one stream each; on the same data.
// RUN: env RECONVERGE_DEVICE=cpu ./plain jumps >jumps.expected
// RUN: %{on} ./path jumps 2>&1 >out | FileCheck %s --check-prefix=JUMPS
// RUN: diff jumps.expected out
// JUMPS: 1 of 12 launches had an order that the launch before had made; 2 were made so
// RUN: %{on} ./path streams 2>&1 >out | FileCheck %s --check-prefix=STREAMS
// RUN: diff batches.expected out
// STREAMS: 4 of 8 launches had an order
// RUN: env RECONVERGE_DEVICE=cpu ./plain same >same.expected
// RUN: %{on} ./path same 2>&1 >out | FileCheck %s --check-prefix=SAME
// RUN: diff same.expected out
// SAME: 0 of 8 launches had an order that the launch before had made; 0 were made so

// A launch that is captured makes its own.
// RUN: %{on} ./path graph 2>&1 >out | FileCheck %s --check-prefix=GRAPH
// RUN: diff batches.expected out
// GRAPH: 8 launches of {{.*}}; 8 of them captured
// GRAPH-NOT: had an order

// Both forms are tried in turns; the recipe's second time is of a launch that one
// before it has made ready.
// RUN: %{on} RECONVERGE_VM=clock=model ./path rounds 2>&1 >out | FileCheck %s --check-prefix=MODEL
// RUN: diff rounds.expected out
// MODEL: rounds({{.*}}): 24 launches of 16384 to 32767 threads, {{[0-9]+}} with the remedy: {{kept|switched off}},
// MODEL: {{[1-9][0-9]*}} of {{[0-9]+}} launches had an order

// Where batches come late and are long, orders that were made before do not pay, but
// those that launches make themselves do.
// RUN: env RECONVERGE_DEVICE=cpu ./plain long >long.expected
// RUN: %{on} RECONVERGE_VM=clock=model ./path long 2>&1 >out | FileCheck %s --check-prefix=LONG
// RUN: diff long.expected out
// LONG: rounds({{.*}}): 24 launches of 16384 to 32767 threads, 20 with the remedy: kept, {{.*}}; by orders of their own, as those made before did not pay

// RUN: not %reconverge cc '--regroup=next=maybe' %s -o bad 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: next=maybe
// RUN: not %reconverge cc '--regroup=next=on;reuse=on' %s -o bad 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: regrouping by next=on with reuse=on

// What the source asks for goes before what is asked for beside it.
// RUN: %reconverge cc -DASKS='"reconverge regroup next(on)"' '--regroup=least=1;reuse=on' %s -o asks
// RUN: %{on} ./asks batches 2>&1 >out | FileCheck %s --check-prefix=BATCHES
// RUN: diff batches.expected out
// RUN: %reconverge cc -DASKS='"reconverge regroup reuse(on)"' '--regroup=least=1;next=on' %s -o asks
// RUN: %{on} ./asks batches 2>&1 >out | FileCheck %s --check-prefix=REUSES
// RUN: diff batches.expected out
// REUSES: orders were made for 8 launches
// REUSES-NOT: had an order
// RUN: not %reconverge cc -DASKS='"reconverge regroup next(on) reuse(on)"' --regroup=least=1 %s -o asks 2>&1 | FileCheck %s --check-prefix=BOTH

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)

struct Batch {
  const unsigned *kind;
  const unsigned *extra;
  int n;
};

// As many rounds as the item's kind has.
#ifdef ASKS
_Pragma(ASKS)
#endif
__global__ void rounds(Batch b, const unsigned *__restrict__ table, unsigned *__restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= b.n)
    return;
  const unsigned many = table[b.kind[i]] + b.extra[b.kind[i]];
  unsigned v = i;
#pragma unroll 1
  for (unsigned k = 0; k < many; ++k)
    v = (v ^ v >> 7) * 2654435761u + k;
  out[i] += v;
}

static const int n = 20000, batches = 8, kinds = 16;

static std::vector<unsigned> draw() {
  std::vector<unsigned> kind(n * batches);
  unsigned seed = 7;
  for (unsigned &k : kind) {
    seed = seed * 1664525u + 1013904223u;
    k = (seed >> 8) % 11 ? seed >> 29 : 8 + (seed >> 29);
  }
  return kind;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char *name) { return !strcmp(what, name); };
  unsigned *kind, *out, *table, *extra, *late;
  const size_t bytes = n * batches * 4;
  std::vector<unsigned> rows(kinds);
  for (int k = 0; k < kinds; ++k) rows[k] = k < 8 ? k : (is("long") ? 3000 : 300) + 10 * k;
  CHECK(cudaMalloc(&kind, bytes)); CHECK(cudaMalloc(&out, bytes)); CHECK(cudaMalloc(&late, bytes));
  CHECK(cudaMalloc(&table, kinds * 4)); CHECK(cudaMalloc(&extra, kinds * 4));
  CHECK(cudaMemcpy(table, rows.data(), kinds * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(extra, rows.data(), kinds * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(late, draw().data(), bytes, cudaMemcpyHostToDevice));
  const bool comesLate = is("late") || is("long");
  if (comesLate) CHECK(cudaMemset(kind, 0xe7, bytes));
  else CHECK(cudaMemcpy(kind, late, bytes, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(out, 0, bytes));
  cudaStream_t s[2]; cudaGraph_t graph; cudaGraphExec_t exec;
  for (auto &t : s) CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  const auto launch = [&](int b, cudaStream_t t) {
    rounds<<<(n + 255) / 256, 256, 0, t>>>({kind + b * n, extra, n}, table, out + b * n);
  };
  if (is("graph")) CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
  static const int jumps[] = {0, 3, 1, 7, 2, 2, 6, 0, 5, 1, 4, 7};
  if (is("jumps"))
    for (int b : jumps) launch(b, s[0]);
  else if (is("same"))
    for (int b = 0; b < batches; ++b) launch(0, s[0]);
  else
    for (int round = 0; round < (is("rounds") || is("long") ? 3 : 1); ++round)
      for (int b = 0; b < batches; ++b) {
        if (comesLate)
          CHECK(cudaMemcpyAsync(kind + b * n, late + b * n, n * 4, cudaMemcpyDeviceToDevice, s[0]));
        launch(b, s[is("streams") ? b % 2 : 0]);
        if (is("long")) CHECK(cudaMemsetAsync(kind + b * n, 0xe7, n * 4, s[0]));
      }
  CHECK(cudaGetLastError());
  if (is("graph")) {
    CHECK(cudaStreamEndCapture(s[0], &graph)); CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphLaunch(exec, s[0]));
  }
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> h(n * batches);
  CHECK(cudaMemcpy(h.data(), out, bytes, cudaMemcpyDeviceToHost));
  unsigned long sum = 0;
  for (unsigned v : h) sum = sum * 131 + v;
  printf("%lx\n", sum);
}
