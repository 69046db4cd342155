// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// A program whose launches count the threads that they drop stops herding while
// they drop too many. Of each warp 1 lane is long in harmless data (3.125 % of
// the threads), 4 in harmful ones (12.5 %). For each launch the program says
// whether its result is the herded one (H) or the exact one (.).
// RUN: %reconverge cc '--herd=every=1;stop=0.1;recheck=4' %s -o app
// DEFINE: %{on} = env RECONVERGE_DEVICE=cpu RECONVERGE_VERBOSE=1

// Launches 10 to 29 are harmful. What launch 10 counts, 14 is the first to know;
// of four from there on, the last counts: 17, 21, 25, 29 too many, 33 few; 37 is the
// first to know.
// RUN: %{on} ./app changes >changes 2>said
// RUN: FileCheck %s --check-prefix=CHANGES <changes
// RUN: FileCheck %s --check-prefix=SAID <said
// CHANGES: HHHHHHHHHHHHHH...H...H...H...H...H...HHHHHHHHHHHHHHHHHHHHHHH{{$}}
// SAID: reconverge: rounds({{.*}}): 60 launches of 256 to 511 threads, 42 with the remedy: as what launches before them have counted says
// SAID-NEXT: reconverge: rounds({{.*}}): a launch may drop 10 % of its threads, and dropped 12.5 % at most: stopped 1 times, went on again 1 times

// The same however far the host is ahead of its stream, and in whatever order
// the VM runs warps.
// RUN: %{on} ./app changes 2>&1 >again | diff said - && diff changes again
// RUN: %{on} ./app changes wait 2>&1 >again | diff said - && diff changes again
// RUN: %{on} RECONVERGE_VM=seed=7 ./app changes 2>&1 >again | diff said - && diff changes again
// RUN: %{on} RECONVERGE_VM=policy=ipdom,threads=1 ./app changes 2>&1 >again | diff said - && diff changes again

// What stays within never stops.
// RUN: %{on} ./app within >within 2>said
// RUN: FileCheck %s --check-prefix=WITHIN <within
// RUN: FileCheck %s --check-prefix=NEVER <said
// WITHIN: {{^H{60}$}}
// NEVER: 60 with the remedy
// NEVER-NEXT: dropped 3.125 % at most: stopped 0 times, went on again 0 times

// Each stream counts for itself, whether one thread or two launch in them.
// RUN: %{on} ./app streams >streams 2>said
// RUN: FileCheck %s --check-prefix=STREAMS <streams
// RUN: FileCheck %s --check-prefix=BOTH <said
// RUN: %{on} ./app threads >threads 2>again
// RUN: diff streams threads && diff said again
// STREAMS: HHHHHHHHHHHHHH...H...H...H...H...H...HHHHHHHHHHHHHHHHHHHHHHH{{$}}
// STREAMS-NEXT: {{^H{60}$}}
// BOTH: 120 launches of 256 to 511 threads, 102 with the remedy

// Nobody could stop a graph: what is captured is the kernel as it was, and does
// not count.
// RUN: %{on} ./app graph >graph 2>said
// RUN: FileCheck %s --check-prefix=GRAPH <graph
// RUN: FileCheck %s --check-prefix=CAPTURED <said
// GRAPH: HHHHHHHHH...{{$}}
// CAPTURED: 11 launches of 256 to 511 threads, 9 with the remedy: {{.*}}; 2 of them captured

// 64 streams of a kernel count; launches in others take the kernel as it was.
// RUN: %{on} ./app many 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: 70 launches of 256 to 511 threads, 64 with the remedy

// What is wrong is named.
// RUN: not %reconverge cc '--herd=stop=2' %s -o no 2>&1 | FileCheck %s --check-prefix=E1
// E1: error: herding has no parameter 'stop=2'
// RUN: not %reconverge cc '--herd=recheck=0' %s -o no 2>&1 | FileCheck %s --check-prefix=E2
// E2: error: herding has no parameter 'recheck=0'
// RUN: not %reconverge cc '--herd=stop=0.1' -rdc=true -c %s -o no 2>&1 | FileCheck %s --check-prefix=E3
// E3: error: --herd: launches of relocatable device code cannot change

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <thread>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)

static const int N = 256, Launches = 60, Short = 8, Long = 100;

__host__ __device__ unsigned step(unsigned v, int k) {
  return (v ^ v >> 7) * 2654435761u + k;
}

__global__ void rounds(const int *most, unsigned *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = i;
#pragma unroll 1
  for (int k = 0; k < most[i]; ++k)
    v = step(v, k);
  out[i] = v;
}

/// Rounds of thread I where of each warp so many lanes are long.
static std::vector<int> data(int lanes) {
  std::vector<int> most(N);
  for (int i = 0; i < N; ++i)
    most[i] = i % 32 < lanes ? Long : Short;
  return most;
}

struct Device {
  int *few, *many;
  unsigned *out;
  Device() {
    CHECK(cudaMalloc(&few, N * 4)); CHECK(cudaMalloc(&many, N * 4));
    CHECK(cudaMalloc(&out, Launches * N * 4));
    CHECK(cudaMemcpy(few, data(1).data(), N * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(many, data(4).data(), N * 4, cudaMemcpyHostToDevice));
  }
  /// Launch number \p L of which nobody waits.
  void launch(int l, bool harmful, cudaStream_t s) {
    rounds<<<2, N / 2, 0, s>>>(harmful ? many : few, out + l * N);
  }
  /// Of the first launches: the lanes that are long lack rounds, and no others.
  std::string forms(int count, const std::vector<int> &lanes) {
    std::vector<unsigned> all(count * N);
    CHECK(cudaMemcpy(all.data(), out, count * N * 4, cudaMemcpyDeviceToHost));
    std::string text;
    for (int l = 0; l < count; ++l) {
      const std::vector<int> most = data(lanes[l]);
      int lost[2] = {0, 0}, longs = 0;
      for (int i = 0; i < N; ++i) {
        unsigned v = i;
        for (int k = 0; k < most[i]; ++k)
          v = step(v, k);
        longs += most[i] == Long;
        lost[most[i] == Long] += all[l * N + i] != v;
      }
      text += lost[0] || (lost[1] && lost[1] != longs) ? '?' : lost[1] ? 'H' : '.';
    }
    return text;
  }
};

int main(int argc, char **argv) {
  const std::string what = argv[1];
  const bool wait = argc > 2;
  auto harmful = [&](int l) { return what != "within" && l >= 10 && l < 30; };
  std::vector<int> ones(Launches, 1), changing(Launches, 1);
  for (int l = 0; l < Launches; ++l)
    changing[l] = harmful(l) ? 4 : 1;
  Device one, two;
  cudaStream_t s, t;
  CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamCreate(&t));
  if (what == "time") { // on-gpu.sh
    const int warm = 1000, most = 20000;
    for (int l = 0; l < warm; ++l)
      one.launch(l % Launches, false, s);
    CHECK(cudaStreamSynchronize(s));
    const auto begin = std::chrono::steady_clock::now();
    for (int l = 0; l < most; ++l)
      one.launch(l % Launches, false, s);
    CHECK(cudaStreamSynchronize(s));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    printf("%.2f us a launch\n", took.count() / most);
    return 0;
  }
  if (what == "many") {
    for (int l = 0; l < 70; ++l) {
      cudaStream_t each;
      CHECK(cudaStreamCreate(&each));
      one.launch(l % Launches, false, each);
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  if (what == "graph") {
    for (int l = 0; l < 9; ++l)
      one.launch(l, false, s);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    one.launch(9, false, s);
    one.launch(10, true, s);
    cudaGraph_t graph; cudaGraphExec_t exec;
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphLaunch(exec, s)); CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaMemcpyAsync(one.out + 11 * N, one.out + 10 * N, N * 4, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaDeviceSynchronize());
    printf("%s\n", one.forms(12, changing).c_str());
    return 0;
  }
  auto all = [&](Device &d, cudaStream_t in, bool never) {
    for (int l = 0; l < Launches; ++l) {
      d.launch(l, harmful(l) && !never, in);
      if (wait)
        CHECK(cudaStreamSynchronize(in));
    }
  };
  if (what == "threads") {
    std::thread other([&] { all(two, t, true); });
    all(one, s, false);
    other.join();
  } else if (what == "streams") {
    for (int l = 0; l < Launches; ++l) {
      one.launch(l, harmful(l), s);
      two.launch(l, false, t);
    }
  } else {
    all(one, s, false);
  }
  CHECK(cudaDeviceSynchronize());
  printf("%s\n", one.forms(Launches, changing).c_str());
  if (what == "streams" || what == "threads")
    printf("%s\n", two.forms(Launches, ones).c_str());
}
