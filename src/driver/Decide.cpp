//===- driver/Decide.cpp - From trials to decisions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate is kept if its result was the original's in every launch tried
// and it is faster beyond the noise than the best build of the unmodified
// kernel, other compilers' included. Of several, the fastest.
//
// Where there are no times but counts, which have no noise, it is faster if it
// takes less time by the model, by more than rounding. On a GPU:
//
//   1. A round runs every build of the kernel once on each launch tried. Its
//      time is the sum over those launches, so that a launch counts by the time
//      it takes: what loses on the large one does not win by many small ones.
//   2. The baseline is the fastest of ours and other compilers' builds, by the
//      median of the rounds' ratios. One of theirs counts only if its result
//      may be kept.
//   3. A candidate is faster if the whole interval of the median of the paired
//      ratios, baseline over candidate, lies above DecideOptions.LeastMeasured,
//      and its lower end saves LeastSaved a launch: 2 % of one of 25 us.
//
// A launch that was timed in too few rounds for an interval is left out of the
// sums if others have enough.
//
//===----------------------------------------------------------------------===//

#include "driver/Decide.h"
#include "driver/Prediction.h"

#include "remedies/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

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

/// Whether a verdict on one more launch is worse than what was known. One that
/// needs the user's bound is worse than one that needs none, and stays where
/// other launches vary: how much varies is told beside it.
static bool isWorse(VerdictKind New, VerdictKind Known) {
  auto Rank = [](VerdictKind K) {
    switch (K) {
    case VerdictKind::Identical:
      return 0;
    case VerdictKind::UpToOrder:
      return 1;
    case VerdictKind::Unknown:
      return 2;
    case VerdictKind::Differs:
      return 3;
    }
    llvm_unreachable("a verdict has one of four kinds");
  };
  return Rank(New) > Rank(Known);
}

static bool hasDifference(const Verdict &V) {
  return V.Kind == VerdictKind::Differs;
}

static void add(Verdict &Sum, const Verdict &One) {
  const bool Rounds = (!hasDifference(Sum) || Sum.First.Ulps) &&
                      (!hasDifference(One) || One.First.Ulps);
  const uint64_t MostUlps = std::max(Sum.First.Ulps, One.First.Ulps);
  const bool SaysMore = One.Kind == Sum.Kind && hasDifference(One) &&
                        Sum.First.Ulps && !One.First.Ulps;
  if (!Sum.Launches || isWorse(One.Kind, Sum.Kind) || SaysMore) {
    Sum.Kind = One.Kind;
    Sum.First = One.First;
    Sum.Reason = One.Reason;
  }
  if (hasDifference(Sum))
    Sum.First.Ulps = Rounds ? MostUlps : 0;
  ++Sum.Launches;
  Sum.Bytes += One.Bytes;
  Sum.OrderDependent += One.OrderDependent;
}

/// The launch of \p E took the kernel as it was, although what was tried changes
/// launches: it has the same shape and asks for the very same.
static bool tookTheOriginal(const TrialEvent &E) {
  if (E.Original.size() != 1 || E.Variant.size() != 1)
    return false;
  const Demand &Was = E.Original.front(), &Is = E.Variant.front();
  return Was.isCounted() && Was.Slots == Is.Slots && Was.Shape == Is.Shape &&
         Was.Busy == Is.Busy && Was.LoadSectors == Is.LoadSectors &&
         Was.StoreSectors == Is.StoreSectors;
}

/// Sums up the launches of one candidate; what decides between candidates comes
/// later.
static TrialResult summarise(const Candidate &What,
                             ArrayRef<const TrialEvent *> Events,
                             const DecideOptions &Options) {
  TrialResult R;
  R.What = What;
  R.Why = "no launch of the kernel was tried";
  Prediction Expected(Options.Limits, !Options.NeedsTimes);
  bool Changes = !remedies::changesLaunch(What); // some launch
  for (const TrialEvent *E : Events)
    switch (E->What) {
    case TrialEvent::Begin:
    case TrialEvent::Timed:
      break;
    case TrialEvent::Refused:
      R.End = TrialOutcome::Refused;
      R.Why = E->Why;
      return R;
    case TrialEvent::Fault:
      R.End = TrialOutcome::Faulted;
      R.Why = E->Why;
      return R;
    case TrialEvent::Hang:
      R.End = TrialOutcome::TimedOut;
      R.Why = E->Why;
      return R;
    case TrialEvent::Untried:
      if (!R.Compared.Launches)
        R.Why = E->Why;
      break;
    case TrialEvent::End:
      add(R.Compared, E->Compared);
      Expected.add(*E);
      Changes |= !tookTheOriginal(*E);
      break;
    }
  if (!R.Compared.Launches)
    return R;
  if (!Changes) {
    R.End = TrialOutcome::Refused;
    R.Why = "it leaves launches like those tried as they were: most often they "
            "have too few threads";
    return R;
  }
  R.Why.clear();
  R.End = TrialOutcome::Slower; // until it is found to be the fastest
  Expected.tell(R);
  return R;
}

/// The same of a result whose order-dependent bytes lie inside the spread.
static void judgeOrder(TrialResult &R, const DecideOptions &Options) {
  if (Options.AllowReorder)
    return;
  R.End = TrialOutcome::Unproved;
  R.Why = "the kernel's result depends on the order of its threads; "
          "--allow-reorder keeps what stays within that";
}

/// The same of another result.
static void judgeDifference(TrialResult &R, const DecideOptions &Options) {
  const Difference &First = R.Compared.First;
  if (First.Ulps && Options.AllowRounding && !R.What.changesCode())
    return;
  R.End = First.Ulps ? TrialOutcome::Rounded : TrialOutcome::Wrong;
  R.Why = First.Where + ", offset " + std::to_string(First.Offset) + ": " +
          First.Original + " became " + First.Variant;
  if (First.Ulps)
    R.Why += "; all differ in rounding alone, by " +
             std::to_string(First.Ulps) + " ulp at most";
  if (First.Ulps && !R.What.changesCode())
    R.Why += "; --allow-rounding keeps that";
}

/// Ends \p R as wrong or unproved if its result may not be kept.
static void judge(TrialResult &R, const DecideOptions &Options) {
  if (R.End != TrialOutcome::Slower ||
      (Options.ByOutputs && R.What.Promises == Promise::Bound))
    return;
  switch (R.Compared.Kind) {
  case VerdictKind::Identical:
    return;
  case VerdictKind::UpToOrder:
    return judgeOrder(R, Options);
  case VerdictKind::Differs:
    return judgeDifference(R, Options);
  case VerdictKind::Unknown:
    R.End = TrialOutcome::Unproved;
    R.Why = R.Compared.Reason;
    return;
  }
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

namespace {
/// The times of one build of the kernel, by launch: a list over the rounds.
using Launches = std::map<uint64_t, ArrayRef<double>>;

/// Sums over launches of two builds, one for each round.
struct Rounds {
  std::vector<double> A, B;
  size_t LaunchesIn = 0;
};
} // namespace

/// Fewest rounds that say something, if only by their whole range: what a trial
/// makes of a launch even when its time is over (runtime/trial/Rounds.cpp).
static constexpr size_t LeastRounds = 3;

static Rounds roundsOf(const Launches &A, const Launches &B) {
  struct Pair {
    ArrayRef<double> A, B;
    size_t count() const { return std::min(A.size(), B.size()); }
  };
  SmallVector<Pair> Both;
  for (const auto &[Launch, Times] : A)
    if (auto Found = B.find(Launch); Found != B.end())
      Both.push_back({Times, Found->second});
  // By the rounds of A: that B was out of them early says that it lost.
  if (any_of(Both, [](const Pair &P) { return P.A.size() >= LeastRounds; }))
    erase_if(Both, [](const Pair &P) { return P.A.size() < LeastRounds; });
  Rounds R;
  R.LaunchesIn = Both.size();
  if (Both.empty())
    return R;
  size_t Count = Both.front().count();
  for (const Pair &P : Both)
    Count = std::min(Count, P.count());
  R.A.resize(Count);
  R.B.resize(Count);
  for (const Pair &P : Both)
    for (size_t I = 0; I != Count; ++I) {
      R.A[I] += P.A[I];
      R.B[I] += P.B[I];
    }
  return R;
}

static double medianOfAll(std::vector<double> Values) {
  if (Values.empty())
    return 0;
  sort(Values);
  return medianOf(Values);
}

/// Fills in the times of \p R: those of \p Runs beside those of \p Baseline.
static void compareTimes(TrialResult &R, const Launches &Baseline,
                         const Launches &Runs) {
  const Rounds Both = roundsOf(Baseline, Runs);
  const RatioInterval Ratio = ratioOf(Both.A, Both.B);
  R.Low = Ratio.Low;
  R.Speedup = Ratio.Median;
  R.High = Ratio.High;
  R.Milliseconds = medianOfAll(Both.B);
}

namespace {
/// The times of all builds of one kernel.
struct TimeTable {
  Launches Ours;
  std::vector<Launches> Of; ///< parallel to the candidates

  bool empty() const { return Ours.empty(); }
};
} // namespace

static TimeTable timesOf(ArrayRef<Candidate> Candidates,
                         ArrayRef<const TrialEvent *> Events) {
  TimeTable T;
  T.Of.resize(Candidates.size());
  for (const TrialEvent *E : Events) {
    if (E->What != TrialEvent::Timed || E->OriginalMs.empty())
      continue;
    T.Ours[E->Launch] = E->OriginalMs;
    for (auto [C, L] : zip(Candidates, T.Of))
      if (E->Tried == C)
        L[E->Launch] = E->VariantMs;
  }
  return T;
}

//===----------------------------------------------------------------------===//
// The best
//===----------------------------------------------------------------------===//

static std::string percent(double Ratio) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << format("%+.1f %%", (Ratio - 1) * 100);
  return Text;
}

static double gainOf(const TrialResult &R, bool Measured) {
  return Measured ? R.Speedup : R.Predicted;
}

/// Whether \p R is faster, beyond the noise of times, than the best build of
/// the kernel of \p D as it is.
static bool isFaster(const TrialResult &R, const Decision &D, bool ByTimes,
                     const DecideOptions &Options) {
  if (!ByTimes)
    return R.Predicted >= Options.LeastEstimated;
  return R.Low > Options.LeastMeasured &&
         R.Milliseconds * (R.Low - 1) > Options.LeastSaved * double(D.Timed);
}

/// Fills in the times of all of \p D's candidates that may be kept: of others'
/// builds of the kernel as it is over ours, of all else over the fastest build.
static void measure(Decision &D, const TimeTable &Times) {
  const Launches *Baseline = &Times.Ours;
  double Fastest = 1; // over ours
  for (auto [R, Runs] : zip(D.Tried, Times.Of))
    if (!R.What.changesCode() && R.End == TrialOutcome::Slower) {
      compareTimes(R, Times.Ours, Runs);
      if (R.Speedup > Fastest) {
        Fastest = R.Speedup;
        Baseline = &Runs;
      }
    }
  for (auto [R, Runs] : zip(D.Tried, Times.Of))
    if (R.What.changesCode() && R.End == TrialOutcome::Slower)
      compareTimes(R, *Baseline, Runs);
  const Rounds Alone = roundsOf(Times.Ours, Times.Ours);
  D.Milliseconds = medianOfAll(Alone.A);
  D.Timed = Alone.LaunchesIn;
}

/// The fastest build by others of the kernel of \p D as it is; null: ours is as
/// fast. A good guess is enough here, because none changes the kernel.
static TrialResult *bestBuild(Decision &D, const DecideOptions &Options) {
  TrialResult *Best = nullptr;
  for (TrialResult &R : D.Tried)
    if (!R.What.changesCode() && R.End == TrialOutcome::Slower &&
        R.Speedup > 1 && (R.Low > 1 || R.Speedup >= Options.LeastOfBuilds) &&
        (!Best || R.Speedup > Best->Speedup))
      Best = &R;
  return Best;
}

/// Why times decide nothing here; empty if they do.
static std::string tooShort(const Decision &D, const DecideOptions &Options) {
  const double Each = D.Timed ? D.Milliseconds / double(D.Timed) : 0;
  if (!D.Measured || Each >= Options.LeastMilliseconds)
    return "";
  std::string Text;
  raw_string_ostream OS(Text);
  OS << format("a launch takes %.1f us, most of it the cost of launching",
               Each * 1000);
  return Text;
}

/// Why nothing is kept of what \p D has tried, or could have.
static std::string whyNone(const Decision &D) {
  const auto Ended = [&](TrialOutcome How) {
    return count_if(D.Tried,
                    [&](const TrialResult &R) { return R.End == How; });
  };
  const auto Untried = Ended(TrialOutcome::Untried);
  if (!Untried)
    return "no candidate was better";
  if (Untried + Ended(TrialOutcome::Refused) == ssize(D.Tried))
    return "no candidate was tried";
  return "no candidate that was tried was better; " + std::to_string(Untried) +
         (Untried == 1 ? " was not" : " were not");
}

/// Why \p R, which could be kept, is not: \p Best is, if anything.
static std::string whyNot(const TrialResult &R, bool Measured, StringRef Short,
                          const TrialResult *Best) {
  if (!Short.empty())
    return Short.str();
  if (gainOf(R, Measured) <= 0)
    return "it was not timed";
  return percent(gainOf(R, Measured)) +
         (R.What.changesCode() ? ", another is better" : " over ours") +
         (!R.What.changesCode() && Best ? ", another is better" : "");
}

Decision decide(const TrialRequest &Request, StringRef Display,
                ArrayRef<TrialEvent> Events, const DecideOptions &Options) {
  Decision D;
  D.Kernel = Request.Kernel;
  D.Display = Display.str();
  D.Module = Request.Module;
  SmallVector<const TrialEvent *> OfKernel;
  for (const TrialEvent &E : Events)
    if (E.Kernel == D.Kernel && E.Module == D.Module)
      OfKernel.push_back(&E);
  std::vector<Candidate> Candidates = Request.Candidates;
  erase_if(Candidates, remedies::isProof); // they are for others
  for (const Candidate &C : Candidates) {
    SmallVector<const TrialEvent *> OfC;
    copy_if(OfKernel, std::back_inserter(OfC),
            [&](const TrialEvent *E) { return E->Tried == C; });
    for (const TrialEvent *E : OfC)
      if (E->What == TrialEvent::End && !is_contained(D.Shapes, E->Shape))
        D.Shapes.push_back(E->Shape);
    D.Tried.push_back(summarise(C, OfC, Options));
    judge(D.Tried.back(), Options);
  }
  const TimeTable Times = timesOf(Candidates, OfKernel);
  D.Measured = !Times.empty();
  if (D.Measured)
    measure(D, Times);
  const std::string Short = tooShort(D, Options);
  const bool ByTimes = D.Measured || Options.NeedsTimes;

  TrialResult *Best = nullptr;
  for (TrialResult &R : D.Tried) {
    if (R.End != TrialOutcome::Slower || !R.What.changesCode())
      continue;
    if (gainOf(R, ByTimes) <= 0 || !Short.empty())
      continue; // whyNot
    if (!isFaster(R, D, ByTimes, Options))
      R.Why = percent(gainOf(R, ByTimes)) +
              (ByTimes ? ", not faster beyond the noise"
                       : ", not faster by the model");
    else if (Options.ByOutputs && R.What.Promises == Promise::Bound) {
      R.End = TrialOutcome::Unproved;
      R.Why = "faster; the program's outputs decide";
    } else if (!Best || gainOf(R, ByTimes) > gainOf(*Best, ByTimes))
      Best = &R;
  }
  // Without a gain by a remedy, the best of the builds as they are.
  if (!Best && D.Measured && Short.empty())
    Best = bestBuild(D, Options);
  for (TrialResult &R : D.Tried)
    if (&R != Best && R.End == TrialOutcome::Slower && R.Why.empty())
      R.Why = whyNot(R, ByTimes, Short, Best);
  if (Best) {
    Best->End = TrialOutcome::Kept;
    D.Keep = Best->What;
  } else {
    D.Why = D.Tried.empty()  ? "nothing to try"
            : !Short.empty() ? Short
                             : whyNone(D);
  }
  return D;
}

bool isForOutputs(const TrialResult &R) {
  return R.End == TrialOutcome::Unproved && R.What.Promises == Promise::Bound &&
         R.Compared.Launches;
}

const TrialEvent *endOfRun(ArrayRef<TrialEvent> Events, bool Failed) {
  if (Events.empty())
    return nullptr;
  const TrialEvent &Last = Events.back();
  const bool Ends = Last.What == TrialEvent::Begin ||
                    (Failed && (Last.What == TrialEvent::Fault ||
                                Last.What == TrialEvent::Hang));
  return Ends ? &Last : nullptr;
}

} // namespace reconverge::driver
