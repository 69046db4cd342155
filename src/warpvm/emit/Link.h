//===- warpvm/emit/Link.h - From an object file to code in memory -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_LINK_H
#define RECONVERGE_WARPVM_EMIT_LINK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace reconverge::warpvm {

/// Object files that the host's code generator wrote, in this process. Their
/// code stays as long as the linker does. Any number of threads may link.
class Linker {
public:
  Linker() = default;
  Linker(const Linker &) = delete;
  ~Linker();

  /// Places \p Object in memory. \p Find: the address of what it lacks, by
  /// name; null is an error. \p Define is told of each global symbol that it
  /// defines, once its code may run. \p Object is not needed afterwards.
  llvm::Error
  link(llvm::MemoryBufferRef Object,
       llvm::function_ref<llvm::Expected<void *>(llvm::StringRef)> Find,
       llvm::function_ref<void(llvm::StringRef, void *)> Define);

private:
  llvm::Expected<uint8_t *> allocate(uint64_t Bytes);

  std::mutex Lock;
  std::vector<std::pair<uint8_t *, uint64_t>> Chunks;
  uint8_t *Free = nullptr, *End = nullptr; ///< of the last chunk
};

} // namespace reconverge::warpvm

#endif
