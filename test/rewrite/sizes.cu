// REQUIRES: reconverge
//
// How large blocks are: by the launches of the file, if all of them say so.
// RUN: %reconverge rewrite --remap=threshold=20 %s -o %t.cu 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: grep -v '^//' %t.cu | FileCheck %s
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
// CHECK: KERNEL(unknown)
// CHECK: block_remap<1024
// CHECK: KERNEL(changed)
// CHECK: block_remap<1024
// CHECK: KERNEL(pointed)
// CHECK: block_remap<1024
// CHECK: KERNEL(nowhere)
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

// The kernel's text takes blocks to have so many threads, and so do all launches:
// then the round is not told how many there are.
// SAID-DAG: taken(float const*, float*, int): has a round of remap now; for blocks of 128 threads, no fewer, as the kernel takes them
// CHECK: void taken(
// CHECK: block_remap<128
// CHECK: remap(remap_storage, threadIdx.x);
__global__ void taken(const float *in, float *out, int n) {
  const int i = threadIdx.x + blockIdx.x * 128;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
// SAID-DAG: bound(float const*, float*, int): has a round of remap now; for blocks of 64 threads, no fewer, as the kernel takes them
// CHECK: __global__ void __launch_bounds__(64)
// CHECK-NEXT: {{^ *}}bound(
// CHECK: block_remap<64
// CHECK: remap(remap_storage, threadIdx.x);
__global__ void __launch_bounds__(64)
    bound(const float *in, float *out, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}

// CHECK: void of_file(
// CHECK: block_remap<128
// CHECK: remap(remap_storage, threadIdx.x);
static constexpr int Block = 128;
template <typename Number>
__global__ void of_file(const Number *in, Number *out, int n) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}

// Not so: one launch has fewer; a thread has two items; the size is asked for
// elsewhere; two constants; nobody else says how many there are; another instance
// may have another constant; a part of blocks of two dimensions.
// CHECK: void fewer(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void two_items(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void asks(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void differ(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void alone(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void instance(
// CHECK: remap(remap_storage, threadIdx.x, blockDim.x);
// CHECK: void flat(
// CHECK: remap(remap_storage, threadIdx.y * blockDim.x + threadIdx.x,
// CHECK-NEXT: blockDim.x * blockDim.y);

// A macro says __global__, where no bound can be written: as if nobody had said.
// SAID-DAG: by_macro(float const*, float*, int): has a round of remap now{{$}}
// CHECK: KERNEL(by_macro)
// CHECK: block_remap<1024
__global__ void fewer(const float *in, float *out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
__global__ void two_items(const float *in, float *out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  out[i + 128] = 0;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
__global__ void asks(const float *in, float *out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x, j = i + n * blockDim.x;
  if (in[j] > 0)
    out[i] = one(in[j]);
  else
    out[i] = sqrtf(in[j]) - one(n);
}
__global__ void differ(const float *in, float *out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (in[j] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
__global__ void alone(const float *in, float *out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
template <int Size>
__global__ void instance(const float *in, float *out, int n) {
  const int i = blockIdx.x * Size + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}
__global__ void flat(const float *in, float *out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x + 16 * threadIdx.y;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}

KERNEL(by_macro) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (in[i] > 0)
    out[i] = one(in[i]);
  else
    out[i] = sqrtf(in[i]) - one(n);
}

void launch(float *in, float *out, int n, int threads) {
  taken<<<8, 128>>>(in, out, n);
  taken<<<n, dim3(128)>>>(in, out, n);
  bound<<<n, 64>>>(in, out, n);
  fewer<<<n, 128>>>(in, out, n);
  fewer<<<n, 96>>>(in, out, n);
  two_items<<<n, 128>>>(in, out, n);
  asks<<<n, 128>>>(in, out, n);
  differ<<<n, 128>>>(in, out, n);
  alone<<<n, threads>>>(in, out, n);
  instance<128><<<n, 128>>>(in, out, n);
  of_file<float><<<n, 128>>>(in, out, n);
  flat<<<n, dim3(16, 8)>>>(in, out, n);
  by_macro<<<n, 128>>>(in, out, n);
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
