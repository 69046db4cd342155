//===- core/CacheFolder.cpp - What is kept between runs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/CacheFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace llvm;

namespace reconverge {

/// llvm::pruneCache touches files of such names alone.
static constexpr StringLiteral Prefix = "llvmcache-";

std::string cachePath(StringRef Folder, uint64_t Key) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Prefix + utohexstr(Key, /*LowerCase=*/true, 16));
  return std::string(Path);
}

std::unique_ptr<MemoryBuffer> readCached(StringRef Path) {
  auto Opened = sys::fs::openNativeFileForRead(Path);
  if (!Opened) {
    consumeError(Opened.takeError());
    return nullptr;
  }
  // Read rather than mapped: that is faster once, and a file that somebody
  // cuts off while we have it is no fault.
  auto File = MemoryBuffer::getOpenFile(*Opened, Path, /*FileSize=*/-1,
                                        /*RequiresNullTerminator=*/false,
                                        /*IsVolatile=*/true);
  // What is used stays longest. Most disks note reads once a day, some never. To
  // note one takes as long as to open the file: once an hour is enough.
  sys::fs::file_status Status;
  const auto Now = std::chrono::system_clock::now();
  if (!sys::fs::status(*Opened, Status) &&
      Now - Status.getLastAccessedTime() > std::chrono::hours(1))
    (void)sys::fs::setLastAccessAndModificationTime(
        *Opened, Now, Status.getLastModificationTime());
  sys::fs::closeFile(*Opened);
  return File ? std::move(*File) : nullptr;
}

bool isCacheName(StringRef Name) {
  if (Name.starts_with(Prefix) || Name == "llvmcache.timestamp")
    return true;
  if (Name.consume_front("gpu-"))
    return Name.consume_back(".image") && all_of(Name, isHexDigit);
  return Name.consume_back(".o") && Name.size() == 16 &&
         all_of(Name, isHexDigit);
}

void boundCacheFolder(StringRef Folder, uint64_t Bytes) {
  if (!sys::fs::is_directory(Folder))
    return;
  CachePruningPolicy Policy;
  Policy.Expiration = std::chrono::hours(30 * 24);
  Policy.MaxSizeBytes = Bytes;
  pruneCache(Folder, Policy);
}

} // namespace reconverge
