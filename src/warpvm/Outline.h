//===- warpvm/Outline.h - A module without its code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_OUTLINE_H
#define RECONVERGE_WARPVM_OUTLINE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::warpvm {

/// What has to be known of a module's kernels before their code is read.
class Outline {
public:
  /// That of the module of bitcode that hashes to \p Bytes; nothing if the cache
  /// in \p CacheDir has none.
  static std::optional<Outline> kept(llvm::StringRef CacheDir,
                                     llvm::StringRef Bytes);
  /// Keeps that of \p M, which has been read and verified, unless it is one
  /// whose functions have to be known at once (Outline.cpp).
  static void keep(llvm::Module &M, llvm::StringRef CacheDir,
                   llvm::StringRef Bytes);

  const std::string &codeHash() const { return Hash; }

  /// Bytes of static shared memory of a kernel; nothing if that is no kernel.
  std::optional<uint64_t> staticShared(llvm::StringRef Kernel) const;

private:
  std::string Hash;
  llvm::StringMap<uint64_t> Shared;
};

} // namespace reconverge::warpvm

#endif
