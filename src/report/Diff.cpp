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

#include "core/Remedied.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

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

const BranchInfo &branchOf(const CostedRun &R, uint32_t Place) {
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

} // namespace reconverge::report
