//===- transform/remedies/Remedies.h - All transforms, by name --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_REMEDIES_REMEDIES_H
#define RECONVERGE_TRANSFORM_REMEDIES_REMEDIES_H

#include "core/Decision.h"
#include "transform/remap/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::transform {

/// What a remedy came to on one kernel.
struct Applied {
  bool Changed = false;
  /// Why branches were left alone, as remarks say it ("app.cu:12: not melded:
  /// ... [RC121]"), in program order.
  std::vector<std::string> Missed;
};

/// A transform of kernels, as trials see it.
struct Remedy {
  llvm::StringLiteral Name;
  /// Parameters that are worth a trial, best guess first.
  llvm::ArrayRef<llvm::StringLiteral> Parameters;
};

/// In the order in which they are tried.
llvm::ArrayRef<Remedy> remedies();

/// Every candidate that changes code, for one kernel.
std::vector<Candidate> candidates();

/// The UserError names a remedy or a parameter that there is not.
llvm::Error check(const Candidate &What);

/// Applies \p What to every function of \p M, whose blocks are numbered, and
/// numbers the blocks anew. Remarks go where the context's handler sends them.
/// \p Registers, if it is set, is asked what a transform takes.
llvm::Error applyToModule(const Candidate &What, llvm::Module &M,
                          const RegisterCounter &Registers = nullptr);

/// Applies \p What to \p Kernel of \p M, whose blocks are numbered, and numbers
/// the module's blocks anew. The UserError names a remedy or a parameter that
/// there is not.
llvm::Expected<Applied> apply(const Candidate &What, llvm::Function &Kernel);

} // namespace reconverge::transform

#endif
