//===- benchmarks/kernels/pol/pol.cu - Tax policy -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a change of tax policy does to thousands of households (paper 3, POL):
// five layers of branches on how a household files, what it earns, owns and
// whom it keeps, and the tax under the old and the new law for each year of a
// projection. Whole numbers (dollars, shares in thousandths), so every build
// computes the same.
//
// Remapped (common/remap.h): which of six ways to project a household goes is
// known after its conditions; the threads of a block trade places by it.
//
//===----------------------------------------------------------------------===//
#include "../common/regroup.h"

static constexpr int Block = 256;

/// One array a field, so that neighbours read side by side.
struct Households {
  const int *Income, *Wealth, *Filing, *Children, *Age;
};

struct Law {
  int Step[4], Rate[5]; ///< brackets: from which income, thousandths
  int Child, Wealth;    ///< credit a child; thousandths of wealth a year
};

/// What falls into each bracket, at its rate; no branch.
HD static int bracketTax(const Law &L, int Income, int Share) {
  int Tax = 0, From = 0;
  for (int K = 0; K < 5; ++K) {
    const int To = K < 4 ? L.Step[K] * Share : 1 << 30;
    const int Top = Income < To ? Income : To;
    Tax += (Top > From ? Top - From : 0) / 1000 * L.Rate[K];
    From = To;
  }
  return Tax;
}

enum Projection { Exempt, Retired, Worker, Family, Owner, Business };

/// Filing: 0 single, 1 together, 2 self-employed.
HD static int wayOf(const Households &H, int I) {
  if (H.Income[I] < 15000 && H.Wealth[I] < 50000)
    return Exempt;
  if (H.Filing[I] == 2)
    return Business;
  if (H.Age[I] >= 65)
    return Retired;
  if (H.Wealth[I] > 400000)
    return Owner;
  if (H.Filing[I] == 1 && H.Children[I] > 0)
    return Family;
  return Worker;
}

//===----------------------------------------------------------------------===//
// The tax of so many years
//===----------------------------------------------------------------------===//

HD static int retired(const Households &H, const Law &L, int I, int Years) {
  int Tax = 0, Left = H.Wealth[I];
  for (int Y = 0; Y < Years / 2; ++Y) { // draws on what it has
    const int Draw = Left / 16;
    Left -= Draw - Left / 40;
    Tax += bracketTax(L, H.Income[I] / 2 + Draw, 1) / 2;
  }
  return Tax;
}

HD static int worker(const Households &H, const Law &L, int I, int Years) {
  int Tax = 0, Income = H.Income[I];
  for (int Y = 0; Y < Years; ++Y) {
    Tax += bracketTax(L, Income, 1) - 1200;
    Income += Income / 50;
  }
  return Tax;
}

HD static int family(const Households &H, const Law &L, int I, int Years) {
  int Tax = 0, Income = H.Income[I];
  const int Children = H.Children[I];
  for (int Y = 0; Y < Years; ++Y) {
    const int Owed = bracketTax(L, Income, 2);
    int Credit = 0;
    for (int C = 0; C < Children; ++C) // until each is of age
      Credit += Y + 4 * C < 18 ? L.Child : 0;
    Tax += Owed > Credit ? Owed - Credit : 0;
    Income += Income / 60;
  }
  return Tax;
}

HD static int owner(const Households &H, const Law &L, int I, int Years) {
  int Tax = 0, Income = H.Income[I], Wealth = H.Wealth[I];
  for (int Y = 0; Y < Years; ++Y) {
    const int Gain = Wealth / 1000 * (30 + 7 * (Y % 5));
    const int Sold = Gain / 3;
    Tax += bracketTax(L, Income, 1 + (H.Filing[I] == 1)) + Sold / 5;
    Tax += (Wealth - 300000) / 1000 * L.Wealth;
    Wealth += Gain - Sold;
    if (Wealth > 1 << 28)
      Wealth = 1 << 28;
    Income += Sold / 8;
  }
  return Tax;
}

HD static int business(const Households &H, const Law &L, int I, int Years) {
  int Tax = 0, Loss = 0, Profit = H.Income[I];
  for (int Y = 0; Y < Years; ++Y) { // good years and bad; losses carry over
    const int Result = Profit / 100 * (60 + (Y * 37 + H.Age[I]) % 90) - 40000;
    if (Result < 0) {
      Loss -= Result;
      continue;
    }
    const int Used = Loss < Result ? Loss : Result;
    Loss -= Used;
    Tax += bracketTax(L, Result - Used, 1);
    int Due = Result - Used; // insurance, in quarters
    for (int Q = 0; Q < 4; ++Q) {
      Tax += Due / 32;
      Due -= Due / 8;
    }
    Profit += Result / 32;
  }
  return Tax;
}

HD static int project(const Households &H, const Law &L, int Way, int I,
                      int Years) {
  if (Way == Exempt)
    return 0;
  if (Way == Business)
    return business(H, L, I, Years);
  if (Way == Retired)
    return retired(H, L, I, Years);
  if (Way == Owner)
    return owner(H, L, I, Years);
  if (Way == Family)
    return family(H, L, I, Years);
  return worker(H, L, I, Years);
}

HD static int change(const Households &H, const Law (&L)[2], int Way, int I,
                     int Years) {
  return project(H, L[1], Way, I, Years) - project(H, L[0], Way, I, Years);
}

struct Laws {
  Law Both[2]; ///< as it is, as proposed
};

__global__ void plain(Households H, Laws L, int *Out, int Years, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Out[I] = change(H, L.Both, wayOf(H, I), I, Years);
}

template <typename Way>
__global__ void remapped(Households H, Laws L, int *Out, int Years, int Count) {
  __shared__ typename Way::temp_storage Storage;
  Way Trade(Storage, threadIdx.x);
  const int First = blockIdx.x * Block, I = First + threadIdx.x;
  const auto New = Trade(I < Count ? wayOf(H, I) : Business + 1);
  if (New.path > Business)
    return;
  Out[First + New.id] = change(H, L.Both, New.path, First + New.id, Years);
}

template <typename Collect>
__global__ void collected(Households H, Laws L, int *Out, int Years,
                          int Count) {
  __shared__ typename Collect::temp_storage Storage;
  const int First = blockIdx.x * Collect::items;
  Collect Items(Storage);
  Items(
      Count - First, // the longest first
      [&](int I) { return Business - wayOf(H, First + I); },
      [&](int I, int Path) {
        Out[First + I] = change(H, L.Both, Business - Path, First + I, Years);
      });
}

// Regrouped: the longest first.
__global__ void findKeys(Households H, unsigned char *Keys, int Count) {
  const int I = blockIdx.x * Block + threadIdx.x;
  if (I < Count)
    Keys[I] = Business - wayOf(H, I);
}
__global__ void regrouped(Households H, Laws L, int *Out, int Years, int Count,
                          const unsigned char *Keys, const int *Ids) {
  const int T = blockIdx.x * Block + threadIdx.x;
  if (T >= Count)
    return;
  const int I = Ids[T];
  Out[I] = change(H, L.Both, Business - Keys[I], I, Years);
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "pol");
  const long Count = Run.integer("households", 5000, 1, 1 << 28);
  const long Years = Run.integer("years", 20, 1, 60);
  const long Remap = chosenWay(Run);
  Run.ready();

  std::vector<int> Field[5];
  for (auto &F : Field)
    F.resize(Count);
  Random Draw = Run.random();
  for (long I = 0; I < Count; ++I) { // skewed, as incomes and wealth are
    const int A = Draw.bits() % 1000, B = Draw.bits() % 1000;
    Field[0][I] = 5000 + A * A / 10 + (B > 950 ? B * 100 : 0);
    const int W = Draw.bits() % 1000;
    Field[1][I] = W * W / 1000 * (A + 100);
    Field[2][I] = Draw.bits() % 100 < 45 ? 0 : Draw.bits() % 100 < 85 ? 1 : 2;
    Field[3][I] = Draw.bits() % 4;
    Field[4][I] = 20 + Draw.bits() % 65;
  }
  const Laws Both = {
      {{{11000, 45000, 95000, 180000}, {100, 120, 220, 240, 320}, 2000, 0},
       {{14000, 50000, 90000, 200000}, {80, 140, 220, 280, 350}, 2600, 4}}};
  DeviceArray<int> A(Field[0]), B(Field[1]), C(Field[2]), D(Field[3]),
      E(Field[4]);
  DeviceArray<int> Out(std::vector<int>(Count, 0));
  const Households OnDevice = {A, B, C, D, E};
  const Households OnHost = {Field[0].data(), Field[1].data(), Field[2].data(),
                             Field[3].data(), Field[4].data()};
  RemapWays<decltype(&plain)> All = {WAYS(plain, remapped<ByLibrary<Block, 7>>,
                                          remapped<ByCub<Block, 7>>,
                                          COLLECTED(6))};
  GridOrder<unsigned char> Order(isRegrouped(Remap) ? Count : 0, 3);
  const int Blocks = (Count + Block - 1) / Block;
  All.regroup(
      reinterpret_cast<const void *>(&regrouped), Block,
      [&] {
        findKeys<<<Blocks, Block>>>(OnDevice, Order.keys(), Count);
        Order.make();
      },
      [&] {
        regrouped<<<Blocks, Block>>>(OnDevice, Both, Out, Years, Count,
                                     Order.keys(), Order.ids());
      });
  return All.run(
      Run, Remap, Block, [&] { Out.clear(); },
      [&](auto Kernel, Form F) {
        Kernel<<<F.blocks(Count), F.Threads>>>(OnDevice, Both, Out, Years,
                                               Count);
      },
      [&] { return Out.get(); },
      [&](const std::vector<int> &Got) {
        bool Right = true;
        for (long I = 0; I < Count; ++I)
          Right &=
              Got[I] == change(OnHost, Both.Both, wayOf(OnHost, I), I, Years);
        return Right;
      });
}
