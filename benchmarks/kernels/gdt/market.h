//===- benchmarks/kernels/gdt/market.h - Rules of trading -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of gdt: the tree that chooses a rule for a day, the rules, and prices to try them
// on.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_MARKET_H
#define RECONVERGE_BENCHMARKS_MARKET_H

#include "../common/regroup.h"

struct Market {
  const int *Price;  ///< of a stock, its days in a row
  const int *Volume; ///< the same
  int Days;
};

/// The days before the first of which there is enough to look back on.
static constexpr int Window = 64, Block = 256;

HD static int iabs(int x) { return x < 0 ? -x : x; }

//===----------------------------------------------------------------------===//
// The tree: which rule a day asks for
//===----------------------------------------------------------------------===//

HD static int ruleOf(const Market &M, int At) {
  int Fast = 0, Slow = 0, Swing = 0;
  for (int D = 0; D < 4; ++D)
    Fast += M.Price[At - D];
  for (int D = 0; D < 12; D += 3)
    Slow += M.Price[At - D];
  for (int D = 0; D < 4; ++D)
    Swing += iabs(M.Price[At - D] - M.Price[At - D - 1]);
  const bool Up = Fast > Slow;
  const bool Wild = Swing * 50 > M.Price[At];
  const bool Busy = M.Volume[At] > M.Volume[At - 1];
  return Up * 4 + Wild * 2 + Busy;
}

//===----------------------------------------------------------------------===//
// The rules: an order, to buy above 0 and to sell below
//===----------------------------------------------------------------------===//

HD static int momentum(const Market &M, int At) {
  int Sum = 0;
  for (int D = 1; D < 40; ++D)
    Sum += (M.Price[At] - M.Price[At - D]) / D;
  return Sum;
}

HD static int strength(const Market &M, int At) { // as in the RSI
  int Gain = 0, Loss = 0;
  for (int D = 0; D < 42; ++D) {
    const int Step = M.Price[At - D] - M.Price[At - D - 1];
    (Step > 0 ? Gain : Loss) += iabs(Step);
  }
  return 100 * Gain / (Gain + Loss + 1) - 50;
}

HD static int channel(const Market &M, int At) {
  int Low = M.Price[At], High = Low, Since = 0;
  for (int D = 1; D < 55; ++D) {
    const int P = M.Price[At - D];
    if (P > High)
      Since = D;
    High = P > High ? P : High;
    Low = P < Low ? P : Low;
  }
  return (2 * M.Price[At] - High - Low) - Since;
}

HD static int weighted(const Market &M, int At) { // mean price by volume
  long long Paid = 0, Shares = 1;
  for (int D = 0; D < 36; ++D) {
    Paid += static_cast<long long>(M.Price[At - D]) * M.Volume[At - D];
    Shares += M.Volume[At - D];
  }
  return static_cast<int>(M.Price[At] - Paid / Shares);
}

HD static int deviation(const Market &M, int At) {
  long long Sum = 0, Squares = 0;
  for (int D = 0; D < 48; ++D) {
    const long long P = M.Price[At - D];
    Sum += P;
    Squares += P * P;
  }
  const long long Spread = (Squares * 48 - Sum * Sum) / (48 * 48);
  const int Off = static_cast<int>(M.Price[At] - Sum / 48);
  return static_cast<long long>(Off) * Off > 2 * Spread ? -Off : Off / 4;
}

HD static int crossing(const Market &M, int At) {
  int Fast = 0, Slow = 0, Crossed = 0;
  for (int D = 50; D >= 0; --D) {
    const int P = M.Price[At - D] * 16;
    const bool Above = Fast > Slow;
    Fast += (P - Fast) / 4;
    Slow += (P - Slow) / 12;
    Crossed = (Fast > Slow) != Above ? D : Crossed + 1;
  }
  return (Fast - Slow) / 16 - Crossed;
}

HD static int flow(const Market &M, int At) { // volume with the sign of the day
  int Sum = 0;
  for (int D = 0; D < 45; ++D) {
    const int Step = M.Price[At - D] - M.Price[At - D - 1];
    Sum += Step > 0 ? M.Volume[At - D] : -M.Volume[At - D];
  }
  return Sum / 45;
}

HD static int reversal(const Market &M, int At) {
  int Run = 0, Longest = 0, Reach = 0;
  for (int D = 0; D < 60; ++D) {
    const int Step = M.Price[At - D] - M.Price[At - D - 1];
    Run = Step < 0 ? Run + 1 : 0;
    Longest = Run > Longest ? Run : Longest;
    Reach += Step * (60 - D);
  }
  return Reach / 60 + Longest * 3;
}

HD static int order(const Market &M, int At, int Rule) {
  if (Rule & 4) {
    if (Rule & 2)
      return Rule & 1 ? momentum(M, At) : strength(M, At);
    return Rule & 1 ? channel(M, At) : weighted(M, At);
  }
  if (Rule & 2)
    return Rule & 1 ? deviation(M, At) : crossing(M, At);
  return Rule & 1 ? flow(M, At) : reversal(M, At);
}

//===----------------------------------------------------------------------===//

/// A thread is a day from Window on; the block's are days in a row of all
/// stocks. `Count` threads have one.
HD static int dayOf(const Market &M, int I) {
  const int Each = M.Days - Window;
  return I / Each * M.Days + Window + I % Each;
}

/// Prices walk in steps whose size has its own slow walk; volume follows it.
struct History {
  std::vector<int> Price, Volume;
  History(long Stocks, long Days, Random Draw)
      : Price(Stocks * Days), Volume(Stocks * Days) {
    for (long S = 0; S < Stocks; ++S) {
      int P = 2000 + Draw.bits() % 8000, Swing = 40;
      for (long D = 0; D < Days; ++D) {
        Swing += static_cast<int>(Draw.bits() % 21) - 10;
        Swing = std::min(std::max(Swing, 10), 200);
        P += static_cast<int>(Draw.bits() % (2 * Swing + 1)) - Swing;
        P = std::min(std::max(P, 500), 20000);
        Price[S * Days + D] = P;
        Volume[S * Days + D] = 100 + Swing * 4 + Draw.bits() % 500;
      }
    }
  }
};

#endif
