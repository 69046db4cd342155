//===- warpvm/Outline.h - A module without its code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_OUTLINE_H
#define RECONVERGE_WARPVM_OUTLINE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace reconverge::warpvm {

/// What has to be known of a kernel before its code is read.
struct KernelOutline {
  KernelOutline() = default;
  explicit KernelOutline(const llvm::Function &Kernel);
  uint64_t Shared = 0; ///< bytes of static shared memory
  /// Offsets of pointers among its parameters that it may follow.
  llvm::SmallVector<uint64_t, 8> Pointers;
};

/// The same for all of a module's kernels.
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

  /// Null if that is no kernel.
  const KernelOutline *kernel(llvm::StringRef Name) const;

private:
  std::string Hash;
  llvm::StringMap<KernelOutline> Kernels;
};

} // namespace reconverge::warpvm

#endif
