//===- core/Remedied.h - A kernel beside what it was ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_REMEDIED_H
#define RECONVERGE_CORE_REMEDIED_H

namespace reconverge {

/// What the name of a kernel ends in that has a remedy and stands beside the
/// kernel as it was, after that one's name.
inline constexpr char RemediedSuffix[] = "$remedied";

/// What the name of a kernel ends in that a remedy launches before another,
/// after that one's name, and, of one of several, "$" and a word.
inline constexpr char HelperSuffix[] = "$before";

/// The attribute of a kernel in device code that is launched by a recipe, which
/// is its value (launch/RecipeText.h).
inline constexpr char RecipeAttribute[] = "reconverge-recipe";

} // namespace reconverge

#endif
