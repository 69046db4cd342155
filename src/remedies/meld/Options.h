//===- remedies/meld/Options.h - Parameters of melding ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_MELD_OPTIONS_H
#define RECONVERGE_REMEDIES_MELD_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::remedies {

struct MeldOptions {
  /// Least part of the arms' issue slots that melding must save. Two equal arms
  /// save half.
  double Threshold = 0.1;
  /// Issue slots of branching around code that has no partner.
  double Guard = 4;
  /// Largest product of the arms' lengths that is compared.
  uint64_t Limit = 1000000;
  /// Numbers (!rc.branch) of the branches to meld; empty: all.
  std::vector<uint32_t> Branches;
  /// Numbers of branches to leave alone: a profile says that they hardly split.
  std::vector<uint32_t> Skipped;
  /// Optimise the melded function at the end.
  bool Polish = true;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: selects of integers that are known before the branch take the
  /// wrong side.
  bool PlantedBug = false;
};

/// Reads "threshold=0.2;guard=4;limit=1000;branch=3;skip=5;polish=0"; the
/// error names the word that is wrong.
llvm::Expected<MeldOptions> parseMeldOptions(llvm::StringRef Text);

} // namespace reconverge::remedies

#endif
