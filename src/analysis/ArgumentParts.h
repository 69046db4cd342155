//===- analysis/ArgumentParts.h - What a kernel's arguments hold *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_ARGUMENTPARTS_H
#define RECONVERGE_ANALYSIS_ARGUMENTPARTS_H

#include "core/Recipe.h"

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::analysis {

/// The numbers and addresses in the first \p Count arguments of \p Kernel that its
/// code uses, as a launch gives them: of a structure its members.
std::vector<RecipeAhead::Part> usedParts(const llvm::Function &Kernel,
                                         unsigned Count);

/// Bytes of each of them.
std::vector<uint32_t> argumentSizes(const llvm::Function &Kernel,
                                    unsigned Count);

} // namespace reconverge::analysis

#endif
