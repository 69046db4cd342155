//===- model/Regression.h - What threads take, by their inputs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_MODEL_REGRESSION_H
#define RECONVERGE_MODEL_REGRESSION_H

#include "core/Forecast.h"
#include "core/Profile.h"

#include <optional>

namespace reconverge::model {

/// Fits what the threads of \p K took (Lat_t of Liang et al., the latencies of
/// what each ran) to their features, and tries that on threads of \p Test, the
/// same kernel in another run, or, if that is null, on those of every other thread
/// block, which it is then not fitted to. None where there is nothing to fit: no
/// features, or too few threads.
std::optional<EstimateForecast> estimateFor(const KernelProfile &K,
                                            const KernelProfile *Test);

} // namespace reconverge::model

#endif
