// REQUIRES: reconverge
// Each thread keeps the least of its column, in order. Lanes in one round read
// what lies side by side; flattened or refilled they are in different rounds, and
// each asks for a sector of its own. By the branch that skips the sort flattening
// saves 1.7x of the issue slots, counted on the warp VM, and refilling 1.3x. The
// loop of the sort itself, of few rounds, is no candidate.
//
// RUN: %reconverge predict %s -- 2>&1 | FileCheck %s
// CHECK: keepLeast
// CHECK: refill (threshold=24;{{.*}}branch=1){{ +}}1.{{[0-9]+}}x
// CHECK: flatten (threshold=24;branch=1){{ +}}1.{{[0-9]+}}x
// CHECK-NOT: flatten ({{.*}}branch=2)
static constexpr int Kept = 20, Rows = 256, Width = 1 << 16;

__global__ void fill(float *Data) {
  const int X = int(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned State = unsigned(X);
  for (int L = 0; L < Rows; ++L) {
    State = State * 1664525u + 1013904223u;
    Data[L * Width + X] = float((State ^ State >> 15) % 100003u);
  }
}

__global__ void keepLeast(float *Data) {
  float *Mine = Data + blockIdx.x * blockDim.x + threadIdx.x;
  float Most = Mine[0];
  for (int L = 1; L < Rows; ++L) {
    const float Now = Mine[L * Width];
    if (L >= Kept && Now >= Most)
      continue;
    int At = min(L, Kept - 1);
    for (; At > 0 && Mine[(At - 1) * Width] > Now; --At)
      Mine[At * Width] = Mine[(At - 1) * Width];
    Mine[At * Width] = Now;
    Most = Mine[min(L, Kept - 1) * Width];
  }
}

int main() {
  float *Data;
  cudaMalloc(&Data, sizeof(float) * Rows * Width);
  fill<<<Width / 128, 128>>>(Data);
  keepLeast<<<Width / 128, 128>>>(Data);
  return cudaDeviceSynchronize();
}
