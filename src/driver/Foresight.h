//===- driver/Foresight.h - What kernels' code tells of remedies -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_FORESIGHT_H
#define RECONVERGE_DRIVER_FORESIGHT_H

#include "core/Decision.h"
#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"

namespace reconverge::driver {

/// What a kernel's code tells of remedies.
struct Foresight {
  std::vector<Foreseen> Gains;
  std::vector<Candidate> Asked; ///< for in the source
};

/// By kernel of \p Counted, what the device code in the file \p Program tells.
/// Nothing of kernels whose code is not there: forecasts then go by counts alone.
/// Of those that are much of the run and whose registers are known, ptxas of the
/// toolkit in \p CudaPath (empty: to be found) says what each candidate's code takes.
std::vector<Foresight> foresee(const Profile &Counted, llvm::StringRef Program,
                               llvm::StringRef CudaPath);

} // namespace reconverge::driver

#endif
