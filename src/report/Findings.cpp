//===- report/Findings.cpp - A report as results of SARIF -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two rules: a branch at which warps diverge, and an access that takes more
// requests than it must. None is an error of the program: what costs much is a
// warning, the rest a note. What has no place in the source is said of its
// kernel's, and left out if that has none: hosts of code refuse a file in which a
// result has no place.
//
//===----------------------------------------------------------------------===//

#include "report/Names.h"
#include "report/Sarif.h"
#include "report/Text.h"
#include "report/Writers.h"

using namespace llvm;

namespace reconverge::report {

/// An access that takes this part of its kernel's is worth a warning.
static constexpr double MuchOfKernel = 0.1;

static const SarifRule Divergence = {
    "divergent-branch",
    "Lanes of a warp part at this branch, and idle until they meet again.",
    "The message names what may help. reconverge optimize tries what is "
    "automatic; docs/what-to-do.md says what is left to do by hand."};
static const SarifRule Access = {
    "memory-access",
    "Requests of this access take more sectors, wavefronts or turns than the "
    "same lanes would at best.",
    "docs/memory.md has the rules."};

/// \p Where, or else its kernel; empty: neither is known.
static std::vector<SarifPlace> placesOf(const SourceLoc &Where,
                                        const KernelView &Kernel) {
  for (const SourceLoc &At : {Where, Kernel.Where})
    if (At.Line)
      return {{At.File, At.Line, At.Column, ""}};
  return {};
}

static SarifResult resultOf(const PlaceView &P, const View &V) {
  SarifResult R;
  R.Rule = Divergence.Id;
  R.Level =
      P.Weight == Severity::Slight ? SarifResult::Note : SarifResult::Warning;
  R.Message = P.What + ": " + percent(P.Self) +
              " of the run is lost where "
              "lanes part here, " +
              percent(P.Total) + " with the branches inside; " +
              percent(P.Split) + " of " + counted(P.Warps, "warp") +
              " split, in " +
              kernelName(V.Kernels[P.Kernels.front()].Name, 60) + ".";
  for (const std::string &Line : P.Advice)
    R.Message += "\n" + Line;
  R.Places = placesOf(P.Where, V.Kernels[P.Kernels.front()]);
  return R;
}

static SarifResult resultOf(const AccessView &A, const View &V) {
  SarifResult R;
  R.Rule = Access.Id;
  R.Level =
      A.OfKernel >= MuchOfKernel ? SarifResult::Warning : SarifResult::Note;
  R.Message = A.What + ": " + A.Which + ", " + percent(A.OfKernel) +
              " of what " + kernelName(V.Kernels[A.Kernel].Name, 60) +
              " takes of this.";
  R.Places = placesOf(A.Where, V.Kernels[A.Kernel]);
  return R;
}

void printFindings(const View &V, StringRef Version, StringRef Folder,
                   raw_ostream &OS) {
  SarifRun Run;
  Run.Version = Version.str();
  Run.Folder = Folder.str();
  Run.Rules = {Divergence, Access};
  auto Add = [&](SarifResult R) {
    if (!R.Places.empty())
      Run.Results.push_back(std::move(R));
  };
  for (const PlaceView &P : V.Places)
    if (P.Self >= WorthALook)
      Add(resultOf(P, V));
  for (const AccessView &A : V.Accesses)
    Add(resultOf(A, V));
  printSarif(Run, OS);
}

} // namespace reconverge::report
