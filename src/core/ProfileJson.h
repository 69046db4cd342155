//===- core/ProfileJson.h - Profiles as divergence.json ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_PROFILEJSON_H
#define RECONVERGE_CORE_PROFILEJSON_H

#include "core/Cost.h"
#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge {

class JsonWriter;

inline constexpr llvm::StringLiteral ProfileSchema = "reconverge-divergence/1";

/// The word that JSON and the report use for \p Kind ("if", "if-else",
/// "loop exit", "switch").
llvm::StringRef wordOf(BranchKind Kind);

/// A place in the source, and how it came to stand there, under "where".
bool readLoc(const llvm::json::Value &V, llvm::json::Path P, SourceLoc &Loc);
void writeWhere(JsonWriter &W, const SourceChain &Chain);

/// A launch's shape, for files that hold some.
bool readShape(const llvm::json::Value &V, llvm::json::Path P, LaunchShape &S);
void writeShape(JsonWriter &W, const LaunchShape &S);

/// Reads the profile that \p Text holds and checks every number in it: after
/// success all indices are in range, parallel lists have one length and no
/// block has more lanes than its warps. The UserError names \p File, the place
/// (line and column, or the path to the value) and what to do. Keys that it
/// does not know are ignored, derived costs among them.
llvm::Expected<Profile> parseProfile(llvm::StringRef Text,
                                     llvm::StringRef File);
llvm::Expected<Profile> readProfile(llvm::StringRef Path);

/// Same profile, same bytes. \p Cost, if not null, is what model::costOf makes
/// of \p P; it is written under the keys "cost", beside what it was computed
/// from, and "places". Block vectors and the trace of launches, if \p P has
/// them, are written where it is null and with \p Raw: most readers of a report
/// have no use for them, and they are long.
void printProfileJson(const Profile &P, const RunCost *Cost,
                      llvm::raw_ostream &OS, bool Raw = false);

/// As above, into a file, in one step (core/File.h).
llvm::Error writeProfile(const Profile &P, llvm::StringRef Path);
llvm::Error writeReport(const Profile &P, const RunCost &Cost,
                        llvm::StringRef Path, bool Raw = false);

} // namespace reconverge

#endif
