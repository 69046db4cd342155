//===- runtime/gpu/Registers.cpp - What ptxas allots ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with three bodies has the registers of the dearest, which is the one
// that counts accesses to memory: its calls keep many values alive at once. All
// thread blocks would pay for what few of them run, with fewer warps at a time.
// So the code is compiled without these probes first, and what that takes is
// the limit of the code with them, where values then go to local memory.
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
