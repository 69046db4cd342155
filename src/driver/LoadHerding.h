//===- driver/LoadHerding.h - What herding loads may come to ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_LOADHERDING_H
#define RECONVERGE_DRIVER_LOADHERDING_H

#include "driver/Plan.h"

namespace reconverge::driver {

/// A sentence for each of \p Kernels, whose code is in the file \p Program, in
/// which loads may be herded and the time is known.
std::vector<std::string> foreseeLoads(llvm::ArrayRef<HotKernel> Kernels,
                                      llvm::StringRef Program);

} // namespace reconverge::driver

#endif
