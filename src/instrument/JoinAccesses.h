//===- instrument/JoinAccesses.h - Accesses as the GPU makes them -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_INSTRUMENT_JOINACCESSES_H
#define RECONVERGE_INSTRUMENT_JOINACCESSES_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::instrument {

/// Joins loads and stores of \p F that lie side by side, as the code generator
/// would later. What comes of several has the number of the one at the lowest
/// address; the others' are gone.
void joinAccesses(llvm::Function &F);

} // namespace reconverge::instrument

#endif
