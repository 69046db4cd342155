//===- rewrite/writer/Effects.h - What a second run would do ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_EFFECTS_H
#define RECONVERGE_REWRITE_WRITER_EFFECTS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::rewrite {

struct Effect {
  bool Reads = false;  ///< memory that others may write
  bool Acts = false;   ///< it writes, waits, or is not understood
  bool Thread = false; ///< it asks for threadIdx
  bool Block = false;  ///< it asks for blockIdx or gridDim
  unsigned Cost = 0;   ///< operations; a loop's or a division's are many
  void add(Effect E);
  /// May be computed again, at the price of some instructions.
  bool isCheap() const { return !Reads && !Acts && Cost <= 8; }
};

/// \p S without, and of a statement with, what it does to variables declared in
/// it. Calls are looked into.
Effect effectOf(const clang::Stmt *S);
/// Of finding the place \p E, for its address or for a reference: it is not read.
Effect effectOfPlace(const clang::Expr *E);

/// What \p E is: threadIdx.x, .y or .z (0 to 2), as it is written; -1: none of
/// these. 3: threadIdx itself.
int threadIndex(const clang::Stmt *S);
/// The same of blockIdx, blockDim and gridDim: whether it is one.
bool isLaunchIndex(const clang::Stmt *S);
/// "x", "y" or "z" if \p S is that part of CUDA's variable \p Name.
llvm::StringRef partOf(const clang::Stmt *S, llvm::StringRef Name);

/// Calls \p Visit on \p S and all below that is written in it, parents first; not
/// below where it returns false. Null statements are skipped.
void walk(const clang::Stmt *S,
          llvm::function_ref<bool(const clang::Stmt &)> Visit);

/// The variable that \p S names, or names a part of, if it is a name.
const clang::VarDecl *variableOf(const clang::Stmt &S);

/// Whether anything in \p S may change \p V or keep its address.
bool mayChange(const clang::Stmt *S, const clang::VarDecl &V);
/// Whether \p S names \p V.
bool names(const clang::Stmt *S, const clang::VarDecl &V);

} // namespace reconverge::rewrite

#endif
