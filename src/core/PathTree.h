//===- core/PathTree.h - Classes of threads, by a tree ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decision tree over what is known of a thread before its kernel runs: what
// loads read before the work, and its number. Each leaf is a class of threads
// that should take about as long.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_PATHTREE_H
#define RECONVERGE_CORE_PATHTREE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge {

struct PathTree {
  struct Node {
    enum Kind { Leaf, Load, Thread } Of = Leaf;
    uint32_t Access = 0; ///< of Load: its number (AccessInfo::Id)
    /// Of a leaf what its threads take, cycles, 0 and more. Else the bound:
    /// what is at most that goes left, all else, also what is no number, right.
    float Value = 0;
    uint32_t Right = 0; ///< else than of a leaf: where the right subtree begins
  };
  /// In preorder: a node, its left subtree, its right one. Empty: no tree.
  std::vector<Node> Nodes;

  static constexpr unsigned MostDepth = 5, MostLeaves = 32;

  unsigned leaves() const;
  /// Numbers of the loads that it asks, in the order in which it first does.
  std::vector<uint32_t> loads() const;
  /// The leaf, as a node, of a thread for which \p ValueOf says what a node
  /// compares.
  uint32_t leafOf(llvm::function_ref<float(const Node &)> ValueOf) const;
  /// Parallel to Nodes: of a leaf, how many leaves go before it if those that
  /// take longest come first; of equals the first. 0 of others.
  std::vector<uint32_t> ranks() const;
};

/// The nodes in preorder, with / between them (no comma: opt's pipelines have
/// those): `<load>:<bound>` or `thread:<bound>`, which their two subtrees follow,
/// and cycles for a leaf. "17:0.5/100/thread:64/200/300"; what that is read as is
/// what \p T is.
std::string textOf(const PathTree &T);

/// Reads that; none if it is no tree of 2 to MostLeaves leaves, of MostDepth at
/// most.
std::optional<PathTree> parsePathTree(llvm::StringRef Text);

} // namespace reconverge

#endif
