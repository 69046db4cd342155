#include <csignal>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void good(int *Data) { Data[threadIdx.x] = 1; }
__global__ void bad(int *Data) {
  Data[threadIdx.x] = 1;
}

int main(int, char **Words) {
  auto Is = [&](const char *Name) { return !std::strcmp(Words[1], Name); };
  const bool Good = Is("good") || Is("fails");
  if (Is("forks")) {
    if (pid_t Child = fork()) {
      waitpid(Child, nullptr, 0);
      return 0;
    }
  }
  int *Data;
  cudaMalloc(&Data, 32 * sizeof(int));
  if (Good)
    good<<<1, 32>>>(Data);
  else
    bad<<<1, 64>>>(Data);
  const bool Failed = cudaDeviceSynchronize() != cudaSuccess;
  if (Is("killed"))
    raise(SIGKILL);
  if (Is("fails"))
    return 7;
  return Failed == Good;
}
