//===- analysis/MachineCode.h - What blocks became in ptxas -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_MACHINECODE_H
#define RECONVERGE_ANALYSIS_MACHINECODE_H

#include "core/Profile.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::analysis {

class MachineModel;

struct MachineInstruction {
  /// The instruction of the IR that it was made for; null: not known.
  const llvm::Instruction *For = nullptr;
  uint64_t Low = 0, High = 0; ///< the encoding, compute capability 7.0 to 9.0
  double Cycles = 0;          ///< for which it holds a lone warp up, if known
  double Loads = 0; ///< that it waits for meanwhile, one after the other
};

/// "IADD3", "LDG", ...; empty: not known.
llvm::StringRef opcodeOf(const MachineInstruction &I);
/// Whether a predicate says in which lanes it works: "@P0 IADD3 ...".
bool isGuarded(const MachineInstruction &I);

/// What one block of the IR became.
struct MachineBlock {
  std::vector<MachineInstruction> Code;
  unsigned Copies = 1; ///< how often it lies there; an execution runs one
  /// Whose executions issue it: the block itself, or where a predicate stands
  /// for the branch, the block that decides over it.
  const llvm::BasicBlock *IssuedBy = nullptr;
};

/// Of \p F, whose machine code is \p Code; in the order in which they lie.
llvm::MapVector<const llvm::BasicBlock *, MachineBlock>
machineBlocksOf(const llvm::Function &F,
                llvm::ArrayRef<MachineInstruction> Code);

/// What ptxas made of a module's functions, by their names.
struct MachineCode {
  /// In the order in which they lie in memory.
  llvm::StringMap<std::vector<MachineInstruction>> Functions;
  llvm::StringMap<unsigned> Registers; ///< of a thread of each kernel
};

/// What one execution of a block keeps busy, the mean of its copies: cycles of
/// pipes, of a lone warp's chain, and the loads that it waits for.
struct BlockPrice {
  PipeCycles Busy = {};
  double Path = 0, Loads = 0;
};

/// Of the blocks of \p F that issue code, whose machine code is \p Code. If
/// \p Machine has no price of an opcode, the error names that.
llvm::Expected<llvm::MapVector<const llvm::BasicBlock *, BlockPrice>>
pricesOf(const llvm::Function &F, llvm::ArrayRef<MachineInstruction> Code,
         const MachineModel &Machine);

/// Writes to \p Info, of \p Kernel, what \p Code keeps busy, in the place of
/// what the classes of its instructions would. If \p Machine has no price of an
/// opcode, the error names that, and \p Info stays as it is.
llvm::Error priceByMachineCode(KernelInfo &Info, const llvm::Function &Kernel,
                               const MachineCode &Code,
                               const MachineModel &Machine);

} // namespace reconverge::analysis

#endif
