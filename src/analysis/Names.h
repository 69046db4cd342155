//===- analysis/Names.h - Names of kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_NAMES_H
#define RECONVERGE_ANALYSIS_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::analysis {

/// "ns::walk<float>" of "_ZN2ns4walkIfEEvPT_": without parameters and result.
std::string displayName(llvm::StringRef Mangled);

} // namespace reconverge::analysis

#endif
