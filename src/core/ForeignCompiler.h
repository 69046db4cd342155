//===- core/ForeignCompiler.h - Compilers other than ours -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Others' code of an unmodified kernel is what a user who comes from them has:
// it is the code to beat, and where ours is slower the code to keep. One more
// compiler is one more entry here, and what frontend/ForeignCode.cpp tells it.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_FOREIGNCOMPILER_H
#define RECONVERGE_CORE_FOREIGNCOMPILER_H

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace reconverge {

/// Whose code of the same source can stand in the place of ours.
enum class ForeignCompiler {
  Nvcc,
  Clang ///< as it is: its own pipeline and arithmetic
};

/// All, in the order in which they are tried and reported.
inline constexpr ForeignCompiler ForeignCompilers[] = {ForeignCompiler::Nvcc,
                                                       ForeignCompiler::Clang};

/// The word for it in options, files and reports.
constexpr const char *nameOf(ForeignCompiler By) {
  return By == ForeignCompiler::Nvcc ? "nvcc" : "clang";
}

constexpr std::optional<ForeignCompiler> foreignNamed(std::string_view Name) {
  for (ForeignCompiler By : ForeignCompilers)
    if (Name == nameOf(By))
      return By;
  return std::nullopt;
}

/// One value for each of them.
template <typename T> struct EachForeign {
  std::array<T, std::size(ForeignCompilers)> Values = {};
  T &operator[](ForeignCompiler By) { return Values[size_t(By)]; }
  const T &operator[](ForeignCompiler By) const { return Values[size_t(By)]; }
};

} // namespace reconverge

#endif
