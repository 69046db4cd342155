// What nvcc accepts, here and there, in one program that checks itself: each
// function below says what it is about. Macros by whose names a header of ours
// would break are given on the command line, and a static object's constructor
// launches a kernel.
//
// REQUIRES: reconverge
// RUN: %clangxx -DN=8 -Dl=1 -Dq=2 -Dr=3 -Do=4 -Dat=5 -Dblock=7 -Dpos=8 \
// RUN:   -Dwords=9 -Dsuffix=10 -Dprefix=11 -Daccess=12 -Dword=13 -Dload=14 \
// RUN:   -Dstore=15 -std=c++17 --default-stream per-thread %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t \
// RUN:   | FileCheck %s --implicit-check-not=wrong
//
// The same unoptimised, with nvcc's extended lambdas.
// RUN: %clangxx -DNO_MACROS -DEXTENDED --extended-lambda -O0 -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t \
// RUN:   | FileCheck %s --implicit-check-not=wrong
// CHECK: all checked
#ifndef NO_MACROS
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error the macro of the default stream is missing
#endif
#if N + l + q + r + o + at + block + pos + words + suffix + prefix + access +  \
        word + load + store !=                                                 \
    122
#error macros of the command line are gone
#endif
#undef N
#undef l
#undef q
#undef r
#undef o
#undef at
#undef block
#undef pos
#undef words
#undef suffix
#undef prefix
#undef access
#undef word
#undef load
#undef store
#endif
#include <cmath>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      printf("wrong: line %d: %s\n", __LINE__, #condition);                    \
  } while (0)

//===- Macros, and a word that C++17 dropped ------------------------------===//

#if !defined(__NVCC__) || __CUDACC__ != 1 || __CUDACC_VER_MAJOR__ < 12 ||      \
    __CUDACC_VER_MINOR__ < 0 || __CUDACC_VER_BUILD__ < 0
#error not as nvcc has them
#endif

#if defined(__CUDACC_EXTENDED_LAMBDA__) != defined(EXTENDED)
#error the option has a macro
#endif

__global__ void writeIndex(int *out) {
  register int i = threadIdx.x;
  out[i] = i;
}

//===- Before main --------------------------------------------------------===//

__device__ int counted;
__global__ void count() { atomicAdd(&counted, 1); }

struct CountsEarly {
  cudaError_t error;
  CountsEarly() {
    count<<<1, 7>>>();
    error = cudaGetLastError();
  }
} countsEarly;

void launchesBeforeMain() {
  int value = 0;
  CHECK(countsEarly.error == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(&value, counted, 4) == cudaSuccess && value == 7);
}

//===- Host: functions without a header -----------------------------------===//

template <class A, class B> constexpr bool isSame = __is_same(A, B);

__host__ __device__ int ofBothSides(int a, unsigned b) {
  return max(a, 3) + int(min(b, 4u)) + int(max(1.5f, 2.0)) + isnan(0.0);
}

void hostFunctions() {
  const int i = -3;
  const unsigned u = 4;
  const long l = -5;
  const unsigned long ul = 6;
  const long long ll = -7;
  const unsigned long long ull = 8;
  const float f = 1.5f;
  const double d = 2.5;
  CHECK(max(i, 4) == 4 && min(i, 4) == -3);
  CHECK(max(i, u) == 4294967293u && min(u, i) == 4);
  CHECK(max(l, 2l) == 2 && min(ul, 9ul) == 6 && min(l, ul) == 6);
  CHECK(max(ll, 1ll) == 1 && min(ull, 9ull) == 8 && max(ull, ll) == ull - 15);
  static_assert(isSame<decltype(max(i, u)), unsigned>);
  static_assert(isSame<decltype(min(l, ul)), unsigned long>);
  static_assert(isSame<decltype(min(f, f)), float>);
  static_assert(isSame<decltype(min(f, d)), double>);
  CHECK(max(f, d) == 2.5 && min(f, 1.25f) == 1.25f && max(d, f) == 2.5);
  CHECK(max(NAN, 1.0f) == 1 && min(2.0, double(NAN)) == 2);
  CHECK(umin(3, 4) == 3 && llmax(-1, 1) == 1 && ullmin(3, 4) == 3);
  CHECK(isfinite(f) && !isnan(d) && !isinf(f) && !signbit(d) && signbit(-d));
  CHECK(clock() >= 0);
  CHECK(rsqrt(4.0) == 0.5 && exp10(2.0f) == 100 && copysign(1.0, -f) == -1);
  float sine, cosine;
  sincos(0.0f, &sine, &cosine);
  CHECK(sine == 0 && cosine == 1 && jn(0, 0.0f) == 1 && erfinv(0.0f) == 0);
  CHECK(__vimax3_s32(1, 5, 3) == 5 && __nv_bswap32(1) == 0x1000000);
  CHECK(ofBothSides(1, 9) == 9);
}

//===- Redeclarations: the sides of all together --------------------------===//

int hostThenBoth(int);
__device__ int deviceThenBoth(int);
__host__ __device__ int bothThenNone(int);
__host__ __device__ int bothThenDevice(int);
__device__ int deviceThenNone(int);
__host__ int hostThenDevice(int);
template <class T> __device__ T templateOfBoth(T);
struct Members {
  __host__ __device__ Members(int);
  __device__ int deviceThenBoth(int);
  __host__ __device__ int bothThenNone(int) const;
  static __host__ __device__ int isStatic();
  int value;
};

__host__ __device__ int hostThenBoth(int x) { return x + 1; }
__host__ __device__ int deviceThenBoth(int x) { return x + 2; }
int bothThenNone(int x) { return x + 3; }
__device__ int bothThenDevice(int x) { return x + 4; }
int deviceThenNone(int x) { return x + 5; }
__device__ int hostThenDevice(int x) { return x + 6; }
template <class T> __host__ __device__ T templateOfBoth(T x) { return x + 7; }
Members::Members(int x) : value(x) {}
__host__ __device__ int Members::deviceThenBoth(int x) { return value + x; }
int Members::bothThenNone(int x) const { return value - x; }
int Members::isStatic() { return 8; }

#ifdef __clang__ // two functions, where nvcc sees one, defined twice
__host__ int eitherSide() { return 1; }
__device__ int eitherSide() { return 2; }
#else
__host__ __device__ int eitherSide() {
#ifdef __CUDA_ARCH__
  return 2;
#else
  return 1;
#endif
}
#endif

__host__ __device__ int callOfBoth() {
  Members members(10);
  return hostThenBoth(1) + deviceThenBoth(1) + bothThenNone(1) +
         bothThenDevice(1) + hostThenDevice(1) + templateOfBoth(1) +
         members.deviceThenBoth(1) + members.bothThenNone(1) +
         Members::isStatic();
}
__global__ void callOnDevice(int *out) {
  out[0] = callOfBoth();
  out[1] = deviceThenNone(1);
  out[2] = eitherSide();
}

//===- Macros that are pragmas --------------------------------------------===//

#define PRAGMA_UNROLL #pragma unroll
#define UNROLL_BY_2 #pragma unroll 2
#define ALWAYS_TWICE PRAGMA_UNROLL
__global__ void unrolls(int *out) {
  PRAGMA_UNROLL
  for (int i = 0; i < 4; ++i)
    out[0] += i;
  UNROLL_BY_2
  for (int i = 0; i < 4; ++i) {
    ALWAYS_TWICE
    for (int j = 0; j < 2; ++j)
      out[0] += j;
  }
}

//===- Functions that one half of the unit has, or has for one side -------===//

#ifdef __CUDA_ARCH__
__device__ void addOne(int &x) { x += 1; }
__device__ void addTo(float *x, float y) { *x += y; }
#else
void addOne(int &x) { x += 2; }
#endif
void addTo(int *x, int y) { *x += y; }
template <class T> void callOnHost(T *x) { addOne(*x); }
template <class T> __global__ void callsInTemplate(T *x, T y) { addTo(x, y); }
__global__ void callsInKernel(int *out) { addOne(*out); }

template <class T> __host__ __device__ int sideOf(T x) { return int(x); }
#ifdef __CUDA_ARCH__
template <> __device__ int sideOf(short x) { return __float2int_rz(x) + 1; }
#endif
template <> int sideOf<char>(char x) { return x + 2; }
__global__ void specialised(int *out) { *out = sideOf(short(1)); }

//===- Attributes in nvcc's order -----------------------------------------===//

__device__ alignas(16) int aligned[4] = {1, 2, 3, 4};
struct WithAttributes {
  __host__ __device__ [[nodiscard]] int one() const { return 1; }
  template <class T> __device__ [[maybe_unused]] T same(T x) const { return x; }
};
__global__ void attributes(int *out) {
  __shared__ alignas(16) int four[32];
  __shared__ alignas(8) alignas(long long) char odd[3];
  __shared__ [[maybe_unused]] int unused;
  four[threadIdx.x] = threadIdx.x;
  odd[threadIdx.x % 3] = 1;
  __syncthreads();
  const WithAttributes with;
  out[threadIdx.x] = four[31 - threadIdx.x] + aligned[threadIdx.x % 4] +
                     int(size_t(four) % 16 + size_t(odd) % 8) +
                     with.same(with.one());
}

//===- Device: functions that clang lacks ---------------------------------===//

__global__ void deviceFunctions(const int *in, const float4 *in4, int *out,
                                float *reals) {
  const int t = threadIdx.x;
  const int sum = __ldcg(in + t) + __ldca(in + t) + __ldcs(in + t) +
                  __ldlu(in + t) + __ldcv(in + t) + int(__ldcg(in4).y);
  __stcg(out + t, 0);
  __stwb(out + t, 0);
  __stwt(out + t, 0);
  half2 none = {};
  int *made = new int(sum);
  __stcs(out + t, *made);
  delete made;
  reals[0] = __tanhf(0.5f);
  reals[1] = nan("");
  reals[2] = nanf("1");
  reals[3] = __low2float(none) + __high2float(none);
}

//===- {} for a pair that may also be had from its raw form ---------------===//

__global__ void emptyPairs(float *out) {
  half2 h = __float2half2_rn(out[0]);
  __nv_bfloat162 b = __float2bfloat162_rn(out[0]);
  const __half2_raw rawHalves = h;
  out[0] += __low2float(h) + __low2float(b);
  h = {};
  b = {};
  out[1] = __low2float(h) + __high2float(h) + __low2float(b) + __high2float(b);
  h = rawHalves;
  out[2] = __high2float(h);
}

//===- Pure functions, and what a closure's type is asked -----------------===//

__nv_pure__ __host__ __device__ int pureSum(int a, int b) { return a + b; }

template <class F> void takesClosure(F f, int *out) {
  static_assert(
      !__nv_is_extended_device_lambda_closure_type(F) ||
          __nv_is_extended_device_lambda_with_preserved_return_type(F) ||
          __nv_is_extended_host_device_lambda_closure_type(F),
      "asks for its type");
  *out = pureSum(f(1), 2);
}

//===- Structures that functions return, which are whole at -O0 -----------===//

struct Three {
  float x, y, z;
};
__device__ __noinline__ Three three(float x) { return {x, x + 1, x + 2}; }
__global__ void structures(float *out) {
  const Three v = three(threadIdx.x);
  const float4 f = make_float4(v.x, v.y, v.z, 1);
  const double2 d = make_double2(f.x, f.y);
  out[threadIdx.x] = f.x + f.y + f.z + f.w + d.x;
}

//===- __nv_atomic_* ------------------------------------------------------===//

#define DEVICE __NV_THREAD_SCOPE_DEVICE // nvcc wants literals

struct alignas(16) Wide {
  long long low, high;
};

__global__ void atomics(int *i, unsigned long long *u, float *f, short *s,
                        Wide *w) {
  __nv_atomic_fetch_add(i, 2, __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(i, 1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_add(u, 3, __NV_ATOMIC_SEQ_CST, DEVICE);
  __nv_atomic_fetch_add(f, 0.5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_max(i + 1, int(threadIdx.x), __NV_ATOMIC_RELAXED, DEVICE);
  __nv_atomic_fetch_min(i + 2, -int(threadIdx.x), __NV_ATOMIC_ACQUIRE, DEVICE);
  __nv_atomic_fetch_or(u + 1, 1ull << threadIdx.x, __NV_ATOMIC_RELAXED, DEVICE);
  __nv_atomic_and(i + 3, ~(1 << threadIdx.x), __NV_ATOMIC_RELAXED, DEVICE);
  __nv_atomic_xor(i + 4, 1 << threadIdx.x, __NV_ATOMIC_RELAXED, DEVICE);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST);
  int old = __nv_atomic_load_n(i + 5, __NV_ATOMIC_ACQUIRE, DEVICE);
  while (!__nv_atomic_compare_exchange_n(i + 5, &old, old + 2, false,
                                         __NV_ATOMIC_SEQ_CST,
                                         __NV_ATOMIC_RELAXED, DEVICE))
    ;
  if (threadIdx.x)
    return;
  i[6] = __nv_atomic_exchange_n(i + 7, 9, __NV_ATOMIC_RELAXED, DEVICE);
  short small = 5;
  __nv_atomic_store(s, &small, __NV_ATOMIC_RELEASE, DEVICE);
  __nv_atomic_store_n(s + 1, 6, __NV_ATOMIC_SEQ_CST);
  Wide wide = {1, 2}, before;
  __nv_atomic_exchange(w, &wide, &before, __NV_ATOMIC_RELAXED, DEVICE);
  __nv_atomic_load(w, w + 1, __NV_ATOMIC_RELAXED, DEVICE);
  w[1].high += before.low;
}

//===- A shuffle of what only its source lane has set ---------------------===//

template <class T> __device__ void broadcast(int *counter, T *out) {
  const unsigned lane = threadIdx.x % 32;
  T value;
  if (lane == 0)
    value = T(atomicAdd(counter, 1));
  value = __shfl_sync(~0u, value, 0);
  out[threadIdx.x] = value;
  if (lane == 31)
    value = T(atomicAdd(counter, 1));
  out[threadIdx.x] += __shfl_down_sync(~0u, value, 31 - lane);
}
__global__ void shuffles(int *counter, unsigned *ints, double *reals) {
  broadcast(counter, ints);
  broadcast(counter, reals);
}

//===----------------------------------------------------------------------===//

int main() {
  int *out;
  float *reals;
  cudaMallocManaged(&out, 256 * sizeof(int));
  cudaMallocManaged(&reals, 256 * sizeof(float));
  for (int i = 0; i < 256; ++i)
    out[i] = reals[i] = i;
  launchesBeforeMain();
  hostFunctions();

  CHECK(callOfBoth() == 2 + 3 + 4 + 5 + 7 + 8 + 11 + 9 + 8);
  CHECK(eitherSide() == 1);
  callOnDevice<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  CHECK(out[0] == callOfBoth() && out[1] == 6 && out[2] == 2);

  out[0] = 0;
  unrolls<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  CHECK(out[0] == 6 + 4);

  int count = 0;
  callOnHost(&count);
  out[0] = 0;
  reals[0] = 1;
  callsInKernel<<<1, 1>>>(out);
  callsInTemplate<<<1, 1>>>(reals, 2.0f);
  cudaDeviceSynchronize();
  CHECK(count == 2 && out[0] == 1 && reals[0] == 3);
  specialised<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  CHECK(out[0] == 2 && sideOf(char(1)) == 3);

  attributes<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  CHECK(out[0] == 31 + 1 + 1 && out[31] == 0 + 4 + 1);

  takesClosure([](int x) { return x + 1; }, out);
  CHECK(out[0] == 4);

  writeIndex<<<1, 32>>>(out);
  deviceFunctions<<<1, 32>>>(out, (float4 *)(reals + 16), out + 32, reals);
  cudaDeviceSynchronize();
  CHECK(out[32] == 17 && out[63] == 5 * 31 + 17);
  CHECK(fabsf(reals[0] - 0.4621f) < 1e-3f && reals[3] == 0);
  CHECK(isnan(reals[1]) && isnan(reals[2]));

  out[0] = 0;
  auto *doubles = (double *)(out + 64);
  shuffles<<<1, 32>>>(out, (unsigned *)out + 32, doubles);
  cudaDeviceSynchronize();
  CHECK(out[0] == 4 && out[32] == 0 + 1 && out[63] == 0 + 1);
  CHECK(doubles[0] == 2 + 3 && doubles[31] == 2 + 3);

  reals[0] = 1;
  emptyPairs<<<1, 1>>>(reals);
  cudaDeviceSynchronize();
  CHECK(reals[0] == 3 && reals[1] == 0 && reals[2] == 1);

  structures<<<1, 32>>>(reals);
  cudaDeviceSynchronize();
  CHECK(reals[3] == 3 + 4 + 5 + 1 + 3);

  cudaMemset(out, 0, 256 * sizeof(int));
  cudaMemset(reals, 0, 16);
  out[3] = -1;
  auto *u = (unsigned long long *)(out + 16);
  auto *s = (short *)(out + 32);
  auto *w = (Wide *)(out + 64);
  *w = {4, 4};
  atomics<<<1, 32>>>(out, u, reals, s, w);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(out[0] == 32 && u[0] == 96 && reals[0] == 16);
  CHECK(out[1] == 31 && out[2] == -31 && u[1] == 0xffffffff);
  CHECK(out[3] == 0 && out[4] == -1 && out[5] == 64);
  CHECK(out[6] == 0 && out[7] == 9 && s[0] == 5 && s[1] == 6);
  CHECK(w[0].low == 1 && w[0].high == 2 && w[1].low == 1 && w[1].high == 6);
  puts("all checked");
}
