//===- rewrite/writer/Round.h - A round, as edits ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_ROUND_H
#define RECONVERGE_REWRITE_WRITER_ROUND_H

#include "rewrite/writer/State.h"

namespace reconverge::rewrite {

/// Where a round has been written.
struct RoundPlace {
  unsigned At = 0;      ///< offset of the statement behind it
  uint64_t Behind = 0;  ///< statements that may have a round besides
  bool IsExact = false; ///< it takes blocks of one size alone
};

/// The edits that write a round into a kernel, which stays as it is if there is
/// trouble. \p T gives out names: two instances of a template need one each.
Trouble writeRound(const clang::FunctionDecl &Kernel, const Order &What,
                   const Directives &Seen, Text &T, std::vector<Edit> &Edits,
                   RoundPlace &Written);

} // namespace reconverge::rewrite

#endif
