//===- warpvm/emit/LateRegions.h - Compiled when they first run -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_LATEREGIONS_H
#define RECONVERGE_WARPVM_EMIT_LATEREGIONS_H

#include "warpvm/Layout.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace reconverge::warpvm {

/// A kernel in the host's form: its plan, with all regions or with ways to
/// these, which then lie in pieces.
struct EmittedKernel {
  std::unique_ptr<llvm::Module> Plan;
  std::vector<std::unique_ptr<llvm::Module>> Pieces;
};

/// Begins the code that a plan's ways call (symbol LateSymbol).
struct LateTable {
  void *Owner;               ///< LateRegions
  uint64_t Instructions;     ///< of all pieces, before they are optimised
  RegionFunction Regions[1]; ///< as many as there are; null: not there yet
};
/// What a piece holds (symbol PieceSymbol); the last one has no Run.
struct LateEntry {
  RegionFunction Run;
  uint64_t Index; ///< into LateTable::Regions
};

inline constexpr llvm::StringLiteral LateSymbol = "rcvm_late",
                                     PieceSymbol = "rcvm_piece",
                                     EnterSymbol = "rcvm_enter";

/// Puts regions into pieces while a kernel is emitted.
class PieceBuilder {
public:
  explicit PieceBuilder(llvm::Module &Plan);
  /// The module for the next region.
  llvm::Module &module();
  /// \p Region is in module(): what the plan is to name in its place.
  llvm::Function *wayTo(llvm::Function &Region);
  /// All pieces; the plan's table is complete.
  std::vector<std::unique_ptr<llvm::Module>> take();

private:
  void finishPiece();
  llvm::Module &Plan;
  llvm::GlobalVariable *Table; ///< stands for the plan's until take()
  std::vector<std::unique_ptr<llvm::Module>> Pieces;
  llvm::SmallVector<std::pair<llvm::Function *, uint64_t>> Open;
  uint64_t InPiece = 0, Instructions = 0, Regions = 0;
};

/// The regions of one kernel that are in pieces.
class LateRegions {
public:
  /// Links piece \p N and gives its entries. One at a time.
  using Maker = std::function<llvm::Expected<const LateEntry *>(unsigned N)>;

  /// What code does that cannot be completed, and why; does not return.
  using Ending = void (*)(std::string Why);

  LateRegions(LateTable &Table, Maker Make, Ending End)
      : Make(std::move(Make)), End(End) {
    Table.Owner = this;
  }
  LateRegions(const LateRegions &) = delete;
  LateRegions &operator=(const LateRegions &) = delete;

  /// For compiled code: region \p Index, which is in piece \p Piece.
  static RegionFunction enter(LateTable *Table, uint32_t Piece, uint32_t Index);

private:
  std::string fill(LateTable &Table, uint32_t Piece);
  Maker Make;
  Ending End;
};

} // namespace reconverge::warpvm

#endif
