//===- remedies/herd/Forecast.h - What herding may gain ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_HERD_FORECAST_H
#define RECONVERGE_REMEDIES_HERD_FORECAST_H

#include "remedies/common/Remedy.h"

namespace reconverge::remedies::herd {

/// The branches at which most idles, each by itself, then all that may be.
std::vector<std::string> guess(const KernelProfile &K);

} // namespace reconverge::remedies::herd

#endif
