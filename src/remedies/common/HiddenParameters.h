//===- remedies/common/HiddenParameters.h - Of kernels ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_HIDDENPARAMETERS_H
#define RECONVERGE_REMEDIES_COMMON_HIDDENPARAMETERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Type;
} // namespace llvm

namespace reconverge::remedies {

/// \p Kernel with parameters of \p Types behind its own, called \p Names: what
/// a remedy tells it and the program knows nothing of. The blocks and
/// instructions are the same objects as before. All else that the function is
/// or has goes to the new one: its name, linkage, attributes, metadata, notes,
/// place in the module and uses. \p Kernel is erased. It has no variable
/// arguments, and nobody calls it.
llvm::Function &addParameters(llvm::Function &Kernel,
                              llvm::ArrayRef<llvm::Type *> Types,
                              llvm::ArrayRef<llvm::StringRef> Names);

} // namespace reconverge::remedies

#endif
