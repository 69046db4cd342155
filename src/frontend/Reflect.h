//===- frontend/Reflect.h - Settle __nvvm_reflect ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_REFLECT_H
#define RECONVERGE_FRONTEND_REFLECT_H

#include "frontend/Options.h"

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// Replaces every call of __nvvm_reflect by what \p Math and \p Arch say, and
/// removes the declaration. The error is that of a name that is no constant
/// string.
llvm::Error resolveReflect(llvm::Module &M, const Numerics &Math,
                           unsigned Arch);

} // namespace reconverge::frontend

#endif
