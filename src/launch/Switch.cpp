//===- launch/Switch.cpp - Which form of a launch is faster ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   round    kept, other, kept, other, each measured; the recipe is kept first
//   wait     launches take the kept form while times are to come
//   decide   least time of each form; the first round takes the faster, a later
//            one changes only for what is faster by the margin
//   pause    launches take the kept form; then a round again
//
// The least of a form's times, since what disturbs a launch makes it longer:
// code that is loaded at the first, a host that comes late, other streams.
//
// A pause is as long as keeps what rounds lose below 1 % of the time, and at
// least 64 launches; each round that changes nothing doubles it. So a recipe
// that is 20 times slower than the kernel as it was is tried again after 3,800
// launches, then after 7,600.
//
//===----------------------------------------------------------------------===//

#include "launch/Switch.h"

#include <algorithm>

namespace reconverge::launch {

/// Launches of a round, half of them in each form.
static constexpr unsigned RoundLaunches = 4;
/// By which part of its time the other form has to be faster.
static constexpr double Margin = 0.05;
static constexpr double MostLost = 0.01; ///< of the time, by rounds
static constexpr uint64_t LeastPause = 64, MostPause = uint64_t(1) << 20;

Switch::Turn Switch::next() {
  if (Begun == RoundLaunches && Arrived == RoundLaunches && Pause-- == 0) {
    Begun = Arrived = 0;
    Least[0] = Least[1] = 0;
  }
  if (Begun == RoundLaunches)
    return {Kept, false};
  return {Begun++ % 2 ? otherThan(Kept) : Kept, true};
}

void Switch::arrived(Form Took, double Milliseconds) {
  double &Of = Least[unsigned(Took)];
  if (Milliseconds > 0)
    Of = Of > 0 ? std::min(Of, Milliseconds) : Milliseconds;
  if (++Arrived == RoundLaunches)
    decide();
}

void Switch::decide() {
  const Form Other = otherThan(Kept);
  double Mine = Least[unsigned(Kept)], Its = Least[unsigned(Other)];
  Pause = LeastPause;
  if (Mine <= 0 || Its <= 0)
    return; // nothing is known: the next round may tell
  std::copy(Least, Least + 2, Known);
  if (Its < Mine * (Decisions ? 1 - Margin : 1)) {
    Kept = Other;
    std::swap(Mine, Its);
    Changes += Decisions != 0;
    Unchanged = 0;
  } else if (Decisions) {
    ++Unchanged;
  }
  ++Decisions;
  const double Lost = std::max(Its / Mine - 1, 0.) * RoundLaunches / 2;
  const double Wanted =
      std::max(Lost / MostLost, double(LeastPause)) *
      double(uint64_t(1) << std::min<uint64_t>(Unchanged, 20));
  Pause = uint64_t(std::min(Wanted, double(MostPause)));
}

} // namespace reconverge::launch
