//===- model/Time.h - What a launch asks for, as time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_TIME_H
#define RECONVERGE_MODEL_TIME_H

#include "analysis/Costs.h"
#include "core/Demand.h"
#include "core/KernelTime.h"

namespace reconverge::model {

/// Nine of ten speed-ups that the model predicted by counts of both sides lay
/// within this factor, up or down, of what was measured: 63 candidates of the
/// suite optimize on an H200, each judged by the others' (docs/time.md).
inline constexpr double UsualError = 1.4;

/// The time of a launch that asks for \p D on a GPU with \p Limits; the
/// formulas are in the banner of Time.cpp and in docs/time.md. Not known where
/// nothing was counted.
KernelTime timeOf(const Demand &D, const analysis::MachineLimits &Limits);

/// Of launches that run one after the other: all times added up. Not known if
/// one is not.
KernelTime timeOf(const Demands &All, const analysis::MachineLimits &Limits);

} // namespace reconverge::model

#endif
