//===- runtime/trial/Variant.h - A candidate's code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_VARIANT_H
#define RECONVERGE_RUNTIME_TRIAL_VARIANT_H

#include "core/Decision.h"
#include "remedies/Table.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>

namespace reconverge::runtime {

/// Makes a candidate of a kernel; tests bring remedies of their own.
using Remedies = std::function<llvm::Expected<remedies::Applied>(
    const Candidate &, llvm::Function &)>;

/// A kernel's module with one candidate applied.
struct KernelVariant {
  llvm::SmallVector<char, 0> Bitcode;
  std::string Hash; ///< of Bitcode: equal for equal code
};

/// \p What applied to the kernel \p Name of a copy of \p M, in a context of its
/// own: \p M stays as it is. An error says why the kernel was left alone.
llvm::Expected<KernelVariant> makeVariant(const llvm::Module &M,
                                          llvm::StringRef Name,
                                          const Candidate &What,
                                          const Remedies &Apply);

} // namespace reconverge::runtime

#endif
