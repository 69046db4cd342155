//===- model/Model.h - What divergence costs --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_MODEL_H
#define RECONVERGE_MODEL_MODEL_H

#include "core/Cost.h"
#include "core/Profile.h"

#include <span>

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::model {

/// Cost of the kernel and of each of its branches; the formulas are in the
/// banner of Model.cpp and in docs/metrics.md. \p K is consistent, as
/// parseProfile checks it.
KernelCost costOf(const KernelProfile &K);

/// Of each kernel, parallel to P.Kernels, and of each place in the source, with
/// what \p Rules say of remedies there. \p Limits: of the GPU whose time is
/// meant; null: nothing is said of time.
RunCost costOf(const Profile &P, std::span<const RemedyRule> Rules = {},
               const analysis::MachineLimits *Limits = nullptr);

} // namespace reconverge::model

#endif
