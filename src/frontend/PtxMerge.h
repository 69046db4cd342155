//===- frontend/PtxMerge.h - Kernels of some compilers in one PTX -*-C++-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTXMERGE_H
#define RECONVERGE_FRONTEND_PTXMERGE_H

#include "core/ForeignCompiler.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::frontend {

/// \p Ours with the entries \p Kernels of \p Theirs, which \p By has made and
/// \p Ours does not have, and all that those need. \p Shared names the
/// variables that are one for both: the definition in \p Ours stands. The error
/// names a kernel or a shared variable that is missing. \p Ours may be such a
/// join, with another compiler's, already.
llvm::Expected<std::string> mergePtx(llvm::StringRef Ours,
                                     llvm::StringRef Theirs, ForeignCompiler By,
                                     const llvm::StringSet<> &Kernels,
                                     const llvm::StringSet<> &Shared);

} // namespace reconverge::frontend

#endif
