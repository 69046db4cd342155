// REQUIRES: reconverge
//
// The optimiser makes one switch of a way out and the branch behind it, where both
// ask for one value. All its ways are paths, and the bytes are the same.
// RUN: %reconverge rewrite --remap --kernel=flat %s -o %t.remapped.cu
// RUN: grep -v '^//' %t.remapped.cu | FileCheck %s --check-prefix=REMAPPED
// RUN: %reconverge rewrite --collect %s -o %t.collected.cu
// RUN: grep -v '^//' %t.collected.cu | FileCheck %s --check-prefix=COLLECTED
// RUN: %reconverge cc -std=c++17 -O1 %s -o %t.before
// RUN: env RECONVERGE_DEVICE=cpu %t.before > %t.before.txt
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include -Wall -Wextra -Werror %t.remapped.cu -o %t.remapped
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on %t.remapped | diff %t.before.txt -
// RUN: %reconverge cc -std=c++17 -O1 -I %source/include -Wall -Wextra -Werror %t.collected.cu -o %t.collected
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=check=on %t.collected | diff %t.before.txt -
#include <cstdio>
#include <vector>

struct Grain {
  float heat;
  int kind;
};

__device__ float melt(float h) {
  for (int k = 0; k < 40; ++k)
    h = h * 0.97f + sqrtf(h + k);
  return h;
}
__device__ float freeze(float h) {
  for (int k = 0; k < 40; ++k)
    h = h * 0.5f - k / (h * h + 2.0f);
  return h;
}

// REMAPPED: block_remap<128, 4,
// REMAPPED: return kind == 2 ? 0 : kind == 1 ? 1 : 2;
// REMAPPED: if (remapped.path < 1)
// REMAPPED-NEXT: return;
// REMAPPED-NEXT: if (kind == 1)
// COLLECTED: void flat(
// COLLECTED: block_collect<128, 3>
// COLLECTED: return kind == 2 ? 0 : kind == 1 ? 1 : 2;
// COLLECTED: if (path < 1)
// COLLECTED-NEXT: return;
// COLLECTED-NEXT: if (kind == 1)
__global__ void flat(const Grain *grains, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int kind = grains[i].kind;
  if (kind == 2)
    return;
  if (kind == 1)
    out[i] = melt(grains[i].heat);
  else
    out[i] = freeze(grains[i].heat);
}

// COLLECTED: void over_grid(
// COLLECTED: block_collect<128, 3>
// COLLECTED: return kind == 2 ? 0 : kind == 1 ? 1 : 2;
// COLLECTED: if (path < 1)
// COLLECTED-NEXT: return;
__global__ void over_grid(const Grain *grains, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    const int kind = grains[i].kind;
    if (kind == 2)
      continue;
    if (kind == 1)
      out[i] = melt(grains[i].heat);
    else
      out[i] = freeze(grains[i].heat);
  }
}

int main() {
  const int n = 1500;
  std::vector<Grain> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = {float(i % 17), i * 37 % 101 % 3};
  Grain *grains;
  float *out;
  cudaMalloc(&grains, n * sizeof(Grain));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(grains, host.data(), n * sizeof(Grain), cudaMemcpyHostToDevice);
  const auto print = [&](const char *name) {
    const cudaError_t error = cudaDeviceSynchronize();
    std::vector<unsigned> bits(n);
    cudaMemcpy(bits.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (unsigned b : bits)
      sum = sum * 31 + b;
    std::printf("%s %016llx %d\n", name, sum, int(error));
    cudaMemset(out, 0, n * sizeof(float));
  };
  cudaMemset(out, 0, n * sizeof(float));
  flat<<<12, 128>>>(grains, out, n - 9);
  print("flat");
  over_grid<<<4, 128>>>(grains, out, n - 9);
  print("over_grid");
}
