// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory, with what they come to, worked out by hand:
//
//   //= use requests lanes sectors least wavefronts least [turns]
//
// of the access on that line, over the launch; check_accesses.py compares.
// Most are of one warp, so of one request. (A sector is 32 bytes, 8 ints. A
// wavefront gives a word of each of 32 banks; lines 0 to 3 of 128 bytes, and 0
// and 32, have their tags in different banks, of 0 to 31 eight in each.)

// clang-format off: an access and what it comes to share a line

#include <cstdio>

/// Four ints that are loaded at once in LLVM's code. (The members of an int4 are
/// only later, and counted like that, by the first.)
typedef int Four __attribute__((ext_vector_type(4)));

/// One way through: these kernels have nothing else to count.
__global__ void strides(const int *In, int *Out, int Zero) {
  const int T = threadIdx.x;
  const auto *Bytes = reinterpret_cast<const unsigned char *>(In);
  const auto *Long = reinterpret_cast<const long long *>(In);
  const auto *Wide = reinterpret_cast<const volatile Four *>(In);
  int S = 0;
  S += In[T];           //= load 1 32 4 4 1 1
  S += In[T + 1];       //= load 1 32 5 4 1 1
  S += In[2 * T];       //= load 1 32 8 4 2 1
  S += In[3 * T];       //= load 1 32 12 4 1 1
  S += In[32 * T];      //= load 1 32 32 4 32 1
  S += In[33 * T];      //= load 1 32 32 4 8 1
  S += In[31 - T];      //= load 1 32 4 4 1 1
  S += In[T * 7 % 32];  //= load 1 32 4 4 1 1
  S += In[T * 13 % 32 * 8]; //= load 1 32 32 4 8 1
  S += In[(T % 2) * 1024 + T]; //= load 1 32 8 4 1 1
  S += In[Zero];        //= load 1 32 1 4 1 1
  S += Bytes[T + 32];   //= load 1 32 1 1 1 1
  S += Long[T];         //= load 1 32 8 8 2 2
  int4 Joined = reinterpret_cast<const int4 *>(In)[T + 64]; //= load 1 32 16 16 4 4
  S += Joined.x + Joined.y * 3 + Joined.z * 5 + Joined.w * 7;
  Four A = Wide[T];     //= load 1 32 16 16 4 4
  Four B = Wide[Zero];  //= load 1 32 1 16 4 4
  Out[T] = S + A.x + A.y + A.z + A.w + B.x + B.y + B.z + B.w; //= store 1 32 4 4 1 1
}

__global__ void shared(int *Out, int Zero) {
  __shared__ Four Memory[33 * 32];
  auto *A = reinterpret_cast<int *>(Memory);
  auto *B = reinterpret_cast<long long *>(Memory);
  const volatile Four *Wide = Memory;
  const int T = threadIdx.x;
  for (int I = Zero; I < 33 * 4; ++I)
    A[32 * I + T] = I;  //= store 132 4224 0 0 132 132
  __syncwarp();
  int S = 0;
  S += A[T];            //= load 1 32 0 0 1 1
  S += A[2 * T];        //= load 1 32 0 0 2 1
  S += A[3 * T];        //= load 1 32 0 0 1 1
  S += A[8 * T];        //= load 1 32 0 0 8 1
  S += A[32 * T];       //= load 1 32 0 0 32 1
  S += A[33 * T];       //= load 1 32 0 0 1 1
  S += A[95 - T];       //= load 1 32 0 0 1 1
  S += A[Zero];         //= load 1 32 0 0 1 1
  S += A[T / 4 * 32];   //= load 1 32 0 0 8 1
  S += int(B[T]);       //= load 1 32 0 0 2 2
  S += int(B[2 * T]);   //= load 1 32 0 0 4 2
  S += int(B[Zero]);    //= load 1 32 0 0 1 1
  S += int(B[T / 2]);   //= load 1 32 0 0 1 1
  Four C = Wide[T];     //= load 1 32 0 0 4 4
  Four D = Wide[2 * T]; //= load 1 32 0 0 8 4
  Four E = Wide[T / 4 * 2 + T % 2]; //= load 1 32 0 0 2 2
  S += C.x + C.y + C.z + C.w + D.x + D.y + D.z + D.w;
  S += E.x + E.y + E.z + E.w;
  S += atomicAdd(A + 12, 1);     //= atomic 1 32 0 0 32 1 32
  S += atomicAdd(A + T, 1);      //= atomic 1 32 0 0 1 1 1
  S += atomicAdd(A + T / 2, 1);  //= atomic 1 32 0 0 2 1 2
  S += atomicAdd(A + 32 * T, 1); //= atomic 1 32 0 0 32 1 1
  atomicAdd(Out + 12, S);        //= atomic 1 32 1 4 1 1 32
  atomicAdd(Out + T, S);         //= atomic 1 32 4 4 1 1 1
  atomicAdd(Out + T / 2, S);     //= atomic 1 32 2 4 1 1 2
}

/// Called, not inlined, by 21 and 11 lanes: of each four in a row some.
__device__ __noinline__ int called(const int *In, int At) {
  return In[2 * At];    //= load 6 96 36 15 9 6
}

/// 3 blocks of a warp and a half.
__global__ void partial(const int *In, int *Out) {
  __shared__ int A[48];
  const int T = threadIdx.x;
  A[T] = T;             //= store 6 144 0 0 6 6
  __syncthreads();
  int S = In[T];        //= load 6 144 18 18 6 6
  // 11 lanes that have words in 4 sectors; 5 in 2.
  if (T % 3 == 0)
    S += In[T + 64];    //= load 6 48 18 9 6 6
  else
    S += called(In, T);
  // 24, 16, 8 lanes in 4 sectors each; 12, 8, 4 in 2.
  for (int I = 0; I < T % 4; ++I)
    S += In[64 * I + T + 128]; //= load 18 216 54 30 18 18
  // Odd lanes go to shared memory, the others to global.
  const int *P = T & 1 ? A : In;
  S += P[T];            //= load 12 144 18 9 12 12
  Out[blockIdx.x * 48 + T] = S;
}

/// Lanes part in a loop, in a kernel that calls functions (of the divisions):
/// 24, 16 and 8 lanes are there, half of them on each side. On a GPU lanes of
/// two rounds must not join.
__global__ void divided(const int *In, int *Out) {
  const int T = threadIdx.x;
  float S = 1;
#pragma unroll 1
  for (int I = 0; I < T % 4; ++I) {
    if (T & 4)
      S += In[64 * I + T] / (S + 1);       //= load 3 24 12 4 3 3
    else
      S -= S / In[64 * I + T + 512];       //= load 3 24 12 4 3 3
  }
  Out[T] = int(S);      //= store 1 32 4 4 1 1
}

/// Each block loads 4096 sectors, twice.
__global__ void sweep(const int *In, int *Out) {
  int S = 0;
  for (int I = 0; I < 256; ++I)
    S += In[I % 128 * 256 + threadIdx.x]; //= load 8192 262144 32768 32768 8192 8192
  atomicAdd(Out, S);
}

int main() {
  int *In, *Out, Host[256];
  if (cudaMalloc(&In, 2 << 20) || cudaMalloc(&Out, 4096))
    return 1;
  In += (-reinterpret_cast<size_t>(In) & ((1 << 20) - 1)) / sizeof(int);
  cudaMemset(In, 1, 1 << 20);
  cudaMemset(Out, 0, 4096);
  strides<<<1, 32>>>(In, Out, 0);
  shared<<<1, 32>>>(Out, 0);
  partial<<<3, 48>>>(In, Out + 512);
  divided<<<1, 32>>>(In, Out + 768);
  sweep<<<4, 256>>>(In, Out + 256);
  for (int Part = 0; Part != 4; ++Part) {
    if (cudaMemcpy(Host, Out + 256 * Part, 1024, cudaMemcpyDeviceToHost))
      return 1;
    int Sum = 0;
    for (int I = 0; I != 256; ++I)
      Sum += Host[I] * (I + 1);
    std::printf("%d\n", Sum);
  }
  return 0;
}
