//===- remedies/common/Requests.h - What the source asks for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_REQUESTS_H
#define RECONVERGE_REMEDIES_COMMON_REQUESTS_H

#include "remedies/common/RequestFormat.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace llvm {
class DILocation;
} // namespace llvm

namespace reconverge::remedies {

/// The parameter that a remedy which the source can ask for has: it applies
/// only where that was done.
inline constexpr llvm::StringLiteral OnlyWhereAsked = "marked=1";

/// What the source says of a branch or a loop and a remedy, by a pragma or by its
/// function's attribute.
struct SourceRequest {
  bool On = true;         ///< apply it; else never
  bool AtAnyCost = true;  ///< a pragma; an attribute: where it pays
  std::string Parameters; ///< "key=value;...", of this branch alone
  const void *Id;         ///< the same for all branches of one pragma
  /// The value of \p Key in Parameters; empty: as the remedy's own have it.
  llvm::StringRef valueOf(llvm::StringRef Key) const;
};

/// Of the branch or switch that ends \p BB; of a loop, if that goes back.
std::optional<SourceRequest> requestOf(const llvm::BasicBlock &BB,
                                       llvm::StringRef Remedy);
/// Of kernel \p F as a whole.
std::optional<SourceRequest> requestOf(const llvm::Function &F,
                                       llvm::StringRef Remedy);

/// Hangs on \p Branch, or \p Kernel, what is asked of \p Remedy: "on" (a
/// pragma), "all" (an attribute), each perhaps with ":<parameters>", or "off";
/// and who says so.
void hangRequest(llvm::Instruction &Branch, llvm::StringRef Remedy,
                 llvm::StringRef What, const llvm::Twine &Place);
void hangRequest(llvm::Function &Kernel, llvm::StringRef Remedy,
                 llvm::StringRef What, const llvm::Twine &Place);
bool hasRequest(const llvm::Instruction &Branch, llvm::StringRef Remedy);

/// All that \p F asks for, the last place first, and then what it asks for as a
/// whole: where two give a parameter, the later in this order goes.
llvm::SmallVector<SourceRequest> requestsIn(const llvm::Function &F,
                                            llvm::StringRef Remedy);
/// Whether there are any.
bool isAskedFor(const llvm::Function &F, llvm::StringRef Remedy);
/// Has \p F say nothing of \p Remedy.
void dropRequests(llvm::Function &F, llvm::StringRef Remedy);

/// What a request hangs on, and where the source has it; perhaps null.
struct RequestPlace {
  Subject Of; ///< a branch or a loop
  llvm::Instruction *At;
  const llvm::DILocation *Where;
};
/// All in \p F that may be asked for \p Remedy: branches; loops, by what goes
/// back in each.
llvm::SmallVector<RequestPlace> requestPlaces(llvm::Function &F,
                                              llvm::StringRef Remedy);

struct SettledRequests {
  /// Remedies that some branch is to have, or to be looked at for.
  std::set<std::string> Asked;
  /// Pragmas that no branch came of: "app.cu:12: ...".
  std::vector<std::string> Unmatched;
};
inline constexpr const char *UnmatchedHelp =
    "Take it away if its code is unused, if the compiler has made the choice "
    "without a branch or has unrolled the loop, or if there are no line "
    "numbers (-gline-tables-only).";

/// Hangs what the pragmas of \p M say on their branches, found by file and line
/// of the debug locations, and removes the variable that has them; then what
/// attributes say, likewise. Fails if another version of our plugin for clang
/// has written the variable, or if an attribute is wrong.
llvm::Expected<SettledRequests> settleRequests(llvm::Module &M);

/// The same, for passes: errors, and pragmas without a branch, go to the
/// context. The remedies that are asked for.
std::set<std::string> settleRequestsHere(llvm::Module &M);

/// `reconverge-settle-requests`
class SettleRequestsPass : public llvm::PassInfoMixin<SettleRequestsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
};

} // namespace reconverge::remedies

#endif
