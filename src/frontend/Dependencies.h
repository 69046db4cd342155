//===- frontend/Dependencies.h - What a unit was made from ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_DEPENDENCIES_H
#define RECONVERGE_FRONTEND_DEPENDENCIES_H

#include "frontend/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::frontend {

/// One rule for make, of the target of the first of \p Rules (the text of files
/// that clang wrote) and of the prerequisites of all, each once, in order. With
/// \p Phony, each but the first, which is the source, gets a rule of its own.
std::string mergeDependencies(llvm::ArrayRef<llvm::StringRef> Rules,
                              bool Phony);

/// Where -MD writes if no -MF says otherwise: \p Output with .d for its
/// extension.
std::string dependencyFileFor(llvm::StringRef Output);

} // namespace reconverge::frontend

#endif
