//===- remedies/remap/Fragment.h - What one round can serve ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REMAP_FRAGMENT_H
#define RECONVERGE_REMEDIES_REMAP_FRAGMENT_H

#include "remedies/common/Refusal.h"
#include "remedies/remap/Control.h"
#include "remedies/remap/Plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace reconverge::remedies::remap {

/// Most ways of a branch and those right behind it.
inline constexpr unsigned MaxLeaves = 32;

/// Whether a branch other than the round's may be served by it.
using MayServe = llvm::function_ref<bool(const llvm::BasicBlock &)>;

/// Fills in the branches that the round before Plan.Block's serves: that one,
/// those right behind it, and, as long as there are at most \p Paths paths,
/// those that all threads come to later. Refuses a switch of too many ways.
std::optional<Refusal> planFragment(RoundPlan &Plan, const Facts &Now,
                                    unsigned Paths, MayServe Behind,
                                    MayServe Later);

} // namespace reconverge::remedies::remap

#endif
