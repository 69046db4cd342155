//===- examples/stencil/stencil.cu - Lesson 8: stencil with boundaries ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heat in a plate, explicit steps with the five-point stencil. Thread blocks of
// 32 x 8 read their tile and a halo around it into shared memory.
//
//        held hot           Two sorts of boundary, two sorts of branch:
//      +----------+
//  in- |          | radi-   the plate's edges: only warps at the rim meet the
//  su- |  plate   | ates    long arms, and a bigger plate has fewer of them;
//  la- |          |
//  ted +----------+         the tile's edges: the first and last lane of every
//        periodic           warp fetch its halo while 31 lanes wait, and no
//        source             size helps against that.
//
// The products that feed sums are written as fmaf: host and device agree to the
// last bit.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <cmath>
#include <vector>

static constexpr int TileX = 32, TileY = 8;
static constexpr float Conduction = 0.2f; // share that flows to a neighbour
static constexpr float Hot = 100.0f;
static constexpr float Radiation = 1e-7f; // loss = Radiation * T^4

/// One interior point from its neighbours.
__host__ __device__ inline float conduct(float Here, float North, float South,
                                         float West, float East) {
  const float Around = (North + South) + (West + East);
  return fmaf(Conduction, fmaf(-4.0f, Here, Around), Here);
}

__host__ __device__ inline float radiate(float Here) {
  const float Square = Here * Here;
  return fmaf(-Radiation, Square * Square, Here);
}

/// The bottom edge: a source with a period of eight points and eight steps.
__host__ __device__ inline float warmBottom(float Here, float North, int X,
                                            int Step) {
  const float Source = float((X + Step) & 7) * 5.0f;
  const float Flow = fmaf(0.5f, North - Here, Here);
  return fmaf(0.125f, fmaf(-0.01f, Here, Source), Flow);
}

__global__ void heatStep(const float *In, float *Out, int Width, int Height,
                         int Step) {
  __shared__ float T[TileY + 2][TileX + 2];
  const int Tx = int(threadIdx.x) + 1, Ty = int(threadIdx.y) + 1;
  const int X = int(blockIdx.x) * TileX + Tx - 1;
  const int Y = int(blockIdx.y) * TileY + Ty - 1;
  const int At = Y * Width + X;

  if (X < Width && Y < Height) {
    T[Ty][Tx] = In[At];
    if (Tx == 1 && X > 0)
      T[Ty][0] = In[At - 1];
    if (Tx == TileX && X < Width - 1)
      T[Ty][TileX + 1] = In[At + 1];
    if (Ty == 1 && Y > 0)
      T[0][Tx] = In[At - Width];
    if (Ty == TileY && Y < Height - 1)
      T[TileY + 1][Tx] = In[At + Width];
  }
  __syncthreads();
  if (X >= Width || Y >= Height)
    return;

  const float Here = T[Ty][Tx];
  float Next;
  if (Y == 0) {
    Next = Hot; // held
  } else if (Y == Height - 1) {
    Next = warmBottom(Here, T[Ty - 1][Tx], X, Step);
  } else if (X == 0) { // insulated: its own mirror image is its neighbour
    Next = conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx + 1],
                   T[Ty][Tx + 1]);
  } else if (X == Width - 1) {
    Next = radiate(
        conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx - 1], Here));
  } else {
    Next = conduct(Here, T[Ty - 1][Tx], T[Ty + 1][Tx], T[Ty][Tx - 1],
                   T[Ty][Tx + 1]);
  }
  Out[At] = Next;
}

/// The reference: the same step, point by point.
static void heatStepOnHost(const std::vector<float> &In,
                           std::vector<float> &Out, int Width, int Height,
                           int Step) {
  auto At = [&](int X, int Y) { return In[size_t(Y) * Width + X]; };
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      const float Here = At(X, Y);
      float &Next = Out[size_t(Y) * Width + X];
      if (Y == 0)
        Next = Hot;
      else if (Y == Height - 1)
        Next = warmBottom(Here, At(X, Y - 1), X, Step);
      else if (X == 0)
        Next = conduct(Here, At(X, Y - 1), At(X, Y + 1), At(X + 1, Y),
                       At(X + 1, Y));
      else if (X == Width - 1)
        Next = radiate(
            conduct(Here, At(X, Y - 1), At(X, Y + 1), At(X - 1, Y), Here));
      else
        Next = conduct(Here, At(X, Y - 1), At(X, Y + 1), At(X - 1, Y),
                       At(X + 1, Y));
    }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Width = Args.integer("width", 500, 2, 16384);
  const long Height = Args.integer("height", 300, 2, 16384);
  const long Steps = Args.integer("steps", 40, 1, 1 << 20);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  std::vector<float> Plate(size_t(Width) * Height);
  Random Draw(uint64_t(Seed), 0);
  for (float &Point : Plate)
    Point = 20.0f + Draw.uniform();

  const size_t Bytes = Plate.size() * sizeof(float);
  float *From = nullptr, *To = nullptr;
  CHECK_CUDA(cudaMalloc(&From, Bytes));
  CHECK_CUDA(cudaMalloc(&To, Bytes));
  CHECK_CUDA(cudaMemcpy(From, Plate.data(), Bytes, cudaMemcpyHostToDevice));
  const dim3 Block(TileX, TileY);
  const dim3 Grid(unsigned(Width + TileX - 1) / TileX,
                  unsigned(Height + TileY - 1) / TileY);
  for (int Step = 0; Step < Steps; ++Step) {
    heatStep<<<Grid, Block>>>(From, To, int(Width), int(Height), Step);
    CHECK_LAUNCH();
    std::swap(From, To);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<float> Result(Plate.size());
  CHECK_CUDA(cudaMemcpy(Result.data(), From, Bytes, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(From));
  CHECK_CUDA(cudaFree(To));

  bool Right = true;
  if (Check) {
    std::vector<float> Next(Plate.size());
    for (int Step = 0; Step < Steps; ++Step) {
      heatStepOnHost(Plate, Next, int(Width), int(Height), Step);
      std::swap(Plate, Next);
    }
    Right = Plate == Result;
  }
  double Mean = 0;
  for (float Point : Result)
    Mean += double(Point) / double(Result.size());
  std::printf("stencil: %ld x %ld points, %ld steps, mean %.4f: %s\n", Width,
              Height, Steps, Mean,
              Check ? Right ? "bit-identical" : "WRONG" : "not checked");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Result)));
  return Right ? 0 : 1;
}
