// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t dead 2>&1 | FileCheck %s --check-prefix=DEAD
// RUN: env RECONVERGE_DEVICE=cpu %t late | FileCheck %s --check-prefix=LATE

// Who waits at libcu++'s barriers looks at a clock, to wait less often the
// longer it takes. That is no hope: the deadlock is named. A wait that gives up
// by a clock is none.
#include <cstdio>
#include <cstring>
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void waits(int *Out, bool GivesUp) {
  __shared__ Barrier One;
  if (threadIdx.x == 0)
    init(&One, blockDim.x + 1);
  __syncthreads();
  if (!GivesUp) {
    One.arrive_and_wait();
  } else {
    Out[threadIdx.x] =
        One.try_wait_for(One.arrive(), cuda::std::chrono::seconds(9));
  }
}

int main(int, char **Arguments) {
  int *Out, Host = 1;
  cudaMalloc(&Out, 64 * sizeof(int));
  waits<<<1, 64>>>(Out, !std::strcmp(Arguments[1], "late"));
  // DEAD: deadlock: every thread that is left waits
  // DEAD: cudaErrorLaunchTimeout
  // LATE: cudaSuccess 0
  cudaError_t E =
      cudaMemcpy(&Host, Out + 63, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorName(E), Host);
}
