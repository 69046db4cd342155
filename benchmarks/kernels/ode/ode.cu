//===- benchmarks/kernels/ode/ode.cu - Many initial value problems --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where do probes near the Moon end up? Each thread integrates one probe's path
// in the plane of Earth and Moon (the circular restricted problem of three
// bodies, in turning coordinates), by the pair of orders 5 and 4 of Dormand and
// Prince (1980) with proportional-integral control of the step size (Gustafsson
// 1991). A trip of the loop is one attempt at a step; one whose error is too
// large leaves the state as it was and makes the next one shorter.
//
// What diverges: a probe on a low orbit goes round dozens of times while one
// far away goes a quarter round, so neighbours differ in their numbers of steps
// by a factor of 10 to 100; some hit the Moon early. Inside a step lanes differ
// little: a few in a hundred are rejected.
//
// Refilled by hand (common/refill.h). The state of the loop is in registers.
// Host and device compute the same bits (common/exact.h), so the check is exact.
//
//===----------------------------------------------------------------------===//
#include "../common/refill.h"

/// Probes, and how to follow them. Lengths are in distances of the Moon; a
/// month is 2 pi.
template <typename Real> struct Probes {
  const Real *Starts; ///< of [coordinate][probe]: x, y, and their velocities
  Real *Ends;         ///< likewise
  int *Attempts;
  int Count, Most; ///< attempts
  Real Until, Tolerance;
};

template <typename Real> struct Probe {
  using Input = Probes<Real>;
  static constexpr int N = 4;
  static constexpr Real Mass = Real(0.0121505856); // the Moon's share
  static constexpr Real MoonRadius = Real(0.00452), EarthRadius = Real(0.0166);

  Real Y[N], Slope[N], Time, Step;
  float LastError; // its logarithm
  int Attempts;
  bool WasRejected, Landed;

  HD static void slopeAt(const Real *Y, Real *D) {
    const Real A = Y[0] + Mass, B = A - 1, V2 = Y[1] * Y[1];
    const Real Earth2 = fma(A, A, V2), Moon2 = fma(B, B, V2);
    const Real Earth = (1 - Mass) / (Earth2 * root(Earth2));
    const Real Moon = Mass / (Moon2 * root(Moon2));
    D[0] = Y[2];
    D[1] = Y[3];
    D[2] = fma(-B, Moon, fma(-A, Earth, fma(Real(2), Y[3], Y[0])));
    D[3] = fma(-Y[1], Earth + Moon, fma(Real(-2), Y[2], Y[1]));
  }

  HD void start(const Input &In, int I) {
    for (int C = 0; C < N; ++C)
      Y[C] = In.Starts[C * In.Count + I];
    slopeAt(Y, Slope);
    Time = 0;
    Step = Real(1e-4);
    LastError = -13; // as of an error of 1e-4
    Attempts = 0;
    WasRejected = Landed = false;
  }

  HD bool more(const Input &In) const {
    return Time < In.Until && !Landed && Attempts < In.Most;
  }

  HD void step(const Input &In) {
    Real K2[N], K3[N], K4[N], K5[N], K6[N], K7[N], Z[N];
    const Real H = fmin(Step, In.Until - Time);
    const auto R = [](double Value) { return Real(Value); };
    for (int C = 0; C < N; ++C)
      Z[C] = fma(H, R(1. / 5) * Slope[C], Y[C]);
    slopeAt(Z, K2);
    for (int C = 0; C < N; ++C)
      Z[C] = fma(H, fma(R(3. / 40), Slope[C], R(9. / 40) * K2[C]), Y[C]);
    slopeAt(Z, K3);
    for (int C = 0; C < N; ++C)
      Z[C] = fma(H,
                 fma(R(44. / 45), Slope[C],
                     fma(R(-56. / 15), K2[C], R(32. / 9) * K3[C])),
                 Y[C]);
    slopeAt(Z, K4);
    for (int C = 0; C < N; ++C)
      Z[C] = fma(H,
                 fma(R(19372. / 6561), Slope[C],
                     fma(R(-25360. / 2187), K2[C],
                         fma(R(64448. / 6561), K3[C], R(-212. / 729) * K4[C]))),
                 Y[C]);
    slopeAt(Z, K5);
    for (int C = 0; C < N; ++C)
      Z[C] = fma(
          H,
          fma(R(9017. / 3168), Slope[C],
              fma(R(-355. / 33), K2[C],
                  fma(R(46732. / 5247), K3[C],
                      fma(R(49. / 176), K4[C], R(-5103. / 18656) * K5[C])))),
          Y[C]);
    slopeAt(Z, K6);
    for (int C = 0; C < N; ++C)
      Z[C] =
          fma(H,
              fma(R(35. / 384), Slope[C],
                  fma(R(500. / 1113), K3[C],
                      fma(R(125. / 192), K4[C],
                          fma(R(-2187. / 6784), K5[C], R(11. / 84) * K6[C])))),
              Y[C]);
    slopeAt(Z, K7);
    Real Sum = 0; // of squares of the difference of both orders
    for (int C = 0; C < N; ++C) {
      const Real Error =
          H * fma(R(71. / 57600), Slope[C],
                  fma(R(-71. / 16695), K3[C],
                      fma(R(71. / 1920), K4[C],
                          fma(R(-17253. / 339200), K5[C],
                              fma(R(22. / 525), K6[C], R(-1. / 40) * K7[C])))));
      const Real Scaled =
          Error / fma(In.Tolerance, fmax(fabs(Y[C]), fabs(Z[C])), In.Tolerance);
      Sum = fma(Scaled, Scaled, Sum);
    }
    control(float(Sum) * (1.0f / N), H, Z, K7);
    ++Attempts;
  }

  /// Takes the step to \p Z, if its squared error is not above 1; chooses the
  /// size of the next.
  HD void control(float Squared, Real H, const Real *Z, const Real *SlopeZ) {
    const float Log = 0.5f * logarithm2(fmaxf(Squared, 1e-20f));
    const float Size = fmaf(-0.17f, Log, -0.152f); // and a tenth less than that
    float Scale;
    if (Squared <= 1.0f) {
      Time += H;
      for (int C = 0; C < N; ++C) {
        Y[C] = Z[C];
        Slope[C] = SlopeZ[C];
      }
      const Real A = Y[0] + Mass, B = A - 1, V2 = Y[1] * Y[1];
      Landed = fma(A, A, V2) < EarthRadius * EarthRadius ||
               fma(B, B, V2) < MoonRadius * MoonRadius;
      Scale = power2(fminf(fmaxf(fmaf(0.04f, LastError, Size), -2.3f), 3.3f));
      if (WasRejected)
        Scale = fminf(Scale, 1.0f);
      LastError = fmaxf(Log, -13.0f);
      WasRejected = false;
    } else { // also where the error is no number
      Scale = power2(fmaxf(fminf(Size, -0.1f), -2.3f));
      WasRejected = true;
    }
    Step = H * Real(Scale);
  }

  HD void finish(const Input &In, int I) const {
    for (int C = 0; C < N; ++C)
      In.Ends[C * In.Count + I] = Y[C];
    In.Attempts[I] = Attempts;
  }
};

template <typename Real> __global__ void integrate(Probes<Real> In, int Count) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= Count)
    return;
  Probe<Real> Mine;
  Mine.start(In, I);
  while (Mine.more(In))
    Mine.step(In);
  Mine.finish(In, I);
}

/// Orbits round the Moon, low ones as likely as high ones, in both directions.
template <typename Real>
static std::vector<Real> starts(int Count, Random Draw) {
  std::vector<Real> Starts(4 * size_t(Count));
  const float Mass = float(Probe<Real>::Mass);
  for (int I = 0; I < Count; ++I) {
    const float R = 0.012f * power2(4.6f * Draw.uniform());
    float Sine, Cosine;
    sineCosine(Draw.uniform(), Sine, Cosine);
    const float Circular = root(Mass / R) * fmaf(0.6f, Draw.uniform(), 0.6f);
    const float Speed = (Draw.below(2) ? Circular : -Circular) - R;
    const float Start[] = {fmaf(R, Cosine, 1.0f - Mass), R * Sine,
                           -Speed * Sine, Speed * Cosine};
    for (int C = 0; C < 4; ++C)
      Starts[C * size_t(Count) + I] = Real(Start[C]);
  }
  return Starts;
}

template <typename Real>
static int integrateAll(Bench &Run, RefillForms &Forms, int Count, Real Until,
                        Real Tolerance) {
  const std::vector<Real> Starts = starts<Real>(Count, Run.random());
  DeviceArray<Real> In(Starts), Out(std::vector<Real>(Starts.size()));
  DeviceArray<int> Attempts(std::vector<int>(Count, 0));
  const Probes<Real> There{In, Out, Attempts, Count, 100000, Until, Tolerance};
  // What is compared: the ends and, as the last of them, the attempts.
  const auto All = [&](std::vector<Real> Ends, const std::vector<int> &Tries) {
    Ends.insert(Ends.end(), Tries.begin(), Tries.end());
    return Ends;
  };
  return Forms.run<Probe<Real>>(
      integrate<Real>, There, Count,
      [&] {
        Out.clear();
        Attempts.clear();
      },
      [&] { return All(Out.get(), Attempts.get()); },
      [&](const std::vector<Real> &Got) {
        std::vector<Real> Ends(Starts.size());
        std::vector<int> Tries(Count);
        const Probes<Real> Here{Starts.data(), Ends.data(), Tries.data(), Count,
                                There.Most,    Until,       Tolerance};
        for (int I = 0; I < Count; ++I) {
          Probe<Real> Mine;
          Mine.start(Here, I);
          while (Mine.more(Here))
            Mine.step(Here);
          Mine.finish(Here, I);
        }
        return Got == All(Ends, Tries);
      });
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "ode");
  const int Count = int(Run.integer("probes", 1000, 1, 1 << 26));
  const double Months = Run.integer("percent", 20, 1, 1000) / 100.;
  const bool Single = Run.integer("float", 0, 0, 1);
  RefillForms Forms(Run, 128);
  Run.ready();

  const double Until = Months * 6.283185307;
  return Single ? integrateAll<float>(Run, Forms, Count, float(Until), 1e-5f)
                : integrateAll<double>(Run, Forms, Count, Until, 1e-7);
}
