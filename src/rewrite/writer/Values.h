//===- rewrite/writer/Values.h - What variables are made of -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_VALUES_H
#define RECONVERGE_REWRITE_WRITER_VALUES_H

#include "rewrite/writer/Paths.h"
#include "rewrite/writer/Shape.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace reconverge::rewrite {

/// What can be said of a kernel's variables when the round comes.
class Values {
protected:
  Values(Shape &Where, const Order &What, const PathPlan &Path, const Text &T)
      : Where(Where), What(What), Path(Path), T(T) {}

  std::vector<const clang::VarDecl *>
  declaredIn(llvm::ArrayRef<const clang::Stmt *> All) const;

  bool usedAfter(const clang::VarDecl &V) const;
  bool changedBefore(const clang::VarDecl &V) const;
  bool isSame(const clang::VarDecl &V);
  bool isFunction(const clang::Stmt *S);
  bool isStable(const clang::VarDecl &V);
  bool writesSince(const clang::VarDecl &V) const;
  /// What \p S names has to be there behind the round.
  void need(const clang::Stmt *S);
  /// As the pass calls it.
  std::string keyOf(const clang::VarDecl &V) const;

  Shape &Where;
  const Order &What;
  const PathPlan &Path;
  const Text &T;
  llvm::SmallPtrSet<const clang::VarDecl *, 16> InRegion;
  /// What is named where others are computed again, behind the round.
  llvm::SmallPtrSet<const clang::VarDecl *, 16> Needed;

private:
  bool isSameValue(const clang::Stmt *S);
  bool countsTrips(const clang::VarDecl &V);
  void walkSince(const clang::VarDecl &V,
                 llvm::function_ref<void(const clang::Stmt &)> Visit) const;
};

} // namespace reconverge::rewrite

#endif
