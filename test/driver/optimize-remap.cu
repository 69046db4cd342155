// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// Two long arms that have little in common, taken at random: the threads trade
// places. Blocks are flat, then of two dimensions; the last one is not full.
// RUN: %reconverge optimize %s --no-cache -o app >out 2>table
// RUN: FileCheck %s --check-prefix=OUT <out
// RUN: FileCheck %s <table
// RUN: FileCheck %s --check-prefix=JSON <decisions.json

// The final program computes the same. It does so with more shared memory than
// was tried, up to all that a block can have: such launches take the kernel as
// it was, for there is no room for what remapping needs.
// RUN: env RECONVERGE_DEVICE=cpu ./app >again
// RUN: diff out again
// RUN: env RECONVERGE_DEVICE=cpu ./app 40 >again
// RUN: diff out again
// RUN: env RECONVERGE_DEVICE=cpu ./app 227 >again
// RUN: diff out again

// So does its source with what is kept as a patch, built without us looking on.
// RUN: %reconverge rewrite %s --decisions decisions.json -o patched.cu 2>said
// RUN: FileCheck %s --check-prefix=PATCHED <patched.cu
// PATCHED: reconverge::block_remap<256, 3>;
// PATCHED: unsigned X = In[I];
// RUN: %reconverge cc -O1 -Wall -Wextra -Werror -I %source/include patched.cu -o patched
// RUN: env RECONVERGE_DEVICE=cpu ./patched >again
// RUN: diff out again
// What is kept may be no patch, or of other code.
// RUN: sed 's/"remedy":"remap","parameters":"shared=4096"/"remedy":"meld","parameters":""/' decisions.json >melded.json
// RUN: %reconverge rewrite %s --decisions melded.json 2>&1 | FileCheck %s --check-prefix=MELDED
// MELDED: optimize-remap.cu: not rewritten: this remedy is no patch to the source (step: meld: build by `reconverge cc --decisions melded.json`) [RC1131]
// MELDED-NOT: @@
// RUN: not %reconverge rewrite -I %source/include patched.cu --decisions decisions.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: reconverge: error: decisions.json: no decision is of the code of patched.cu
// OTHER-NEXT: The code has changed since

// Which of the two it was, a profile says.
// RUN: %reconverge profile ./app -- 40 2>table
// RUN: FileCheck %s --check-prefix=BOTH <divergence.json
// BOTH-DAG: "display": "step"
// BOTH-DAG: "display": "step [remedied]"

#include <cstdio>
#include <cstdlib>

// The candidate knows the most that launches add to the kernel's shared memory.
// It is tried first: of what idles, melding gives back nothing.
// CHECK: {{^step +}}remap (shared=4096){{ +}}1.{{[0-9]+}}x{{.*}}identical{{ +}}kept
// CHECK: kept: remap (shared=4096) for step
// JSON: "keep": {"remedy":"remap","parameters":"shared=4096"}
// JSON: "parameters":"threads=256;shared=4096"
__global__ void step(const unsigned *In, unsigned *Out, int N) {
  int I = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  unsigned X = In[I], Y = X >> 3;
  if (X & 4) {
    for (int K = 0; K < 300; ++K)
      Y = Y * Y + (Y >> 7);
  } else {
    for (int K = 0; K < 300; ++K) {
      Y ^= Y << 13;
      Y ^= Y >> 17;
    }
  }
  Out[I] = Y + X;
}

// OUT: sum 0x{{[0-9a-f]+}}
int main(int Count, char **Words) {
  constexpr int N = 1000;
  const int Bytes = 1024 * (Count > 1 ? atoi(Words[1]) : 4);
  unsigned *In, *Out, Host[N], Sum = 0, X = 1;
  cudaMalloc(&In, sizeof(Host));
  cudaMalloc(&Out, sizeof(Host));
  for (unsigned &H : Host)
    H = X = X * 22695477 + 1;
  cudaMemcpy(In, Host, sizeof(Host), cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(step, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       Bytes);
  step<<<(N + 255) / 256, 256, Bytes>>>(In, Out, N);
  step<<<(N + 199) / 200, dim3(20, 10), 512>>>(In, Out, N);
  cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost);
  for (unsigned H : Host)
    Sum = Sum * 31 + H;
  printf("sum 0x%x\n", Sum);
}
