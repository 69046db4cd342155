//===- benchmarks/kernels/montecarlo/montecarlo.cu - Neutrons -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neutrons in a fuel assembly, a history a thread. The assembly is a lattice of
// pins that go up through water:
//
//   +-----+-----+-----+     region 0: fuel, absorber or water, by the kind
//   | (F) | (F) | ( ) |     of the pin; 1: cladding; 2: water
//   +-----+-----+-----+
//   | (F) | (A) | (F) |     sides are mirrors, bottom and top leak
//   +-----+-----+-----+
//
// A trip of the loop is one event: the neutron goes to the nearest surface of
// its region, a cylinder or a side of the lattice's cell, or it collides before.
// A collision takes weight for absorption, changes group (by the alias method:
// Walker 1977) and direction (any in heavy matter, forward in water); weights
// that have become small play Russian roulette.
//
// What diverges: histories have from a few events to a thousand; and within a
// trip lanes cross, reflect and collide, in regions of their own.
//
// Refilled by hand (common/refill.h). A history draws from a stream of its own,
// and tallies are by history, so that results do not hang on who runs when; host
// and device compute the same bits (common/exact.h).
//
//===----------------------------------------------------------------------===//
#include "../common/refill.h"

static constexpr int Materials = 4, Regions = 3;
enum Material { Fuel, Cladding, Water, Absorber };
static constexpr float Pitch = 1.26f, Height = 60.0f; // cm
static constexpr float PinRadius = 0.41f, CladdingRadius = 0.475f;

/// What matter does to neutrons of one group.
struct Section {
  float Total;   ///< 1/cm
  float Scatter; ///< its share
};

/// One slot of a table that says into which group neutrons scatter.
struct Slot {
  float Keep; ///< the share of draws that stay with the slot's own group
  int Other;
};

struct Tally {
  float Absorbed, Leaked, FuelTrack;
  int Events;
};

struct Assembly {
  const Section *Sections;      ///< of [material][group]
  const Slot *Slots;            ///< of [material][group][slot]
  const unsigned char *Pins;    ///< of [y][x]: the material inside
  Tally *Tallies;               ///< of each history
  int Groups, Side, FastGroups; ///< Side: pins; FastGroups: of the source
  unsigned long long Seed;
};

struct History {
  using Input = Assembly;

  Random Draw{0, 0};
  float X, Y, Z;         // x and y from the middle of the cell
  float U, V, W, Weight; // the direction, of length 1
  int CellX, CellY, Region, Group;
  Tally Mine;

  HD void anyDirection() {
    float Sine, Cosine;
    sineCosine(Draw.uniform(), Sine, Cosine);
    W = fmaf(2.0f, Draw.uniform(), -1.0f);
    const float Flat = root(fmaxf(0.0f, fmaf(-W, W, 1.0f)));
    U = Flat * Cosine;
    V = Flat * Sine;
  }

  HD void start(const Input &In, int I) {
    Draw = Random(In.Seed, uint64_t(I));
    CellX = int(Draw.below(In.Side));
    CellY = int(Draw.below(In.Side));
    float Sine, Cosine;
    sineCosine(Draw.uniform(), Sine, Cosine);
    const float R = PinRadius * root(Draw.uniform());
    X = product(R, Cosine);
    Y = product(R, Sine);
    Z = product(Height, Draw.uniform());
    Region = 0;
    Group = int(Draw.below(In.FastGroups));
    anyDirection();
    Weight = 1.0f;
    Mine = {0.0f, 0.0f, 0.0f, 0};
  }

  HD bool more(const Input &) const {
    return Weight > 0.0f && Mine.Events < 100000;
  }

  /// How far the cylinder is, from inside or from outside; a large number if
  /// there is none ahead.
  HD float toCylinder(float Radius, bool Inside) const {
    const float A = fmaf(U, U, V * V), B = fmaf(X, U, Y * V);
    const float C = fmaf(X, X, fmaf(Y, Y, -Radius * Radius));
    const float D = fmaf(B, B, -A * C);
    if (D <= 0.0f || A < 1e-12f || (!Inside && B >= 0.0f))
      return 1e30f;
    const float Root = root(D);
    return fmaxf(0.0f, (Inside ? Root - B : -B - Root) / A);
  }

  HD void step(const Input &In) {
    const int Inner = In.Pins[CellY * In.Side + CellX];
    const int Matter = Region == 0 ? Inner : Region == 1 ? Cladding : Water;
    const Section Here = In.Sections[Matter * In.Groups + Group];
    const float Free = -logarithm(1.0f - Draw.uniform()) / Here.Total;

    // The nearest surface, and the region behind it; 3 and 4: a side of the
    // cell, 5: bottom or top.
    float Near = W > 0.0f ? (Height - Z) / W : W < 0.0f ? -Z / W : 1e30f;
    int Behind = 5;
    const auto Is = [&](float Far, int There) {
      if (Far < Near) {
        Near = Far;
        Behind = There;
      }
    };
    if (Region == 0) {
      Is(toCylinder(PinRadius, true), 1);
    } else if (Region == 1) {
      Is(toCylinder(PinRadius, false), 0);
      Is(toCylinder(CladdingRadius, true), 2);
    } else {
      Is(toCylinder(CladdingRadius, false), 1);
      const float Half = Pitch / 2;
      if (U != 0.0f)
        Is(fmaxf(0.0f, ((U > 0.0f ? Half : -Half) - X) / U), 3);
      if (V != 0.0f)
        Is(fmaxf(0.0f, ((V > 0.0f ? Half : -Half) - Y) / V), 4);
    }

    const float Way = fminf(Free, Near);
    X = fmaf(Way, U, X);
    Y = fmaf(Way, V, Y);
    Z = fmaf(Way, W, Z);
    ++Mine.Events;
    if (Matter == Fuel)
      Mine.FuelTrack = fmaf(Way, Weight, Mine.FuelTrack);
    if (Free < Near)
      collide(In, Matter, Here);
    else
      cross(In, Behind);
  }

  HD void cross(const Input &In, int Behind) {
    if (Behind < Regions) {
      Region = Behind;
    } else if (Behind == 5) {
      Mine.Leaked += Weight;
      Weight = 0.0f;
    } else if (Behind == 3) {
      side(In.Side, CellX, X, U);
    } else {
      side(In.Side, CellY, Y, V);
    }
  }

  /// Into the next cell, or back where there is none.
  HD static void side(int Cells, int &Cell, float &At, float &Speed) {
    const float Half = Pitch / 2;
    const int Next = Cell + (Speed > 0.0f ? 1 : -1);
    const bool Turns = Next < 0 || Next >= Cells;
    At = (Speed > 0.0f) == Turns ? Half : -Half;
    if (Turns)
      Speed = -Speed;
    else
      Cell = Next;
  }

  HD void collide(const Input &In, int Matter, const Section &Here) {
    Mine.Absorbed += fmaf(-Weight, Here.Scatter, Weight);
    Weight = product(Weight, Here.Scatter);
    if (Weight < 0.1f) {
      if (Draw.uniform() < 2.0f * Weight) {
        Weight = 0.5f;
      } else {
        Weight = 0.0f;
        return;
      }
    }
    const int Table = (Matter * In.Groups + Group) * In.Groups;
    const int Pick = int(Draw.below(In.Groups));
    const Slot S = In.Slots[Table + Pick];
    Group = Draw.uniform() < S.Keep ? Pick : S.Other;
    if (Matter == Water)
      forward();
    else
      anyDirection();
  }

  /// By an angle whose cosine has a density of twice itself, as of neutrons on
  /// hydrogen.
  HD void forward() {
    const float Cosine = root(Draw.uniform());
    const float Sine = root(fmaxf(0.0f, fmaf(-Cosine, Cosine, 1.0f)));
    float S, C;
    sineCosine(Draw.uniform(), S, C);
    const float A = Sine * C, B = Sine * S;
    const float Flat = root(fmaxf(0.0f, fmaf(-W, W, 1.0f)));
    float NewU, NewV, NewW;
    if (Flat > 1e-3f) { // two directions across: (UW, VW, -Flat^2), (-V, U, 0)
      const float K = A / Flat, L = B / Flat;
      NewU = fmaf(Cosine, U, fmaf(K, U * W, -L * V));
      NewV = fmaf(Cosine, V, fmaf(K, V * W, L * U));
      NewW = fmaf(Cosine, W, -A * Flat);
    } else {
      NewU = A;
      NewV = B;
      NewW = W > 0.0f ? Cosine : -Cosine;
    }
    const float Length = root(fmaf(NewU, NewU, fmaf(NewV, NewV, NewW * NewW)));
    U = NewU / Length;
    V = NewV / Length;
    W = NewW / Length;
  }

  HD void finish(const Input &In, int I) const { In.Tallies[I] = Mine; }
};

__global__ void transport(Assembly In, int Count) {
  const int I = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (I >= Count)
    return;
  History Mine;
  Mine.start(In, I);
  while (Mine.more(In))
    Mine.step(In);
  Mine.finish(In, I);
}

/// Matter, somewhat as in a reactor: water scatters and slows down, slow
/// neutrons are absorbed by fuel, which also has resonances, and by absorbers.
struct Matter {
  std::vector<Section> Sections;
  std::vector<Slot> Slots;

  Matter(int Groups, Random Draw)
      : Sections(Materials * Groups), Slots(Materials * Groups * Groups) {
    for (int M = 0; M < Materials; ++M)
      for (int G = 0; G < Groups; ++G) {
        const float Slow = (G + 0.5f) / float(Groups); // 0: fast
        const float Scatter = M == Water      ? 0.3f + 2.0f * Slow
                              : M == Cladding ? 0.3f
                                              : 0.38f;
        const float Peak = Slow > 0.4f && Slow < 0.75f && Draw.below(3) == 0
                               ? 1.0f + 4.0f * Draw.uniform()
                               : 0.0f;
        const float Absorb = M == Fuel       ? 0.01f + 0.3f * Slow * Slow + Peak
                             : M == Absorber ? 0.05f + 5.0f * Slow * Slow
                             : M == Water    ? 0.0005f + 0.02f * Slow * Slow
                                             : 0.001f + 0.005f * Slow;
        Sections[M * Groups + G] = {Scatter + Absorb,
                                    Scatter / (Scatter + Absorb)};
        const std::vector<float> Into = spectrum(M, G, Groups);
        alias(Into, &Slots[(M * Groups + G) * size_t(Groups)]);
      }
  }

private:
  /// How likely each group is after a scattering; they add up to the number of
  /// groups.
  static std::vector<float> spectrum(int M, int From, int Groups) {
    std::vector<float> Into(Groups);
    const float Reach = (M == Water ? 0.3f : 0.02f) * float(Groups);
    float Sum = 0.0f;
    for (int G = 0; G < Groups; ++G) {
      const float Down = float(G - From);
      const bool IsSlow = From > Groups * 3 / 4; // these also gain energy
      if (Down >= 0.0f || (IsSlow && G > Groups * 3 / 4))
        Into[G] = power2(-std::fabs(Down) / Reach);
      Sum += Into[G];
    }
    for (float &Share : Into)
      Share *= float(Groups) / Sum;
    return Into;
  }

  /// Each slot takes what its own group lacks from one that has too much.
  static void alias(std::vector<float> Left, Slot *Slots) {
    std::vector<int> Poor, Rich;
    for (int G = 0; G < int(Left.size()); ++G) {
      Slots[G] = {1.0f, G};
      (Left[G] < 1.0f ? Poor : Rich).push_back(G);
    }
    while (!Poor.empty() && !Rich.empty()) {
      const int P = Poor.back(), R = Rich.back();
      Poor.pop_back();
      Slots[P] = {Left[P], R};
      Left[R] -= 1.0f - Left[P];
      if (Left[R] < 1.0f) {
        Rich.pop_back();
        Poor.push_back(R);
      }
    }
  }
};

/// Fuel, with guide tubes in a pattern, of which every other has an absorber.
static std::vector<unsigned char> pins(int Side) {
  std::vector<unsigned char> Pins(size_t(Side) * Side, Fuel);
  for (int Y = 2; Y < Side; Y += 4)
    for (int X = 2; X < Side; X += 4)
      Pins[Y * Side + X] = (X / 4 + Y / 4) % 2 ? Absorber : Water;
  return Pins;
}

static bool operator==(const Tally &A, const Tally &B) {
  return A.Absorbed == B.Absorbed && A.Leaked == B.Leaked &&
         A.FuelTrack == B.FuelTrack && A.Events == B.Events;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "montecarlo");
  const int Count = int(Run.integer("histories", 4000, 1, 1 << 28));
  const int Groups = int(Run.integer("groups", 32, 8, 64));
  const int Side = int(Run.integer("pins", 17, 1, 1000)); // along an edge
  RefillForms Forms(Run, 128);
  Run.ready();

  const Matter All(Groups, Run.random(1ull << 40));
  const std::vector<unsigned char> Pins = pins(Side);
  DeviceArray<Section> Sections(All.Sections);
  DeviceArray<Slot> Slots(All.Slots);
  DeviceArray<unsigned char> PinsThere(Pins);
  DeviceArray<Tally> Out(std::vector<Tally>(Count, Tally{}));
  const unsigned long long Seed = Run.random().bits();
  const Assembly There{Sections, Slots, PinsThere,  Out,
                       Groups,   Side,  Groups / 8, Seed};
  return Forms.run<History>(
      transport, There, Count, [&] { Out.clear(); }, [&] { return Out.get(); },
      [&](const std::vector<Tally> &Got) {
        std::vector<Tally> Tallies(Count);
        const Assembly Here{All.Sections.data(),
                            All.Slots.data(),
                            Pins.data(),
                            Tallies.data(),
                            Groups,
                            Side,
                            Groups / 8,
                            Seed};
        for (int I = 0; I < Count; ++I) {
          History Mine;
          Mine.start(Here, I);
          while (Mine.more(Here))
            Mine.step(Here);
          Mine.finish(Here, I);
        }
        return Got == Tallies;
      });
}
