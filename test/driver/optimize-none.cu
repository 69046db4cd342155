// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Kernels that must stay alone: "none" for each, and the program that is built
// is the unmodified one, byte for byte.
// RUN: %reconverge optimize --device cpu --no-cache %s -o app 2>&1 \
// RUN:   | FileCheck %s
// RUN: %reconverge cc %s -o plain
// RUN: cmp app plain

// So is one for a GPU that is built by these decisions.
// RUN: %reconverge cc --runtime=nvidia --decisions decisions.json %s -o app2
// RUN: %reconverge cc --runtime=nvidia %s -o plain2
// RUN: cmp app2 plain2

// Where no kernel runs there is nothing to decide: the program is built as it
// is, with a line that says so.
// RUN: %reconverge optimize --device cpu --no-cache %s -o app3 -- nothing 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING
// RUN: cmp app3 plain
// NOTHING: optimize-none.cu: no kernel ran; nothing was tried

// CHECK-NOT: kept
// CHECK-DAG: stream{{ +}}none{{ +}}-{{ +}}-{{ +}}-{{ +}}hardly any divergence
// CHECK-DAG: uniform{{ +}}none{{ +}}-{{ +}}-{{ +}}-{{ +}}hardly any divergence
// CHECK-DAG: tiny{{ +}}none{{ +}}-{{ +}}-{{ +}}-{{ +}}hardly any divergence
// CHECK-DAG: uneven{{ +}}meld{{.*}}refused
// CHECK-DAG: {{^ +}}the same{{$}}
// CHECK-NOT: kept

// Memory-bound: two loads, a multiply and an add, a store.
__global__ void stream(float *Y, const float *X, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Y[I] += 2 * X[I];
}

// All threads of a warp go the same way.
__global__ void uniform(float *X, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Y = X[I];
  for (int R = 0; R < Rounds; ++R)
    Y = blockIdx.x % 2 ? Y * 0.5f + 1 : Y + 0.25f;
  X[I] = Y;
}

// Over as soon as it has begun.
__global__ void tiny(int *Counter) {
  if (threadIdx.x == 0)
    *Counter += 1;
}

// Diverges, and has nothing that could be melded: one arm is empty.
__global__ void uneven(float *X) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int R = 0; R < I % 7; ++R)
    X[I] = X[I] * 0.5f + R;
}

int main(int Words, char **) {
  if (Words > 1)
    return 0;
  constexpr int N = 4096;
  float *X, *Y;
  int *Counter;
  cudaMalloc(&X, N * sizeof(float));
  cudaMalloc(&Y, N * sizeof(float));
  cudaMalloc(&Counter, sizeof(int));
  cudaMemset(X, 0, N * sizeof(float));
  cudaMemset(Y, 0, N * sizeof(float));
  cudaMemset(Counter, 0, sizeof(int));
  stream<<<N / 128, 128>>>(Y, X, N);
  uniform<<<N / 128, 128>>>(X, 10);
  tiny<<<1, 1>>>(Counter);
  uneven<<<N / 128, 128>>>(X);
  return cudaDeviceSynchronize() != cudaSuccess;
}
