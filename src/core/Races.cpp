//===- core/Races.cpp - Accesses that nothing orders ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Races.h"

#include <algorithm>
#include <tuple>

namespace reconverge {

const char *wordOf(RaceAccess::Kind What) {
  switch (What) {
  case RaceAccess::Read:
    return "read";
  case RaceAccess::Write:
    return "write";
  case RaceAccess::Atomic:
    return "atomic";
  }
  __builtin_unreachable();
}

const char *wordOf(RaceSpace Space) {
  return Space == RaceSpace::Shared ? "shared" : "global";
}

static std::string indices(const std::array<uint32_t, 3> &I) {
  return "(" + std::to_string(I[0]) + "," + std::to_string(I[1]) + "," +
         std::to_string(I[2]) + ")";
}

static std::string
textOf(const RaceAccess &A,
       const std::function<std::string(const std::string &)> &NameOf) {
  std::string Text = A.Volatile ? "volatile " : "";
  Text += wordOf(A.What);
  for (const SourceLoc &Loc : A.Where) {
    const size_t Depth = &Loc - A.Where.data();
    Text += (Depth == 1 ? " (inlined at "
             : Depth    ? ", at "
                        : " at ") +
            NameOf(Loc.File) + ":" + std::to_string(Loc.Line);
  }
  if (A.Where.size() > 1)
    Text += ")";
  if (A.Where.empty())
    Text += " at a place that the compiler did not keep";
  return Text + " by thread " + indices(A.Thread) + " of block " +
         indices(A.Block);
}

std::string
textOf(const Race &R,
       const std::function<std::string(const std::string &)> &NameOf) {
  return textOf(R.First, NameOf) + ", and " + textOf(R.Second, NameOf) + ": " +
         wordOf(R.Space) + " memory, byte " + std::to_string(R.Offset) +
         " of " + R.Memory + (R.SameValue ? ", the same value" : "");
}

static auto placeOf(const RaceAccess &A) {
  return std::tie(A.Where, A.What, A.Volatile);
}

static auto placesOf(const Race &R) {
  return std::tuple_cat(placeOf(R.First), placeOf(R.Second), std::tie(R.Space));
}

void addTo(RaceFindings &Sum, RaceFindings More, uint64_t Launch) {
  Sum.Launches += More.Launches;
  for (Sharing RaceFindings::*Part :
       {&RaceFindings::OfThreads, &RaceFindings::InGlobal,
        &RaceFindings::OfBlocks}) {
    (Sum.*Part).ByAtomics |= (More.*Part).ByAtomics;
    (Sum.*Part).Otherwise |= (More.*Part).Otherwise;
  }
  Sum.Incomplete |= More.Incomplete;
  for (Race &R : More.Races) {
    if (placeOf(R.Second) < placeOf(R.First))
      std::swap(R.First, R.Second);
    R.Launch = Launch;
    auto At = std::lower_bound(
        Sum.Races.begin(), Sum.Races.end(), R,
        [](const Race &A, const Race &B) { return placesOf(A) < placesOf(B); });
    if (At == Sum.Races.end() || placesOf(*At) != placesOf(R)) {
      Sum.Races.insert(At, std::move(R));
      continue;
    }
    At->Times += R.Times;
    if (At->SameValue && !R.SameValue) {
      R.Times = At->Times; // shows what is wrong better
      *At = std::move(R);
    }
  }
}

} // namespace reconverge
