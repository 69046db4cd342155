//===- report/Names.h - Names of kernels for people -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_NAMES_H
#define RECONVERGE_REPORT_NAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace reconverge::report {

/// A demangled name as its author would say it, in at most \p Width columns:
/// without inline namespaces and ABI tags; if that is too long, with template
/// arguments by their last names, then without theirs, then fewer of them.
/// "cub::DeviceScanKernel<int, plus>". A library's kernel has the user's types
/// alone, if there are any: "cub::static_kernel<main::'lambda'(int)>".
std::string kernelName(llvm::StringRef Demangled, unsigned Width);

/// Of all kernels of a table: as kernelName(), but for different ones that come
/// out alike. These are cut from their start, so that the user's types show:
/// "...ernel<'lambda'(int)>".
std::vector<std::string> kernelNames(llvm::ArrayRef<llvm::StringRef> Demangled,
                                     unsigned Width);

} // namespace reconverge::report

#endif
