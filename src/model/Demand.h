//===- model/Demand.h - Counts to what a launch asks for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_DEMAND_H
#define RECONVERGE_MODEL_DEMAND_H

#include "core/Demand.h"
#include "core/Profile.h"

namespace reconverge::model {

/// Of one launch of the kernel of \p Info. Accesses of which a part was looked
/// at stand for all executions of their blocks.
Demand demandOf(const KernelInfo &Info, const LaunchCounts &Counts,
                const LaunchShape &Shape);

/// Of the mean launch of \p K: its counts over its launches, at the shape that
/// it was launched with first.
Demand demandOf(const KernelProfile &K);

/// \p D, of whose grid no footprint was counted, of a launch that can touch
/// \p Bytes: the grid touches all that its thread blocks do, or as far as that is
/// not known all that they ask for, but no more than these.
Demand demandWithin(uint64_t Bytes, Demand D);

/// \p D with \p Share of its instructions; memory moves as many bytes.
Demand withCompute(Demand D, double Share);

} // namespace reconverge::model

#endif
