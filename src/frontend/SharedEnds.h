//===- frontend/SharedEnds.h - What both arms end with ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_SHAREDENDS_H
#define RECONVERGE_FRONTEND_SHAREDENDS_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::frontend {

/// Moves what both arms of a branch end with to where they meet.
void sinkSharedEnds(llvm::Function &F);

} // namespace reconverge::frontend

#endif
