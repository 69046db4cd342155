//===- warpvm/emit/CachedFile.cpp - A file that is kept between runs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file ends in a hash of the rest; one that is not whole counts as not there,
// and is made again. It is written beside its place and renamed.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/CachedFile.h"

#include "core/CacheFolder.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::warpvm {

bool writeWhole(StringRef Path, StringRef Bytes) {
  char Sum[8];
  support::endian::write64le(Sum, xxh3_64bits(Bytes));
  (void)sys::fs::create_directories(sys::path::parent_path(Path));
  auto Temp = sys::fs::TempFile::create(Path + ".%%%%%%");
  if (!Temp) {
    consumeError(Temp.takeError());
    return false;
  }
  raw_fd_ostream OS(Temp->FD, /*shouldClose=*/false);
  OS << Bytes << StringRef(Sum, sizeof(Sum));
  OS.flush();
  if (OS.has_error()) {
    OS.clear_error();
    consumeError(Temp->discard());
    return false;
  }
  return !errorToBool(Temp->keep(Path));
}

namespace {
/// A file but for its last bytes.
class Front : public MemoryBuffer {
public:
  Front(std::unique_ptr<MemoryBuffer> Whole, size_t Last)
      : Whole(std::move(Whole)) {
    init(this->Whole->getBufferStart(), this->Whole->getBufferEnd() - Last,
         /*RequiresNullTerminator=*/false);
  }
  BufferKind getBufferKind() const override { return Whole->getBufferKind(); }
  StringRef getBufferIdentifier() const override {
    return Whole->getBufferIdentifier();
  }

private:
  std::unique_ptr<MemoryBuffer> Whole;
};
} // namespace

std::unique_ptr<MemoryBuffer> readWhole(StringRef Path) {
  std::unique_ptr<MemoryBuffer> File = readCached(Path);
  if (!File || File->getBufferSize() < 8)
    return nullptr;
  StringRef Bytes = File->getBuffer();
  StringRef Kept = Bytes.drop_back(8);
  if (support::endian::read64le(Kept.end()) != xxh3_64bits(Kept))
    return nullptr;
  return std::make_unique<Front>(std::move(File), 8);
}

} // namespace reconverge::warpvm
