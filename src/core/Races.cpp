//===- core/Races.cpp - Accesses that nothing orders ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Races.h"

#include <algorithm>
#include <tuple>

namespace reconverge {

static auto placeOf(const RaceAccess &A) {
  return std::tie(A.Where, A.What, A.Volatile);
}

static auto placesOf(const Race &R) {
  return std::tuple_cat(placeOf(R.First), placeOf(R.Second), std::tie(R.Space));
}

void addTo(RaceFindings &Sum, RaceFindings More, uint64_t Launch) {
  Sum.Launches += More.Launches;
  Sum.SharesByAtomics |= More.SharesByAtomics;
  Sum.SharesOtherwise |= More.SharesOtherwise;
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
