//===- core/DecisionJson.h - Decisions as a file ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_DECISIONJSON_H
#define RECONVERGE_CORE_DECISIONJSON_H

#include "core/Decision.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge {

class JsonWriter;

inline constexpr llvm::StringLiteral DecisionSchema = "reconverge-decisions/1";

/// The words of the JSON form and of reports.
llvm::StringRef wordOf(VerdictKind Kind);
llvm::StringRef wordOf(TrialOutcome End);

/// Parts that other files hold as well.
bool readCandidate(const llvm::json::Value &V, llvm::json::Path P,
                   Candidate &C);
bool readVerdict(const llvm::json::Value &V, llvm::json::Path P, Verdict &Out);
void writeCandidate(JsonWriter &W, const Candidate &C);
void writeVerdict(JsonWriter &W, const Verdict &V);

/// As parseProfile: every value checked, one message with the place. A kernel
/// is decided once, and what it keeps was tried and ended as kept, or is a
/// build of the unmodified kernel.
llvm::Expected<DecisionFile> parseDecisions(llvm::StringRef Text,
                                            llvm::StringRef File);
llvm::Expected<DecisionFile> readDecisions(llvm::StringRef Path);

/// Same decisions, same bytes.
void printDecisions(const DecisionFile &File, llvm::raw_ostream &OS);
llvm::Error writeDecisions(const DecisionFile &File, llvm::StringRef Path);

} // namespace reconverge

#endif
