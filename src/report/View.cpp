//===- report/View.cpp - What a report says -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each question is answered once, here, for all writers:
//
//   which places     those that lose LeastSelf of the run or more, dearest
//                    first, as many as were asked for; how many are left out
//   which kernels    all but those that are fine: lanes that hardly idle, and
//                    no branch to blame. To do nothing is an answer, so how
//                    many got it is said; where all are fine all are shown
//   what to do       advice at each place that is worth a look (Advice.cpp),
//                    and the command that tries what is automatic
//   how sure it is   where numbers come from, what did not run, notes
//
// A place is a branch with its copies; the dearest one stands for them. Files
// have the shortest names that tell them apart, over the whole report.
//
//===----------------------------------------------------------------------===//

#include "report/View.h"

#include "report/Accesses.h"
#include "report/Advice.h"
#include "report/Text.h"

#include "core/ProfileJson.h"
#include "core/Remedied.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <set>
#include <utility>

using namespace llvm;

namespace reconverge::report {

/// Partial warps or returned lanes are named from this share of a loss on.
static constexpr double WorthNaming = 0.1;

namespace {
class ViewMaker {
public:
  ViewMaker(const Profile &P, const RunCost &Cost);
  View make(const ViewOptions &Options);

private:
  using Member = PlaceCost::Member;

  void addPlaces(const ViewOptions &Options);
  PlaceView placeOf(uint32_t Index) const;
  void addCalls(const PlaceCost &Place, PlaceView &Out) const;
  LanesView lanesOf(const PlaceCost &Place) const;
  bool isInside(uint32_t Place, uint32_t Other) const;
  void addKernels();
  void addAccesses(const ViewOptions &Options);
  KernelView kernelOf(const KernelProfile &K, const KernelCost &C) const;
  std::optional<NextStep> nextStep() const;
  std::string countedOn() const;

  const BranchInfo &info(Member M) const {
    return P.Kernels[M.Kernel].Info.Branches[M.Branch];
  }
  std::string shortName(const std::string &Path) const {
    return Paths.shortName(cleanText(Path));
  }
  std::string shortPlace(const SourceLoc &Loc) const {
    return shortName(Loc.File) + ":" + std::to_string(Loc.Line);
  }

  const Profile &P;
  const RunCost &Cost;
  const PathNames Paths;
  View Result;
};
} // namespace

static std::vector<std::string> pathsIn(const Profile &P) {
  std::vector<std::string> Paths;
  auto Add = [&](const SourceChain &Chain) {
    for (const SourceLoc &Loc : Chain)
      Paths.push_back(cleanText(Loc.File));
  };
  for (const KernelProfile &K : P.Kernels) {
    Add(K.Info.Where);
    for (const BranchInfo &B : K.Info.Branches)
      Add(B.Where);
    for (const AccessInfo &A : K.Info.Accesses)
      if (const SourceLoc *Place = userPlace(A.Where))
        Paths.push_back(cleanText(Place->File));
    for (const Race &R : K.Races.Races) {
      Add(R.First.Where);
      Add(R.Second.Where);
    }
  }
  return Paths;
}

ViewMaker::ViewMaker(const Profile &P, const RunCost &Cost)
    : P(P), Cost(Cost), Paths(pathsIn(P)) {
  assert(Cost.Kernels.size() == P.Kernels.size() && "a cost for each kernel");
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static Severity severityOf(double Self) {
  return Self >= 0.1    ? Severity::Grave
         : Self >= 0.03 ? Severity::Notable
                        : Severity::Slight;
}

bool ViewMaker::isInside(uint32_t Place, uint32_t Other) const {
  // Costs are derived, not read, so the chain ends; still, count.
  std::optional<uint32_t> Outer = Cost.Places[Place].Outer;
  for (size_t Steps = 0; Outer && Steps <= Cost.Places.size(); ++Steps) {
    if (*Outer == Other)
      return true;
    Outer = Cost.Places[*Outer].Outer;
  }
  return false;
}

/// The way by which all copies were inlined, if it is one.
void ViewMaker::addCalls(const PlaceCost &Place, PlaceView &Out) const {
  auto CallsOf = [&](Member M) {
    std::vector<std::string> Calls;
    for (const SourceLoc &Loc : drop_begin(info(M).Where))
      Calls.push_back(shortPlace(Loc));
    return Calls;
  };
  const std::vector<std::string> Calls = CallsOf(Place.Branches.front());
  if (all_of(Place.Branches, [&](Member M) { return CallsOf(M) == Calls; }))
    Out.InlinedAt = Calls;
  else
    Out.InlinedInMany = true;
}

/// Of the copies that are of the dearest one's kind.
LanesView ViewMaker::lanesOf(const PlaceCost &Place) const {
  const BranchInfo &First = info(Place.Branches.front());
  LanesView Lanes;
  Lanes.Kind = First.Kind;
  std::vector<double> Sides(First.Successors.size());
  for (Member M : Place.Branches) {
    const BranchInfo &Info = info(M);
    if (Info.Kind != First.Kind || Info.Successors.size() != Sides.size())
      continue;
    auto InRegion = [&](size_t Side) {
      return std::binary_search(Info.Region.begin(), Info.Region.end(),
                                Info.Successors[Side]);
    };
    const bool Swap = Sides.size() == 2 && !InRegion(0) && InRegion(1);
    for (auto [Side, N] :
         enumerate(P.Kernels[M.Kernel].Branches[M.Branch].LanesTo))
      Sides[Swap ? 1 - Side : Side] += double(N);
  }
  for (double N : Sides)
    Lanes.Sum += N;
  if (Lanes.Sum == 0)
    return Lanes;
  if (Sides.size() > 2)
    sort(Sides, std::greater<>());
  Lanes.Sides = std::move(Sides);
  return Lanes;
}

PlaceView ViewMaker::placeOf(uint32_t Index) const {
  const PlaceCost &Place = Cost.Places[Index];
  const BranchInfo &Branch = info(Place.Branches.front());
  PlaceView V;
  V.Place = Index;
  if (Branch.Where.empty()) {
    V.At = "block " + std::to_string(Branch.Block);
  } else {
    V.Where = Branch.Where.front();
    V.At = shortPlace(V.Where);
    addCalls(Place, V);
  }
  V.What = cleanText(Branch.Condition);
  if (V.What.empty())
    V.What = wordOf(Branch.Kind).str();
  V.Copies = Place.Branches.size();
  for (Member M : Place.Branches)
    if (!is_contained(V.Kernels, M.Kernel))
      V.Kernels.push_back(M.Kernel);
  V.Weight = severityOf(Place.Self);
  V.Self = Place.Self;
  V.Total = Place.Cost;
  if (any_of(V.Kernels, [&](uint32_t Kernel) {
        return P.Kernels[Kernel].Regrouped.Launches != 0;
      }))
    V.Regrouped = Place.Recover;
  V.Warps = Place.Warps;
  V.Split = double(Place.Splits) / double(std::max<uint64_t>(Place.Warps, 1));
  V.Lanes = lanesOf(Place);
  auto Share = [&](double Slots) -> std::optional<double> {
    if (Slots < WorthNaming * Place.LossSlots)
      return std::nullopt;
    return Place.Cost * Slots / Place.LossSlots;
  };
  V.ByReturned = Share(Place.ExitSlots);
  V.ByPartialWarps = Share(Place.PartialSlots);
  if (Place.Self >= WorthALook)
    V.Advice = adviceFor(Place, P);
  return V;
}

/// To the places that nothing else tells apart: macros have several on a line.
static void addColumns(std::vector<PlaceView> &Places) {
  std::map<std::pair<std::string, std::string>, std::set<uint32_t>> Columns;
  for (const PlaceView &V : Places)
    Columns[{V.At, V.What}].insert(V.Where.Column);
  for (PlaceView &V : Places)
    if (V.Where.Column && Columns[{V.At, V.What}].size() > 1)
      V.At += ":" + std::to_string(V.Where.Column);
}

void ViewMaker::addPlaces(const ViewOptions &Options) {
  std::vector<uint32_t> Around; // places above that the next may be inside of
  for (uint32_t I = 0; I != Cost.Places.size(); ++I) {
    if (Cost.Places[I].Self < LeastSelf) {
      ++Result.SlightPlaces;
      continue;
    }
    if (Options.MaxPlaces && Result.Places.size() == Options.MaxPlaces) {
      ++Result.MorePlaces;
      continue;
    }
    while (!Around.empty() && !isInside(I, Around.back()))
      Around.pop_back();
    Result.Places.push_back(placeOf(I));
    Result.Places.back().Depth = unsigned(Around.size());
    Around.push_back(I);
  }
  addColumns(Result.Places);
}

/// "meld, remap and refill"
static std::string listed(ArrayRef<std::string> Words) {
  if (Words.size() < 2)
    return join(Words, "");
  return join(Words.drop_back(), ", ") + " and " + Words.back();
}

/// What a remedy has made of a kernel is not what `optimize` would start from.
std::optional<NextStep> ViewMaker::nextStep() const {
  if (P.Kernels.empty())
    return std::nullopt;
  bool Any = false, AnyOriginal = false;
  std::set<std::string> Pay;
  for (const PlaceView &V : Result.Places)
    if (V.Self >= WorthALook) {
      Any = true;
      AnyOriginal |= !all_of(V.Kernels, [&](uint32_t Kernel) {
        return StringRef(P.Kernels[Kernel].Info.Name).ends_with(RemediedSuffix);
      });
      for (std::string &Name : automaticAt(Cost.Places[V.Place]))
        Pay.insert(std::move(Name));
    }
  if (!Any)
    return NextStep{"No branch loses " + percent(WorthALook) +
                        " of the run: leave divergence alone, and see what "
                        "the kernels are bound by",
                    ""};
  if (!AnyOriginal)
    return std::nullopt;
  std::vector<std::string> Remedies;
  copy_if(Cost.Automatic, std::back_inserter(Remedies),
          [&](const std::string &Name) { return Pay.count(Name) != 0; });
  return NextStep{Remedies.empty() ? "Nothing that is automatic should pay. To "
                                     "try all the same"
                                   : "Try " + listed(Remedies),
                  optimizeCommand(P)};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What takes a kernel's time that its instructions do not.
static std::string waitsFor(const KernelTime &T) {
  switch (T.By) {
  case Bound::Latency:
    return "results";
  case Bound::Grid:
  case Bound::Unit:
    return wordOf(T.Busiest);
  case Bound::Launch:
    return "its launch";
  }
  llvm_unreachable("a kernel is bound by one of four");
}

static bool hasBranchToBlame(const KernelCost &C) {
  return any_of(C.Branches,
                [](const BranchCost &B) { return B.Self >= WorthALook; });
}

/// Why lanes idle in a kernel of which no branch is to blame.
static std::string whyIdle(const KernelProfile &K, const KernelCost &C) {
  const bool WastesSlots = any_of(C.Branches, [&](const BranchCost &B) {
    return B.SelfSlots >= WorthALook * C.Slots;
  });
  if (WastesSlots) // and hardly any time
    return "lanes idle at branches, but none of these costs " +
           percent(WorthALook) + " of its time: it waits for " +
           waitsFor(C.Time) + ".";
  double Partial = 0;
  for (auto [Info, Counts] : zip(K.Info.Blocks, K.Blocks))
    Partial += double(Counts.PartialIdle) * Info.Instructions;
  const double Idle =
      double(C.WarpInstructions) * K.WarpSize - double(C.Instructions);
  if (2 * Partial >= Idle)
    return "lanes idle in partial warps, not at branches; block sizes that are "
           "multiples of " +
           std::to_string(K.WarpSize) + " fill them.";
  return "no branch costs " + percent(WorthALook) +
         "; what idles is spread over many.";
}

/// "alu 82%": what the kernel is bound by, and the share of its time for which
/// that is busy.
static std::string boundOf(const KernelTime &T) {
  if (!T.isKnown())
    return "";
  std::string Text = wordOf(T.By, T.Busiest);
  if (T.By == Bound::Unit)
    Text += " " + percent(T.Nearness);
  return T.HasMemory ? Text : Text + "?";
}

KernelView ViewMaker::kernelOf(const KernelProfile &K,
                               const KernelCost &C) const {
  KernelView V;
  V.Name = cleanText(K.Info.Display.empty() ? K.Info.Name : K.Info.Display);
  if (!K.Info.Where.empty())
    V.Where = K.Info.Where.front();
  V.Launches = K.Launches;
  V.Threads = K.Threads;
  V.Seconds = K.Seconds;
  V.OfRun = C.OfRun;
  V.Cfe = C.Cfe;
  V.Potential = C.Potential;
  V.BoundBy = boundOf(C.Time);
  V.Attainable = C.Attainable;
  V.Divergent =
      double(K.DivergentWarps) / double(std::max<uint64_t>(K.WarpsRun, 1));
  V.IsFine = 1 - C.Cfe < HardlyIdle && !hasBranchToBlame(C);
  if (!V.IsFine && !hasBranchToBlame(C))
    V.WhyIdle = whyIdle(K, C);
  V.Schedule = C.Schedule;
  V.Orders = K.Orders;
  V.Watched = K.Races.Launches;
  V.WatchIncomplete = K.Races.Incomplete;
  for (const Race &R : K.Races.Races)
    V.Races.push_back(
        {cleanText(textOf(
             R, [&](const std::string &Path) { return shortName(Path); })),
         R.SameValue, R.Times});
  return V;
}

void ViewMaker::addKernels() {
  for (auto [K, C] : zip_equal(P.Kernels, Cost.Kernels))
    Result.Kernels.push_back(kernelOf(K, C));
  for (uint32_t I = 0; I != Result.Kernels.size(); ++I)
    if (!Result.Kernels[I].IsFine)
      Result.Ranking.push_back(I);
  if (Result.Ranking.empty())
    append_range(Result.Ranking, seq(uint32_t(P.Kernels.size())));
  Result.FineKernels = P.Kernels.size() - Result.Ranking.size();
  sort(Result.Ranking, [&](uint32_t A, uint32_t B) {
    return std::pair(-Cost.Kernels[A].OfRun, A) <
           std::pair(-Cost.Kernels[B].OfRun, B);
  });
}

/// Those of kernels that matter.
void ViewMaker::addAccesses(const ViewOptions &Options) {
  std::vector<uint32_t> Hottest;
  for (uint32_t I = 0; I != P.Kernels.size(); ++I)
    if (Result.Kernels[I].OfRun >= WorthALook)
      Hottest.push_back(I);
  sort(Hottest, [&](uint32_t A, uint32_t B) {
    return std::pair(-Cost.Kernels[A].OfRun, A) <
           std::pair(-Cost.Kernels[B].OfRun, B);
  });
  for (uint32_t I : Hottest)
    append_range(Result.Accesses,
                 accessesOf(P.Kernels[I], I, [&](const SourceLoc &Loc) {
                   return shortPlace(Loc);
                 }));
  if (Options.MaxPlaces && Result.Accesses.size() > Options.MaxPlaces) {
    Result.MoreAccesses = Result.Accesses.size() - Options.MaxPlaces;
    Result.Accesses.resize(Options.MaxPlaces);
  }
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// Empty if nothing is known.
std::string ViewMaker::countedOn() const {
  StringRef Device = P.Device;
  const bool OnCpu = P.Backend == "vm";
  if (OnCpu && Device.consume_front("Reconverge warp VM (CPU)"))
    Device = Device.ltrim(", ");
  std::string Source = OnCpu                ? "the CPU"
                       : P.Backend == "gpu" ? "a GPU"
                                            : cleanText(P.Backend);
  if (!Device.empty())
    Source += " (" + cleanText(Device) + ")";
  if (!P.Machine.empty())
    Source += ", priced as " + StringRef(cleanText(P.Machine)).upper();
  uint64_t Threads = 0;
  for (const KernelProfile &K : P.Kernels)
    Threads += K.Regrouped.Threads;
  if (Threads)
    Source += "; regrouping from " + counted(Threads, "thread");
  return Source;
}

View ViewMaker::make(const ViewOptions &Options) {
  Result.Program = cleanText(P.Program);
  for (const std::string &A : P.Arguments)
    Result.Arguments.push_back(cleanText(A));
  for (const std::string &Why : P.Refused) {
    Result.Refused.emplace_back();
    for (StringRef Line : split(Why, '\n'))
      Result.Refused.back().push_back(cleanText(Line));
  }
  if (P.Kernels.empty())
    Result.WhyNoKernels = P.Notes.empty() && P.Refused.empty()
                              ? "No kernel was launched."
                              : "No kernel ran to its end.";
  addPlaces(Options);
  addKernels();
  Result.HasSchedules = Cost.HasSchedules;
  addAccesses(Options);
  Result.Next = nextStep();
  Result.TimesAreOfCpu = P.Backend == "vm";
  Result.SharesAreOfTime = Cost.OfTime;
  Result.CountedOn = countedOn();
  Result.ExitStatus = P.ExitStatus;
  for (const std::string &Note : P.Notes)
    Result.Notes.push_back(cleanText(Note));
  return std::move(Result);
}

View viewOf(const Profile &P, const RunCost &Cost, const ViewOptions &Options) {
  return ViewMaker(P, Cost).make(Options);
}

} // namespace reconverge::report
