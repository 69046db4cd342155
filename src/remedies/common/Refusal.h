//===- remedies/common/Refusal.h - Why a remedy does not apply -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_REFUSAL_H
#define RECONVERGE_REMEDIES_COMMON_REFUSAL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugLoc.h"

#include <string>
#include <variant>

namespace llvm {
class Instruction;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::remedies {

/// A kind of refusal: REFUSAL(number, name, sentence, page) in the file
/// Refusals.def of a remedy.
struct RefusalKind {
  unsigned Number;              ///< never given to another
  llvm::StringLiteral Sentence; ///< of the remark: no capital, no full stop
  /// What `reconverge explain` adds, in whole sentences: what the rule
  /// protects, and what a user can do.
  llvm::StringLiteral Page;
  std::string code() const { return "RC" + std::to_string(Number); }
};

/// Why a remedy does not apply at a place. \p Detail, if not empty, is said
/// after the kind's sentence: the callee's name, the numbers.
struct Refusal {
  const RefusalKind *Kind; ///< one of those in a Refusals.h
  llvm::DebugLoc Where;
  std::string Detail;
};

/// Refuses because of \p I; what it is called belongs to the detail.
Refusal refusal(const RefusalKind &Kind, const llvm::Instruction &I,
                std::string Detail = "");

/// What legality returns: a plan that the rewrite cannot fail on, or a refusal.
template <typename PlanT> using PlanOr = std::variant<PlanT, Refusal>;

/// A remark that \p Pass left the code at \p Branch alone: "<Missed>: <why>
/// [RC...]". It stands at the refusal's place, or at the branch if that has
/// none.
void reportMissed(llvm::OptimizationRemarkEmitter &Remarks, const char *Pass,
                  llvm::StringRef Missed, const llvm::Instruction &Branch,
                  const Refusal &Why);

} // namespace reconverge::remedies

#endif
