// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t/a %t/b %t/c %t/d && %reconverge cc %s -o %t/app

// Ctrl-C in a terminal ends the program and what it has started, and leaves
// nothing behind, whatever the program runs for. It has not been counted to its
// end, so there is no report.
// RUN: cd %t/a && python3 %S/Inputs/interrupt.py Ctrl-C pids 2 %reconverge profile --device cpu ../app \
// RUN:   | FileCheck %s
// RUN: ls %t/a | FileCheck %s --check-prefix=LEFT

// RUN: cd %t/b && python3 %S/Inputs/interrupt.py Ctrl-C pids 2 %reconverge optimize --device cpu ../app \
// RUN:   | FileCheck %s
// RUN: ls %t/b | FileCheck %s --check-prefix=LEFT

// RUN: cd %t/c && python3 %S/Inputs/interrupt.py Ctrl-C pids 2 %reconverge test --junit=a.xml --sarif=a.sarif -- ../app \
// RUN:   | FileCheck %s
// RUN: ls %t/c | FileCheck %s --check-prefix=LEFT

// CHECK: exit code 130
// CHECK-NEXT: temporary files []
// CHECK-NEXT: still running []
// LEFT: pids
// LEFT-NEXT: temporary
// LEFT-NOT: {{.}}

// A signal to the command alone is passed on to the program.
// RUN: cd %t/d && python3 %S/Inputs/interrupt.py SIGINT pids 2 %reconverge profile --device cpu ../app \
// RUN:   | FileCheck %s --check-prefix=ALONE
// ALONE: exit code 130
// ALONE-NEXT: temporary files []

#include <cstdio>
#include <unistd.h>

__global__ void arms(float *X) {
  int I = threadIdx.x;
  if (I % 2)
    X[I] = sqrtf(X[I] + 4) / (X[I] + 3);
}

int main() {
  float *X;
  cudaMalloc(&X, 32 * sizeof(float));
  arms<<<1, 32>>>(X);
  cudaDeviceSynchronize();
  fork();
  FILE *Pids = fopen("pids", "a");
  fprintf(Pids, "%d\n", getpid());
  fclose(Pids);
  pause();
}
