//===- frontend/Installation.cpp - Where our own files lie ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Installation.h"

#include "analysis/Costs.h"
#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <vector>

using namespace llvm;

namespace reconverge::frontend {

static std::string below(StringRef Prefix, const Twine &A, const Twine &B = "",
                         const Twine &C = "") {
  SmallString<128> Path(Prefix);
  sys::path::append(Path, A, B, C);
  return std::string(Path);
}

std::string Installation::binDir() const { return below(Prefix, "bin"); }
std::string Installation::runtimeDir() const {
  return below(Prefix, "lib", "reconverge");
}
std::string Installation::passesPath() const {
  return below(Prefix, "lib", "libReconverge.so");
}
std::string Installation::pragmasPath() const {
  return below(Prefix, "lib", "libReconvergeClang.so");
}
std::string Installation::shimPath() const {
  return below(runtimeDir(), "libcudart.so");
}
std::string Installation::driverDir() const {
  return below(runtimeDir(), "driver");
}
std::string Installation::launchPath() const {
  return below(runtimeDir(), "libReconvergeLaunch.a");
}

std::string Installation::overlayDir() const {
  return below(Prefix, "share", "reconverge", "overlay");
}
std::string Installation::pagePath() const {
  return below(Prefix, "share", "reconverge", "page.html");
}
std::string Installation::machineDir() const {
  return below(Prefix, "share", "reconverge", "machines");
}
std::string Installation::includeDir() const {
  return below(Prefix, "include");
}

Expected<Installation> findInstallation() {
  // The address only matters where /proc is missing.
  std::string Self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findInstallation));
  if (Self.empty())
    return internalError("the path of the running executable is unknown");
  Installation Tree;
  Tree.Prefix = sys::path::parent_path(sys::path::parent_path(Self)).str();
  return Tree;
}

/// Sorted.
static std::vector<std::string> machineFilesIn(StringRef Folder) {
  std::vector<std::string> Files;
  std::error_code EC;
  for (sys::fs::directory_iterator It(Folder, EC), End; It != End && !EC;
       It.increment(EC))
    if (sys::path::extension(It->path()) == ".json")
      Files.push_back(It->path());
  llvm::sort(Files);
  return Files;
}

Expected<std::string> findMachineFile(const Installation &Tree,
                                      StringRef NameOrPath) {
  if (sys::fs::is_regular_file(NameOrPath))
    return NameOrPath.str();
  std::string Named = below(Tree.machineDir(), NameOrPath + ".json");
  if (!sys::path::has_parent_path(NameOrPath) && sys::fs::exists(Named))
    return Named;

  std::vector<std::string> Known;
  for (const std::string &File : machineFilesIn(Tree.machineDir()))
    Known.push_back(sys::path::stem(File).str());
  if (Known.empty())
    return internalError(
        "the installation is incomplete: no machine files in " +
        Tree.machineDir());
  return userError("no machine file '" + NameOrPath + "'",
                   "Name one of " + join(Known, ", ") +
                       ", or the path of a machine file.");
}

std::string machineFileOf(StringRef Folder, StringRef Gpu) {
  if (Gpu.empty()) // as of files that are of no GPU
    return "";
  for (std::string &File : machineFilesIn(Folder)) {
    auto Model = analysis::MachineModel::load(File);
    if (!Model)
      consumeError(Model.takeError()); // who asks for it by name is told
    else if (Model->gpu() == Gpu)
      return std::move(File);
  }
  return "";
}

} // namespace reconverge::frontend
