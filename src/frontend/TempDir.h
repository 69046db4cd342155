//===- frontend/TempDir.h - Files that do not outlive us --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_TEMPDIR_H
#define RECONVERGE_FRONTEND_TEMPDIR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::frontend {

/// A folder that is removed with all it holds when the object dies, unless it
/// is one that the user named to keep intermediate files in.
class TempDir {
public:
  /// \p Keep: the folder to use and leave (made if missing); empty: a new one
  /// in the system's temporary folder.
  static llvm::Expected<TempDir> create(llvm::StringRef Keep = "");

  TempDir(TempDir &&Other) noexcept;
  TempDir &operator=(TempDir &&) = delete;
  ~TempDir();

  const std::string &path() const { return Path; }
  /// The path of a file of that name inside.
  std::string file(const llvm::Twine &Name) const;

private:
  TempDir(std::string Path, bool Remove);
  std::string Path;
  bool Remove;
  int Slot = -1; ///< in the list of those that a signal removes
};

/// Makes signals that end this process (SIGINT, SIGTERM, SIGHUP, SIGPIPE)
/// remove the temporary folders that there are then. For a tool's main; what
/// the process ignores or handles stays as it is.
void removeTempDirsOnSignal();

/// Moves \p From (complete) to \p To: a rename, or across file systems a copy
/// beside \p To and a rename.
llvm::Error moveIntoPlace(llvm::StringRef From, llvm::StringRef To);

} // namespace reconverge::frontend

#endif
