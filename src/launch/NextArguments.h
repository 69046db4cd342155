//===- launch/NextArguments.h - Of a launch not made yet --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_NEXTARGUMENTS_H
#define RECONVERGE_LAUNCH_NEXTARGUMENTS_H

#include "core/Recipe.h"

namespace reconverge::launch {

/// Copies of a launch's arguments.
using ArgumentBytes = std::vector<std::vector<char>>;

/// What the next launch's arguments will be, if each one follows the one before in
/// equal steps. Not for two threads at once.
class NextArguments {
public:
  explicit NextArguments(const RecipeAhead &Of) : Of(Of) {}

  /// A launch has \p Args. Returns whether that is what was foretold for it.
  bool see(void *const *Args);
  /// Those of the launch after the last that was seen; null: nobody can say, or
  /// what was said before was wrong too often.
  void **foretell();
  /// Nobody acts on what foretell() has returned.
  void forget() { Said = false; }

private:
  ArgumentBytes copy(void *const *Args) const;
  bool areAlike(const ArgumentBytes &A, const ArgumentBytes &B) const;
  std::vector<uint64_t> stepsTo(const ArgumentBytes &Now) const;
  bool advance();

  const RecipeAhead &Of;
  ArgumentBytes Last, Next;
  std::vector<void *> Pointers;  ///< to Next
  std::vector<uint64_t> Steps;   ///< of Of.Parts, modulo 2^(8 Bytes)
  bool Proven = false;           ///< that launches follow in Steps
  bool Said = false;             ///< Next is what the next launch should have
  unsigned Pause = 0, Every = 0; ///< launches for which nothing is foretold
};

} // namespace reconverge::launch

#endif
