// The example of docs/predict-paths.md: how far shots fly, with drag. How many steps
// that takes, only the loop says. Arguments: shots, seed.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void shoot(const float *speed, const float *angle, float *range,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float step = 0.02f, v = speed[i], a = angle[i];
  float x = 0, y = 0, vx = v * cosf(a), vy = v * sinf(a);
  do {
    const float drag = 0.002f * step * sqrtf(vx * vx + vy * vy);
    x += step * vx;
    y += step * vy;
    vx -= drag * vx;
    vy -= drag * vy + 9.81f * step;
  } while (y > 0);
  range[i] = x;
}

int main(int, char **args) {
  const int n = atoi(args[1]);
  unsigned state = unsigned(atoi(args[2]));
  const auto draw = [&](float least, float most) {
    state = state * 1664525u + 1013904223u;
    return least + (most - least) * float(state >> 8) / float(1 << 24);
  };
  std::vector<float> speeds(n), angles(n), ranges(n);
  for (int i = 0; i != n; ++i) {
    speeds[i] = draw(5, 120);
    angles[i] = draw(0.05f, 1.5f);
  }
  float *speed, *angle, *range;
  const size_t bytes = n * sizeof(float);
  cudaMalloc(&speed, bytes);
  cudaMalloc(&angle, bytes);
  cudaMalloc(&range, bytes);
  cudaMemcpy(speed, speeds.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(angle, angles.data(), bytes, cudaMemcpyHostToDevice);
  shoot<<<(n + 127) / 128, 128>>>(speed, angle, range, n);
  cudaMemcpy(ranges.data(), range, bytes, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float r : ranges)
    sum += r;
  printf("%.3f m on average\n", sum / n);
  return cudaGetLastError() != cudaSuccess;
}
