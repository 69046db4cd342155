//===- report/Names.h - Names of kernels for people -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_NAMES_H
#define RECONVERGE_REPORT_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace reconverge::report {

/// A demangled name as its author would say it, in at most \p Width columns:
/// without inline namespaces and ABI tags; if that is too long, with template
/// arguments by their last names, then without theirs, then fewer of them.
/// "cub::DeviceScanKernel<int, plus>".
std::string kernelName(llvm::StringRef Demangled, unsigned Width);

} // namespace reconverge::report

#endif
