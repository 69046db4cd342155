//===- core/DroppedShares.h - What a program's launches dropped -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How `optimize --quality` learns how many lanes herded launches drop: at exit
// a program whose launches count them (RecipeStop) adds a line to a file,
//
//   KERNEL SHARE
//
// for each such kernel, by its mangled name: the greatest share of a launch's
// threads, in millionths, rounded up.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_DROPPEDSHARES_H
#define RECONVERGE_CORE_DROPPEDSHARES_H

namespace reconverge {

/// Names the file.
inline constexpr const char *DroppedSharesVariable = "RECONVERGE_DROPPED";

} // namespace reconverge

#endif
