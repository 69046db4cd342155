//===- benchmarks/kernels/walk/walk.cu - Random walks of random lengths ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walker is absorbed at each step with probability 1 / length, so that walks
// have a geometric length of that mean and a warp goes on for as long as its
// longest: with a mean of 50, for 200 steps. A step is one of three events:
//
//   drift      position += velocity
//   scatter    velocity turns, by a square root
//   collide    velocity and energy change, by divisions
//
// Each walker draws from its own stream, so that its result is the same wherever
// and whenever it runs. Refilled by hand (common/refill.h). Host and device
// compute the same bits (common/exact.h), so the check is exact.
//
//===----------------------------------------------------------------------===//
#include "../common/refill.h"

struct Walker {
  float Position, Velocity, Energy;
  unsigned Events; ///< drifts + 2^10 scatterings + 2^20 collisions, wrapping
  bool operator==(const Walker &Other) const {
    return !std::memcmp(this, &Other, sizeof(Walker));
  }
};

struct Walks {
  uint64_t Seed;
  uint32_t Absorbed; ///< chance at a step, of 2^32
  Walker *Out;
};

struct Walk {
  using Input = Walks;
  Random Draw{0, 0};
  Walker At;
  bool Alive;

  HD void start(const Input &In, int Number) {
    Draw = Random(In.Seed, uint64_t(Number));
    At = {0.0f, 1.0f, 1.0f, 0};
    Alive = true;
  }

  HD bool more(const Input &) const { return Alive; }

  HD void step(const Input &In) {
    Alive = Draw.bits() >= In.Absorbed;
    if (!Alive)
      return;
    const uint32_t Event = Draw.bits();
    const float Share = float(Event >> 8) * 0x1p-24f;
    switch (Event % 3) {
    case 0:
      At.Position = fmaf(At.Velocity, 0.5f + Share, At.Position);
      At.Events += 1;
      break;
    case 1: {
      const float Cosine = 2.0f * Share - 1.0f;
      const float Sine = root(fmaxf(0.0f, fmaf(-Cosine, Cosine, 1.0f)));
      At.Velocity = fmaf(0.8f * At.Velocity, Cosine, 0.6f * Sine);
      At.Events += 1u << 10;
      break;
    }
    default: {
      const float Mass = fmaf(3.0f, Share, 1.0f);
      At.Velocity =
          fmaf(At.Velocity, Mass - 1.0f, 2.0f * At.Energy) / (Mass + 1.0f);
      At.Energy = 0.5f * (At.Energy + At.Velocity * At.Velocity / Mass);
      At.Energy = fminf(At.Energy, 4.0f);
      At.Events += 1u << 20;
      break;
    }
    }
  }

  HD void finish(const Input &In, int Number) const { In.Out[Number] = At; }
};

__global__ void walk(Walks In, int Count) {
  const int Number = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Number >= Count)
    return;
  Walk Mine;
  Mine.start(In, Number);
  while (Mine.more(In))
    Mine.step(In);
  Mine.finish(In, Number);
}

static bool isRight(const std::vector<Walker> &Got, Walks In) {
  std::vector<Walker> Here(Got.size());
  In.Out = Here.data();
  for (int I = 0; I < int(Got.size()); ++I) {
    Walk Mine;
    Mine.start(In, I);
    while (Mine.more(In))
      Mine.step(In);
    Mine.finish(In, I);
  }
  return Here == Got;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "walk");
  const int Count = int(Run.integer("walkers", 20000, 1, 1 << 28));
  const long Length = Run.integer("length", 50, 1, 1 << 20);
  RefillForms Forms(Run, 128);
  Run.ready();

  DeviceArray<Walker> Out{std::vector<Walker>(Count)};
  const Walks In{Run.random().below(1 << 30),
                 uint32_t((uint64_t(1) << 32) / uint64_t(Length + 1)), Out};
  return Forms.run<Walk>(
      walk, In, Count, [&] { Out.clear(); }, [&] { return Out.get(); },
      [&](const std::vector<Walker> &Got) { return isRight(Got, In); });
}
