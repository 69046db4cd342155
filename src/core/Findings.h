//===- core/Findings.h - What a tested process showed -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `reconverge test` gives all processes of a command a folder. Each that uses
// our CUDA runtime writes a file there, a document a line, each line by one
// call: what a process has found stays if it is killed, and one without its
// last line did not come to its end.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_FINDINGS_H
#define RECONVERGE_CORE_FINDINGS_H

#include "core/Races.h"
#include "core/SourceLoc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge {

/// In the order in which they decide what a test returns.
enum class FindingKind {
  Bounds,      ///< an access of what is not there, or not aligned
  Assert,      ///< an assertion that failed, a trap
  Hang,        ///< a deadlock, a loop past its limit
  Sync,        ///< a barrier or a mask that threads do not agree on
  Race,        ///< accesses that nothing orders
  Init,        ///< a read of what nobody wrote
  Order,       ///< a result that depends on the order of threads
  Unsupported, ///< a call or a construct that the VM does not run
};
llvm::ArrayRef<FindingKind> allFindingKinds();
/// "bounds", "assert", ...
llvm::StringRef wordOf(FindingKind Kind);

/// A place that a finding names, and who was there first.
struct FindingPlace {
  std::string What; ///< "read", "write by", ...; may be empty
  SourceChain Where;
  std::optional<std::array<uint32_t, 3>> Block, Thread;
  bool operator==(const FindingPlace &) const = default;
};

struct Finding {
  FindingKind Kind = FindingKind::Bounds;
  /// A GPU lets it pass, or it does no harm: it fails no test.
  bool Harmless = false;
  std::string Kernel; ///< as the user wrote it; empty: of no kernel
  std::string Text;   ///< what happened, without the places
  std::vector<FindingPlace> Places; ///< the first is the finding's own

  /// Whether it is the same finding, whoever came across it.
  bool sameAs(const Finding &Other) const;
};

/// \p R, found in \p Kernel.
Finding findingOf(const Race &R, std::string Kernel);

/// What one process showed.
struct TestedProcess {
  std::string Program;
  std::vector<std::string> Arguments;
  uint64_t Id = 0;
  std::vector<std::string>
      Kernels; ///< launched, in order of their first launch
  std::vector<Finding> Findings;
  uint64_t Launches = 0; ///< only if HasEnded
  bool HasEnded = false; ///< by itself: no signal, no _exit
};

/// Lines of a process's file, each with its end.
std::string startLine(const TestedProcess &P);
std::string kernelLine(llvm::StringRef Kernel);
std::string findingLine(const Finding &F);
std::string endLine(uint64_t Launches);

/// Reads the file of a process; a last line that was cut off is left out.
llvm::Expected<TestedProcess> readTestedProcess(llvm::StringRef Path);

} // namespace reconverge

#endif
