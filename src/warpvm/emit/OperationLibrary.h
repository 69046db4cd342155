//===- warpvm/emit/OperationLibrary.h - Operations, compiled ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_OPERATIONLIBRARY_H
#define RECONVERGE_WARPVM_EMIT_OPERATIONLIBRARY_H

#include "warpvm/emit/Link.h"

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace reconverge::warpvm {

/// The operations (Operations.h) that lists of steps may name in one process,
/// and those that the cache on disk has for later ones. Each is linked when it
/// is first asked for.
class OperationLibrary {
public:
  /// \p Path: the file in the cache, or empty. \p Outside: what operations call.
  OperationLibrary(
      Linker &Code, std::string Path,
      llvm::unique_function<llvm::Expected<void *>(llvm::StringRef)> Outside);

  bool has(llvm::StringRef Name) const { return Places.contains(Name); }
  /// The address of an operation that there is; null if there is none.
  llvm::Expected<void *> find(llvm::StringRef Name);
  /// Takes \p Object, which defines operations, and keeps it.
  llvm::Error add(std::unique_ptr<llvm::MemoryBuffer> Object);
  /// Whether all operations are there that \p Object needs.
  bool serves(const llvm::MemoryBuffer &Object) const;

private:
  /// Where an operation is: linked, or in an object file that is not yet.
  struct Place {
    void *Linked = nullptr;
    llvm::MemoryBufferRef Object;
  };
  llvm::Error link(llvm::MemoryBufferRef Object);

  Linker &Code;
  std::string Path;
  llvm::unique_function<llvm::Expected<void *>(llvm::StringRef)> Outside;
  std::unique_ptr<llvm::MemoryBuffer> Kept; ///< the file, as it was found
  llvm::StringMap<Place> Places;
};

} // namespace reconverge::warpvm

#endif
