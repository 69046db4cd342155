//===- core/Forecast.h - What a remedy should gain --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_FORECAST_H
#define RECONVERGE_CORE_FORECAST_H

#include <string>
#include <vector>

namespace reconverge {

/// Of one remedy on one kernel, from counts of the kernel as it is: nothing was
/// built.
struct Forecast {
  std::string Remedy;  ///< as in Remedies.def, or "sort"
  bool ByHand = false; ///< `optimize` does not try it
  double Speedup = 1;  ///< of the kernel, x
  /// If the remedy gives nothing back and its price is paid, or all that is
  /// lost, for nothing.
  double Low = 1, High = 1;
};

using Forecasts = std::vector<Forecast>;

} // namespace reconverge

#endif
