// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t && cd %t && %reconverge cc %s -o app

// Trials that last are a bar on a terminal, and with -v lines in a log.
// RUN: python3 %S/Inputs/in-terminal.py 80 %reconverge optimize --device cpu app >trials
// RUN: FileCheck %s --check-prefix=BAR <trials
// BAR: reconverge: trying
// BAR: <esc>[K[{{#* *}}] {{[0-9]+/[0-9]+}} arms(float*), launch
// BAR: decisions: decisions.json
// RUN: FileCheck %s --check-prefix=FITS <trials
// FITS-NOT: <too long>

// RUN: %reconverge optimize -v --device cpu app 2>log && cat -v log | FileCheck %s --check-prefix=LINES
// LINES-NOT: {{\^(\[|M)}}
// LINES: reconverge: running the program
// LINES: reconverge: {{[0-9]+}} of {{[0-9]+}}, 0 s: arms(float*), launch
// LINES-NOT: {{\^(\[|M)}}
// LINES: decisions: decisions.json

// -q leaves the table.
// RUN: %reconverge optimize -q --device cpu app 2>&1 | FileCheck %s --check-prefix=QUIET
// QUIET-NOT: reconverge:
// QUIET: What was tried on app
// QUIET-NOT: decisions:

#include <cstdio>
#include <unistd.h>

__global__ void arms(float *X) {
  int I = threadIdx.x;
  if (I % 2)
    X[I] = sqrtf(X[I] + 4) / (X[I] + 3);
  else
    X[I] = sqrtf(X[I] * 2 + 9) / (X[I] + 5);
}

int main() {
  float *X;
  cudaMalloc(&X, 32 * sizeof(float));
  cudaMemset(X, 0, 32 * sizeof(float));
  for (int I = 0; I < 2; ++I) {
    arms<<<1, 32>>>(X);
    cudaDeviceSynchronize();
    usleep(300000);
  }
}
