//===- rewrite/pen/Launches.h - How large a kernel's blocks are -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_PEN_LAUNCHES_H
#define RECONVERGE_REWRITE_PEN_LAUNCHES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace reconverge::rewrite {

/// Threads of the largest block with which this file launches \p Kernel, and the
/// other instances of its template. 0: it launches none, or not all of them with
/// a constant, or others may launch it by its address.
uint64_t launchedThreads(const clang::FunctionDecl &Kernel,
                         clang::ASTContext &C);

} // namespace reconverge::rewrite

#endif
