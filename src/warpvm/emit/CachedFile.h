//===- warpvm/emit/CachedFile.h - A file that is kept between runs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_CACHEDFILE_H
#define RECONVERGE_WARPVM_EMIT_CACHEDFILE_H

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace reconverge::warpvm {

/// Names this very code of the VM: 16 hex digits, which cmake/BuildId.cmake makes.
extern const char BuildId[];

/// Keeps \p Bytes under \p Path, or returns false. Best effort: a cache that
/// cannot be written is no reason to fail.
bool writeWhole(llvm::StringRef Path, llvm::StringRef Bytes);

/// What is kept under \p Path, or null: none is there, or what is there is not
/// whole (another build, a full disk, a stray hand).
std::unique_ptr<llvm::MemoryBuffer> readWhole(llvm::StringRef Path);

} // namespace reconverge::warpvm

#endif
