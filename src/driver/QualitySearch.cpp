//===- driver/QualitySearch.cpp - What outputs allow ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   trials on the user's input --> candidates that are faster there
//   the same on each further input --> those that are faster everywhere
//     by what they save, one at a time:
//       with the set so far: faster than that?  (trials, if in one kernel)
//       built, run on all inputs: outputs within their bounds?
//   what is left, on the inputs held out: within the bounds, and no slower?
//     --> kept, or none
//
// Kernels do not change each other's times, for a trial puts the original's
// result back; so what a set gains follows from its kernels. They do change each
// other's results, so each set is built and run.
//
// A search that tries many sets finds one that happens to be within the bound on
// what it has seen. So held-out inputs are asked once, of one set; a set that
// fails there is not followed by the next best.
//
// What is run there is what is kept: kernels that are launched often enough stop
// by themselves where launches drop more threads than they did before
// (launch/Stops.cpp), and how many these were the inputs to learn from tell.
//
//===----------------------------------------------------------------------===//

#include "driver/QualitySearch.h"

#include "core/Recipe.h"
#include "remedies/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::driver {

/// Sets that are built and run at most.
static constexpr size_t MostSets = 32;
/// What a launch may drop, of the most that one did on the inputs to learn from,
/// x: others are a little different.
static constexpr double StopMargin = 1.25;
/// What is as fast, x: noise may take so much.
static constexpr double NoSlower = 0.995;

namespace {
/// A candidate that is faster on all inputs.
struct Offer {
  size_t Kernel; ///< number
  Candidate What;
  double Gain;  ///< over what is kept without it, x: the least of all inputs
  double Saves; ///< of the time of all kernels, a share
};

class Search {
public:
  Search(ArrayRef<HotKernel> Kernels, const TrialPlan &Plan,
         const QualityRuns &Runs, ArrayRef<QualityRequest> Asked,
         const DecideOptions &Options, const SearchServices &Services,
         DecisionFile &Decisions)
      : Kernels(Kernels), Plan(Plan), Runs(Runs), Asked(Asked),
        Options(Options), Services(Services), Decisions(Decisions) {}

  Error run();

private:
  using Members = std::map<size_t, Offer>; ///< by kernel

  Error tryOnOtherInputs();
  Error tryOn(size_t Kernel, ArrayRef<Candidate> All, size_t First, size_t End,
              std::vector<Decision> &Found);
  Offer offer(size_t Kernel, const Candidate &What, double Gain) const;
  std::vector<Offer> offers() const;
  double gainEverywhere(ArrayRef<Decision> OfInputs, const Candidate &What,
                        const Candidate &Over) const;
  Expected<std::optional<Offer>> join(const Offer &Before, const Offer &More);
  DecisionFile with(const Members &Set) const;
  double speedupOf(const Members &Set) const;
  Expected<bool> passes(const Members &Set);
  void become(Offer &O, const Candidate &Now);
  Error addStops();
  Expected<double> leastHeldOut();
  Error judge();
  void markBest();
  QualitySearch &log() { return *Decisions.Search; }

  ArrayRef<HotKernel> Kernels;
  const TrialPlan &Plan;
  const QualityRuns &Runs;
  ArrayRef<QualityRequest> Asked;
  const DecideOptions &Options;
  const SearchServices &Services;
  DecisionFile &Decisions;
  /// By kernel, by input: the first as in Decisions.
  std::vector<std::vector<Decision>> OfInputs;
  Members Found;
  size_t Kept = 0;                        ///< number of its set
  std::vector<std::string> Paths;         ///< of programs, by set
  std::vector<std::vector<double>> Worst; ///< by set, by --quality
};
} // namespace

static const TrialResult *resultOf(const Decision &D, const Candidate &What) {
  const auto R =
      find_if(D.Tried, [&](const TrialResult &T) { return T.What == What; });
  return R == D.Tried.end() ? nullptr : &*R;
}

/// What is gained over our build (no times), or over the fastest build of the
/// kernel as it is, at the least; 0: it was not tried.
static double leastOf(const Decision &D, const TrialResult &R) {
  return D.Measured ? R.Low : R.Predicted;
}

/// The same of what is compared with: a build of the kernel as it is gains
/// nothing over the fastest one.
static double likelyOf(const Decision &D, const Candidate &What) {
  const TrialResult *R = resultOf(D, What);
  if (!What.changesCode() || !R)
    return 1;
  return D.Measured ? R->Speedup : R->Predicted;
}

/// What \p What gains over \p Over on the input where it gains least, x; 0: it
/// is not faster on all, or no launch of it was tried.
double Search::gainEverywhere(ArrayRef<Decision> OfInputs,
                              const Candidate &What,
                              const Candidate &Over) const {
  double Least = 0;
  for (const Decision &D : OfInputs) {
    const TrialResult *R = resultOf(D, What);
    if (!R || R->End == TrialOutcome::Untried)
      continue; // the kernel does not run on this input
    const double Base = likelyOf(D, Over);
    const double Gain = Base > 0 ? leastOf(D, *R) / Base : 0;
    const double Enough =
        D.Measured ? Options.LeastMeasured : Options.LeastEstimated;
    if (!isForOutputs(*R) || Gain < Enough)
      return 0;
    Least = Least > 0 ? std::min(Least, Gain) : Gain;
  }
  return Least;
}

/// Trials of \p All, with what they are compared with, on \p Kernel alone, on
/// the inputs from number \p First to \p End: one more element of \p Found for
/// each.
Error Search::tryOn(size_t Kernel, ArrayRef<Candidate> All, size_t First,
                    size_t End, std::vector<Decision> &Found) {
  const Decision &D = Decisions.Kernels[Kernel];
  TrialPlan This = Plan;
  TrialRequest R = Plan.Kernels[Kernel];
  R.Launches = 0; // of another input
  erase_if(R.Candidates, [&](const Candidate &C) {
    return C.changesCode() && C != D.Keep && !is_contained(All, C);
  });
  for (const Candidate &C : All)
    if (!is_contained(R.Candidates, C))
      R.Candidates.push_back(C);
  R.Candidates = remedies::withProofs(std::move(R.Candidates));
  This.Kernels = {R};
  for (size_t I = First; I != End; ++I) {
    auto Events = Services.Try(This, I);
    if (!Events)
      return Events.takeError();
    Found.push_back(decide(R, D.Display, *Events, Options));
    if (frontend::interruption())
      break;
  }
  return Error::success();
}

/// Fills OfInputs.
Error Search::tryOnOtherInputs() {
  for (size_t K = 0; K != Kernels.size(); ++K) {
    const Decision &First = Decisions.Kernels[K];
    OfInputs.push_back({First});
    std::vector<Candidate> Waiting;
    for (const TrialResult &R : First.Tried)
      if (isForOutputs(R))
        Waiting.push_back(R.What);
    if (!Waiting.empty())
      if (Error E = tryOn(K, Waiting, 1, Runs.inputs(), OfInputs.back()))
        return E;
    if (frontend::interruption())
      break;
  }
  return Error::success();
}

Offer Search::offer(size_t Kernel, const Candidate &What, double Gain) const {
  return {Kernel, What, Gain, Kernels[Kernel].OfRun * (1 - 1 / Gain)};
}

/// What is faster on all inputs, that first which saves most.
std::vector<Offer> Search::offers() const {
  std::vector<Offer> All;
  for (const auto &[K, On] : enumerate(OfInputs))
    for (const TrialResult &R : On.front().Tried)
      if (const double Gain =
              isForOutputs(R)
                  ? gainEverywhere(On, R.What, Decisions.Kernels[K].Keep)
                  : 0;
          Gain > 0)
        All.push_back(offer(K, R.What, Gain));
  sort(All, [](const Offer &A, const Offer &B) {
    return std::tuple(-A.Saves, A.Kernel, A.What.Parameters) <
           std::tuple(-B.Saves, B.Kernel, B.What.Parameters);
  });
  return All;
}

/// What \p More adds to \p Before in one kernel; none: they do not go together,
/// or are not faster together on all inputs.
Expected<std::optional<Offer>> Search::join(const Offer &Before,
                                            const Offer &More) {
  const auto Both = remedies::joined(Before.What, More.What);
  if (!Both)
    return std::nullopt;
  std::vector<Decision> On;
  if (Error E = tryOn(More.Kernel, {Before.What, *Both}, 0, Runs.inputs(), On))
    return std::move(E);
  if (gainEverywhere(On, *Both, Before.What) <= 0)
    return std::nullopt;
  const double Gain =
      gainEverywhere(On, *Both, Decisions.Kernels[More.Kernel].Keep);
  Decision &D = Decisions.Kernels[More.Kernel];
  if (const TrialResult *R = resultOf(On.front(), *Both))
    D.Tried.push_back(*R);
  return offer(More.Kernel, *Both, Gain);
}

/// The decisions with \p Set in place of what is kept without it.
DecisionFile Search::with(const Members &Set) const {
  DecisionFile File = Decisions;
  for (const auto &[K, O] : Set) {
    Decision &D = File.Kernels[K];
    for (TrialResult &R : D.Tried) {
      if (R.What == O.What) {
        R.End = TrialOutcome::Kept;
        R.Why = "the program's outputs are within their bounds";
      } else if (R.End == TrialOutcome::Kept) {
        R.End = TrialOutcome::Slower;
        R.Why = "another is faster, within the bounds";
      }
    }
    D.Keep = O.What;
    D.Why.clear();
  }
  return File;
}

double Search::speedupOf(const Members &Set) const {
  double Left = 1;
  for (const auto &[K, O] : Set)
    Left -= O.Saves;
  return 1 / Left;
}

static std::vector<std::string> textsOf(ArrayRef<QualityRequest> Asked,
                                        ArrayRef<double> Values) {
  std::vector<std::string> Texts;
  for (auto [How, Value] : zip(Asked, Values))
    Texts.push_back(qualityText(How, Value));
  return Texts;
}

/// Builds \p Set and runs it on the inputs: whether its outputs are within their
/// bounds. Logs it.
Expected<bool> Search::passes(const Members &Set) {
  QualitySet S;
  for (const auto &[K, O] : Set)
    S.Members.push_back({Decisions.Kernels[K].Display, O.What});
  S.Speedup = speedupOf(Set);
  auto Path = Services.Build(with(Set), log().Sets.size() + 1);
  if (!Path)
    return Path.takeError();
  Paths.push_back(*Path);
  auto Quality = Runs.onInputs(*Path);
  if (!Quality)
    return Quality.takeError();
  S.Trained = textsOf(Asked, Quality->Worst);
  S.Why = Quality->Why;
  log().Sets.push_back(std::move(S));
  Worst.push_back(Quality->Worst);
  return Quality->isWithin();
}

/// The share of inputs like \p N that were all within a bound of which at least
/// so many are, with a confidence of 95 % (the exact binomial bound).
static double surelyWithin(size_t N) { return std::pow(0.05, 1 / double(N)); }

/// "psnr 41.2 dB of out.ppm, bound 40 dB".
static std::string textOf(const QualityRequest &How, StringRef Quality) {
  return How.metricName() + " " + Quality.str() + ", bound " +
         qualityText(How, *How.Bound);
}

/// Has \p O, of the set that was found, be \p Now, with what was tried of it.
void Search::become(Offer &O, const Candidate &Now) {
  Decision &D = Decisions.Kernels[O.Kernel];
  for (TrialResult &R : D.Tried)
    if (R.What == O.What)
      R.What = Now;
  for (QualitySet::Member &M : log().Sets[Kept].Members)
    if (M.Kernel == D.Display && M.What == O.What)
      M.What = Now;
  O.What = Now;
}

/// Has the kernels of the set that was found, of those that are launched often
/// enough, stop where launches drop more than any has on the inputs to learn
/// from.
Error Search::addStops() {
  std::map<size_t, Candidate> Without;
  for (auto &[K, O] : Found)
    if (const auto Counting = remedies::stopping(O.What, 1);
        Counting && Plan.Kernels[K].Launches > RecipeStop::Lag) {
      Without.insert({K, O.What});
      become(O, *Counting);
    }
  if (Without.empty())
    return Error::success();
  auto Path = Services.Build(with(Found), log().Sets.size() + 1);
  if (!Path)
    return Path.takeError();
  auto Shares = Runs.droppedOnInputs(*Path);
  if (!Shares)
    return Shares.takeError();
  for (const auto &[K, What] : Without) {
    const auto Share = Shares->find(Decisions.Kernels[K].Kernel);
    const double Most = Share == Shares->end() ? 1 : Share->second * StopMargin;
    become(Found.at(K), Most < 1 ? *remedies::stopping(What, Most) : What);
  }
  return Services.Build(with(Found), log().Sets.size() + 2)
      .moveInto(Paths[Kept]);
}

/// What the set that was found gains on the held-out input where it gains least,
/// x, over what is kept without it.
Expected<double> Search::leastHeldOut() {
  std::vector<double> Left(Runs.heldOut(), 1.0); // of the time, by input
  for (const auto &[K, O] : Found) {
    std::vector<Decision> On;
    if (Error E =
            tryOn(K, {O.What}, Runs.inputs(), Runs.arguments().size(), On))
      return std::move(E);
    for (auto [D, Part] : zip(On, Left)) {
      const TrialResult *R = resultOf(D, O.What);
      if (!R || R->End == TrialOutcome::Untried)
        continue;
      const double Gain =
          likelyOf(D, O.What) / likelyOf(D, Decisions.Kernels[K].Keep);
      Part -= Kernels[K].OfRun * (1 - 1 / std::max(Gain, 0.01));
    }
  }
  return 1 / *llvm::max_element(Left);
}

/// Runs what was found on the inputs held out, and keeps it or not.
Error Search::judge() {
  QualitySet &S = log().Sets[Kept];
  if (Error E = addStops())
    return E;
  auto Quality = Runs.onHeldOut(Paths[Kept]);
  if (!Quality)
    return Quality.takeError();
  S.HeldOut = textsOf(Asked, Quality->Worst);
  if (Error E = leastHeldOut().moveInto(S.HeldOutSpeedup))
    return E;
  if (!Quality->isWithin())
    S.Why = "on a held-out input " + Quality->Why;
  else if (S.HeldOutSpeedup < NoSlower)
    S.Why = "on a held-out input it is slower";
  if (!S.Why.empty()) {
    log().Verdict = "none: the set that was found: " + S.Why +
                    ". Learn from more inputs" +
                    (Quality->isWithin() ? "" : ", or widen the bound");
    return Error::success();
  }
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "within (";
  for (auto [How, T] : zip(Asked, S.HeldOut))
    OS << textOf(How, T) << "; ";
  OS << log().Inputs << (log().Inputs == 1 ? " input, " : " inputs, ")
     << log().HeldOut << " held out; with 95 % confidence "
     << format("%.0f %%", 100 * surelyWithin(log().HeldOut))
     << " or more of inputs like those held out are)";
  log().Verdict = Text;
  QualitySearch Said = std::move(log());
  Decisions = with(Found);
  Decisions.Search = std::move(Said);
  return Error::success();
}

/// Marks the sets than which none is faster and as good.
void Search::markBest() {
  for (auto [I, S] : enumerate(log().Sets))
    for (auto [J, Other] : enumerate(log().Sets)) {
      if (I == J || Worst[I].size() != Asked.size() ||
          Worst[J].size() != Asked.size())
        continue;
      bool AsGood = Other.Speedup >= S.Speedup,
           Better = Other.Speedup > S.Speedup;
      for (auto [How, Mine, Theirs] : zip(Asked, Worst[I], Worst[J])) {
        AsGood &= How.IsGreaterBetter ? Theirs >= Mine : Theirs <= Mine;
        Better |= Theirs != Mine;
      }
      S.IsBest &= !(AsGood && Better);
    }
  for (auto [S, W] : zip(log().Sets, Worst))
    S.IsBest &= W.size() == Asked.size();
}

Error Search::run() {
  if (Error E = tryOnOtherInputs())
    return E;
  const std::vector<Offer> All = offers();
  size_t Left = 0;
  for (const Offer &O : All) {
    if (frontend::interruption())
      return Error::success();
    if (log().Sets.size() == MostSets) {
      ++Left;
      continue;
    }
    Members Set = Found;
    const auto [At, IsFirst] = Set.insert({O.Kernel, O});
    if (!IsFirst) {
      auto Both = join(At->second, O);
      if (!Both)
        return Both.takeError();
      if (!*Both)
        continue;
      At->second = **Both;
    }
    auto Passed = passes(Set);
    if (!Passed)
      return Passed.takeError();
    if (!*Passed)
      continue;
    if (!Found.empty())
      log().Sets[Kept].Why = "more was added";
    Found = std::move(Set);
    Kept = log().Sets.size() - 1;
  }
  if (Left)
    Decisions.Notes.push_back("--quality: " + std::to_string(Left) +
                              " candidates had no turn after " +
                              std::to_string(MostSets) + " sets");
  markBest();
  if (!Found.empty())
    return judge();
  log().Verdict = All.empty()
                      ? "none: no candidate that changes results is "
                        "faster on all inputs"
                      : "none: each set that is faster leaves an output "
                        "outside its bound";
  return Error::success();
}

Error searchByQuality(ArrayRef<HotKernel> Kernels, const TrialPlan &Plan,
                      const QualityRuns &Runs, ArrayRef<QualityRequest> Asked,
                      const DecideOptions &Options,
                      const SearchServices &Services, DecisionFile &Decisions) {
  QualitySearch &Log = Decisions.Search.emplace();
  for (const QualityRequest &How : Asked)
    Log.Asked.push_back(How.Words);
  Log.Inputs = Runs.inputs();
  Log.HeldOut = Runs.heldOut();
  return Search(Kernels, Plan, Runs, Asked, Options, Services, Decisions).run();
}

} // namespace reconverge::driver
