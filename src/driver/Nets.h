//===- driver/Nets.h - Nets for the kernels of a run ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_NETS_H
#define RECONVERGE_DRIVER_NETS_H

#include "core/Forecast.h"
#include "core/PathNet.h"
#include "driver/Plan.h"
#include "driver/Sandbox.h"

#include <optional>

namespace reconverge::driver {

/// Trains a net on the threads that the other sources in \p F are fitted to, and
/// tries it on the same as those: of \p Test, or of \p K if that is null. Sets
/// F.ByNet, or F.WhyNoNet where what is there cannot be trained on; the net, or
/// none.
llvm::Expected<std::optional<PathNet>> forecastNet(const KernelProfile &K,
                                                   const KernelProfile *Test,
                                                   EstimateForecast &F);

/// Has those of \p Kernels be tried with a net, too, of which that gains more than
/// a sum or a tree would, on threads to which none was fitted; writes these
/// nets to \p Folder, and has runs in \p Box find them.
llvm::Error addNets(llvm::MutableArrayRef<HotKernel> Kernels,
                    llvm::StringRef Folder, const Sandbox &Box);

} // namespace reconverge::driver

#endif
