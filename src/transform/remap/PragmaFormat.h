//===- transform/remap/PragmaFormat.h - Pragmas in device code --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How plugin/Pragmas.cpp, which is in clang, hands `#pragma reconverge remap`
// to settlePragmas(), which sees the device code that clang made: a constant
// string with a line for each pragma,
//
//   line first last choice file
//
// the line of the pragma, the first and the last line of the `if (...)` or
// `switch (...)` after it, "on", "on:<algorithm>" or "off", and the absolute
// path of the file.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_TRANSFORM_REMAP_PRAGMAFORMAT_H
#define RECONVERGE_TRANSFORM_REMAP_PRAGMAFORMAT_H

namespace reconverge::transform {

inline constexpr const char *PragmaVariable = "__reconverge_pragmas";

} // namespace reconverge::transform

#endif
