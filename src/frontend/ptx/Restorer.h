//===- frontend/ptx/Restorer.h - Back to PTX -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_RESTORER_H
#define RECONVERGE_FRONTEND_PTX_RESTORER_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::frontend {

/// Makes inline asm of what the back end has no words for (Restore.cpp).
class Restorer {
public:
  explicit Restorer(llvm::Module &M) : M(M), B(M.getContext()) {
    M.getContext().getSyncScopeNames(Scopes);
  }
  llvm::Error run();

private:
  llvm::Error visit(llvm::Instruction &I);
  void visitFence(llvm::FenceInst &F);
  void visitDivision(llvm::BinaryOperator &I);
  void visitTanh(llvm::IntrinsicInst &Call);
  void visitPrefetch(llvm::IntrinsicInst &Call);
  void visitOwn(llvm::CallInst &Call, llvm::StringRef Name);

  // Atomics. Suffix: ".order.scope.space" of the access.
  llvm::Error visitAtomic(llvm::Instruction &I);
  void visitLoad(llvm::LoadInst &Load, const std::string &Suffix);
  void visitStore(llvm::StoreInst &Store, const std::string &Suffix);
  void visitExchange(llvm::AtomicCmpXchgInst &Exchange,
                     const std::string &Suffix);
  llvm::Error visitUpdate(llvm::AtomicRMWInst &Update,
                          const std::string &Suffix);
  llvm::Value *emitWideAtomic(const llvm::Twine &Operation, llvm::Value *P,
                              llvm::ArrayRef<llvm::Value *> Operands);
  /// \p V as an integer of 16 bits or more, as registers take it.
  llvm::Value *toInteger(llvm::Value *V);
  llvm::Value *fromInteger(llvm::Value *V, llvm::Type *T);
  /// One of 128 bits from the two halves in \p Pair.
  llvm::Value *joined(llvm::Value *Pair);
  unsigned bitsOf(llvm::Type *T) const {
    return unsigned(M.getDataLayout().getTypeSizeInBits(T));
  }

  /// "gpu" of "ptx.gpu"; empty for any other scope.
  llvm::StringRef ptxScope(llvm::SyncScope::ID Id) const {
    llvm::StringRef Name = Id < Scopes.size() ? Scopes[Id] : llvm::StringRef();
    return Name.consume_front("ptx.") ? Name : llvm::StringRef();
  }
  llvm::Value *emitAsm(llvm::Type *Result, const llvm::Twine &Text,
                       const llvm::Twine &Constraints,
                       llvm::ArrayRef<llvm::Value *> Args, bool Effects);
  void replace(llvm::Instruction &I, llvm::Value *V);

  llvm::Module &M;
  llvm::IRBuilder<> B;
  llvm::SmallVector<llvm::StringRef, 16> Scopes;
};

/// ".global" and the like; empty for generic addresses.
std::string stateSpaceOf(const llvm::Value *Pointer);

} // namespace reconverge::frontend

#endif
