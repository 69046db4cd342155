//===- rewrite/writer/Locals.h - A thread's own variables -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_LOCALS_H
#define RECONVERGE_REWRITE_WRITER_LOCALS_H

#include "rewrite/writer/Effects.h"
#include "rewrite/writer/Text.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace reconverge::rewrite {

using Locals = llvm::SmallPtrSet<const clang::VarDecl *, 8>;

/// The variables of which some statement of \p All makes what has the address of
/// a thread's own variable.
Locals pointersToLocals(llvm::ArrayRef<const clang::Stmt *> All);

/// Its declaration gives \p V no value.
bool hasNoValue(const clang::VarDecl &V);

/// May be exchanged: a number, a pointer or a small object that is copied byte by
/// byte.
bool isPlain(clang::QualType Type, const clang::ASTContext &C);
/// May be declared without a value, and be assigned one.
bool isAssignable(clang::QualType Type);

/// The closure that \p V is; null: it is something else, or not made right there.
const clang::LambdaExpr *closureOf(const clang::VarDecl &V);

/// The type of \p E, of \p Kernel, depends on the parameters of a template.
bool isDependent(const clang::Expr &E, const clang::FunctionDecl &Kernel);

/// So does that of \p V.
bool hasDependentType(const clang::VarDecl &V,
                      const clang::FunctionDecl &Kernel);
/// And that is not written, but follows from the value.
bool isDependentAuto(const clang::VarDecl &V,
                     const clang::FunctionDecl &Kernel);

/// The type of \p V without const, for the text of \p Kernel, which may be that of
/// a template.
std::string typeText(const clang::VarDecl &V, const clang::FunctionDecl &Kernel,
                     const Text &T);

} // namespace reconverge::rewrite

#endif
