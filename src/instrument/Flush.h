//===- instrument/Flush.h - Counters to memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_FLUSH_H
#define RECONVERGE_INSTRUMENT_FLUSH_H

#include "instrument/Instrument.h"
#include "instrument/ProbeVariables.h"

#include "llvm/IR/IRBuilder.h"

namespace reconverge::instrument {

/// Emits code that adds a thread's counters to the cells in memory, before
/// \p At, by which the thread leaves the function.
void emitFlush(llvm::Instruction &At, const ProbePlan &Plan,
               const ProbeVariables &Variables, unsigned Offset,
               llvm::GlobalVariable &Config, const InstrumentOptions &Options);

} // namespace reconverge::instrument

#endif
