//===- warpvm/Outline.h - A module without its code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_OUTLINE_H
#define RECONVERGE_WARPVM_OUTLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
} // namespace llvm

namespace reconverge::warpvm {

/// What has to be known of a kernel before its code is read.
struct KernelOutline {
  KernelOutline() = default;
  explicit KernelOutline(const llvm::Function &Kernel);
  uint64_t Shared = 0;       ///< bytes of static shared memory
  uint64_t Bound = 0;        ///< analysis::launchBound
  uint64_t Architecture = 0; ///< analysis::architectureOf; 0: not said
  /// Blocks of a cluster, if it says that: __cluster_dims__.
  llvm::SmallVector<uint64_t, 3> Cluster;
  /// Byte offset and size of each parameter.
  llvm::SmallVector<std::pair<uint64_t, uint64_t>, 8> Parameters;
  /// Offsets of pointers among its parameters that it may follow.
  llvm::SmallVector<uint64_t, 8> Pointers;
};

/// What has to be known of a device variable to give it memory.
struct VariableOutline {
  VariableOutline() = default;
  explicit VariableOutline(const llvm::GlobalVariable &GV);
  std::string Name;
  uint64_t Size = 0, Align = 1; ///< bytes
  bool Constant = false;        ///< whether kernels may only read it
};

/// The same for all of a module's kernels and variables.
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
  llvm::ArrayRef<VariableOutline> variables() const { return Variables; }
  /// The bytes with which each variable begins; null where some have addresses
  /// in them, which a module has to be asked for.
  const std::vector<std::optional<std::string>> *initialValues() const {
    return Initial ? &*Initial : nullptr;
  }

  /// Null if that is no kernel.
  const KernelOutline *kernel(llvm::StringRef Name) const;

private:
  std::string Hash;
  std::vector<VariableOutline> Variables;
  std::optional<std::vector<std::optional<std::string>>> Initial;
  llvm::StringMap<KernelOutline> Kernels;
};

} // namespace reconverge::warpvm

#endif
