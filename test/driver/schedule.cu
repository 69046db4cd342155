// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t && cd %t && %reconverge cc %s -o app

// Thread block B goes round B times as often as the first, and 48 KiB of shared
// memory leave room for one on each of 15 multiprocessors: 15 to 19 (f to j) come
// where 0 to 4 have ended, and the last of them ends alone.
// RUN: env COLUMNS=100 %reconverge profile --schedule --machine gtx480 ./app -o divergence.json 2>&1 \
// RUN:   | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=TEXT
// TEXT:Schedule of thread blocks
// TEXT-NEXT:stairs: launch 1, 20 thread blocks of 64 threads; 1 thread block at once on each of 15
// TEXT-NEXT:  multiprocessors (limited by shared memory; registers not known).
// TEXT-NEXT:  BBV-weighted {{[0-9]+}}k cycles, scheduled {{[0-9]+}}k; slots are full for {{[5-9][0-9]}}.{{[0-9]}}% of that, and some
// TEXT-NEXT:    multiprocessor has nothing left for {{[5-9][0-9]}}.{{[0-9]}}%; the longest thread block takes 2.0x the mean.
// TEXT-NEXT:  SM 0  |{{0?f+[.]+}}|
// TEXT-NEXT:  SM 1  |{{1+g+[.]+}}|
// TEXT-NEXT:  SM 2  |{{2+h+[.]+}}|
// TEXT-NEXT:  SM 3  |{{3+i+[.]+}}|
// TEXT-NEXT:  SM 4  |{{4+j+}}|
// TEXT-NEXT:  SM 5  |{{5+[.]+}}|
// TEXT:  SM 14 |{{e+[.]+}}|
// TEXT-NEXT:Cycles are latencies added up: to compare two forms of a kernel by, not a time. A slot holds one
// TEXT-NEXT:  thread block.

// RUN: FileCheck %s --check-prefix=JSON <divergence.json
// JSON: "schedule": {
// JSON-NEXT: "launch": 1,
// JSON-NEXT: "grid": [20,1,1],
// JSON-NEXT: "block": [64,1,1],
// JSON-NEXT: "dynamicShared": 0,
// JSON-NEXT: "sampledBlocks": 20,
// JSON-NEXT: "multiprocessors": 15,
// JSON-NEXT: "resident": 1,
// JSON-NEXT: "limitedBy": "shared memory",
// JSON-NEXT: "registersKnown": false,
// JSON-NEXT: "weighted": {{[0-9.]+}},
// JSON-NEXT: "scheduled": {{[0-9.]+}},
// JSON-NEXT: "longestBlock": {{[0-9.]+}},
// JSON-NEXT: "meanBlock": {{[0-9.]+}},
// JSON-NEXT: "busy": 0.{{[0-9]+}},
// JSON-NEXT: "tail": 0.{{[0-9]+}}
// JSON-NEXT: },
// JSON-NEXT: "cost": {

// A larger GPU has more multiprocessors than lines, and each more room than the
// grid needs.
// RUN: env COLUMNS=200 %reconverge profile --schedule ./app -o - 2>&1 >/dev/null | FileCheck %s --check-prefix=H200
// H200: 4 thread blocks at once on each of 132
// H200: and some multiprocessor has nothing left for 100.0%
// H200: SM 19.0 |{{j+}}|
// H200-COUNT-14: SM {{[0-9]+.0 +}}|
// H200-NEXT: 15 of 20 slots, from the last to end to the first

// Nobody asked.
// RUN: %reconverge profile ./app -o no.json 2>&1 | FileCheck %s --check-prefix=NO
// RUN: FileCheck %s --check-prefix=NO <no.json
// NO-NOT: {{"schedule"|Schedule of}}

// The profile of a run has what it takes, a report has not.
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_PROFILE=raw.json ./app
// RUN: env COLUMNS=200 %reconverge report --schedule raw.json | FileCheck %s --check-prefix=H200
// RUN: not %reconverge report --schedule divergence.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: report --schedule: divergence.json has no block vectors
// NONE-NEXT: {{^}}  A report has none;

// RUN: not %reconverge profile --schedule=2 ./app 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: unknown option --schedule=2
// VALUE-NEXT: Did you mean --schedule?
// RUN: not %reconverge optimize --schedule ./app 2>&1 | FileCheck %s --check-prefix=OPTIMIZE
// OPTIMIZE: error: unknown option --schedule
// RUN: not %reconverge profile --schedule --machine gtx470 ./app 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: no machine file 'gtx470'

#include <cuda_runtime.h>

__global__ void stairs(int *Out, int Rounds) {
  __shared__ int Words[12288];
  Words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int Sum = 0;
  for (int I = 0; I < Rounds * int(blockIdx.x); ++I)
    Sum = Sum * 3 + Words[(Sum + I) & 63];
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum;
}

int main() {
  int *Out;
  if (cudaMalloc(&Out, 20 * 64 * sizeof(int)))
    return 1;
  stairs<<<20, 64>>>(Out, 50);
  return cudaDeviceSynchronize();
}
