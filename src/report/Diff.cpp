//===- report/Diff.cpp - Two runs beside each other -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares of two runs do not compare: what one branch no longer loses makes the
// share of the others grow. So branches are compared by the issue slots that
// they lose, kernels by those that they take, and shares stand beside them.
// Slots are counted, so that any difference is one; it may come from another
// input, which a note says.
//
//===----------------------------------------------------------------------===//

#include "report/Diff.h"
#include "report/Names.h"

#include "core/ProfileJson.h"
#include "core/Remedied.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::report {

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

static std::vector<KernelDiff> pairKernels(const Profile &Before,
                                           const Profile &After) {
  std::vector<bool> Taken(Before.Kernels.size());
  std::vector<KernelDiff> Pairs;
  for (auto [I, K] : enumerate(After.Kernels))
    Pairs.push_back({cleanText(K.Info.Display), std::nullopt, uint32_t(I)});
  auto Pair = [&](auto NameOf) {
    for (KernelDiff &D : Pairs)
      for (uint32_t I = 0; I != Before.Kernels.size() && !D.Before; ++I)
        if (!Taken[I] && NameOf(Before.Kernels[I].Info) ==
                             NameOf(After.Kernels[*D.After].Info)) {
          D.Before = I;
          Taken[I] = true;
        }
  };
  Pair([](const KernelInfo &K) { return StringRef(K.Name); });
  Pair([](const KernelInfo &K) { return StringRef(K.Display); });
  // What a remedy has made of a kernel stands in its place.
  Pair([](const KernelInfo &K) {
    StringRef Name = K.Name;
    Name.consume_back(RemediedSuffix);
    return Name;
  });
  for (auto [I, K] : enumerate(Before.Kernels))
    if (!Taken[I])
      Pairs.push_back({cleanText(K.Info.Display), uint32_t(I), std::nullopt});
  return Pairs;
}

static const BranchInfo &branchOf(const CostedRun &R, uint32_t Place) {
  const PlaceCost::Member M = R.Cost.Places[Place].Branches.front();
  return R.P.Kernels[M.Kernel].Info.Branches[M.Branch];
}

using PlaceKey = std::tuple<std::string, std::string, unsigned>;

/// Builds may stand in other folders: files go by their last name.
static PlaceKey keyOf(const CostedRun &R, uint32_t Place, bool WithLine) {
  const BranchInfo &B = branchOf(R, Place);
  const SourceLoc At = B.Where.empty() ? SourceLoc() : B.Where.front();
  return {sys::path::filename(At.File).str(), B.Condition,
          WithLine ? At.Line : 0};
}

/// Places of \p R that are not \p Paired, by key, in the order of their lines.
static std::map<PlaceKey, std::vector<uint32_t>>
placesOf(const CostedRun &R, bool WithLine, const std::vector<bool> &Paired) {
  std::map<PlaceKey, std::vector<uint32_t>> Of;
  for (uint32_t I = 0; I != R.Cost.Places.size(); ++I)
    if (!Paired[I])
      Of[keyOf(R, I, WithLine)].push_back(I);
  for (auto &[Key, Places] : Of)
    sort(Places, [&](uint32_t A, uint32_t B) {
      return std::pair(keyOf(R, A, true), A) < std::pair(keyOf(R, B, true), B);
    });
  return Of;
}

RunDiff diffOf(const CostedRun &Before, const CostedRun &After) {
  RunDiff D;
  D.Kernels = pairKernels(Before.P, After.P);
  std::vector<bool> PairedBefore(Before.Cost.Places.size()),
      PairedAfter(After.Cost.Places.size());
  std::vector<PlaceDiff> All;
  for (bool WithLine : {true, false}) {
    auto Old = placesOf(Before, WithLine, PairedBefore);
    for (auto &[Key, Places] : placesOf(After, WithLine, PairedAfter))
      for (auto [A, B] : zip(Places, Old[Key])) {
        All.push_back({B, A});
        PairedBefore[B] = PairedAfter[A] = true;
      }
  }
  for (uint32_t I = 0; I != PairedAfter.size(); ++I)
    if (!PairedAfter[I])
      All.push_back({std::nullopt, I});
  for (uint32_t I = 0; I != PairedBefore.size(); ++I)
    if (!PairedBefore[I])
      All.push_back({I, std::nullopt});
  for (PlaceDiff &P : All) {
    if (P.Before)
      P.SlotsBefore = Before.Cost.Places[*P.Before].SelfSlots;
    if (P.After)
      P.SlotsAfter = After.Cost.Places[*P.After].SelfSlots;
    if (P.SlotsBefore == P.SlotsAfter)
      ++D.SamePlaces;
    else
      D.Places.push_back(P);
  }
  auto Key = [](const PlaceDiff &P) {
    return std::tuple(-std::abs(P.SlotsAfter - P.SlotsBefore), !P.After,
                      P.After, P.Before);
  };
  sort(D.Places,
       [&](const PlaceDiff &A, const PlaceDiff &B) { return Key(A) < Key(B); });
  return D;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "12.3k"; "-" of a run that has none.
static std::string slots(bool Has, double N) {
  return Has ? count(uint64_t(std::llround(N))) : "-";
}

/// "-12.3%", "new", "gone".
static std::string change(bool HasBefore, bool HasAfter, double Before,
                          double After) {
  if (!HasBefore || !HasAfter)
    return HasAfter ? "new" : "gone";
  if (Before == After)
    return "same";
  if (!(Before > 0))
    return "new";
  std::string Text;
  raw_string_ostream(Text) << format("%+.1f%%", 100 * (After / Before - 1));
  return Text;
}

/// Less is better.
static Ink inkOf(double Before, double After) {
  return After > Before ? Ink::Hot : Ink::Plain;
}

static void printKernels(const RunDiff &D, const CostedRun &Before,
                         const CostedRun &After, raw_ostream &OS,
                         const TerminalOptions &Options) {
  Table T;
  for (const char *Title :
       {"slots before", "after", "change", "CFE before", "after", "model"})
    T.column(Title, /*Left=*/false);
  T.column("kernel", /*Left=*/true);
  T.wrapLast(std::max(Options.Width, 80u));
  for (const KernelDiff &K : D.Kernels) {
    const KernelCost *B = K.Before ? &Before.Cost.Kernels[*K.Before] : nullptr;
    const KernelCost *A = K.After ? &After.Cost.Kernels[*K.After] : nullptr;
    const double Old = B ? B->Slots : 0, New = A ? A->Slots : 0;
    // All launches, as a change may have other ones.
    std::string Faster = "-";
    if (A && B && A->Time.isKnown() && B->Time.isKnown()) {
      const double Then =
          B->Time.Cycles * double(Before.P.Kernels[*K.Before].Launches);
      const double Now =
          A->Time.Cycles * double(After.P.Kernels[*K.After].Launches);
      Faster.clear();
      raw_string_ostream(Faster) << format("%.2fx", Then / Now);
    }
    T.row({{slots(B, Old)},
           {slots(A, New)},
           {change(B, A, Old, New), inkOf(Old, New)},
           {B ? percent(B->Cfe) : "-"},
           {A ? percent(A->Cfe) : "-"},
           {Faster},
           {kernelName(K.Name, 60)}});
  }
  T.print(OS, Options.Color);
  OS << '\n';
}

/// "a.cu:12  x < y", as it is after the change, if it still is.
static std::string textOf(const PlaceDiff &P, const CostedRun &Before,
                          const CostedRun &After) {
  const BranchInfo &B =
      P.After ? branchOf(After, *P.After) : branchOf(Before, *P.Before);
  std::string Text = B.Where.empty()
                         ? "block " + std::to_string(B.Block)
                         : sys::path::filename(B.Where.front().File).str() +
                               ":" + std::to_string(B.Where.front().Line);
  const StringRef What =
      B.Condition.empty() ? wordOf(B.Kind) : StringRef(B.Condition);
  return cleanText(Text) + "  " + cleanText(What);
}

static void printPlaces(const RunDiff &D, const CostedRun &Before,
                        const CostedRun &After, size_t MaxPlaces,
                        raw_ostream &OS, const TerminalOptions &Options) {
  if (D.Places.empty()) {
    OS << "Every branch loses what it lost.\n";
    return;
  }
  Table T;
  for (const char *Title :
       {"lost before", "after", "change", "self before", "after"})
    T.column(Title, /*Left=*/false);
  T.column("branch", /*Left=*/true);
  T.wrapLast(std::max(Options.Width, 80u));
  const size_t Shown =
      MaxPlaces ? std::min(MaxPlaces, D.Places.size()) : D.Places.size();
  for (const PlaceDiff &P : ArrayRef(D.Places).take_front(Shown))
    T.row({{slots(P.Before.has_value(), P.SlotsBefore)},
           {slots(P.After.has_value(), P.SlotsAfter)},
           {change(P.Before.has_value(), P.After.has_value(), P.SlotsBefore,
                   P.SlotsAfter),
            inkOf(P.SlotsBefore, P.SlotsAfter)},
           {P.Before ? percent(Before.Cost.Places[*P.Before].Self) : "-"},
           {P.After ? percent(After.Cost.Places[*P.After].Self) : "-"},
           {textOf(P, Before, After)}});
  T.print(OS, Options.Color);
  if (Shown != D.Places.size())
    OS << "and " << counted(D.Places.size() - Shown, "more branch") << '\n';
  if (D.SamePlaces)
    OS << "and " << counted(D.SamePlaces, "branch") << " as before\n";
}

static std::string commandOf(const Profile &P) {
  return cleanText(P.Arguments.empty()
                       ? P.Program
                       : P.Program + " " + join(P.Arguments, " "));
}

void printDiff(const RunDiff &D, const CostedRun &Before,
               const CostedRun &After, size_t MaxPlaces, raw_ostream &OS,
               const TerminalOptions &Options) {
  const unsigned Width = std::max(Options.Width, 80u);
  const std::string Was = commandOf(Before.P), Is = commandOf(After.P);
  printInk(OS,
           Was == Is ? "Divergence of " + Is + ", before and after"
                     : "Divergence of " + Was + ", then of " + Is,
           Ink::Strong, Options.Color);
  OS << "\n\n";
  printKernels(D, Before, After, OS, Options);
  printPlaces(D, Before, After, MaxPlaces, OS, Options);
  OS << '\n';
  printWrapped(
      OS,
      "slots: issue slots; lost: those that lanes idle away where they "
      "part at this branch; self: as a share of the run. model: how "
      "many times as fast the kernel is, all launches, by the model.",
      Width, 2);
  if (Before.P.Backend != After.P.Backend ||
      Before.P.Machine != After.P.Machine)
    printWrapped(OS,
                 "note: before, counted on " + cleanText(Before.P.Backend) +
                     " and priced as " + cleanText(Before.P.Machine) +
                     "; after, on " + cleanText(After.P.Backend) + " and as " +
                     cleanText(After.P.Machine) + ".",
                 Width, 2);
  if (Before.P.Arguments != After.P.Arguments)
    printWrapped(OS, "note: the arguments differ, so the input may.", Width, 2);
}

} // namespace reconverge::report
