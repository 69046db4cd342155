//===- frontend/PrivateView.h - A folder whose changes are lost -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PRIVATEVIEW_H
#define RECONVERGE_FRONTEND_PRIVATEVIEW_H

#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::frontend {

/// How one process and its children see a folder: what they write into it is
/// theirs alone and gone when the last of them has ended.
struct PrivateView {
  std::string Folder;  ///< that is seen so; absolute, without links
  std::string Content; ///< the folder with what is in it; may be Folder
  std::string Scratch; ///< an empty folder outside of Content, to mount on
  /// A folder that is seen as it is, even inside Folder. Then Content has it,
  /// too.
  std::string Keep;

  /// For a new process of one thread: gives it the view and makes Folder its
  /// working folder. Calls nothing that a child of a process with threads may
  /// not. Returns what was refused, with errno; null: all is well.
  const char *enter() const;

  /// Tries it in a child. The error says what this machine refuses.
  llvm::Error probe() const;
};

} // namespace reconverge::frontend

#endif
