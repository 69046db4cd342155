//===- warpvm/emit/Operations.h - What a step of a list does ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_OPERATIONS_H
#define RECONVERGE_WARPVM_EMIT_OPERATIONS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace reconverge::warpvm {

/// Values are aligned like this where operations read and write them.
llvm::Align slotAlign(const llvm::Type *T, const llvm::DataLayout &DL);

/// What holds the bytes of \p V: itself, or what it was taken from by an
/// instruction that changes none.
llvm::Value *sourceOf(llvm::Value *V);

/// Of a function, what the steps of its instructions compute beside these.
class StepParts {
public:
  explicit StepParts(const llvm::Function &F);
  /// Whether the step of \p User computes \p V itself.
  bool isPart(const llvm::Value *V, const llvm::Instruction &User) const;

private:
  /// Instructions one in the other, from each down, that its step would be.
  llvm::DenseMap<const llvm::Instruction *, unsigned> Heights;
};

/// What the step of \p I reads, in the order of its words. Of some operands the
/// step computes the value itself; then these are what it does that from.
void stepOperands(llvm::Instruction &I, const StepParts &Parts,
                  llvm::SmallVectorImpl<llvm::Value *> &Operands);

/// The name of the operation that a step for \p I has; two instructions with
/// the same name need the same.
void operationName(llvm::Instruction &I, const StepParts &Parts,
                   llvm::SmallVectorImpl<char> &Name);
/// ... of a step that copies a value of \p Bytes.
void copyName(uint64_t Bytes, llvm::SmallVectorImpl<char> &Name);
/// Bytes of each part of a step.
inline constexpr uint64_t StepWord = 4;
/// Calls the operation of \p Step; \p Table has the addresses of operations.
llvm::CallInst *callStep(llvm::IRBuilderBase &B, llvm::Value *Slots,
                         llvm::Value *Step, llvm::Value *Table);

bool isOperationName(llvm::StringRef Name);

/// Declares the operation \p Name in \p M.
llvm::Function *declareOperation(llvm::Module &M, llvm::StringRef Name);
/// Gives \p Operation, which is declared, the code for \p I.
void defineOperation(llvm::Function &Operation, llvm::Instruction &I,
                     const StepParts &Parts);
void defineCopy(llvm::Function &Operation, uint64_t Bytes);

} // namespace reconverge::warpvm

#endif
