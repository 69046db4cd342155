// A program whose end its arguments decide: its exit code, or `abort`.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void halve(int *values) {
  int lane = threadIdx.x;
  if (lane % 2 == 0)
    values[lane] = values[lane / 2] / (lane + 1);
}

int main(int count, char **arguments) {
  int *values;
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMemset(values, 0, 32 * sizeof(int));
  halve<<<1, 32>>>(values);
  cudaDeviceSynchronize();
  char line[80];
  if (fgets(line, sizeof(line), stdin))
    printf("input: %s", line);
  for (int i = 1; i < count; ++i)
    printf("argument: %s\n", arguments[i]);
  if (count > 1 && !strcmp(arguments[1], "abort"))
    abort();
  return count > 1 ? atoi(arguments[1]) : 0;
}
