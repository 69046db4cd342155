//===- rewrite/Order.h - What to write, and what became of it --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds.cpp and Collecting.cpp, which read the passes' plans off the device code,
// order what to write; the source rewriter (writer/), a plugin of clang, does it and
// answers. Both are JSON in a file, for clang is a process of its own. All of it is
// in this header, for our plugin for clang links nothing of ours.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REWRITE_ORDER_H
#define RECONVERGE_REWRITE_ORDER_H

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace reconverge::rewrite {

/// Of debug information.
struct Place {
  std::string File;
  uint64_t Line = 0, Column = 0;
  bool operator==(const Place &) const = default;
};

/// A round in a kernel's own text, or a kernel whose threads become items.
struct Order {
  std::string Kernel; ///< mangled
  /// The calls by which the branch has come into the kernel, outermost first,
  /// and then the branch itself.
  std::vector<Place> Chain;
  /// The branches that the pass's round serves right there.
  std::vector<Place> Choices;
  uint64_t Leaves = 2; ///< the ways through these
  /// Branches of two ways behind it that the round serves as well, in order.
  std::vector<Place> Later;
  bool IsAsked = false;  ///< by a pragma
  bool HasExits = false; ///< threads leave the kernel before
  /// Local variables, "name:line" (of a further round: "name"), that hold something which the pass moves or
  /// computes again; and those that are the same in the whole block.
  std::vector<std::string> Moves, Same;
  uint64_t Threads = 0; ///< of the largest block
  bool IsBound = false; ///< the source says so itself
  bool IsSized = false; ///< somebody says so
  bool IsExact = false; ///< no block has fewer; for the writer to see
  /// Static shared memory without what moves, and what moves of a thread.
  uint64_t SharedBytes = 0, ThreadBytes = 0;
  std::string Algorithm;    ///< of the library; empty: its own choice
  uint64_t Neighbours = 16; ///< of data_group_indexing
  /// If not 0: the kernel has rounds of ours, and of all the statements to the end
  /// of its block, the branch is one of the last so many.
  uint64_t Behind = 0;
  /// A thread, of block_collect, and how many of them a warp claims at once; 0: a
  /// round of block_remap.
  uint64_t Items = 0, Chunk = 0;
  bool IsGrid = false; ///< an item is a trip of the kernel's loop over the grid
};

/// What became of an order; Code 0: it is written. There is none of an order that
/// nobody asked for if its kernel has another round.
struct Outcome {
  std::string Kernel;
  uint64_t Code = 0;
  std::string File; ///< where, and what stands there
  uint64_t Line = 0, Column = 0;
  std::string Detail;
  uint64_t Items = 0; ///< the order's
  /// Of a round: the order's number among the kernel's, the statements behind the
  /// branch in its block, and the lines by which these stand further down now.
  uint64_t Number = 0, Behind = 0;
  int64_t Lines = 0;
  uint64_t Launched = 0; ///< the largest block, if its launches say so
  uint64_t Exact = 0;    ///< the size of all blocks, if the round needs it
};

inline llvm::json::Value toJSON(const Place &P) {
  return llvm::json::Array{P.File, P.Line, P.Column};
}
inline bool fromJSON(const llvm::json::Value &V, Place &P,
                     llvm::json::Path At) {
  const auto *A = V.getAsArray();
  return A && A->size() == 3 && fromJSON((*A)[0], P.File, At) &&
         fromJSON((*A)[1], P.Line, At) && fromJSON((*A)[2], P.Column, At);
}

inline llvm::json::Value toJSON(const Order &O) {
  return llvm::json::Object{{"kernel", O.Kernel},
                            {"chain", O.Chain},
                            {"choices", O.Choices},
                            {"leaves", O.Leaves},
                            {"later", O.Later},
                            {"isAsked", O.IsAsked},
                            {"hasExits", O.HasExits},
                            {"moves", O.Moves},
                            {"same", O.Same},
                            {"threads", O.Threads},
                            {"isBound", O.IsBound},
                            {"isSized", O.IsSized},
                            {"sharedBytes", O.SharedBytes},
                            {"threadBytes", O.ThreadBytes},
                            {"behind", O.Behind},
                            {"algorithm", O.Algorithm},
                            {"neighbours", O.Neighbours},
                            {"items", O.Items},
                            {"chunk", O.Chunk},
                            {"isGrid", O.IsGrid}};
}
inline bool fromJSON(const llvm::json::Value &V, Order &O,
                     llvm::json::Path At) {
  llvm::json::ObjectMapper Map(V, At);
  return Map && Map.map("kernel", O.Kernel) && Map.map("chain", O.Chain) &&
         Map.map("choices", O.Choices) && Map.map("leaves", O.Leaves) &&
         Map.mapOptional("later", O.Later) && Map.map("isAsked", O.IsAsked) &&
         Map.map("hasExits", O.HasExits) && Map.map("moves", O.Moves) &&
         Map.map("same", O.Same) && Map.map("threads", O.Threads) &&
         Map.map("isBound", O.IsBound) &&
         Map.mapOptional("isSized", O.IsSized) &&
         Map.mapOptional("behind", O.Behind) &&
         Map.mapOptional("sharedBytes", O.SharedBytes) &&
         Map.mapOptional("threadBytes", O.ThreadBytes) &&
         Map.map("algorithm", O.Algorithm) &&
         Map.map("neighbours", O.Neighbours) &&
         Map.mapOptional("items", O.Items) &&
         Map.mapOptional("chunk", O.Chunk) &&
         Map.mapOptional("isGrid", O.IsGrid);
}

inline llvm::json::Value toJSON(const Outcome &O) {
  return llvm::json::Object{{"kernel", O.Kernel},
                            {"code", O.Code},
                            {"file", llvm::json::fixUTF8(O.File)},
                            {"line", O.Line},
                            {"column", O.Column},
                            {"detail", llvm::json::fixUTF8(O.Detail)},
                            {"items", O.Items},
                            {"number", O.Number},
                            {"behind", O.Behind},
                            {"lines", O.Lines},
                            {"launched", O.Launched},
                            {"exact", O.Exact}};
}
inline bool fromJSON(const llvm::json::Value &V, Outcome &O,
                     llvm::json::Path At) {
  llvm::json::ObjectMapper Map(V, At);
  return Map && Map.map("kernel", O.Kernel) && Map.map("code", O.Code) &&
         Map.map("file", O.File) && Map.map("line", O.Line) &&
         Map.map("column", O.Column) && Map.map("detail", O.Detail) &&
         Map.map("items", O.Items) && Map.map("number", O.Number) &&
         Map.map("behind", O.Behind) && Map.map("lines", O.Lines) &&
         Map.map("launched", O.Launched) && Map.map("exact", O.Exact);
}

} // namespace reconverge::rewrite

#endif
