//===- remedies/herd/Options.h - Parameters of herding ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_OPTIONS_H
#define RECONVERGE_REMEDIES_HERD_OPTIONS_H

#include "remedies/common/CommonOptions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>

namespace reconverge::remedies {

struct HerdOptions : CommonOptions {
  /// Numbers (!rc.branch) of the branches that are meant, of a loop those that
  /// leave it; empty: all that may be herded.
  llvm::SmallVector<uint32_t> Branches;
  /// Rounds of a loop from one vote to the next.
  uint32_t Every = 8;
  /// Lanes of 32 that are too few to run an arm or to stay in a loop; of fewer
  /// that there are, as large a part. 0: none is ever dropped.
  uint32_t Threshold = 16;
  /// Lanes may also be sent into an arm.
  bool TwoWays = false;
  /// Instructions that a branch has to control, those of loops counted eight
  /// times, unless the source names it.
  uint32_t Least = 12;
  /// Also an `if` on the thread's number alone; loops in any case.
  bool Ids = false;

  /// Launches count the threads that they drop, each once. While one drops more
  /// than this share of its threads, in millionths, later ones take the kernel as
  /// it was, but for one in Recheck. None: nothing is counted.
  std::optional<uint32_t> Stop;
  uint32_t Recheck = 16;

  /// Lanes are moved by the machine that runs them, and not by code: those vote
  /// who happen to be there, and who gives way takes the other side of the
  /// branch. Of an `if` or of a loop's end that is safe two ways, in both
  /// directions. Nothing is rewritten by such a plan.
  bool ByMachine = false;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: a vote does not count one lane.
  bool PlantedBug = false;
};

/// Reads "every=4;threshold=8;branch=3" into \p Options; the error names the
/// word that is wrong.
llvm::Expected<HerdOptions> parseHerdOptions(llvm::StringRef Text,
                                             HerdOptions Options = {});

} // namespace reconverge::remedies

#endif
