//===- benchmarks/kernels/sl/sl.cu - Where a sound comes from -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steered response power (J. H. DiBiase, 2000) of an array of eight microphones
// at the corners of a cube. Sound from a direction reaches one microphone of a
// pair so many samples after the other; if the pairs' correlations at those lags
// are added up for all directions of the half sphere, the sum is greatest where
// the sound comes from.
//
//   correlate   the correlations of all pairs in each frame, at all lags
//   steer       a thread has a ring of directions, all of one elevation, in one
//               frame. Rings have as many directions as keep them equally far
//               apart: 4 R at the horizon, one or two at the top. Frames in
//               which nobody speaks have none.
//
// What is measured is `steer`. Neighbouring threads have the same ring of
// neighbouring frames, or with ringfirst=1 neighbouring rings of one frame.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"

#include <algorithm>

static constexpr int Microphones = 8,
                     Pairs = Microphones * (Microphones - 1) / 2;
static constexpr float SamplesPerMeter = 48000.0f / 343.0f; // of sound
static constexpr float HalfEdge = 0.1f;                     // of the cube, in m
/// A lag is less than the samples that sound takes along a cube's diagonal.
static constexpr int MostLag = 49, Lags = 2 * MostLag + 1;
static constexpr int FrameLength = 512;

/// In samples that sound travels.
HD static void placeOf(int Microphone, float *At) {
  for (int K = 0; K < 3; ++K)
    At[K] = (Microphone >> K & 1 ? HalfEdge : -HalfEdge) * SamplesPerMeter;
}

//===----------------------------------------------------------------------===//
// Correlations
//===----------------------------------------------------------------------===//

/// \p Signal is of [microphone][sample], with MostLag samples before the first
/// frame and after the last; Out of [pair][lag][frame].
HD static float correlation(const float *Signal, int Samples, int Pair, int Lag,
                            int Frame) {
  int A = 0, B = Pair + 1;
  for (; B >= Microphones; B -= Microphones - 1 - A)
    ++A;
  const float *X = Signal + size_t(A) * Samples + MostLag + Frame * FrameLength;
  const float *Y = Signal + size_t(B) * Samples + MostLag + Frame * FrameLength;
  float Sum = 0;
  for (int T = 0; T < FrameLength; ++T)
    Sum = fmaf(X[T], Y[T + Lag - MostLag], Sum);
  return Sum;
}

__global__ void correlate(const float *Signal, int Samples, int Frames,
                          float *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < Pairs * Lags * Frames)
    Out[I] = correlation(Signal, Samples, I / (Lags * Frames),
                         I / Frames % Lags, I % Frames);
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

struct Ring {
  int Directions;
  float Up, Out; ///< sine and cosine of the elevation
};

struct Sweep {
  const float *Correlations; ///< of [pair][lag][frame]
  const Ring *Rings;
  const int *Speaks; ///< of a frame, whether somebody does
  int Frames, Count;
  bool RingFirst;
};

/// The loudest of a ring's directions in a frame; none: -1.
struct Loudest {
  float Power;
  int Direction;
};

HD static void direct(const Ring &R, int Direction, float *To) {
  float Sine, Cosine;
  sineCosine(float(Direction) / float(R.Directions), Sine, Cosine);
  To[0] = product(R.Out, Cosine);
  To[1] = product(R.Out, Sine);
  To[2] = R.Up;
}

HD static float powerFrom(const Sweep &S, int Frame, const float *To) {
  float Ahead[Microphones]; // samples by which the sound is early
  for (int M = 0; M < Microphones; ++M) {
    float At[3];
    placeOf(M, At);
    Ahead[M] = fmaf(To[0], At[0], fmaf(To[1], At[1], product(To[2], At[2])));
  }
  float Power = 0;
  const float *Pair = S.Correlations + Frame;
  for (int A = 0; A < Microphones; ++A)
    for (int B = A + 1; B < Microphones; ++B) {
      const float Lag = Ahead[A] - Ahead[B] + float(MostLag);
      const int Below = int(Lag);
      const float *At = Pair + size_t(Below) * S.Frames;
      Power = fmaf(Lag - float(Below), At[S.Frames] - At[0], Power + At[0]);
      Pair += size_t(Lags) * S.Frames;
    }
  return Power;
}

HD static Loudest sweep(const Sweep &S, int I) {
  const int Rings = S.Count / S.Frames;
  const int Frame = S.RingFirst ? I / Rings : I % S.Frames;
  const Ring R = S.Rings[S.RingFirst ? I % Rings : I / S.Frames];
  Loudest Best = {0.0f, -1};
  if (!S.Speaks[Frame])
    return Best;
  for (int D = 0; D < R.Directions; ++D) {
    float To[3];
    direct(R, D, To);
    const float Power = powerFrom(S, Frame, To);
    if (Power > Best.Power)
      Best = {Power, D};
  }
  return Best;
}

__global__ void steer(Sweep S, Loudest *Out) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I < S.Count)
    Out[I] = sweep(S, I);
}

//===----------------------------------------------------------------------===//
// Somebody walks about and talks
//===----------------------------------------------------------------------===//

struct Talk {
  std::vector<float> Signal; ///< of [microphone][sample]
  std::vector<float> From;   ///< of [frame][axis], where the talker is
  std::vector<int> Speaks;   ///< of a frame
  int Samples;

  Talk(Random Draw, int Frames) : Samples(Frames * FrameLength + 2 * MostLag) {
    // Voice: noise without its slow part, as loud as syllables are. Words and
    // pauses take some tenths of a second: a frame is a hundredth.
    std::vector<float> Voice(Samples + 2 * MostLag);
    float Slow = 0;
    for (float &V : Voice) {
      const float White = 2.0f * Draw.uniform() - 1.0f;
      Slow = fmaf(0.2f, White - Slow, Slow);
      V = White - Slow;
    }
    float Turn = Draw.uniform(), Height = 0.1f;
    for (int F = 0, Left = 0, On = 0; F < Frames; ++F, --Left) {
      if (Left <= 0) {
        On = !On;
        Left = On ? 20 + int(Draw.below(100)) : 10 + int(Draw.below(50));
      }
      Speaks.push_back(On);
      Turn += 0.004f * Draw.uniform();
      Turn -= float(int(Turn));
      Height += 0.004f * (Draw.uniform() - 0.5f);
      Height = std::min(std::max(Height, 0.02f), 0.2f);
      float Sine, Cosine, Up, Out;
      sineCosine(Turn, Sine, Cosine);
      sineCosine(Height, Up, Out); // in turns: 0.25 is overhead
      From.insert(From.end(), {product(Out, Cosine), product(Out, Sine), Up});
    }
    for (int M = 0; M < Microphones; ++M) {
      float At[3];
      placeOf(M, At);
      for (int T = 0; T < Samples; ++T) {
        const int F =
            std::min(std::max((T - MostLag) / FrameLength, 0), Frames - 1);
        const float *To = From.data() + 3 * F;
        const float Ahead =
            fmaf(To[0], At[0], fmaf(To[1], At[1], product(To[2], At[2])));
        const float When = float(MostLag) + Ahead;
        const float *V = Voice.data() + T + int(When);
        const float Heard = fmaf(When - float(int(When)), V[1] - V[0], V[0]);
        const float Hiss = 0.1f * (2.0f * Draw.uniform() - 1.0f);
        Signal.push_back(fmaf(Speaks[F] ? 1.0f : 0.0f, Heard, Hiss));
      }
    }
  }
};

static std::vector<Ring> makeRings(int Count) {
  std::vector<Ring> Rings;
  for (int R = 0; R < Count; ++R) {
    Ring One;
    sineCosine(0.25f * (float(R) + 0.5f) / float(Count), One.Up, One.Out);
    One.Directions = std::max(1, int(fmaf(4.0f * float(Count), One.Out, 0.5f)));
    Rings.push_back(One);
  }
  return Rings;
}

/// In how many frames the loudest direction is within 8 degrees of the talker.
static int located(const Sweep &S, const std::vector<Ring> &Rings,
                   const Talk &T, const std::vector<Loudest> &Of) {
  int Right = 0;
  for (int F = 0; F < S.Frames; ++F) {
    float Most = 0, Near = 0;
    for (size_t R = 0; R < Rings.size(); ++R) {
      const Loudest L =
          Of[S.RingFirst ? F * Rings.size() + R : R * S.Frames + F];
      if (L.Power <= Most)
        continue;
      Most = L.Power;
      float To[3];
      direct(Rings[R], L.Direction, To);
      Near = 0;
      for (int K = 0; K < 3; ++K)
        Near = fmaf(To[K], T.From[3 * F + K], Near);
    }
    Right += Near > 0.99f;
  }
  return Right;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "sl");
  const int Frames = int(Run.integer("frames", 64, 1, 1 << 13));
  const int Count = int(Run.integer("rings", 18, 1, 1 << 12));
  const bool RingFirst = Run.integer("ringfirst", 0, 0, 1);
  const int Block = int(Run.integer("block", 128, 1, 1024));
  Run.ready();

  const Talk T(Run.random(), Frames);
  const std::vector<Ring> Shape = makeRings(Count);
  const int Each = Pairs * Lags * Frames; // correlations
  DeviceArray<float> Signal(T.Signal);
  DeviceArray<float> Correlations{std::vector<float>(Each)};
  correlate<<<(Each + 255) / 256, 256>>>(Signal, T.Samples, Frames,
                                         Correlations);
  CHECK_LAUNCH();
  DeviceArray<Ring> Rings(Shape);
  DeviceArray<int> Speaks(T.Speaks);
  const int Threads = Count * Frames;
  DeviceArray<Loudest> Out{std::vector<Loudest>(Threads)};
  const Sweep There = {Correlations, Rings, Speaks, Frames, Threads, RingFirst};
  Run.run([&] { Out.clear(); },
          [&] { steer<<<(Threads + Block - 1) / Block, Block>>>(There, Out); });
  const std::vector<Loudest> Got = Out.get();
  int Spoken = 0;
  for (int On : T.Speaks)
    Spoken += On;
  std::printf("located in %d of %d frames\n", located(There, Shape, T, Got),
              Spoken);
  bool Right = true;
  if (Run.checks()) {
    std::vector<float> Here(Each);
    for (int I = 0; I < Each; ++I)
      Here[I] = correlation(T.Signal.data(), T.Samples, I / (Lags * Frames),
                            I / Frames % Lags, I % Frames);
    Right = Here == Correlations.get();
    Sweep S = There;
    S.Correlations = Here.data();
    S.Rings = Shape.data();
    S.Speaks = T.Speaks.data();
    for (int I = 0; I < Threads; ++I) {
      const Loudest Want = sweep(S, I);
      Right &= Got[I].Power == Want.Power && Got[I].Direction == Want.Direction;
    }
  }
  return Run.finish(Right, checksum(Got));
}
