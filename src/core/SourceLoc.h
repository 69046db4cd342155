//===- core/SourceLoc.h - Places in the source ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_SOURCELOC_H
#define RECONVERGE_CORE_SOURCELOC_H

#include <string>
#include <vector>

namespace reconverge {

/// A place in the source. `Function` is the name of the function that holds the
/// line, as the user wrote it (demangled).
struct SourceLoc {
  std::string File;
  unsigned Line = 0, Column = 0;
  std::string Function;
  bool operator==(const SourceLoc &) const = default;
  auto operator<=>(const SourceLoc &) const = default;
};

/// A place and the call sites through which it was inlined, innermost first;
/// empty where the compiler kept no line.
using SourceChain = std::vector<SourceLoc>;

} // namespace reconverge

#endif
