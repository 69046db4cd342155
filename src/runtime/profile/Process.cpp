//===- runtime/profile/Process.cpp - The program that we are in -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/profile/Process.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace llvm;

namespace reconverge::runtime {

void nameProgram(Profile &P) {
  auto File = MemoryBuffer::getFileAsStream("/proc/self/cmdline");
  if (!File)
    return;
  StringRef Rest = (*File)->getBuffer();
  auto Next = [&] {
    auto [Word, After] = Rest.split('\0');
    Rest = After;
    return Word.str();
  };
  P.Program = Next();
  P.Arguments.clear();
  while (!Rest.empty())
    P.Arguments.push_back(Next());
}

std::string installedFile(const void *Symbol, StringRef File) {
  Dl_info Here;
  if (!dladdr(Symbol, &Here))
    return "";
  SmallString<256> Path;
  if (sys::fs::real_path(Here.dli_fname, Path))
    Path = Here.dli_fname;
  sys::path::remove_filename(Path);
  sys::path::append(Path, "..", "..", File);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

std::string buildStamp(const void *Symbol) {
  Dl_info Here;
  sys::fs::file_status Status;
  if (!dladdr(Symbol, &Here) || sys::fs::status(Here.dli_fname, Status))
    return "";
  return (Twine(Status.getSize()) + "," +
          Twine(Status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

} // namespace reconverge::runtime
