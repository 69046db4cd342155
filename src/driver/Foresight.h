//===- driver/Foresight.h - What kernels' code tells of remedies -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_FORESIGHT_H
#define RECONVERGE_DRIVER_FORESIGHT_H

#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

namespace reconverge::driver {

/// By kernel of \p Counted, what the device code in the file \p Program tells of
/// remedies. Nothing of kernels whose code is not there: forecasts then go by
/// counts alone.
std::vector<std::vector<Foreseen>> foresee(const Profile &Counted,
                                           llvm::StringRef Program);

} // namespace reconverge::driver

#endif
