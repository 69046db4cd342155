// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t/a %t/b %t/c

// A signal to `optimize` ends the program that is running, even one that takes
// no notice of signals, and all that it has started, in its first run, too,
// which has our streams; nothing is left behind.
// RUN: cd %t/a && python3 %S/Inputs/interrupt.py SIGINT pids 3 \
// RUN:   %reconverge optimize --device cpu --no-sandbox --no-cache %s -o app -- 1 \
// RUN:   >out 2>errors </dev/null
// RUN: FileCheck %s --check-prefix=INT <out
// RUN: FileCheck %s --check-prefix=SAID <errors
// RUN: not ls app decisions.json
// INT: exit code 130
// INT-NEXT: temporary files []
// INT-NEXT: still running []
// SAID: reconverge: interrupted

// So it does in a run with trials, the second, with all that the program has
// started.
// RUN: cd %t/b && python3 %S/Inputs/interrupt.py SIGTERM pids 4 \
// RUN:   %reconverge optimize --device cpu --no-sandbox --no-cache %s -o app -- 2 \
// RUN:   >out 2>errors </dev/null
// RUN: FileCheck %s --check-prefix=TERM <out
// RUN: FileCheck %s --check-prefix=SAID <errors
// RUN: not ls app decisions.json
// TERM: exit code 143
// TERM-NEXT: temporary files []
// TERM-NEXT: still running []

// A run with trials that ends otherwise is no reason to stop: what it showed
// until then counts, and that is said.
// RUN: cd %t/c && %reconverge optimize --device cpu --no-sandbox --no-cache %s -o app -- 3 \
// RUN:   2>&1 </dev/null | FileCheck %s --check-prefix=FAILS
// RUN: ls %t/c/app
// FAILS: note: a run with trials returned 9
// FAILS: arms{{ +}}meld{{.*}}untried

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void arms(float *X) {
  int I = threadIdx.x;
  if (I % 2)
    X[I] = sqrtf(X[I] + 4) / (X[I] + 3);
  else
    X[I] = sqrtf(X[I] * 2 + 9) / (X[I] + 5);
}

int main(int, char **Arguments) {
  int Runs = 0;
  FILE *Pids = fopen("pids", "a+");
  for (int Pid; fscanf(Pids, "%d", &Pid) == 1;)
    ++Runs;
  ++Runs;
  const int Stop = atoi(Arguments[1]);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  if (Stop == 3 && Runs == 2)
    return 9;
  float *X;
  cudaMalloc(&X, 32 * sizeof(float));
  cudaMemset(X, 0, 32 * sizeof(float));
  if (Runs == Stop) {
    if (fork() == 0 && fork() == 0)
      setsid(); // out of the group
    fprintf(Pids, "%d\n", getpid());
    fclose(Pids);
    while (true)
      pause();
  }
  arms<<<1, 32>>>(X);
  cudaDeviceSynchronize();
  fprintf(Pids, "%d\n", getpid());
  fclose(Pids);
  return 0;
}
