//===- launch/Rows.h - Arrays that lie in the order of threads --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_ROWS_H
#define RECONVERGE_LAUNCH_ROWS_H

#include "launch/Execute.h"

#include <array>

namespace reconverge::launch {

/// An array of Recipe::Rows in one launch.
struct RowsHere {
  /// What steps are told, but for the addresses of copies: Row0 says how far
  /// behind the beginning of one it lies.
  std::array<uint64_t, RecipeRows::Fields> Fields = {};
  uint64_t CopyBytes = 0; ///< of each copy
};

/// The arrays of \p R in a launch of \p Shape with \p Args. None: one of them cannot
/// be copied, since nobody knows its allocation, another pointer leads there, or
/// its rows are too short for the launch.
std::optional<std::vector<RowsHere>> findRows(const Recipe &R,
                                              const LaunchShape &Shape,
                                              void *const *Args, Place &On);

} // namespace reconverge::launch

#endif
