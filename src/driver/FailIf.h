//===- driver/FailIf.h - Conditions that fail a run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_FAILIF_H
#define RECONVERGE_DRIVER_FAILIF_H

#include "core/Cost.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// What --fail-if asks for: an event, or a measure over or under a bound.
struct FailCondition {
  enum Kind {
    Refused,        ///< some device code did not run
    NoneRan,        ///< no kernel ran to its end
    OrderDependent, ///< --shuffle found a result that depends on the order
    Races,          ///< --races found accesses that nothing orders
    Self,           ///< of a place, share of the run
    Total,          ///< of a place, share of the run
    Recoverable,    ///< over the grid, of a place, share of the run
    Cfe             ///< of a kernel
  };
  Kind What;
  bool Above = true; ///< more than the bound; otherwise less
  double Bound = 0;  ///< 0..1
  std::string Text;  ///< as it was written
};

/// `event`, or `measure>n%`, `measure<n%`; docs/messages.md has the words. The
/// UserError names what is allowed.
llvm::Expected<FailCondition> parseFailCondition(llvm::StringRef Text);

/// Writes a line for each of \p Conditions that holds, or that the run has no
/// figures to judge by; whether there is one.
bool sayWhatHolds(llvm::ArrayRef<FailCondition> Conditions, const Profile &P,
                  const RunCost &Cost, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
