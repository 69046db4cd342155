// REQUIRES: reconverge
// RUN: %reconverge cc -O2 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu %t | FileCheck %s

// cuRAND's generators in kernels: the header alone, no library.

#include "Inputs/check.h"
#include <cmath>
#include <curand_kernel.h>

static constexpr int Threads = 256, Draws = 100;

struct Moments {
  double Normal, Squares, Uniform, Poisson;
};

template <typename Generator> __global__ void draw(Moments *Out) {
  const int T = blockIdx.x * blockDim.x + threadIdx.x;
  Generator G;
  curand_init(1234, T, 0, &G);
  Moments M = {};
  for (int I = 0; I < Draws; ++I) {
    const float2 Two = curand_normal2(&G);
    M.Normal += Two.x + Two.y;
    M.Squares += Two.x * Two.x + Two.y * Two.y;
    M.Uniform += curand_uniform(&G) + curand_uniform_double(&G);
    M.Poisson += curand_poisson(&G, 3.0);
  }
  Out[T] = M;
}

template <typename Generator> static void check(const char *Name) {
  Moments *Out = managed<Moments>(Threads), Sum = {};
  draw<Generator><<<2, Threads / 2>>>(Out);
  finish();
  for (int T = 0; T < Threads; ++T) {
    Sum.Normal += Out[T].Normal;
    Sum.Squares += Out[T].Squares;
    Sum.Uniform += Out[T].Uniform;
    Sum.Poisson += Out[T].Poisson;
  }
  // Five standard errors of the mean.
  const double N = 2.0 * Threads * Draws, E = 5 / std::sqrt(N);
  auto Near = [&](const char *What, double Mean, double Want, double Spread) {
    expect(Name, What[0], std::fabs(Mean - Want) < E * Spread, true);
  };
  Near("normal", Sum.Normal / N, 0, 1);
  Near("squares", Sum.Squares / N, 1, std::sqrt(2.0));
  Near("uniform", Sum.Uniform / N, 0.5, std::sqrt(1 / 12.0));
  Near("poisson", 2 * Sum.Poisson / N, 3, std::sqrt(6.0));
}

__global__ void first(unsigned *Out) {
  curandStateXORWOW_t X;
  curandStatePhilox4_32_10_t P;
  curand_init(42, 1, 3, &X);
  curand_init(42, 1, 3, &P);
  for (int I = 0; I < 4; ++I) {
    Out[I] = curand(&X);
    Out[4 + I] = curand(&P);
  }
}

/// Philox as its authors give it: ten rounds of two multiplications.
static unsigned philox(unsigned Index, unsigned Sequence, unsigned Seed) {
  unsigned C[4] = {Index / 4, 0, Sequence, 0}, K[2] = {Seed, 0};
  for (int Round = 0; Round < 10; ++Round) {
    const auto A = 0xd2511f53ull * C[0], B = 0xcd9e8d57ull * C[2];
    const unsigned Next[4] = {unsigned(B >> 32) ^ C[1] ^ K[0], unsigned(B),
                              unsigned(A >> 32) ^ C[3] ^ K[1], unsigned(A)};
    for (int I = 0; I < 4; ++I)
      C[I] = Next[I];
    K[0] += 0x9e3779b9;
    K[1] += 0xbb67ae85;
  }
  return C[Index % 4];
}

// CHECK: 0 wrong of
int main() {
  check<curandStateXORWOW_t>("xorwow");
  check<curandStatePhilox4_32_10_t>("philox");
  check<curandStateMRG32k3a_t>("mrg");
  unsigned *Out = managed<unsigned>(8);
  first<<<1, 1>>>(Out);
  finish();
  for (int I = 0; I < 4; ++I)
    expect("philox", I, Out[4 + I], philox(3 + I, 1, 42));
  return summary();
}
