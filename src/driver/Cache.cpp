//===- driver/Cache.cpp - The folder of compiled kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only files whose names are of our making count and are removed: somebody may
// have given a folder that holds more.
//
//===----------------------------------------------------------------------===//

#include "driver/Cache.h"

#include "core/CacheFolder.h"
#include "core/Error.h"
#include "frontend/Installation.h"
#include "frontend/Subprocess.h"
#include "report/Text.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// Another process may be at it already, which has the least claim on the CPU.
static Error finish(const std::string &Folder) {
  auto Tree = frontend::findInstallation();
  if (!Tree)
    return Tree.takeError();
  frontend::Command C;
  C.Arguments = {Tree->runtimeDir() + "/compile-kernel", "finish", Folder};
  auto Result = frontend::runProcess(C);
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return userError("the kernels that are left were not all compiled",
                     "Say reconverge cache finish again.");
  return Error::success();
}

Error cache(const CacheRequest &Request, raw_ostream &OS) {
  const std::string &Folder = Request.Folder;
  if (Folder.empty())
    return userError("there is no folder for compiled kernels",
                     "HOME or XDG_CACHE_HOME has to name one, or --cache.");
  if (Request.Finish && sys::fs::is_directory(Folder))
    if (Error E = finish(Folder))
      return E;
  uint64_t Files = 0, Bytes = 0;
  std::error_code EC;
  if (sys::fs::exists(Folder))
    for (sys::fs::directory_iterator It(Folder, EC), End; It != End && !EC;
         It.increment(EC)) {
      if (!isCacheName(sys::path::filename(It->path())))
        continue;
      const auto Status = It->status();
      // Another process may have removed it just now.
      if (!Status || Status->type() != sys::fs::file_type::regular_file)
        continue;
      if (Request.Clean)
        if (std::error_code Failed = sys::fs::remove(It->path()))
          return userError("cannot remove " + It->path() + ": " +
                           Failed.message());
      ++Files;
      Bytes += Status->getSize();
    }
  if (EC)
    return userError("cannot read " + Folder + ": " + EC.message());
  OS << (Request.Clean ? "removed from " : "") << Folder << ": "
     << report::counted(Files, "file")
     << format(", %.1f MB\n", double(Bytes) / 1e6);
  return Error::success();
}

} // namespace reconverge::driver
