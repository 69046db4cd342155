//===- rewrite/writer/CollectDraft.h - A collector's own words --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_COLLECTDRAFT_H
#define RECONVERGE_REWRITE_WRITER_COLLECTDRAFT_H

#include "rewrite/writer/Draft.h"
#include "rewrite/writer/Items.h"

namespace reconverge::rewrite {

/// A kernel whose threads become items, and what the collector is written of.
struct CollectDraft : Draft {
  using Draft::Draft;

  void takeNames();
  /// The number of items gets a name of its own, where it needs one.
  void takeCount();

  /// The collector, the block's first item, and the way out of a block that has
  /// none.
  std::string setup() const;
  /// Items for threads in \p S, and the path for the condition.
  std::vector<Edit> editsIn(const clang::Stmt &S) const;
  /// \p S, so edited.
  std::string textOf(const clang::Stmt &S) const {
    return edited(T, *T.spanOf(S.getSourceRange()), editsIn(S));
  }
  /// What an item's path is, in the end.
  std::string pathOfItem() const;
  /// The head of the loop by which a block goes over the grid.
  std::string loopHead() const;
  /// How many items the block has.
  std::string itemsLeft() const;

  ItemPlan Items;
  std::string First, Item, PathName, Work;

private:
  std::string countText() const { // in `first >= ...`
    return Count.empty() ? textOf(*Items.Count) : Count;
  }
  std::string countValue() const;
  std::string blockItems(bool IsWide) const;
  std::string lastText() const;
  std::string withItems(std::string Words) const;
  std::string castItem(const clang::Expr &Number) const;
  bool isWide() const;
  bool isConstantSize() const;
  bool isOwnType() const;

  std::string Count;
};

} // namespace reconverge::rewrite

#endif
