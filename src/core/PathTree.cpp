//===- core/PathTree.cpp - Classes of threads, by a tree ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/PathTree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

using namespace llvm;

namespace reconverge {

unsigned PathTree::leaves() const {
  return unsigned(
      count_if(Nodes, [](const Node &N) { return N.Of == Node::Leaf; }));
}

std::vector<uint32_t> PathTree::loads() const {
  std::vector<uint32_t> Numbers;
  for (const Node &N : Nodes)
    if (N.Of == Node::Load && !is_contained(Numbers, N.Access))
      Numbers.push_back(N.Access);
  return Numbers;
}

uint32_t PathTree::leafOf(function_ref<float(const Node &)> ValueOf) const {
  uint32_t At = 0;
  while (Nodes[At].Of != Node::Leaf)
    At = ValueOf(Nodes[At]) <= Nodes[At].Value ? At + 1 : Nodes[At].Right;
  return At;
}

std::vector<uint32_t> PathTree::ranks() const {
  std::vector<uint32_t> Leaves, Ranks(Nodes.size());
  for (uint32_t N = 0; N != Nodes.size(); ++N)
    if (Nodes[N].Of == Node::Leaf)
      Leaves.push_back(N);
  llvm::sort(Leaves, [&](uint32_t A, uint32_t B) {
    return std::pair(-Nodes[A].Value, A) < std::pair(-Nodes[B].Value, B);
  });
  for (auto [Rank, Leaf] : enumerate(Leaves))
    Ranks[Leaf] = uint32_t(Rank);
  return Ranks;
}

std::string textOf(const PathTree &T) {
  std::string Text;
  raw_string_ostream OS(Text);
  for (const PathTree::Node &N : T.Nodes) {
    if (&N != T.Nodes.data())
      OS << '/';
    if (N.Of == PathTree::Node::Load)
      OS << N.Access << ':';
    else if (N.Of == PathTree::Node::Thread)
      OS << "thread:";
    char Digits[32]; // the fewest that are read as the same
    OS << StringRef(
        Digits,
        std::to_chars(Digits, Digits + sizeof(Digits), N.Value).ptr - Digits);
  }
  return Text;
}

/// Reads a node; false if \p Word is none.
static bool readNode(StringRef Word, PathTree::Node &N) {
  const bool Asks = Word.contains(':');
  const auto [Of, Bound] = Word.split(':');
  double Value = 0;
  if ((Asks ? Bound : Word).getAsDouble(Value) || !std::isfinite(float(Value)))
    return false;
  N.Value = float(Value);
  if (!Asks)
    return N.Value >= 0;
  N.Of = Of == "thread" ? PathTree::Node::Thread : PathTree::Node::Load;
  return N.Of == PathTree::Node::Thread || !Of.getAsInteger(10, N.Access);
}

std::optional<PathTree> parsePathTree(StringRef Text) {
  SmallVector<StringRef> Words;
  Text.split(Words, '/');
  PathTree T;
  SmallVector<uint32_t> Open; // nodes above whose left subtree is being read
  SmallVector<unsigned> Depths = {0}; // of the subtrees that are to come
  for (StringRef Word : Words) {
    PathTree::Node N;
    if (Depths.empty() || !readNode(Word, N))
      return std::nullopt;
    const unsigned Depth = Depths.pop_back_val();
    const auto Here = uint32_t(T.Nodes.size());
    T.Nodes.push_back(N);
    if (N.Of != PathTree::Node::Leaf) {
      if (Depth == PathTree::MostDepth)
        return std::nullopt;
      Open.push_back(Here);
      Depths.append(2, Depth + 1);
    } else if (!Open.empty()) {
      // What comes next is the right subtree of the last that has none yet.
      T.Nodes[Open.pop_back_val()].Right = Here + 1;
    }
  }
  // So deep a tree has no more leaves than may be.
  static_assert(1u << PathTree::MostDepth == PathTree::MostLeaves);
  if (!Depths.empty() || T.Nodes.size() < 3)
    return std::nullopt;
  return T;
}

} // namespace reconverge
