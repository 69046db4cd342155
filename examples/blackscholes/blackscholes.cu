//===- examples/blackscholes/blackscholes.cu - Lesson 15: options ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices European options (F. Black, M. Scholes, 1973), then goes the other
// way: which volatility explains a price?
//
//   price    closed form; every lane does the same
//   imply    Newton's method, and bisection where Newton leaves the bracket:
//
//       lane 0  N N N .               three steps
//       lane 1  N N N N N .           five
//       lane 2  N B N N N N           a price that hardly depends on the
//       lane 3  N N N .               volatility: Newton overshoots
//
// The options go through the device in slices, in streams of their own:
//
//   stream 0  copy in | price | imply | copy out
//   stream 1            copy in | price | imply | copy out
//   stream 2                      ...
//
// Host memory is pinned, so that copies and kernels can overlap; an event at
// each stream's end tells when its slice is there.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

static constexpr int Streams = 4;
static constexpr int MostSteps = 60;
static constexpr float Rate = 0.03f; // risk-free, a year

struct Option {
  float Spot, Strike, Years, Volatility;
};

/// The same text for float on the device and double on the host.
template <typename Real> __host__ __device__ inline Real normalCdf(Real X) {
  return Real(0.5) * erfc(-X * Real(0.70710678118654752));
}

template <typename Real>
__host__ __device__ inline Real callPrice(const Option &O, Real Volatility,
                                          Real &Vega) {
  const Real Root = sqrt(Real(O.Years));
  const Real Spread = Volatility * Root;
  const Real D1 =
      (log(Real(O.Spot) / Real(O.Strike)) +
       (Real(Rate) + Real(0.5) * Volatility * Volatility) * Real(O.Years)) /
      Spread;
  const Real D2 = D1 - Spread;
  Vega = Real(O.Spot) * Root * Real(0.39894228040143268) *
         exp(Real(-0.5) * D1 * D1);
  return Real(O.Spot) * normalCdf(D1) -
         Real(O.Strike) * exp(-Real(Rate) * Real(O.Years)) * normalCdf(D2);
}

struct Implied {
  float Volatility;
  int Steps;
};

/// The volatility in [0.01, 4] at which the call costs \p Price.
template <typename Real>
__host__ __device__ inline Implied implyVolatility(const Option &O, Real Price,
                                                   Real Tolerance) {
  Real Low = Real(0.01), High = Real(4), Guess = Real(0.5);
  for (int Step = 1; Step <= MostSteps; ++Step) {
    Real Vega;
    const Real Off = callPrice(O, Guess, Vega) - Price;
    if (fabs(Off) < Tolerance)
      return {float(Guess), Step};
    if (Off > 0)
      High = Guess;
    else
      Low = Guess;
    const Real Newton = Guess - Off / Vega;
    if (Newton > Low && Newton < High)
      Guess = Newton;
    else
      Guess = Real(0.5) * (Low + High);
  }
  return {float(Guess), MostSteps};
}

__global__ void price(const Option *Options, int Count, float *Prices) {
  const int Stride = int(gridDim.x * blockDim.x);
  for (int At = int(blockIdx.x * blockDim.x + threadIdx.x); At < Count;
       At += Stride) {
    float Vega;
    Prices[At] = callPrice(Options[At], Options[At].Volatility, Vega);
  }
}

__global__ void imply(const Option *Options, const float *Prices, int Count,
                      Implied *Out) {
  const int Stride = int(gridDim.x * blockDim.x);
  for (int At = int(blockIdx.x * blockDim.x + threadIdx.x); At < Count;
       At += Stride)
    Out[At] =
        implyVolatility(Options[At], Prices[At], 1e-5f * Options[At].Spot);
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Count = Args.integer("options", 100000, 1, 1 << 26);
  const long Threads = Args.integer("block", 128, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  Option *Host = nullptr;
  float *Prices = nullptr;
  Implied *Found = nullptr;
  CHECK_CUDA(cudaMallocHost(&Host, Count * sizeof(Option)));
  CHECK_CUDA(cudaMallocHost(&Prices, Count * sizeof(float)));
  CHECK_CUDA(cudaMallocHost(&Found, Count * sizeof(Implied)));
  Random Draw(uint64_t(Seed), 16);
  for (long I = 0; I < Count; ++I) {
    Host[I].Spot = 10.0f + 90.0f * Draw.uniform();
    Host[I].Strike = Host[I].Spot * (0.7f + 0.7f * Draw.uniform());
    Host[I].Years = 0.1f + 3.0f * Draw.uniform();
    Host[I].Volatility = 0.1f + 0.7f * Draw.uniform();
  }

  Option *DeviceOptions = nullptr;
  float *DevicePrices = nullptr;
  Implied *DeviceFound = nullptr;
  CHECK_CUDA(cudaMalloc(&DeviceOptions, Count * sizeof(Option)));
  CHECK_CUDA(cudaMalloc(&DevicePrices, Count * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&DeviceFound, Count * sizeof(Implied)));
  cudaStream_t Stream[Streams];
  cudaEvent_t Begun, Done[Streams];
  CHECK_CUDA(cudaEventCreate(&Begun));
  CHECK_CUDA(cudaEventRecord(Begun));
  const long Slice = (Count + Streams - 1) / Streams;
  for (int S = 0; S < Streams; ++S) {
    CHECK_CUDA(cudaStreamCreate(&Stream[S]));
    CHECK_CUDA(cudaEventCreate(&Done[S]));
    const long First = std::min(Count, S * Slice);
    const long Size = std::min(Slice, Count - First);
    if (Size > 0) {
      CHECK_CUDA(cudaMemcpyAsync(DeviceOptions + First, Host + First,
                                 Size * sizeof(Option), cudaMemcpyHostToDevice,
                                 Stream[S]));
      const unsigned Blocks = unsigned((Size + Threads - 1) / Threads);
      price<<<Blocks, unsigned(Threads), 0, Stream[S]>>>(
          DeviceOptions + First, int(Size), DevicePrices + First);
      CHECK_LAUNCH();
      imply<<<Blocks, unsigned(Threads), 0, Stream[S]>>>(
          DeviceOptions + First, DevicePrices + First, int(Size),
          DeviceFound + First);
      CHECK_LAUNCH();
      CHECK_CUDA(cudaMemcpyAsync(Prices + First, DevicePrices + First,
                                 Size * sizeof(float), cudaMemcpyDeviceToHost,
                                 Stream[S]));
      CHECK_CUDA(cudaMemcpyAsync(Found + First, DeviceFound + First,
                                 Size * sizeof(Implied), cudaMemcpyDeviceToHost,
                                 Stream[S]));
    }
    CHECK_CUDA(cudaEventRecord(Done[S], Stream[S]));
  }

  // Each slice is judged as soon as it is there.
  long Wrong = 0, Steps = 0, Most = 0;
  double Total = 0;
  for (int S = 0; S < Streams; ++S) {
    CHECK_CUDA(cudaEventSynchronize(Done[S]));
    float Milliseconds = -1;
    CHECK_CUDA(cudaEventElapsedTime(&Milliseconds, Begun, Done[S]));
    Wrong += Milliseconds < 0;
    for (long I = S * Slice; I < std::min(Count, (S + 1) * Slice); ++I) {
      Total += Prices[I];
      Steps += Found[I].Steps;
      Most = std::max(Most, long(Found[I].Steps));
      if (!Check)
        continue;
      // The price to a few roundings of what it is the difference of; and the
      // volatility found must lead back to the price.
      double Vega;
      const double Price =
          callPrice<double>(Host[I], double(Host[I].Volatility), Vega);
      const double Back =
          callPrice<double>(Host[I], double(Found[I].Volatility), Vega);
      Wrong += std::fabs(Price - Prices[I]) > 2e-6 * Host[I].Spot ||
               std::fabs(Back - Prices[I]) > 2e-5 * Host[I].Spot ||
               implyVolatility<double>(Host[I], Price, 1e-9).Steps >= MostSteps;
    }
    CHECK_CUDA(cudaEventDestroy(Done[S]));
    CHECK_CUDA(cudaStreamDestroy(Stream[S]));
  }
  CHECK_CUDA(cudaEventDestroy(Begun));
  CHECK_CUDA(cudaFree(DeviceOptions));
  CHECK_CUDA(cudaFree(DevicePrices));
  CHECK_CUDA(cudaFree(DeviceFound));
  CHECK_CUDA(cudaFreeHost(Host));
  CHECK_CUDA(cudaFreeHost(Prices));
  CHECK_CUDA(cudaFreeHost(Found));

  std::printf("blackscholes: %ld options, mean price %.3f, %.1f steps each: ",
              Count, Total / double(Count), double(Steps) / double(Count));
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  return Wrong || Most > MostSteps ? 1 : 0;
}
