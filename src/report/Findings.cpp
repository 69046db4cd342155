//===- report/Findings.cpp - A report as results of SARIF -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two rules: a branch at which warps diverge, and an access that takes more
// requests than it must. None is an error of the program: what costs much is a
// warning, the rest a note.
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
  if (P.Where.Line)
    R.Places = {{P.Where.File, P.Where.Line, P.Where.Column, ""}};
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
  if (A.Where.Line)
    R.Places = {{A.Where.File, A.Where.Line, A.Where.Column, ""}};
  return R;
}

void printFindings(const View &V, StringRef Version, StringRef Folder,
                   raw_ostream &OS) {
  SarifRun Run;
  Run.Version = Version.str();
  Run.Folder = Folder.str();
  Run.Rules = {Divergence, Access};
  for (const PlaceView &P : V.Places)
    if (P.Self >= WorthALook)
      Run.Results.push_back(resultOf(P, V));
  for (const AccessView &A : V.Accesses)
    Run.Results.push_back(resultOf(A, V));
  printSarif(Run, OS);
}

} // namespace reconverge::report
