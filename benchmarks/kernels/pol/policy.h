//===- benchmarks/kernels/pol/policy.h - Taxes of households ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of pol: what a household's tax is projected by, and households to try it on.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_POLICY_H
#define RECONVERGE_BENCHMARKS_POLICY_H

#include "../common/regroup.h"

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

//===----------------------------------------------------------------------===//

static constexpr Laws BothLaws = {
    {{{11000, 45000, 95000, 180000}, {100, 120, 220, 240, 320}, 2000, 0},
     {{14000, 50000, 90000, 200000}, {80, 140, 220, 280, 350}, 2600, 4}}};

/// Incomes and wealth are skewed, as they are.
struct Population {
  std::vector<int> Field[5];
  Population(long Count, Random Draw) {
    for (auto &F : Field)
      F.resize(Count);
    for (long I = 0; I < Count; ++I) {
      const int A = Draw.bits() % 1000, B = Draw.bits() % 1000;
      Field[0][I] = 5000 + A * A / 10 + (B > 950 ? B * 100 : 0);
      const int W = Draw.bits() % 1000;
      Field[1][I] = W * W / 1000 * (A + 100);
      Field[2][I] = Draw.bits() % 100 < 45 ? 0 : Draw.bits() % 100 < 85 ? 1 : 2;
      Field[3][I] = Draw.bits() % 4;
      Field[4][I] = 20 + Draw.bits() % 65;
    }
  }
};

#endif
