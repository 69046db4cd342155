//===- remedies/common/Runs.h - How often changed code runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_RUNS_H
#define RECONVERGE_REMEDIES_COMMON_RUNS_H

#include "core/Forecast.h"
#include "core/Profile.h"

#include <optional>

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::analysis {
struct MachineCode;
class MachineModel;
} // namespace reconverge::analysis

namespace reconverge::remedies {

/// Writes to each instruction of \p Copy, the code of \p Seen, how often warps
/// have run it. Whoever changes the code carries it along; what is new has none.
void markRuns(llvm::Function &Copy, const KernelProfile &Seen);

/// \p Made does what \p A did for the warps that went one way at \p Branch, and
/// \p B for those that went the other. Nothing happens to code without marks.
void joinRuns(llvm::Instruction &Made, const llvm::Instruction &A,
              const llvm::Instruction &B, const llvm::Instruction &Branch);

/// What the warps of \p Kernel, whose instructions are marked, keep busy if
/// \p Code is what ptxas makes of it. None: there are no marks, the kernel calls
/// functions, or \p Machine has no price of an instruction.
std::optional<MachineWork> workOf(const llvm::Function &Kernel,
                                  const analysis::MachineCode &Code,
                                  const analysis::MachineModel &Machine);

} // namespace reconverge::remedies

#endif
