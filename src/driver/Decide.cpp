//===- driver/Decide.cpp - From trials to decisions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate is kept if its result was the original's in every launch tried
// and it is faster beyond the noise than the best build of the unmodified
// kernel, nvcc's included. On a GPU "beyond the noise" means that the interval
// of the paired ratios lies above 1; where times are the model's, that the
// speed-up is no rounding of it. Of several, the fastest.
//
//===----------------------------------------------------------------------===//

#include "driver/Decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;

namespace reconverge::driver {

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// How many of the smallest (and of the largest) of N samples lie outside the
/// 95 % interval of their median: the most k with P(Binomial(N, 1/2) <= k-1) <=
/// 2.5 %.
static size_t outsideMedianInterval(size_t N) {
  double Term = std::pow(0.5, double(N)), Sum = 0;
  for (size_t K = 0; K != N; ++K) {
    Sum += Term;
    if (Sum > 0.025)
      return K;
    Term *= double(N - K) / double(K + 1);
  }
  return 0;
}

static double medianOf(ArrayRef<double> Sorted) {
  const size_t N = Sorted.size();
  return N % 2 ? Sorted[N / 2] : (Sorted[N / 2 - 1] + Sorted[N / 2]) / 2;
}

RatioInterval ratioOf(ArrayRef<double> Numerators,
                      ArrayRef<double> Denominators) {
  assert(Numerators.size() == Denominators.size() && "samples come in pairs");
  SmallVector<double> Ratios;
  for (auto [A, B] : zip(Numerators, Denominators))
    if (A > 0 && B > 0)
      Ratios.push_back(A / B);
  if (Ratios.empty())
    return {};
  sort(Ratios);
  size_t Outside = outsideMedianInterval(Ratios.size());
  Outside = Outside ? Outside - 1 : 0; // the k-th value itself is inside
  return {Ratios[Outside], medianOf(Ratios),
          Ratios[Ratios.size() - 1 - Outside]};
}

//===----------------------------------------------------------------------===//
// One candidate
//===----------------------------------------------------------------------===//

/// Whether a verdict on one more launch is worse than what was known.
static bool isWorse(VerdictKind New, VerdictKind Known) {
  auto Rank = [](VerdictKind K) {
    switch (K) {
    case VerdictKind::Identical:
      return 0;
    case VerdictKind::Within:
      return 1;
    case VerdictKind::UpToOrder:
      return 2;
    case VerdictKind::Unknown:
      return 3;
    case VerdictKind::Differs:
      return 4;
    }
    llvm_unreachable("a verdict has one of five kinds");
  };
  return Rank(New) > Rank(Known);
}

static void add(Verdict &Sum, const Verdict &One) {
  if (!Sum.Launches || isWorse(One.Kind, Sum.Kind)) {
    Sum.Kind = One.Kind;
    Sum.First = One.First;
    Sum.Reason = One.Reason;
  }
  ++Sum.Launches;
  Sum.Bytes += One.Bytes;
  Sum.OrderDependent += One.OrderDependent;
}

/// Sums up the launches of one candidate; what decides between candidates comes
/// later.
static TrialResult summarise(const Candidate &What,
                             ArrayRef<const TrialEvent *> Events) {
  TrialResult R;
  R.What = What;
  R.Why = "no launch of the kernel was tried";
  double Original = 0, Variant = 0;
  std::vector<double> OriginalMs, VariantMs;
  for (const TrialEvent *E : Events)
    switch (E->What) {
    case TrialEvent::Begin:
      break;
    case TrialEvent::Refused:
      R.End = Outcome::Refused;
      R.Why = E->Why;
      return R;
    case TrialEvent::Fault:
      R.End = Outcome::Faulted;
      R.Why = E->Why;
      return R;
    case TrialEvent::Hang:
      R.End = Outcome::TimedOut;
      R.Why = E->Why;
      return R;
    case TrialEvent::Untried:
      if (!R.Compared.Launches)
        R.Why = E->Why;
      break;
    case TrialEvent::End:
      add(R.Compared, E->Compared);
      Original += E->OriginalSlots;
      Variant += E->VariantSlots;
      append_range(OriginalMs, E->OriginalMs);
      append_range(VariantMs, E->VariantMs);
      break;
    }
  if (!R.Compared.Launches)
    return R;
  R.Why.clear();
  R.End = Outcome::Slower; // until it is found to be the fastest
  if (Variant > 0)
    R.Predicted = Original / Variant;
  RatioInterval Ratio = ratioOf(OriginalMs, VariantMs);
  R.Low = Ratio.Low;
  R.Speedup = Ratio.Median;
  R.High = Ratio.High;
  if (!VariantMs.empty()) {
    sort(VariantMs);
    R.Milliseconds = medianOf(VariantMs);
  }
  return R;
}

/// Ends \p R as wrong or unproved if its result may not be kept.
static void judge(TrialResult &R, const DecideOptions &Options) {
  if (R.End != Outcome::Slower)
    return;
  switch (R.Compared.Kind) {
  case VerdictKind::Identical:
  case VerdictKind::Within:
    return;
  case VerdictKind::UpToOrder:
    if (Options.AllowReorder)
      return;
    R.End = Outcome::Unproved;
    R.Why = "the kernel's result depends on the order of its threads; "
            "--allow-reorder keeps what stays within that";
    return;
  case VerdictKind::Differs:
    R.End = Outcome::Wrong;
    R.Why = R.Compared.First.Where + ", offset " +
            std::to_string(R.Compared.First.Offset) + ": " +
            R.Compared.First.Original + " became " + R.Compared.First.Variant;
    return;
  case VerdictKind::Unknown:
    R.End = Outcome::Unproved;
    R.Why = R.Compared.Reason;
    return;
  }
}

//===----------------------------------------------------------------------===//
// The best
//===----------------------------------------------------------------------===//

static double gainOf(const TrialResult &R, bool Measured) {
  return Measured ? R.Speedup : R.Predicted;
}

/// nvcc's build of the unmodified kernel, if it gives the same result faster
/// than ours: then that is what others have to beat.
static TrialResult *betterBaseline(std::vector<TrialResult> &Tried,
                                   bool Measured) {
  for (TrialResult &R : Tried)
    if (!R.What.changesCode() && R.End == Outcome::Slower && Measured &&
        R.Low > 1)
      return &R;
  return nullptr;
}

static bool isFaster(const TrialResult &R, bool Measured,
                     const DecideOptions &Options) {
  return Measured ? R.Low > 1 : R.Predicted >= Options.LeastEstimated;
}

static std::string percent(double Ratio) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << format("%+.1f %%", (Ratio - 1) * 100);
  return Text;
}

Decision decide(const TrialRequest &Request, StringRef Display,
                ArrayRef<TrialEvent> Events, const DecideOptions &Options) {
  Decision D;
  D.Kernel = Request.Kernel;
  D.Display = Display.str();
  D.Module = Request.Module;
  for (const Candidate &C : Request.Candidates) {
    SmallVector<const TrialEvent *> Own;
    for (const TrialEvent &E : Events)
      if (E.Kernel == D.Kernel && E.Module == D.Module && E.Tried == C)
        Own.push_back(&E);
    for (const TrialEvent *E : Own) {
      if (E->What == TrialEvent::End && !is_contained(D.Shapes, E->Shape))
        D.Shapes.push_back(E->Shape);
      D.Measured |= !E->OriginalMs.empty();
    }
    D.Tried.push_back(summarise(C, Own));
    judge(D.Tried.back(), Options);
  }

  TrialResult *Best = betterBaseline(D.Tried, D.Measured);
  if (Best) {
    // Speed-ups are over the best baseline.
    const double Baseline = Best->Speedup;
    for (TrialResult &R : D.Tried) {
      R.Low /= Baseline;
      R.Speedup /= Baseline;
      R.High /= Baseline;
    }
  }
  for (TrialResult &R : D.Tried) {
    if (R.End != Outcome::Slower || !R.What.changesCode())
      continue;
    if (!isFaster(R, D.Measured, Options)) {
      R.Why = percent(gainOf(R, D.Measured)) + ", not faster beyond the noise";
      continue;
    }
    if (!Best || !Best->What.changesCode() ||
        gainOf(R, D.Measured) > gainOf(*Best, D.Measured))
      Best = &R;
  }
  for (TrialResult &R : D.Tried)
    if (&R != Best && R.End == Outcome::Slower && R.Why.empty())
      R.Why = percent(gainOf(R, D.Measured)) + ", another is better";
  if (Best) {
    Best->End = Outcome::Kept;
    D.Keep = Best->What;
  } else {
    D.Why = D.Tried.empty() ? "nothing to try" : "no candidate was better";
  }
  return D;
}

const TrialEvent *unfinishedTrial(ArrayRef<TrialEvent> Events) {
  return !Events.empty() && Events.back().What == TrialEvent::Begin
             ? &Events.back()
             : nullptr;
}

} // namespace reconverge::driver
