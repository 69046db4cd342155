//===- analysis/CodeHash.h - By which a decision knows its code -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_CODEHASH_H
#define RECONVERGE_ANALYSIS_CODEHASH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::analysis {

/// 16 hex digits for what the code of \p M does: the same wherever its source
/// lies, however that is named, and with other comments or line breaks in it.
/// Of a sealed module, what it was sealed with.
std::string codeHash(const llvm::Module &M);

/// Writes that hash into \p M, so that who runs it need not compute it.
void sealCodeHash(llvm::Module &M);

/// That of a module which is not parsed yet.
llvm::Expected<std::string> codeHashOf(llvm::StringRef Bitcode);

} // namespace reconverge::analysis

#endif
