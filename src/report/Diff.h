//===- report/Diff.h - Two runs beside each other ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_DIFF_H
#define RECONVERGE_REPORT_DIFF_H

#include "core/Cost.h"
#include "core/Profile.h"
#include "report/Text.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::report {

/// A run and what it costs; both outlive what is made of them.
struct CostedRun {
  const Profile &P;
  const RunCost &Cost;
};

/// A kernel of either run or of both.
struct KernelDiff {
  std::string Name;                      ///< demangled, clean
  std::optional<uint32_t> Before, After; ///< in Profile::Kernels
};

/// A place of either run or of both.
struct PlaceDiff {
  std::optional<uint32_t> Before, After;  ///< in RunCost::Places
  double SlotsBefore = 0, SlotsAfter = 0; ///< lost by itself
};

struct RunDiff {
  std::vector<KernelDiff> Kernels; ///< the later run's order, then those gone
  std::vector<PlaceDiff> Places;   ///< those that differ, most slots first
  size_t SamePlaces = 0;
};

/// Pairs kernels by their mangled names, or else by those for people, or as one
/// with what a remedy has made of it; places by
/// file, condition and line, then without the line, in the order in which they
/// stand there: edits move lines.
RunDiff diffOf(const CostedRun &Before, const CostedRun &After);

/// The dearest branch of place \p Place of \p R.
const BranchInfo &branchOf(const CostedRun &R, uint32_t Place);

/// Prints \p D: kernels, then places, at most \p MaxPlaces of these (0: all).
void printDiff(const RunDiff &D, const CostedRun &Before,
               const CostedRun &After, size_t MaxPlaces, llvm::raw_ostream &OS,
               const TerminalOptions &Options);
/// The same tables as GitHub's Markdown.
void printDiffMarkdown(const RunDiff &D, const CostedRun &Before,
                       const CostedRun &After, size_t MaxPlaces,
                       llvm::raw_ostream &OS);
/// For scripts: "reconverge-diff/1", which docs/formats.md describes.
void printDiffJson(const RunDiff &D, const CostedRun &Before,
                   const CostedRun &After, size_t MaxPlaces,
                   llvm::raw_ostream &OS);

} // namespace reconverge::report

#endif
