//===- warpvm/emit/OperationLibrary.h - Operations, compiled ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_OPERATIONLIBRARY_H
#define RECONVERGE_WARPVM_EMIT_OPERATIONLIBRARY_H

#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace reconverge::warpvm {

/// The operations (Operations.h) that lists of steps may name in one process,
/// and those that the cache on disk has for later ones.
class OperationLibrary {
public:
  /// \p Path: the file in the cache, or empty.
  OperationLibrary(llvm::orc::LLJIT &Jit, std::string Path);

  bool has(llvm::StringRef Name) const { return Names.contains(Name); }
  /// Links \p Object, which defines operations, and keeps it.
  llvm::Error add(std::unique_ptr<llvm::MemoryBuffer> Object);
  /// Whether all operations are there that \p Object needs.
  bool serves(const llvm::MemoryBuffer &Object) const;

private:
  llvm::orc::LLJIT &Jit;
  std::string Path;
  llvm::StringSet<> Names;
};

} // namespace reconverge::warpvm

#endif
