//===- trials.cu - A program whose kernels are tried ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BROKEN says which kernel is another than it should be, and how: what is built
// so stands for other compilers' code in check_trials.py. The program itself is
// built with none of them. Square roots are those that every compiler rounds
// alike: stock clang's sqrtf is approximate.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#define NOTHING 0
#define WRONG_BYTE 1
#define WILD_STORE 2
#define ENDLESS_LOOP 3
#define OTHER_ORDER 4
#define OTHER_SLOTS 5
#define NO_KERNELS 6
#define WRONG_VARIABLE 7
#define CHATTER 8
#define FAILED_ASSERT 9
#ifndef BROKEN
#define BROKEN NOTHING
#endif

__constant__ float Scale = 1;
__device__ unsigned Done;
__device__ unsigned Spare[1000]; // so that a varying word is no large share

#if BROKEN != NO_KERNELS

// Each side of the branch is much like the other.
__global__ void work(float *X, int N) {
  extern __shared__ float Stage[];
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  Stage[threadIdx.x] = X[I] * Scale;
  float Y = Stage[threadIdx.x];
  if (I % 2)
    Y = __fsqrt_rn(Y + 4) / (Y + 3);
  else
    Y = __fsqrt_rn(Y * 2 + 9) / (Y + 5);
  atomicAdd(&Done, 1);
#if BROKEN == WRONG_BYTE
  if (I == 37)
    Y += 1;
#elif BROKEN == WILD_STORE
  if (I == 37)
    *reinterpret_cast<volatile int *>(size_t(64)) = 1;
#elif BROKEN == ENDLESS_LOOP
  while (*const_cast<volatile float *>(X) != 1e30f)
    ;
#elif BROKEN == WRONG_VARIABLE
  if (I == 37)
    atomicAdd(&Spare[3], 7);
#endif
  X[I] = Y;
}

// Its last bits hang on the order of threads.
__global__ void tally(float *Sum, const float *X, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
#if BROKEN == OTHER_ORDER
  I ^= 1;
#endif
  if (I < N)
    atomicAdd(Sum, X[I] * (I % 3 ? 1000.1f : -1999.9f));
}

// Where a number comes to stand hangs on the order of threads.
__global__ void compact(int *Out, unsigned *Count, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
#if BROKEN == OTHER_SLOTS
  I = N - 1 - I;
#endif
  if (I >= 0 && I < N && I % 3 == 0)
    Out[atomicAdd(Count, 1)] = I;
}

// What each thread knows of its place, and a loop by which warps part.
__device__ unsigned Places[1024];
__global__ void places(unsigned Salt) {
  unsigned Thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned In = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned I = In * (blockDim.x * blockDim.y * blockDim.z) + Thread;
  unsigned Hash = Salt + threadIdx.y * 7 + blockIdx.z * 11 + gridDim.y;
  for (unsigned K = I % 13; K; --K)
    Hash = Hash * 2654435761u + blockIdx.x;
  Places[I % 1024] = Hash;
}

// It counts in a variable that no host code names.
__global__ void hides(unsigned *Count) {
  static unsigned Hidden;
  atomicAdd(Count, atomicAdd(&Hidden, 1) & 0);
}

__global__ void prints(int N) {
  if (threadIdx.x & 1)
    printf("odd %d\n", N);
}

// Its code prints and asserts, and its launch does neither.
__global__ void reports(unsigned *Count, int N) {
#if BROKEN == CHATTER
  N = threadIdx.x == 3 ? -1 : N;
#elif BROKEN == FAILED_ASSERT
  N = 0;
#endif
  assert(N);
  if (N < 0)
    printf("a number below 0\n");
  else
    atomicAdd(Count, N & threadIdx.x & 0);
}

static int Failures;
static void check(cudaError_t E, const char *What) {
  if (E && !Failures++)
    printf("%s: %s\n", What, cudaGetErrorName(E));
}

/// Memory that comes, changes and goes while launches are tried. Its content is
/// no trial's to change.
static void otherThread(std::atomic<bool> *Stop, int *Wrong) {
  std::vector<int> Mine(1000), Back(1000);
  for (int Round = 0; !*Stop; ++Round) {
    int *Device;
    check(cudaMalloc(&Device, 4000), "other thread");
    for (int &X : Mine)
      X = Round;
    check(cudaMemcpy(Device, Mine.data(), 4000, cudaMemcpyHostToDevice),
          "other thread");
    check(cudaMemcpy(Back.data(), Device, 4000, cudaMemcpyDeviceToHost),
          "other thread");
    *Wrong += Mine != Back;
    check(cudaFree(Device), "other thread");
  }
}

int main() {
  constexpr int N = 2048, Block = 32;
  float *X, *Sum, *Host = new float[N];
  int *Out, *HostOut = new int[N];
  unsigned *Count, *Mapped, HostDone = 0, HostSpare = 0;
  check(cudaMalloc(&X, N * sizeof(float)), "X");
  check(cudaMallocManaged(&Sum, sizeof(float)), "Sum");
  check(cudaMalloc(&Out, N * sizeof(int)), "Out");
  check(cudaMalloc(&Count, sizeof(unsigned)), "Count");
  check(cudaHostAlloc(&Mapped, 100, cudaHostAllocMapped), "Mapped");
  *Sum = 0;
  check(cudaMemset(Out, 0, N * sizeof(int)), "Out");
  check(cudaMemset(Count, 0, sizeof(unsigned)), "Count");
  for (int I = 0; I < N; ++I)
    Host[I] = 1 + I * 0.001f;
  check(cudaMemcpy(X, Host, N * sizeof(float), cudaMemcpyHostToDevice), "X");
  const float Two = 2;
  check(cudaMemcpyToSymbol(Scale, &Two, sizeof(Two)), "Scale");

  // More shared memory than a kernel has without asking for it.
  int Most = 0;
  size_t Shared = Block * sizeof(float);
  check(
      cudaDeviceGetAttribute(&Most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
      "attribute");
  if (Most >= 64 << 10) {
    Shared = 64 << 10;
    check(cudaFuncSetAttribute(
              work, cudaFuncAttributeMaxDynamicSharedMemorySize, int(Shared)),
          "shared");
  }
  int Wrong = 0;
  std::atomic<bool> Stop = false;
  std::thread Other(otherThread, &Stop, &Wrong);
  for (int Round = 0; Round < 5; ++Round)
    work<<<N / Block, Block, Shared>>>(X, N);
  check(cudaGetLastError(), "work");
  tally<<<N / Block, Block>>>(Sum, X, N);
  compact<<<N / Block, Block>>>(Out, Count, N);
  hides<<<1, Block>>>(Count);
  prints<<<1, 2>>>(5);
  reports<<<1, Block>>>(Count, 5);
  places<<<dim3(3, 5, 2), dim3(5, 3, 2)>>>(1);                // 900 threads
  (void)cudaMemcpy(nullptr, Host, 4, cudaMemcpyHostToDevice); // it fails
  places<<<1, 33>>>(2);
  Stop = true;
  Other.join();
  check(cudaDeviceSynchronize(), "kernels");
  printf("unread: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
  printf("unread: %s\n", cudaGetErrorName(cudaGetLastError()));
  check(cudaPeekAtLastError(), "read before");

  unsigned HostCount = 0, Total = 0;
  check(cudaMemcpy(Host, X, N * sizeof(float), cudaMemcpyDeviceToHost), "X");
  check(cudaMemcpy(HostOut, Out, N * sizeof(int), cudaMemcpyDeviceToHost),
        "Out");
  check(
      cudaMemcpy(&HostCount, Count, sizeof(HostCount), cudaMemcpyDeviceToHost),
      "Count");
  check(cudaMemcpyFromSymbol(&HostDone, Done, sizeof(HostDone)), "Done");
  check(cudaMemcpyFromSymbol(&HostSpare, Spare, sizeof(HostSpare), 12),
        "Spare");
  unsigned HostPlaces[1024], Hash = 0;
  check(cudaMemcpyFromSymbol(HostPlaces, Places, sizeof(HostPlaces)), "Places");
  for (unsigned Place : HostPlaces)
    Hash = Hash * 31 + Place;
  printf("places %x\n", Hash);
  unsigned long long Bits = 0;
  for (int I = 0; I < N; ++I) {
    unsigned Word;
    memcpy(&Word, &Host[I], sizeof(Word));
    Bits = Bits * 31 + Word;
    Total += HostOut[I];
  }
  printf("X %016llx, done %u, spare %u, sum %d, %u numbers of %u\n", Bits,
         HostDone, HostSpare, *Sum != 0, HostCount, Total);
  printf("%d copies of another thread are wrong\n", Wrong);

  // An error of the program's own looks as it does without trials.
  work<<<1, 4096>>>(X, N);
  printf("too large: %s\n", cudaGetErrorName(cudaGetLastError()));
  check(cudaGetLastError(), "read twice");
  return Failures != 0;
}
#endif
