//===- model/Time.h - What a launch asks for, as time -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_TIME_H
#define RECONVERGE_MODEL_TIME_H

#include "analysis/Costs.h"
#include "core/Demand.h"
#include "core/KernelTime.h"

namespace reconverge::model {

/// Nine of ten speed-ups that the model predicts by counts of both sides lie
/// within this factor, up or down, of what was measured, where it knows the
/// machine code, and where it does not: 67 candidates of the suite optimize on
/// an H200, each kernel's judged by those of the others (docs/time.md).
inline constexpr double UsualError = 1.3, UsualErrorByIr = 1.65;

/// The time of a launch that asks for \p D on a GPU with \p Limits; the
/// formulas are in the banner of Time.cpp and in docs/time.md. Not known where
/// nothing was counted.
KernelTime timeOf(const Demand &D, const analysis::MachineLimits &Limits);

/// Of a launch on a CPU, where programs run small examples: its share of the time
/// of many like it side by side, which fill the GPU. What a launch itself takes,
/// and that a small one leaves multiprocessors idle, is not in it.
KernelTime timeOfMany(const Demand &D, const analysis::MachineLimits &Limits);

/// Of launches that run one after the other: all times added up. Not known if
/// one is not.
KernelTime timeOf(const Demands &All, const analysis::MachineLimits &Limits);
KernelTime timeOfMany(const Demands &All,
                      const analysis::MachineLimits &Limits);

} // namespace reconverge::model

#endif
