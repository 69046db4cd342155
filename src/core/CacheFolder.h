//===- core/CacheFolder.h - What is kept between runs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that is compiled for programs is kept in one folder (defaultCacheFolder()
// in core/File.h), for the CPU and for GPUs. It may be one that holds other
// things as well: what is ours is known by its name.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_CACHEFOLDER_H
#define RECONVERGE_CORE_CACHEFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>

namespace reconverge {

/// The path in \p Folder of what is kept under the hash \p Key.
std::string cachePath(llvm::StringRef Folder, uint64_t Key);

/// What is kept at \p Path, which counts as used within the hour; null if there is
/// nothing: another process may just have removed it.
std::unique_ptr<llvm::MemoryBuffer> readCached(llvm::StringRef Path);

/// Whether a file is called as what we keep, or have kept in earlier versions.
bool isCacheName(llvm::StringRef Name);

/// What the folder may take where nothing else is said.
inline constexpr uint64_t UsualCacheBytes = uint64_t(1) << 30;

/// Removes from \p Folder what was not used for 30 days, and of the rest what
/// was not used for longest, until it takes at most \p Bytes (0: no bound) and
/// three quarters of what is free on its disk. Does so once in 20 minutes.
void boundCacheFolder(llvm::StringRef Folder, uint64_t Bytes = UsualCacheBytes);

} // namespace reconverge

#endif
