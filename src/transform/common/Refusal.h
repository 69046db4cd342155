//===- transform/common/Refusal.h - Why a remedy does not apply -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_COMMON_REFUSAL_H
#define RECONVERGE_TRANSFORM_COMMON_REFUSAL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugLoc.h"

#include <optional>
#include <string>
#include <variant>

namespace llvm {
class Instruction;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::transform {

/// Its value is the number that users see: RC101 and so on.
enum class RefusalCode : unsigned {
#define REFUSAL(NUMBER, NAME, SENTENCE, PAGE) NAME = NUMBER,
#include "transform/common/Refusals.def"
};

/// Why a remedy does not apply at a place. \p Detail, if not empty, is said
/// after the code's sentence: the callee's name, the numbers.
struct Refusal {
  RefusalCode Code;
  llvm::DebugLoc Where;
  std::string Detail;
};

/// Refuses because of \p I; what it is called belongs to the detail.
Refusal refusal(RefusalCode Code, const llvm::Instruction &I,
                std::string Detail = "");

/// What legality returns: a plan that the rewrite cannot fail on, or a refusal.
template <typename PlanT> using PlanOr = std::variant<PlanT, Refusal>;

std::string nameOf(RefusalCode Code);         ///< "RC101"
llvm::StringRef sentenceOf(RefusalCode Code); ///< no capital, no full stop
llvm::StringRef pageOf(RefusalCode Code);     ///< whole sentences
llvm::ArrayRef<RefusalCode> allRefusals();    ///< by number
/// Of "RC101" or "rc101".
std::optional<RefusalCode> refusalNamed(llvm::StringRef Name);

/// A remark that \p Pass left the code at \p Branch alone: "<Missed>: <why>
/// [RC...]". It stands at the refusal's place, or at the branch if that has
/// none.
void reportMissed(llvm::OptimizationRemarkEmitter &Remarks, const char *Pass,
                  llvm::StringRef Missed, const llvm::Instruction &Branch,
                  const Refusal &Why);

} // namespace reconverge::transform

#endif
