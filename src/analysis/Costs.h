//===- analysis/Costs.h - Instruction classes and machine files -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_COSTS_H
#define RECONVERGE_ANALYSIS_COSTS_H

#include "core/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::analysis {

/// True for an instruction that becomes a machine instruction: no PHIs, casts
/// without effect, address computations that fold into an access, debug and
/// lifetime markers, assumptions.
bool countsAsInstruction(const llvm::Instruction &I);

/// How many: 0 or 1 of most, the length of the routine of a division or root.
unsigned machineInstructions(const llvm::Instruction &I);
/// n(b), the sum over \p BB.
unsigned machineInstructions(const llvm::BasicBlock &BB);

struct InstructionCost {
  double Latency = 0;   ///< cycles until a dependent instruction can issue
  double Issue = 1;     ///< issue slots that one warp takes
  PipeCycles Busy = {}; ///< of a scheduler's pipes, by one warp
};

/// Of an instruction of machine code.
struct OpcodeCost {
  PipeCycles Busy = {}; ///< of a scheduler's pipes, by one warp
  /// Cycles until the result is there, of those that the code waits for; of
  /// others the code itself says how long the next has to wait.
  double Latency = 0;
};

/// What a GPU has of everything, and how fast its memory is.
struct MachineLimits {
  double Multiprocessors = 0;
  double ClockMHz = 0;
  // Of a multiprocessor.
  double Schedulers = 0;
  double Threads = 0, Blocks = 0; ///< resident at once
  double Registers = 0;           ///< of 32 bits
  double SharedBytes = 0;
  // The units in which it gives them away. Files may leave these out: they have
  // been the same on all GPUs since compute capability 8.0.
  double RegisterUnit = 256;    ///< of one warp's registers together
  double SharedUnit = 128;      ///< bytes of one thread block
  double SharedReserved = 1024; ///< bytes that each takes beside its own
  double L1Bytes = 0;           ///< shared memory included where they are one
  // Cycles until the result of a load that hits can be used.
  double L1Latency = 0, L2Latency = 0, DramLatency = 0;
  // Of the whole GPU.
  double L2Bytes = 0;
  double L2BytesPerCycle = 0, DramBytesPerCycle = 0;
  // Files may lack what follows; 0: it limits nothing.
  double AtomicTurns = 0;      ///< a cycle, if all are at different addresses
  double AtomicTurnsAtOne = 0; ///< if all are at one
  double BlockStarts = 0;      ///< thread blocks a cycle
  double LaunchCycles = 0;     ///< of a launch of nothing
  /// The exponent of the norm by which times of units make one time.
  double Norm = 0;
};

/// A machine file: one cost per instruction class and the GPU's limits, each
/// with its source.
class MachineModel {
public:
  /// Reads and validates `machines/<name>.json`; the error names file and key.
  static llvm::Expected<MachineModel> load(llvm::StringRef Path);
  /// The same of the text of a machine file; \p Path is for messages.
  static llvm::Expected<MachineModel> parse(llvm::StringRef Text,
                                            llvm::StringRef Path);
  /// Every class costs one cycle and one slot, and there are no limits: counts,
  /// not times.
  static MachineModel unit();

  const std::string &name() const { return Name; }
  /// The GPU that it is of, as its driver calls it; empty: the file does not
  /// say.
  const std::string &gpu() const { return Gpu; }
  /// A vector operation is one operation an element, issued one after the
  /// other, save for an access, which moves the whole vector at once.
  InstructionCost cost(const llvm::Instruction &I) const;
  /// \p Class is one of instructionClasses().
  InstructionCost cost(llvm::StringRef Class) const;
  /// Of a machine instruction; none: the file does not say.
  std::optional<OpcodeCost> opcode(llvm::StringRef Name) const;
  /// None: of the unit machine.
  const std::optional<MachineLimits> &limits() const { return Limits; }
  /// Some number of the file is an estimate, not a measurement.
  bool estimated() const { return Estimated; }

private:
  std::string Name, Gpu;
  bool Estimated = false;
  std::optional<MachineLimits> Limits;
  std::map<std::string, InstructionCost, std::less<>> Classes;
  std::map<std::string, OpcodeCost, std::less<>> Opcodes;
};

/// Every instruction class, sorted: the keys that a machine file must have.
/// docs/machines.md says what each stands for.
llvm::ArrayRef<llvm::StringLiteral> instructionClasses();

/// The class of \p I, a key of the machine files ("fma.f32", "ld.shared", ...).
llvm::StringRef classOf(const llvm::Instruction &I);

/// Static facts of \p Kernel, whose module is numbered: every block and branch
/// of numbersOf(Kernel), in that order. Branches are those that
/// computeUniformity calls divergent; the executor reports all numbers, so
/// \p Info.Branches keeps its own Id for the match.
KernelInfo describeKernel(llvm::Function &Kernel, const MachineModel &Machine,
                          llvm::StringRef ModuleHash);

} // namespace reconverge::analysis

#endif
