//===- remedies/meld/Structure.h - An arm as a sequence --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape in which two arms are compared. An arm is a sequence of items: an
// instruction, or a region with one way in and one way out. A region is a small
// graph whose nodes are sequences again:
//
//        a = load          Sequence: [a, b, Region, c]
//        b = cmp a
//        br b ---+         Region:  node 0   (no code)  br b -> 1, exit
//        |       |                  node 1   [store]    br   -> exit
//        v       |
//        store   |         PHIs of the block after a region belong to the
//        |       |         region; PHIs at the start of a node to the node.
//        v       |
//        c = phi <-+
//
// Loops, ifs, switches and shapes without a name are all regions; nothing here
// tells them apart but how control comes in: through a conditional terminator,
// which is then the terminator of node 0, or over a plain edge (a loop).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_MELD_STRUCTURE_H
#define RECONVERGE_REMEDIES_MELD_STRUCTURE_H

#include "analysis/Regions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"

#include <memory>
#include <optional>
#include <vector>

namespace reconverge::remedies::meld {

struct Region;

/// One of the two.
struct Item {
  llvm::Instruction *I = nullptr; ///< no PHI, no terminator
  std::shared_ptr<const Region> R;
};

struct Sequence {
  llvm::BasicBlock *First = nullptr; ///< null: code-less node 0 of a region
  llvm::BasicBlock *Last = nullptr;  ///< its terminator ends the sequence
  std::vector<Item> Items;

  llvm::Instruction *terminator() const { return Last->getTerminator(); }
};

struct Node {
  static constexpr unsigned Exit = ~0u;
  Sequence Code;
  llvm::SmallVector<unsigned, 2> Succs; ///< nodes, as the terminator has them
};

struct Region {
  llvm::BasicBlock *Before = nullptr; ///< the block that leads in
  llvm::BasicBlock *After = nullptr;  ///< the block that it leads out to
  std::vector<Node> Nodes;            ///< depth first; control enters at 0
  bool Cyclic = false;                ///< some edge leads back to a node

  /// Node 0 is the branch that ends Before.
  bool startsWithBranch() const { return !Nodes[0].Code.First; }
};

using BlockSet = llvm::SmallSetVector<llvm::BasicBlock *, 16>;

/// The blocks that control can pass on its way from the end of \p From to
/// \p To. Nothing if it can come back to \p From, enter them from elsewhere, or
/// return from the function among them.
std::optional<BlockSet> blocksBetween(const llvm::BasicBlock &From,
                                      const llvm::BasicBlock &To);

/// What decides where \p Term goes; null if nothing does.
llvm::Value *conditionOf(const llvm::Instruction &Term);

/// The code from \p First to the one block among \p Blocks that leads out of
/// them. Nothing if there is no such block.
std::optional<Sequence> parseArm(llvm::BasicBlock &First,
                                 const BlockSet &Blocks,
                                 const analysis::PostDominance &Dominance);

} // namespace reconverge::remedies::meld

#endif
