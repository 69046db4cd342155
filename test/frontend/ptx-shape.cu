// REQUIRES: reconverge
// RUN: %reconverge cc --meld --emit-ptx %s -o - | FileCheck %s

// The block's size is read before its number.
// CHECK-LABEL: .entry sizes(
// CHECK: %ntid.x
// CHECK: %ctaid.x
extern "C" __global__ void sizes(int *p, int width) {
  p[blockIdx.x * width + blockDim.x] = 0;
}

// A choice of two predicates takes no selects of words.
// CHECK-LABEL: .entry choice(
// CHECK-NOT: selp
// CHECK: or.pred
// CHECK-NOT: selp
// CHECK: ret;
extern "C" __global__ void choice(int *p, int *q) {
  int a = *p, b = *q;
  if (threadIdx.x & 1) {
    if (a > b) {
      *p = b;
      *q = a;
    }
  } else {
    if (a < b) {
      *p = b;
      *q = a;
    }
  }
}

// The halved number is tested, not the number.
// CHECK-LABEL: .entry halving(
// CHECK: shr.u32 [[HALF:%r[0-9]+]], {{.*}}, 1;
// CHECK: setp.{{[a-z]+}}.u32 {{%p[0-9]+}}, [[HALF]], {{1|2}};
// CHECK: ret;
extern "C" __global__ void halving(volatile int *p, unsigned n) {
  for (unsigned step = n / 2; step > 0; step /= 2)
    p[step] = p[threadIdx.x + step];
}

// Four neighbours in shared memory are one load.
// CHECK-LABEL: .entry neighbours(
// CHECK: ld.shared.v4
extern "C" __global__ void neighbours(int *p) {
  __shared__ int words[64];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = words[8] + words[9] + words[10] + words[11];
}

// So are those of a row in dynamic shared memory, and a row is copied by fours.
// CHECK-LABEL: .entry copied(
// CHECK: bar.sync
// CHECK-NOT: shared.u32
// CHECK: ld.shared.v4
// CHECK: st.shared.v4
// CHECK-NOT: shared.u32
// CHECK: bar.sync
extern "C" __global__ void copied(int *p, int n) {
  extern __shared__ int rows[];
  int *mine = rows + threadIdx.x * 4, *spare = rows + n * 4 + threadIdx.x * 4;
  spare[p[0] & 3] = p[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 4; ++i)
    mine[i] = spare[i];
  __syncthreads();
  p[threadIdx.x] = mine[p[1] & 3];
}

// So are four neighbours in an array of the thread's own.
// CHECK-LABEL: .entry own(
// CHECK: ld.local.u32
// CHECK: ret;
extern "C" __global__ void own(const char *p, bool *out, int n) {
  char board[20];
  for (int i = 0; i < n; ++i)
    board[i] = p[i];
  bool free = true;
  for (int i = 0; i < n; ++i)
    if (board[i] == p[n])
      free = false;
  *out = free;
}

// A char is extended by its sign as it is loaded, also where the second of two
// tests wants it.
// CHECK-LABEL: .entry extended(
// CHECK-NOT: cvt.s32.s8
// CHECK: ld.global.s8
// CHECK-NOT: cvt.s32.s8
// CHECK: ret;
extern "C" __global__ void extended(const signed char *p, const int *q,
                                    bool *out, int a) {
  int x = p[threadIdx.x];
  *out = q[0] != 0 && q[0] - x != a && x != a;
}

// A structure of two words that is passed by value is one load.
// CHECK-LABEL: .entry byValue(
// CHECK-NOT: ld.global.{{[a-z]+}}32
// CHECK: ld.global.v2
// CHECK-NOT: ld.global.{{[a-z]+}}32
// CHECK: ld.global.v2
// CHECK-NOT: ld.global.{{[a-z]+}}32
// CHECK: ret;
__device__ static float2 times(float2 A, float2 B) {
  return make_float2(A.x * B.x - A.y * B.y, A.x * B.y + A.y * B.x);
}
extern "C" __global__ void byValue(float2 *p, const float2 *q, int n) {
  p[threadIdx.x] = times(p[threadIdx.x], q[threadIdx.x * n]);
}

// Of one of which nobody asks for more than a word, it is a load of that.
// CHECK-LABEL: .entry oneWord(
// CHECK: ld.global.u32
// CHECK: ret;
extern "C" __global__ void oneWord(const unsigned long long *p, unsigned *q) {
  q[threadIdx.x] = unsigned(p[threadIdx.x] >> 32);
}

// Where the unrolled part of a loop is skipped, its last pointer is poison: the
// stores are to global memory all the same.
// CHECK-LABEL: .entry words(
// CHECK-NOT: st.u32
// CHECK: st.global.u32
// CHECK-NOT: st.u32
// CHECK: ret;
extern "C" __global__ void words(const short *__restrict__ in, unsigned *out,
                                 int rows, int n, int stride) {
  unsigned *to = out + threadIdx.x;
  for (int r = 0; r < rows; ++r) {
    unsigned word = 0;
    for (int j = 0; j < n; ++j) {
      word |= (in[r * n + j] & 3u) << 2 * (j & 15);
      if ((j & 15) == 15 || j + 1 == n) {
        *to = word;
        to += stride;
        word = 0;
      }
    }
  }
}

// An element and its two neighbours have one address, though of the index alone,
// where it is tested, LLVM forgets that it has a sign.
// CHECK-LABEL: .entry window(
// CHECK: ld.global.u32 {{%r[0-9]+}}, {{\[}}[[A:%rd[0-9]+]]+-4{{\]}};
// CHECK: ld.global.u32 {{%r[0-9]+}}, {{\[}}[[A]]{{\]}};
// CHECK: ld.global.u32 {{%r[0-9]+}}, {{\[}}[[A]]+4{{\]}};
// CHECK: ret;
extern "C" __global__ void window(const int *a, int *out, int n) {
  const int x = out[n], from = a[n];
  int sum = 0;
#pragma unroll
  for (int u = x - 1; u <= x + 1; ++u)
    if (u >= 0 && u < n)
      sum += a[u] / from;
  out[threadIdx.x] = sum;
}
