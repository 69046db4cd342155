// REQUIRES: reconverge
//
// How large blocks are: by the launches of the file, if all of them say so.
// RUN: %reconverge rewrite --remap=threshold=20 %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --input-file %t.cu
// RUN: %reconverge rewrite --collect %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=COLLECTED
// COLLECTED-DAG: constant(float const*, float*, int): is collected now; a launch of one block for 4 will do; for blocks of up to 192 threads, as they are launched here

__device__ float one(float x) {
  for (int k = 0; k < 100; ++k)
    x = x * x / 3 + k;
  return x;
}

// Twice: the larger one.
// SAID-DAG: constant(float const*, float*, int): has a round of remap now; for blocks of up to 192 threads, as they are launched here
// CHECK: __launch_bounds__(192){{[[:space:]]}}void constant(
// CHECK: block_remap<192
__global__ void constant(const float *in, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(7);
}

// Variables that nobody changes, of two dimensions.
// SAID-DAG: plane(float const*, float*): has a round of remap now; for blocks of up to 128 threads, as they are launched here
// CHECK: void plane(
// CHECK: block_remap<128
__global__ void plane(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 16 * threadIdx.y;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(7);
}

// One size is not known; one changes; the address is taken; none is launched. Then
// it is 1024, of which the registers are told.
// SAID-DAG: unknown(float const*, float*, int): has a round of remap now{{$}}
// SAID-DAG: changed(float const*, float*, int): has a round of remap now{{$}}
// SAID-DAG: pointed(float const*, float*, int): has a round of remap now{{$}}
// SAID-DAG: nowhere(float const*, float*, int): has a round of remap now{{$}}
// CHECK: void unknown(
// CHECK: block_remap<1024
// CHECK: void changed(
// CHECK: block_remap<1024
// CHECK: void pointed(
// CHECK: block_remap<1024
// CHECK: void nowhere(
// CHECK: block_remap<1024
#define KERNEL(NAME)                                                           \
  __global__ void NAME(const float *in, float *out, int n)
KERNEL(unknown) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
KERNEL(changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
KERNEL(pointed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
KERNEL(nowhere) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}

void launch(float *in, float *out, int n, int threads) {
  constexpr int Half = 96;
  constant<<<9, Half>>>(in, out, n);
  constant<<<9, 2 * Half, 0, nullptr>>>(in, out, n);
  int wide = 16, growing = 64;
  const dim3 block(wide, wide / 2);
  plane<<<dim3(8), block>>>(in, out);
  growing *= 2;
  unknown<<<1, 32>>>(in, out, n);
  unknown<<<1, threads>>>(in, out, n);
  changed<<<1, growing>>>(in, out, n);
  pointed<<<1, 32>>>(in, out, n);
  void (*other)(const float *, float *, int) = pointed;
  other<<<1, 64>>>(in, out, n);
}
