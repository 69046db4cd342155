//===- frontend/OpenMp.cpp - OpenMP's runtime for host code ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang's code for `#pragma omp` calls LLVM's runtime, libomp. g++'s libgomp,
// which nvcc's programs use, has none of its entry points; libomp has g++'s, so
// that it serves objects of both compilers. A program must not hold both.
//
// An older libomp than clang's does: its entry points have stayed, and what
// it lacks the linker names.
//
//===----------------------------------------------------------------------===//

#include "frontend/OpenMp.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::frontend {

/// What is in \p Folder, the folders with the greatest number at their end
/// first.
static std::vector<std::string> newestFirst(const Twine &Folder) {
  std::vector<std::pair<int, std::string>> Found;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; It != End && !EC;
       It.increment(EC)) {
    StringRef Name = sys::path::filename(It->path());
    Name.consume_front("llvm-");
    int Version = 0;
    if (!Name.take_while(isDigit).getAsInteger(10, Version))
      Found.push_back({-Version, It->path()});
  }
  llvm::sort(Found);
  std::vector<std::string> Paths;
  for (auto &[Order, Path] : Found)
    Paths.push_back(std::move(Path));
  return Paths;
}

std::optional<OpenMpRuntime> findOpenMp(ArrayRef<std::string> Roots) {
  for (const std::string &Root : Roots) {
    if (!sys::fs::exists(Root + "/lib/libomp.so"))
      continue;
    for (const std::string &Clang : newestFirst(Root + "/lib/clang"))
      if (sys::fs::exists(Clang + "/include/omp.h"))
        return OpenMpRuntime{Clang + "/include", Root + "/lib"};
  }
  return std::nullopt;
}

std::vector<std::string> openMpRoots(const Toolchain &Tools, StringRef System) {
  std::vector<std::string> Roots = {Tools.Tree.Prefix};
  SmallString<128> Clang;
  if (!sys::fs::real_path(Tools.Clang, Clang))
    Roots.push_back(
        sys::path::parent_path(sys::path::parent_path(Clang)).str());
  for (std::string &Root : newestFirst(System))
    if (sys::path::filename(Root).starts_with("llvm-"))
      Roots.push_back(std::move(Root));
  return Roots;
}

std::string openMpHeaders(ArrayRef<std::string> Roots, StringRef Gcc) {
  if (std::optional<OpenMpRuntime> Found = findOpenMp(Roots))
    return Found->Headers;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Gcc, EC), End; It != End && !EC;
       It.increment(EC))
    for (const std::string &Version : newestFirst(It->path()))
      if (sys::fs::exists(Version + "/include/omp.h"))
        return Version + "/include";
  return "";
}

bool isOpenMpRuntime(StringRef Name) {
  return Name == "omp" || Name == "gomp" || Name == "iomp5";
}

} // namespace reconverge::frontend
