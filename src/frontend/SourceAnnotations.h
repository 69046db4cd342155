//===- frontend/SourceAnnotations.h - __attribute__((annotate)) -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_SOURCEANNOTATIONS_H
#define RECONVERGE_FRONTEND_SOURCEANNOTATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Constant;
class Function;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Takes what clang has passed on of \p M's annotations to \p Take, which gets the
/// function, the annotation's name and its arguments (a structure; null: none);
/// those for which it is true are gone then.
void takeAnnotations(
    llvm::Module &M,
    llvm::function_ref<bool(llvm::Function &, llvm::StringRef Name,
                            const llvm::Constant *Arguments)>
        Take);

} // namespace reconverge::frontend

#endif
