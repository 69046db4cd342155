//===- examples/fft/fft.cu - Lesson 10: Fourier transforms ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the noise out of a batch of signals: transform each, keep the strong
// frequencies, transform back. A signal a block, in shared memory, by Cooley
// and Tukey's radix-2 steps (1965):
//
//   1. load in bit-reversed order
//   2. log2(N) rounds of butterflies, twice as wide in each:
//
//        a ---+---> a + w b       w = exp(-+ 2 pi i k / width)
//              \ /
//        b --w--x-> a - w b
//
// The rounds do not diverge: every thread has a butterfly in each. The
// filter does: strong frequencies are few and far between, each is written to
// a list, and the lanes around wait.
//
// The device works in float, the reference in double: the check is on the
// relative error, and on finding the frequencies that the signals are made of.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

static constexpr int LogLength = 10, Length = 1 << LogLength;
static constexpr int Threads = Length / 2; // a butterfly each
static constexpr int Tones = 4;            // frequencies in a signal
static constexpr float TwoPi = 6.28318530718f;

__device__ inline float2 times(float2 A, float2 B) {
  return make_float2(A.x * B.x - A.y * B.y, A.x * B.y + A.y * B.x);
}

/// In: bit-reversed; out: in order. Sign is -1 forward, +1 backward.
template <int Log, int Sign> __device__ void transform(float2 *Data) {
  const int T = int(threadIdx.x);
#pragma unroll
  for (int Round = 0; Round < Log; ++Round) {
    const int Half = 1 << Round;
    const int K = T & (Half - 1);
    const int At = ((T - K) << 1) + K;
    const float Angle = float(Sign) * TwoPi * float(K) / float(2 * Half);
    const float2 Twiddle = make_float2(cosf(Angle), sinf(Angle));
    __syncthreads();
    const float2 A = Data[At], B = times(Twiddle, Data[At + Half]);
    Data[At] = make_float2(A.x + B.x, A.y + B.y);
    Data[At + Half] = make_float2(A.x - B.x, A.y - B.y);
  }
  __syncthreads();
}

template <int Log> __device__ inline int reversed(int I) {
  return int(__brev(unsigned(I)) >> (32 - Log));
}

/// Spectra of real signals.
template <int Log>
__global__ void spectrum(const float *Signals, float2 *Spectra) {
  extern __shared__ float2 Data[];
  constexpr int N = 1 << Log;
  const float *Signal = Signals + size_t(blockIdx.x) * N;
  for (int I = int(threadIdx.x); I < N; I += int(blockDim.x))
    Data[reversed<Log>(I)] = make_float2(Signal[I], 0);
  transform<Log, -1>(Data);
  float2 *Spectrum = Spectra + size_t(blockIdx.x) * N;
  for (int I = int(threadIdx.x); I < N; I += int(blockDim.x))
    Spectrum[I] = Data[I];
}

/// Drops what is weaker than \p Least, lists what is not (first half only: the
/// second mirrors it), and goes back to real signals.
template <int Log>
__global__ void denoise(const float2 *Spectra, float Least, float *Signals,
                        int *Found, int *FoundCount) {
  extern __shared__ float2 Data[];
  constexpr int N = 1 << Log;
  const float2 *Spectrum = Spectra + size_t(blockIdx.x) * N;
  for (int I = int(threadIdx.x); I < N; I += int(blockDim.x)) {
    float2 X = Spectrum[I];
    if (hypotf(X.x, X.y) < Least) {
      X = make_float2(0, 0);
    } else if (I < N / 2) {
      const int Slot = atomicAdd(&FoundCount[blockIdx.x], 1);
      if (Slot < Tones)
        Found[blockIdx.x * Tones + Slot] = I;
    }
    Data[reversed<Log>(I)] = X;
  }
  transform<Log, 1>(Data);
  float *Signal = Signals + size_t(blockIdx.x) * N;
  for (int I = int(threadIdx.x); I < N; I += int(blockDim.x))
    Signal[I] = Data[I].x * (1.0f / float(N));
}

/// The reference: the same in double, recursively.
static void transformOnHost(std::vector<std::complex<double>> &Data) {
  const size_t N = Data.size();
  if (N == 1)
    return;
  std::vector<std::complex<double>> Even(N / 2), Odd(N / 2);
  for (size_t I = 0; I < N; ++I)
    (I % 2 ? Odd : Even)[I / 2] = Data[I];
  transformOnHost(Even);
  transformOnHost(Odd);
  for (size_t K = 0; K < N / 2; ++K) {
    const std::complex<double> B =
        std::polar(1.0, -2 * M_PI * double(K) / double(N)) * Odd[K];
    Data[K] = Even[K] + B;
    Data[K + N / 2] = Even[K] - B;
  }
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Batch = Args.integer("signals", 256, 1, 1 << 16);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  // Tones of amplitude 1 at different frequencies, and noise.
  const size_t Count = size_t(Batch) * Length;
  std::vector<float> Clean(Count), Noisy(Count);
  std::vector<int> Made(Batch * Tones);
  Random Draw(uint64_t(Seed), 10);
  for (long S = 0; S < Batch; ++S) {
    for (int T = 0; T < Tones; ++T)
      Made[S * Tones + T] =
          int(1 + T * 120 + Draw.below(119)); // never the same twice
    for (int I = 0; I < Length; ++I) {
      double Sum = 0;
      for (int T = 0; T < Tones; ++T) // the phase wraps around exactly
        Sum += std::sin(2 * M_PI * ((Made[S * Tones + T] * I) % Length) /
                        double(Length));
      Clean[S * Length + I] = float(Sum);
      Noisy[S * Length + I] = float(Sum + Draw.uniform() - 0.5);
    }
  }

  float *Signals = nullptr;
  float2 *Spectra = nullptr;
  int *Found = nullptr, *FoundCount = nullptr;
  CHECK_CUDA(cudaMalloc(&Signals, Count * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&Spectra, Count * sizeof(float2)));
  CHECK_CUDA(cudaMalloc(&Found, Batch * Tones * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&FoundCount, Batch * sizeof(int)));
  CHECK_CUDA(cudaMemset(FoundCount, 0, Batch * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(Signals, Noisy.data(), Count * sizeof(float),
                        cudaMemcpyHostToDevice));
  const size_t Shared = Length * sizeof(float2);
  spectrum<LogLength><<<unsigned(Batch), Threads, Shared>>>(Signals, Spectra);
  CHECK_LAUNCH();
  denoise<LogLength><<<unsigned(Batch), Threads, Shared>>>(
      Spectra, float(Length) / 4, Signals, Found, FoundCount);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());

  std::vector<float2> Spectrum(Count);
  std::vector<float> Result(Count);
  std::vector<int> Tone(Batch * Tones), ToneCount(Batch);
  CHECK_CUDA(cudaMemcpy(Spectrum.data(), Spectra, Count * sizeof(float2),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(Result.data(), Signals, Count * sizeof(float),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(Tone.data(), Found, Tone.size() * sizeof(int),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(ToneCount.data(), FoundCount, Batch * sizeof(int),
                        cudaMemcpyDeviceToHost));
  for (void *P :
       {(void *)Signals, (void *)Spectra, (void *)Found, (void *)FoundCount})
    CHECK_CUDA(cudaFree(P));

  // Blocks append to a list in any order.
  long Missed = 0;
  for (long S = 0; S < Batch; ++S) {
    auto First = Tone.begin() + S * Tones;
    std::sort(First, First + Tones);
    Missed += ToneCount[S] != Tones ||
              !std::equal(First, First + Tones, Made.begin() + S * Tones);
  }
  double Error = 0, Power = 0, Noise = 0, Left = 0;
  for (size_t I = 0; I < Count; ++I) {
    Noise += std::pow(double(Noisy[I]) - Clean[I], 2);
    Left += std::pow(double(Result[I]) - Clean[I], 2);
  }
  if (Check)
    for (long S = 0; S < Batch; ++S) {
      std::vector<std::complex<double>> Line(Noisy.begin() + S * Length,
                                             Noisy.begin() + (S + 1) * Length);
      transformOnHost(Line);
      for (int I = 0; I < Length; ++I) {
        const float2 X = Spectrum[S * Length + I];
        Error += std::norm(Line[I] - std::complex<double>(X.x, X.y));
        Power += std::norm(Line[I]);
      }
    }
  const bool Right = Missed == 0 && Left < 0.02 * Noise &&
                     (!Check || std::sqrt(Error / Power) < 1e-6);
  std::printf("fft: %ld signals of %d points, %ld of them misread, noise "
              "reduced to %.1f %%: %s\n",
              Batch, Length, Missed, 100 * std::sqrt(Left / Noise),
              !Right  ? "WRONG"
              : Check ? "right"
                      : "not checked");
  return Right ? 0 : 1;
}
