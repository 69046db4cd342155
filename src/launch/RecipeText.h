//===- launch/RecipeText.h - A recipe as text -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_RECIPETEXT_H
#define RECONVERGE_LAUNCH_RECIPETEXT_H

#include "core/Recipe.h"

#include <optional>
#include <string>
#include <string_view>

namespace reconverge::launch {

/// Words with a space between them; none has '/' or ';'. Names of kernels are
/// mangled and have no spaces.
///
///   launch   := for LEAST MOST MOSTBLOCK [ warps ] [ line ] [ trips { TERM } ]
///               [ renew | reuse N AMOUNT ] [ stop N AMOUNT RECHECK ]
///               { scratch } { step }
///   scratch  := scratch AMOUNT [ zeroed ] [ kept ] | scratch AMOUNT given
///   step     := (step|helper) KERNEL [ making | probing ] grid EXTENT
///               block EXTENT [ shared ] { argument }
///   argument := program N | memory N | dimension N | amount AMOUNT
///   EXTENT   := same | AMOUNT [ most AMOUNT ]
///   AMOUNT   := (one|blocks|blockthreads|threads|resident) TIMES PER
std::string printRecipe(const Recipe &R);

/// None if \p Text is no recipe.
std::optional<Recipe> parseRecipe(std::string_view Text);

} // namespace reconverge::launch

#endif
