//===- rewrite/writer/RoundDraft.h - A round's own words --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_ROUNDDRAFT_H
#define RECONVERGE_REWRITE_WRITER_ROUNDDRAFT_H

#include "rewrite/writer/Draft.h"
#include "rewrite/writer/State.h"

namespace reconverge::rewrite {

/// A round that is planned, and what it is written of.
struct RoundDraft : Draft {
  using Draft::Draft;

  void takeNames();

  /// Its type, its storage and itself.
  std::string declareRound(const std::string &Indent) const;
  /// The variables that are exchanged and have not been declared.
  std::string declareHoisted() const;
  /// The round, by the path \p By.
  std::string callRound(llvm::StringRef By) const;
  /// What stands for threadIdx in \p S, behind the round.
  std::vector<Edit> threadEdits(const clang::Stmt &S) const;

  unsigned exitPath() const { return Path.Leaves; }
  /// Without const, as the kernel's text has it.
  std::string typeOf(const clang::VarDecl &V) const;

  State Moves;
  std::string Remapped;
  bool AsksResult = true; ///< what the round gives is asked for
  /// It need not be told how many threads the block has.
  bool isExact() const { return What.IsExact && Moves.Dimensions == 1; }

private:
  std::string exchangeBytes() const;
  std::string thread() const;  ///< its linear number
  std::string threads() const; ///< of the block
  std::string newName(int Dimension) const;
};

} // namespace reconverge::rewrite

#endif
