//===- rewrite/writer/Launches.h - How large blocks are ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_LAUNCHES_H
#define RECONVERGE_REWRITE_WRITER_LAUNCHES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace reconverge::rewrite {

/// Threads of a block, from the smallest to the largest.
struct BlockSizes {
  uint64_t Least = 0, Most = 0; ///< 0: it is not known
};

/// Those with which this file launches \p Kernel, and the other instances of its
/// template. Not known: it launches none, or not all of them with a constant, or
/// others may launch it by its address.
BlockSizes launchedThreads(const clang::FunctionDecl &Kernel,
                           clang::ASTContext &C);

/// `blockIdx.x * Size + threadIdx.x`, in any order, blockIdx.x perhaps as a wider
/// type: Size, which is blockDim.x or a constant. Null: \p S is not that.
const clang::Expr *sizeInNumber(const clang::Stmt &S,
                                const clang::ASTContext &C);

/// The threads of a block, where all that \p Kernel says of them is one constant in
/// such numbers of its threads; 0: it says more, or nothing.
uint64_t threadsAsTaken(const clang::FunctionDecl &Kernel);

} // namespace reconverge::rewrite

#endif
