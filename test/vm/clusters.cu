// Blocks of a cluster run like any others; what a kernel can tell of its cluster
// is refused, by name, as it is launched.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -Werror -O2 -g -std=c++17 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=error
// RUN: sh -c 'COLUMNS=300 %reconverge test -- %t > %t.out 2> %t.test; test $? = 15'
// RUN: FileCheck %s --check-prefix=TEST < %t.test

#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void __cluster_dims__(2, 1, 1) __maxnreg__(64) plain(int *Data) {
  atomicAdd(Data, blockIdx.x);
}
__global__ void asked(int *Data) { atomicAdd(Data, blockIdx.x); }
__global__ void __cluster_dims__(2, 1, 1) syncs(int *Data) {
  cooperative_groups::this_cluster().sync();
  Data[blockIdx.x] = 1;
}

static void say(const char *What, cudaError_t Code, int *Data) {
  int Sum = 0;
  cudaMemcpy(&Sum, Data, sizeof(Sum), cudaMemcpyDeviceToHost);
  cudaMemset(Data, 0, sizeof(Sum));
  std::printf("%s: %s, %d\n", What, cudaGetErrorName(Code), Sum);
  std::fflush(stdout);
}

int main() {
  int *Data;
  cudaMalloc(&Data, 64 * sizeof(int));
  cudaMemset(Data, 0, 64 * sizeof(int));
  plain<<<8, 32>>>(Data);
  // CHECK: plain: cudaSuccess, 896
  say("plain", cudaGetLastError(), Data);

  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = 8;
  Config.blockDim = 32;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  Attribute.val.clusterDim = {4, 1, 1};
  // CHECK: asked: cudaSuccess, 896
  say("asked", cudaLaunchKernelEx(&Config, asked, Data), Data);
  Attribute.val.clusterDim = {3, 1, 1};
  // CHECK: reconverge: kernel 'asked(int*)' is not launched: a grid of (8,1,1)
  // CHECK-SAME: blocks cannot be cut into clusters of (3,1,1)
  // CHECK: in threes: cudaErrorInvalidClusterSize, 0
  say("in threes", cudaLaunchKernelEx(&Config, asked, Data), Data);

  syncs<<<8, 32>>>(Data);
  // CHECK: reconverge: {{.*}}clusters.cu:{{[0-9]+}}: kernel syncs(int*):
  // CHECK-SAME: 'llvm.nvvm.barrier.cluster.arrive' cannot run on the CPU executor
  // CHECK: syncs: cudaErrorNotSupported, 0
  say("syncs", cudaGetLastError(), Data);
  // TEST: unsupported: syncs: {{.*}}'llvm.nvvm.barrier.cluster.arrive' cannot run
}
