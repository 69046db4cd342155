//===- examples/convolution/convolution.cu - Lesson 14: halos -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blurs an image with a separable filter, rows first, then columns. The weights
// lie in constant memory, the image in pitched rows of half-precision numbers,
// a tile and its halo in shared memory:
//
//          row pass                     column pass
//                                         +--------+
//      +---+--------+---+                 | halo   |
//      | h |  tile  | h |                 +--------+
//      +---+--------+---+                 |  tile  |
//                                         +--------+
//                                         | halo   |
//                                         +--------+
//
// The row pass computes in float: a thread a pixel. The column pass computes in
// half: a thread two neighbouring pixels, in the two halves of a register
// (__half2), which need the same weight at the same time.
//
// Beyond the edge the image goes on as its own mirror: whoever loads a pixel
// there computes another address, while the others wait. The reference
// computes in float throughout; half has 11 bits, so the results differ by up
// to a few units of the last.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <cuda_fp16.h>
#include <vector>

static constexpr int MaxRadius = 8;
static constexpr int TileX = 32, TileY = 8;    // row pass, pixels
static constexpr int PairsX = 16, PairsY = 16; // column pass, pairs

__constant__ float Weights[2 * MaxRadius + 1];
__constant__ __half2 WeightPairs[2 * MaxRadius + 1];

__host__ __device__ inline int mirrored(int I, int Size) {
  while (I < 0 || I >= Size) {
    if (I < 0)
      I = -1 - I;
    else
      I = 2 * Size - 1 - I;
  }
  return I;
}

/// A row of pitched memory.
template <typename T> __device__ inline T *row(T *Image, size_t Pitch, int Y) {
  using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char,
                                  unsigned char>;
  return reinterpret_cast<T *>(reinterpret_cast<Byte *>(Image) + Y * Pitch);
}

template <int Radius>
__global__ void blurRows(const __half *In, size_t InPitch, __half *Out,
                         size_t OutPitch, int Width, int Height) {
  __shared__ float Tile[TileY][TileX + 2 * Radius];
  const int X = int(blockIdx.x) * TileX + int(threadIdx.x);
  const int Y = int(blockIdx.y) * TileY + int(threadIdx.y);
  if (Y < Height)
    for (int I = int(threadIdx.x); I < TileX + 2 * Radius; I += TileX) {
      int From = int(blockIdx.x) * TileX + I - Radius;
      if (From < 0 || From >= Width)
        From = mirrored(From, Width);
      Tile[threadIdx.y][I] = __half2float(row(In, InPitch, Y)[From]);
    }
  __syncthreads();
  if (X >= Width || Y >= Height)
    return;
  float Sum = 0;
#pragma unroll
  for (int I = 0; I <= 2 * Radius; ++I)
    Sum = fmaf(Weights[I], Tile[threadIdx.y][threadIdx.x + I], Sum);
  row(Out, OutPitch, Y)[X] = __float2half(Sum);
}

template <int Radius>
__global__ void blurColumns(const __half2 *In, size_t InPitch, __half2 *Out,
                            size_t OutPitch, int Pairs, int Height) {
  __shared__ __half2 Tile[PairsY + 2 * Radius][PairsX];
  const int X = int(blockIdx.x) * PairsX + int(threadIdx.x);
  const int Y = int(blockIdx.y) * PairsY + int(threadIdx.y);
  if (X < Pairs)
    for (int I = int(threadIdx.y); I < PairsY + 2 * Radius; I += PairsY) {
      int From = int(blockIdx.y) * PairsY + I - Radius;
      if (From < 0 || From >= Height)
        From = mirrored(From, Height);
      Tile[I][threadIdx.x] = row(In, InPitch, From)[X];
    }
  __syncthreads();
  if (X >= Pairs || Y >= Height)
    return;
  __half2 Sum = __float2half2_rn(0.0f);
#pragma unroll
  for (int I = 0; I <= 2 * Radius; ++I)
    Sum = __hfma2(WeightPairs[I], Tile[threadIdx.y + I][threadIdx.x], Sum);
  row(Out, OutPitch, Y)[X] = Sum;
}

/// The reference, in float, rounded between the passes as on the device.
static std::vector<float> blurOnHost(const std::vector<__half> &In, int Width,
                                     int Height, const std::vector<float> &W) {
  const int Radius = int(W.size()) / 2;
  std::vector<float> Rows(In.size()), Out(In.size());
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      float Sum = 0;
      for (int I = 0; I <= 2 * Radius; ++I)
        Sum +=
            W[I] * __half2float(
                       In[size_t(Y) * Width + mirrored(X + I - Radius, Width)]);
      Rows[size_t(Y) * Width + X] = __half2float(__float2half(Sum));
    }
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      float Sum = 0;
      for (int I = 0; I <= 2 * Radius; ++I)
        Sum +=
            W[I] * Rows[size_t(mirrored(Y + I - Radius, Height)) * Width + X];
      Out[size_t(Y) * Width + X] = Sum;
    }
  return Out;
}

/// Discs of different brightness on a noisy ramp, in [0, 1).
static std::vector<__half> makeImage(int Width, int Height, long Seed) {
  Random Draw(uint64_t(Seed), 15);
  std::vector<float> Image(size_t(Width) * Height);
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X)
      Image[size_t(Y) * Width + X] =
          0.25f * float(X) / float(Width) + 0.25f * Draw.uniform();
  for (int Disc = 0; Disc < 40; ++Disc) {
    const int CentreX = int(Draw.below(uint32_t(Width)));
    const int CentreY = int(Draw.below(uint32_t(Height)));
    const int Radius = 3 + int(Draw.below(30));
    const float Bright = 0.5f * Draw.uniform();
    for (int Y = std::max(0, CentreY - Radius);
         Y < std::min(Height, CentreY + Radius); ++Y)
      for (int X = std::max(0, CentreX - Radius);
           X < std::min(Width, CentreX + Radius); ++X)
        if ((X - CentreX) * (X - CentreX) + (Y - CentreY) * (Y - CentreY) <
            Radius * Radius)
          Image[size_t(Y) * Width + X] = 0.5f + Bright;
  }
  std::vector<__half> Result(Image.size());
  for (size_t I = 0; I < Image.size(); ++I)
    Result[I] = __float2half(Image[I]);
  return Result;
}

template <int Radius>
static void blur(const __half *In, __half *Between, __half *Out, size_t Pitch,
                 int Width, int Height) {
  blurRows<Radius>
      <<<dim3((Width + TileX - 1) / TileX, (Height + TileY - 1) / TileY),
         dim3(TileX, TileY)>>>(In, Pitch, Between, Pitch, Width, Height);
  CHECK_LAUNCH();
  const int Pairs = Width / 2;
  blurColumns<Radius>
      <<<dim3((Pairs + PairsX - 1) / PairsX, (Height + PairsY - 1) / PairsY),
         dim3(PairsX, PairsY)>>>(reinterpret_cast<const __half2 *>(Between),
                                 Pitch, reinterpret_cast<__half2 *>(Out), Pitch,
                                 Pairs, Height);
  CHECK_LAUNCH();
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int Width = int(Args.integer("width", 750, 2, 16384));
  const int Height = int(Args.integer("height", 500, 1, 16384));
  const int Radius = int(Args.integer("radius", 5, 1, MaxRadius));
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (Width % 2 || (Radius != 2 && Radius != 5 && Radius != 8)) {
    std::fprintf(stderr, "convolution: give an even width, radius 2, 5 or 8\n");
    return 2;
  }

  // Binomial weights, close to a Gaussian's.
  std::vector<float> W = {1};
  for (int Order = 0; Order < 2 * Radius; ++Order) {
    W.push_back(0);
    for (size_t I = W.size() - 1; I > 0; --I)
      W[I] = 0.5f * (W[I] + W[I - 1]);
    W[0] *= 0.5f;
  }
  std::vector<__half2> Pairs;
  for (float Weight : W)
    Pairs.push_back(__float2half2_rn(Weight));
  CHECK_CUDA(cudaMemcpyToSymbol(Weights, W.data(), W.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpyToSymbol(WeightPairs, Pairs.data(),
                                Pairs.size() * sizeof(__half2)));

  const std::vector<__half> Image = makeImage(Width, Height, Seed);
  const size_t RowBytes = Width * sizeof(__half);
  __half *In = nullptr, *Between = nullptr, *Out = nullptr;
  size_t Pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&In, &Pitch, RowBytes, Height));
  CHECK_CUDA(cudaMallocPitch(&Between, &Pitch, RowBytes, Height));
  CHECK_CUDA(cudaMallocPitch(&Out, &Pitch, RowBytes, Height));
  CHECK_CUDA(cudaMemcpy2D(In, Pitch, Image.data(), RowBytes, RowBytes, Height,
                          cudaMemcpyHostToDevice));
  switch (Radius) {
  case 2:
    blur<2>(In, Between, Out, Pitch, Width, Height);
    break;
  case 5:
    blur<5>(In, Between, Out, Pitch, Width, Height);
    break;
  default:
    blur<8>(In, Between, Out, Pitch, Width, Height);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<__half> Result(Image.size());
  CHECK_CUDA(cudaMemcpy2D(Result.data(), RowBytes, Out, Pitch, RowBytes, Height,
                          cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(In));
  CHECK_CUDA(cudaFree(Between));
  CHECK_CUDA(cudaFree(Out));

  double Mean = 0, Worst = 0;
  for (const __half &Pixel : Result)
    Mean += double(__half2float(Pixel)) / double(Result.size());
  if (Check) {
    const std::vector<float> Reference = blurOnHost(Image, Width, Height, W);
    for (size_t I = 0; I < Reference.size(); ++I)
      Worst = std::max(
          Worst, std::fabs(double(__half2float(Result[I])) - Reference[I]));
  }
  // A rounding of a number below 1 errs by 2^-12 at most; each weight and each
  // step rounds once.
  const bool Right = Worst < (2 * Radius + 2) * 0x1p-12;
  std::printf("convolution: %d x %d pixels, radius %d, mean %.3f: %s\n", Width,
              Height, Radius, Mean,
              Check ? Right ? "right" : "WRONG" : "not checked");
  return Right ? 0 : 1;
}
