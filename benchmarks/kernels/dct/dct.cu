//===- benchmarks/kernels/dct/dct.cu - Quantisation of a DCT plane --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As in JPEG: every coefficient of an 8 by 8 tile is divided by its step and
// multiplied by it again, rounded to the nearest multiple, halves away from
// zero. Integer division rounds towards zero, so negative coefficients take an
// arm of their own. Which lanes are negative is up to the data.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

static const short Steps[64] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

__constant__ short DeviceSteps[64];

__global__ void quantise(short *Plane, int Width) {
  const int X = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int Step = DeviceSteps[(Y & 7) * 8 + (X & 7)];
  int Value = Plane[Y * Width + X];
  if (Value < 0) {
    int Positive = -Value;
    Positive += Step >> 1;
    Positive /= Step;
    Value = -(Positive * Step);
  } else {
    Value += Step >> 1;
    Value /= Step;
    Value *= Step;
  }
  Plane[Y * Width + X] = short(Value);
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "dct");
  const long Width = Run.integer("width", 128, 32, 1 << 15);
  const long Height = Run.integer("height", 128, 32, 1 << 15);
  const long Block = Run.integer("block", 8, 4, 32); // by as many
  Run.ready();
  if (Width % Block || Height % Block) {
    std::fprintf(stderr, "dct: the plane is no multiple of block=%ld\n", Block);
    return 2;
  }

  // Magnitudes fall with frequency, as those of pictures do; signs are even.
  std::vector<short> Plane(Width * Height);
  Random Draw = Run.random();
  for (long Y = 0; Y < Height; ++Y)
    for (long X = 0; X < Width; ++X) {
      const int Size = 2048 / int(1 + (X & 7) + (Y & 7));
      Plane[Y * Width + X] = short(int(Draw.below(2 * Size)) - Size);
    }
  CHECK_CUDA(cudaMemcpyToSymbol(DeviceSteps, Steps, sizeof(Steps)));
  DeviceArray<short> Device(Plane);
  const dim3 Grid(Width / Block, Height / Block), Threads(Block, Block);
  Run.run([&] { Device.set(Plane); },
          [&] { quantise<<<Grid, Threads>>>(Device, int(Width)); });
  const std::vector<short> Got = Device.get();
  bool Right = true;
  for (long Y = 0; Run.checks() && Y < Height; ++Y)
    for (long X = 0; X < Width; ++X) {
      const int Step = Steps[(Y & 7) * 8 + (X & 7)], V = Plane[Y * Width + X];
      const int Half = V < 0 ? -(Step / 2) : Step / 2;
      Right &= Got[Y * Width + X] == short((V + Half) / Step * Step);
    }
  return Run.finish(Right, checksum(Got));
}
