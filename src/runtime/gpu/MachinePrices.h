//===- runtime/gpu/MachinePrices.h - Kernels by machine code ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_MACHINEPRICES_H
#define RECONVERGE_RUNTIME_GPU_MACHINEPRICES_H

#include "analysis/Costs.h"
#include "core/Profile.h"
#include "runtime/gpu/Options.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::gpu {

struct ToPrice {
  std::string Kernel; ///< its name
  KernelInfo *Info;   ///< of it, to be priced
};

/// Prices each of \p All, kernels of \p M, by what ptxas makes of it alone, on
/// all cores. Where it makes nothing the classes of the IR's instructions stay.
void priceByMachineCode(const llvm::Module &M, llvm::ArrayRef<ToPrice> All,
                        const Options &O, const analysis::MachineModel &Costs);

} // namespace reconverge::gpu

#endif
