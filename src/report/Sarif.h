//===- report/Sarif.h - Results as annotation tools read them ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_SARIF_H
#define RECONVERGE_REPORT_SARIF_H

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

/// A kind of result.
struct SarifRule {
  std::string Id;      ///< stable, as in "race"
  std::string Summary; ///< a sentence
  std::string Help;    ///< what to do about it
};

struct SarifPlace {
  std::string File;              ///< absolute, or relative to SarifRun::Folder
  unsigned Line = 0, Column = 0; ///< 0: not known
  std::string Message;           ///< of a place that is not a result's first
};

struct SarifResult {
  enum LevelKind { Error, Warning, Note };
  std::string Rule; ///< the Id of one of SarifRun::Rules
  LevelKind Level = Error;
  std::string Message;
  std::vector<SarifPlace>
      Places;              ///< the first is the result's own; may be none
  bool Suppressed = false; ///< the user has asked for that
};

struct SarifRun {
  std::string Version; ///< of Reconverge
  std::string Folder;  ///< absolute; files below it are named relative to it
  std::vector<SarifRule> Rules;
  std::vector<SarifResult> Results;
};

/// \p Run as a log of SARIF 2.1.0.
void printSarif(const SarifRun &Run, llvm::raw_ostream &OS);

} // namespace reconverge::report

#endif
