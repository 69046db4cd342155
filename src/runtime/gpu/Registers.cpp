//===- runtime/gpu/Registers.cpp - What ptxas allots ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with three bodies has the registers of the dearest, and none of the
// two that count is as cheap as the kernel without probes. All thread blocks
// would pay for what a part of them runs, with fewer warps at a time. So the
// code is compiled without probes first, and what that takes is the limit of
// the code with them: what is over goes to local memory, in the bodies that
// count, since the other one fits.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Registers.h"

#include "analysis/device/Annotations.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace reconverge::gpu {

/// A call needs about so many, and with fewer no more warps fit: a
/// multiprocessor has 65536 for 2048 threads.
static constexpr unsigned Least = 32, Granule = 8;

void limitRegisters(Module &M, const frontend::RegisterCounts &Counts) {
  for (Function &F : M) {
    auto Found = Counts.find(F.getName());
    if (Found == Counts.end() || !analysis::isKernel(F))
      continue;
    const unsigned Most = std::max<unsigned>(
        Least, unsigned(alignTo(Found->getValue(), Granule)));
    analysis::setRegisterLimit(F, Most);
  }
}

} // namespace reconverge::gpu
