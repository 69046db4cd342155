// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Neighbours by tiles in shared memory, of which few are near: who has found one
// goes on when enough others have. Barriers stand outside of the loop, and some
// threads of the last warp are behind the end.
// RUN: %reconverge profile --device cpu %s -o plain.json >expected 2>table
// RUN: FileCheck %s <expected
// CHECK: sum {{[1-9][0-9]*}}
// RUN: FileCheck %s --check-prefix=TABLE <table
// TABLE: near
// TABLE: flatten its loops: at most {{[1-9][0-9]}}
// RUN: %reconverge profile --device cpu %s -o flat.json -DASKED \
// RUN:   -Rpass=reconverge-flatten >out 2>said
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=SAID <said
// SAID: skips.cu:58:11: remark: flattened: lanes go on past rounds that skip work, and do it together, once 16 of 32 have some
// RUN: python3 -c "import json; slots = [json.load(open(f))['kernels'][0] \
// RUN:   ['cost']['slots'] for f in ('plain.json', 'flat.json')]; \
// RUN:   print(slots); assert slots[0] > 1.35 * slots[1]"

// Looked ahead, it is better still.
// RUN: %reconverge profile --device cpu %s -o ahead.json -DASKED -DAHEAD \
// RUN:   -Rpass=reconverge-flatten >out 2>said
// RUN: diff expected out
// RUN: FileCheck %s --check-prefix=NOTED <said
// NOTED: skips.cu:58:11: remark: flattened: lanes find out which of 32 rounds have work, and then do it
// RUN: python3 -c "import json; slots = [json.load(open(f))['kernels'][0] \
// RUN:   ['cost']['slots'] for f in ('plain.json', 'ahead.json')]; \
// RUN:   print(slots); assert slots[0] > 1.8 * slots[1]"

// The counts say that it pays, and what has shared memory is not refilled.
// RUN: %reconverge optimize --device cpu %s --decisions d.json -o best \
// RUN:   >out 2>tried
// RUN: FileCheck %s --check-prefix=TRIED <tried
// TRIED: flatten (threshold={{.*}}identical
// TRIED: kept: flatten (ahead=1;branch={{.*}}) for near
// RUN: env RECONVERGE_DEVICE=cpu ./best | diff expected -

#include <cstdint>
#include <cstdio>

__global__ void near(const uint32_t *points, uint32_t *out, int n) {
  __shared__ uint32_t tile[100];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t mine = i < n ? points[i] : 0;
  float sum = 0;
  for (int first = 0; first < n; first += 100) {
    tile[threadIdx.x] = first + threadIdx.x < n ? points[first + threadIdx.x] : ~mine;
    __syncthreads();
#ifdef AHEAD
#pragma reconverge flatten ahead(1)
#elif defined(ASKED)
#pragma reconverge flatten threshold(16) rounds(4)
#endif
    for (int k = 0; k < 100; ++k) {
      const uint32_t far = (tile[k] ^ mine) * 2654435761u;
      if (far < 0x18000000u) {
        float t = far * 1e-9f;
        for (int r = 0; r < 12; ++r)
          t = t * 0.99f + sqrtf(fabsf(t) + 1);
        sum += t;
      }
    }
    __syncthreads();
  }
  if (i < n)
    out[i] = __float_as_uint(sum);
}

int main() {
  const int n = 2030;
  static uint32_t h[n];
  uint32_t *points, *out, sum = 0;
  for (int i = 0; i < n; ++i)
    h[i] = i * 2246822519u ^ i >> 3;
  cudaMalloc(&points, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(points, h, sizeof h, cudaMemcpyHostToDevice);
  near<<<(n + 99) / 100, 100>>>(points, out, n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  for (uint32_t v : h)
    sum = sum * 31 + v;
  printf("sum %u\n", sum);
  return cudaGetLastError();
}
