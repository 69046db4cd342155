//===- driver/MachinePrices.h - Kernels priced by ptxas ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_MACHINEPRICES_H
#define RECONVERGE_DRIVER_MACHINEPRICES_H

#include "core/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace reconverge::analysis {
class MachineModel;
} // namespace reconverge::analysis

namespace reconverge::driver {

/// Prices the blocks of the kernels of \p Counted, whose device code lies in
/// the file \p Program, by what ptxas makes of them, in the place of what the
/// classes of their instructions say; and fills in their registers. \p CudaPath:
/// of the toolkit, empty: to be found. Notes in \p Counted name the kernels that
/// stay as they are, and why. An error: there is no ptxas, or the file cannot be
/// read.
llvm::Error priceByPtxas(Profile &Counted, llvm::StringRef Program,
                         llvm::StringRef CudaPath,
                         const analysis::MachineModel &Machine);

} // namespace reconverge::driver

#endif
