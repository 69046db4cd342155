//===- frontend/ptx/Access.h - How an access is made ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_ACCESS_H
#define RECONVERGE_FRONTEND_PTX_ACCESS_H

#include "frontend/ptx/Lowering.h"

namespace reconverge::frontend::ptx {

/// What the modifiers of ld, st, atom, red and fence say, their types apart.
struct Access {
  unsigned Space = 0; ///< LLVM's address space
  llvm::AtomicOrdering Order = llvm::AtomicOrdering::NotAtomic;
  llvm::StringRef Scope;  ///< cta, cluster, gpu, sys; empty if not given
  bool Volatile = false;  ///< .volatile, .mmio, .cv
  bool ReadOnly = false;  ///< .nc
  bool Cluster = false;   ///< .shared::cluster
  bool CacheHint = false; ///< L2::cache_hint, whose policy is the last operand
};

/// Uses up the modifiers; refuses combinations that PTX lacks.
Access takeAccess(Lowering &L);

/// "ptx.gpu" and its like; of system scope if \p Scope is empty.
llvm::SyncScope::ID scopeId(Lowering &L, const llvm::Twine &Scope);

/// Its own for an access to shared memory of the cluster: \p Scope's name ends in
/// it, so that it comes back as it was.
inline constexpr llvm::StringLiteral ClusterSuffix = ".shared::cluster";

/// st.async and red.async, after those words.
void emitAsyncStore(Lowering &L);
void emitAsyncReduce(Lowering &L);

/// The LLVM operation of atom.\p Name on \p T; BAD_BINOP if PTX has none.
llvm::AtomicRMWInst::BinOp atomicOperation(llvm::StringRef Name, Type T);

} // namespace reconverge::frontend::ptx

#endif
