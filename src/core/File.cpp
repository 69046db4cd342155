//===- core/File.cpp - Read whole files, write them in one step -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::writeToOutput and TempFile would do, but they install LLVM's signal
// handlers, and the backends write their profile from inside the user's
// process, where signals are the user's. They also end the process when the
// disk is full.
//
//===----------------------------------------------------------------------===//

#include "core/File.h"
#include "core/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge {

Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef Path) {
  if (sys::fs::is_directory(Path))
    return userError("cannot read '" + Path + "': it is a directory");
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return userError("cannot read '" + Path +
                         "': " + Buffer.getError().message(),
                     "Check the path and that you may read the file.");
  return std::move(*Buffer);
}

static Error cannotWrite(StringRef Path, std::error_code EC) {
  return userError("cannot write '" + Path + "': " + EC.message(),
                   "Check that its folder exists, that you may write there, "
                   "and that the disk is not full.");
}

/// Runs \p Write into the open descriptor, which it closes.
static std::error_code fillFile(int Descriptor,
                                function_ref<void(raw_ostream &)> Write) {
  raw_fd_ostream OS(Descriptor, /*shouldClose=*/true);
  Write(OS);
  OS.close();
  std::error_code EC = OS.error();
  OS.clear_error(); // the stream's destructor ends the process otherwise
  return EC;
}

Error writeFileAtomically(StringRef Path,
                          function_ref<void(raw_ostream &)> Write) {
  sys::fs::file_status Status;
  std::error_code Missing = sys::fs::status(Path, Status);
  if (!Missing && Status.type() == sys::fs::file_type::directory_file)
    return cannotWrite(Path, std::make_error_code(std::errc::is_a_directory));

  int Descriptor;
  if (!Missing && Status.type() != sys::fs::file_type::regular_file) {
    if (auto EC = sys::fs::openFileForWrite(Path, Descriptor,
                                            sys::fs::CD_OpenExisting))
      return cannotWrite(Path, EC);
    if (auto EC = fillFile(Descriptor, Write))
      return cannotWrite(Path, EC);
    return Error::success();
  }

  SmallString<256> Beside;
  if (auto EC = sys::fs::createUniqueFile(Path + ".%%%%%%%%.part", Descriptor,
                                          Beside))
    return cannotWrite(Path, EC);
  std::error_code EC = fillFile(Descriptor, Write);
  if (!EC)
    EC = sys::fs::rename(Beside, Path);
  if (EC) {
    sys::fs::remove(Beside);
    return cannotWrite(Path, EC);
  }
  return Error::success();
}

Error writeOutput(StringRef Path, function_ref<void(raw_ostream &)> Write) {
  if (Path != "-")
    return writeFileAtomically(Path, Write);
  Write(outs());
  return finishOutput();
}

Error finishOutput() {
  outs().flush();
  const std::error_code EC = outs().error();
  outs().clear_error(); // the stream's destructor ends the process otherwise
  return EC ? cannotWrite("standard output", EC) : Error::success();
}

std::string defaultCacheFolder() {
  SmallString<128> Path;
  if (!sys::path::cache_directory(Path) || StringRef(Path).contains(','))
    return "";
  sys::path::append(Path, "reconverge");
  return std::string(Path);
}

} // namespace reconverge
