//===- examples/mandelbrot/mandelbrot.cu - Lesson 2: Mandelbrot -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many steps z -> z^2 + c takes to leave the circle of radius 2, for each
// pixel c: a loop whose trip count differs from lane to lane. A warp stays in
// it until its slowest lane is done:
//
//   lane 0  ####................      # a step taken
//   lane 1  ######..............      . a step waited
//   lane 2  ####################
//
// The lanes of a warp are 32 pixels of a row, or 8x4, or 4x8 pixels: the more
// compact the patch, the more alike the trip counts. `tile` chooses.
//
// Every product that feeds a sum is written as fmaf, so there is nothing left
// for a compiler to fuse, and host and device agree to the last bit.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"

#include <cmath>
#include <vector>

/// The view: pixel (0, 0) is at Left, Top; a pixel is Step wide.
struct View {
  float Left, Top, Step;
  int Width, Height, Limit;
};

__host__ __device__ inline int escapeTime(float Cx, float Cy, int Limit) {
  float X = 0, Y = 0;
  int Step = 0;
  while (Step < Limit && fmaf(X, X, Y * Y) <= 4.0f) {
    const float NextX = fmaf(X, X, fmaf(-Y, Y, Cx));
    Y = fmaf(2.0f * X, Y, Cy);
    X = NextX;
    ++Step;
  }
  return Step;
}

__global__ void mandelbrot(View V, int *Steps) {
  const int X = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (X >= V.Width || Y >= V.Height)
    return;
  Steps[Y * V.Width + X] = escapeTime(fmaf(float(X), V.Step, V.Left),
                                      fmaf(float(Y), V.Step, V.Top), V.Limit);
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Width = Args.integer("width", 600, 1, 16384);
  const long Height = Args.integer("height", 400, 1, 16384);
  const long Limit = Args.integer("limit", 256, 1, 1 << 20);
  const long Tile = Args.integer("tile", 32, 1, 32); // threads of a warp in x
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (32 % Tile) {
    std::fprintf(stderr, "mandelbrot: tile=%ld: give a divisor of 32\n", Tile);
    return 2;
  }

  View V = {-2.0f,      -1.0f,       3.0f / float(Width),
            int(Width), int(Height), int(Limit)};
  const size_t Pixels = size_t(Width) * Height;
  int *Device = nullptr;
  CHECK_CUDA(cudaMalloc(&Device, Pixels * sizeof(int)));

  const dim3 Block(unsigned(Tile), unsigned(256 / Tile));
  const dim3 Grid((V.Width + Block.x - 1) / Block.x,
                  (V.Height + Block.y - 1) / Block.y);
  mandelbrot<<<Grid, Block>>>(V, Device);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<int> Steps(Pixels);
  CHECK_CUDA(cudaMemcpy(Steps.data(), Device, Pixels * sizeof(int),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(Device));

  long long Total = 0;
  size_t Inside = 0, Wrong = 0;
  for (size_t At = 0; At < Pixels; ++At) {
    Total += Steps[At];
    Inside += Steps[At] == V.Limit;
    if (Check) {
      const float Cx = fmaf(float(At % Width), V.Step, V.Left);
      const float Cy = fmaf(float(At / Width), V.Step, V.Top);
      Wrong += Steps[At] != escapeTime(Cx, Cy, V.Limit);
    }
  }
  std::printf("mandelbrot: %ld x %ld pixels, %lld steps, %zu pixels inside: ",
              Width, Height, Total, Inside);
  if (Wrong)
    std::printf("%zu WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Steps)));
  return Wrong ? 1 : 0;
}
