//===- remedies/share/Hand.h - Values from lane to lane ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_SHARE_HAND_H
#define RECONVERGE_REMEDIES_SHARE_HAND_H

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace reconverge::remedies::share {

// All 32 lanes run these together.

/// \p V of lane \p Lane, of which the last five bits count.
llvm::Value *fromLane(llvm::IRBuilderBase &B, llvm::Value *V,
                      llvm::Value *Lane);

/// The sum of the 32-bit integers \p V of the lanes up to lane \p Lane, this one.
llvm::Value *sumUpTo(llvm::IRBuilderBase &B, llvm::Value *V, llvm::Value *Lane);

/// The first lane of which \p Sums, which do not descend, is larger than \p K;
/// 31 if none is.
llvm::Value *firstAbove(llvm::IRBuilderBase &B, llvm::Value *Sums,
                        llvm::Value *K);

/// Whether \p V is true in any lane.
llvm::Value *inAnyLane(llvm::IRBuilderBase &B, llvm::Value *V);

/// What one lane has written so far is seen by the others from here on.
void meetInMemory(llvm::IRBuilderBase &B);

} // namespace reconverge::remedies::share

#endif
