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
// All that is drawn are whole numbers, and each walker has its own stream, so
// that the result of a walker is the same wherever and whenever it runs, but for
// last bits, which differ between compilers: host and device are compared by
// counts alone, which no rounding reaches.
//
// By hand (form=1): warps stay, and a lane that is absorbed takes the next
// walker of the warp's slice, once `threshold` lanes are idle.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"

#define HD __host__ __device__

struct Walker {
  float Position, Velocity, Energy;
  unsigned Events; ///< drifts + 2^10 scatterings + 2^20 collisions, wrapping
};

struct Chances {
  uint32_t Absorbed; ///< of 2^32
};

struct Walk {
  Random Draw;
  Walker At;

  HD Walk(uint64_t Seed, uint64_t Number)
      : Draw(Seed, Number), At{0.0f, 1.0f, 1.0f, 0} {}

  /// False if the walker is absorbed.
  HD bool step(Chances C) {
    if (Draw.bits() < C.Absorbed)
      return false;
    const uint32_t Event = Draw.bits();
    const float Share = float(Event >> 8) * 0x1p-24f;
    switch (Event % 3) {
    case 0:
      At.Position += At.Velocity * (0.5f + Share);
      At.Events += 1;
      break;
    case 1: {
      const float Cosine = 2.0f * Share - 1.0f;
      const float Sine = sqrtf(fmaxf(0.0f, 1.0f - Cosine * Cosine));
      At.Velocity = 0.8f * At.Velocity * Cosine + 0.6f * Sine;
      At.Events += 1u << 10;
      break;
    }
    default: {
      const float Mass = 1.0f + 3.0f * Share;
      At.Velocity =
          (At.Velocity * (Mass - 1.0f) + 2.0f * At.Energy) / (Mass + 1);
      At.Energy = 0.5f * (At.Energy + At.Velocity * At.Velocity / Mass);
      At.Energy = fminf(At.Energy, 4.0f);
      At.Events += 1u << 20;
      break;
    }
    }
    return true;
  }
};

__global__ void walk(uint64_t Seed, int Count, Chances C, Walker *Out) {
  const int Number = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (Number >= Count)
    return;
  Walk W(Seed, uint64_t(Number));
  while (W.step(C))
    ;
  Out[Number] = W.At;
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

static constexpr int WarpSize = 32;

__global__ void refilled(uint64_t Seed, int Count, Chances C, int Slice,
                         int Threshold, Walker *Out) {
  constexpr unsigned All = ~0u;
  const int Warp = int((blockIdx.x * blockDim.x + threadIdx.x) / WarpSize);
  const unsigned Before = (1u << (threadIdx.x % WarpSize)) - 1;
  int Next = Warp * Slice * WarpSize;
  const int End = min(Count, Next + Slice * WarpSize);
  bool Runs = false;
  int Number = -1; ///< none yet
  Walk W(Seed, 0);
  while (true) {
    const unsigned Idle = ~__ballot_sync(All, Runs);
    if (__popc(Idle) >= Threshold && (Next < End || Idle == All)) {
      if (!Runs) {
        if (Number >= 0)
          Out[Number] = W.At;
        Number = Next + __popc(Idle & Before);
        Runs = Number < End;
        if (Runs)
          W = Walk(Seed, uint64_t(Number));
        else
          Number = -1;
      }
      Next += __popc(Idle);
      if (!__any_sync(All, Runs))
        return;
    }
    if (Runs)
      Runs = W.step(C);
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static bool isRight(const std::vector<Walker> &Out, uint64_t Seed, Chances C) {
  for (size_t I = 0; I < Out.size(); ++I) {
    Walk W(Seed, I);
    while (W.step(C))
      ;
    if (W.At.Events != Out[I].Events)
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Bench B(argc, argv, "walk");
  const long Count = B.integer("walkers", 20000, 1, 1 << 28);
  const long Length = B.integer("length", 50, 1, 1 << 20);
  const long Block = B.integer("block", 128, 32, 1024);
  const long ByHand = B.integer("form", 0, 0, 1);
  const long Threshold = B.integer("threshold", 4, 1, WarpSize);
  const long Slice = B.integer("slice", 32, 1, 1 << 12);
  B.ready();
  const Chances C = {uint32_t((uint64_t(1) << 32) / uint64_t(Length + 1))};
  const uint64_t Seed = B.random().below(1 << 30);

  DeviceArray<Walker> Out{std::vector<Walker>(Count)};
  const long PerBlock = ByHand ? Block * Slice : Block;
  const unsigned Blocks = unsigned((Count + PerBlock - 1) / PerBlock);
  B.run([&] { Out.clear(); },
        [&] {
          if (ByHand)
            refilled<<<Blocks, unsigned(Block)>>>(
                Seed, int(Count), C, int(Slice), int(Threshold), Out);
          else
            walk<<<Blocks, unsigned(Block)>>>(Seed, int(Count), C, Out);
        });
  const std::vector<Walker> Result = Out.get();
  return B.finish(!B.checks() || isRight(Result, Seed, C), checksum(Result));
}
