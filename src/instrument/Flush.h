//===- instrument/Flush.h - Counters to memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_FLUSH_H
#define RECONVERGE_INSTRUMENT_FLUSH_H

#include "instrument/Instrument.h"

#include "llvm/IR/IRBuilder.h"

namespace reconverge::instrument {

/// A function's counters while it runs: variables of a thread, i32 each.
struct ProbeVariables {
  /// Words beyond these stay in the thread's local memory.
  static constexpr unsigned MostInRegisters = 8;
  static bool inMemory(unsigned Word) { return Word >= MostInRegisters; }

  std::vector<llvm::Value *> Words;       ///< where each is
  llvm::AllocaInst *InMemory = nullptr;   ///< an array of those; or null
  std::vector<llvm::AllocaInst *> Exits;  ///< of Summed groups; others null
  std::vector<llvm::AllocaInst *> Rounds; ///< of splits Around: the mask of the
                                          ///< iteration before; others null
  llvm::AllocaInst *Mask = nullptr;       ///< who runs this together; or null
  llvm::AllocaInst *Gone = nullptr;       ///< lanes seen leaving; or null
};

/// Emits code that adds a thread's counters to the cells in memory, before
/// \p At, by which the thread leaves the function.
void emitFlush(llvm::Instruction &At, const ProbePlan &Plan,
               const ProbeVariables &Variables, unsigned Offset,
               llvm::GlobalVariable &Config, const InstrumentOptions &Options);

} // namespace reconverge::instrument

#endif
