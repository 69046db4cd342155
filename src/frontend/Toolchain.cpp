//===- frontend/Toolchain.cpp - clang and the CUDA toolkit ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The toolkit is found, never bundled. A place that the user names (option or
// environment) is not silently passed over when it holds no toolkit: falling
// through to another one would compile against headers nobody asked for.
//
// A folder counts as a toolkit if it holds include/cuda.h, which also tells the
// version (CUDA_VERSION), and libdevice. version.json says the same where it is
// shipped, but some distributions leave it out.
//
//===----------------------------------------------------------------------===//

#include "frontend/Toolchain.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace reconverge::frontend {

static std::string below(StringRef Root, const Twine &A, const Twine &B = "",
                         const Twine &C = "") {
  SmallString<128> Path(Root);
  sys::path::append(Path, A, B, C);
  return std::string(Path);
}

std::string CudaToolkit::tool(StringRef Name) const {
  return below(Root, "bin", Name);
}
std::string CudaToolkit::includeDir() const { return below(Root, "include"); }
std::string CudaToolkit::libraryDir() const {
  std::string Wide = below(Root, "lib64");
  return sys::fs::is_directory(Wide) ? Wide : below(Root, "lib");
}
std::string CudaToolkit::ccclDir() const {
  std::string Dir = below(Root, "include", "cccl");
  return sys::fs::is_directory(Dir) ? Dir : std::string();
}
bool CudaToolkit::lacksTextureHeader() const {
  return !sys::fs::exists(below(Root, "include", "texture_fetch_functions.h"));
}

/// CUDA_VERSION (1000 * major + 10 * minor) of a toolkit's cuda.h; 0 if \p Root
/// is no toolkit.
static unsigned versionOf(StringRef Root) {
  auto Header = MemoryBuffer::getFile(below(Root, "include", "cuda.h"));
  if (!Header ||
      !sys::fs::exists(below(Root, "nvvm", "libdevice", "libdevice.10.bc")))
    return 0;
  StringRef Text = (*Header)->getBuffer();
  StringRef Key = "#define CUDA_VERSION ";
  size_t At = Text.find(Key);
  unsigned Version = 0;
  if (At != StringRef::npos)
    Text.substr(At + Key.size()).ltrim().consumeInteger(10, Version);
  return Version;
}

/// The last part of nvcc's version, say 88 of 13.0.88, as version.json has it.
static unsigned nvccBuild(StringRef Root) {
  auto File = MemoryBuffer::getFile(below(Root, "version.json"));
  if (!File)
    return 0;
  StringRef Text = (*File)->getBuffer().split("\"cuda_nvcc\"").second;
  Text = Text.split("\"version\"").second.split('"').second.split('"').first;
  unsigned Build = 0;
  return Text.rsplit('.').second.getAsInteger(10, Build) ? 0 : Build;
}

static std::optional<std::string> onPath(StringRef Name, GetEnv Env) {
  SmallVector<StringRef> Folders;
  std::string Path = Env("PATH").value_or("");
  StringRef(Path).split(Folders, sys::EnvPathSeparator, -1, false);
  for (StringRef Folder : Folders) {
    std::string Candidate = below(Folder, Name);
    if (sys::fs::can_execute(Candidate))
      return Candidate;
  }
  return std::nullopt;
}

/// What else to do where variable \p Name leads astray: make exports what a
/// Makefile gives a variable that the environment has.
static std::string byMake(StringRef Name) {
  return (" If a Makefile sets " + Name +
          " for its own use, name the toolkit by --cuda-path, which goes "
          "before it.")
      .str();
}

Expected<CudaToolkit> findCudaToolkit(StringRef CudaPath, GetEnv Env,
                                      StringRef Usual) {
  const std::string Remedy =
      "Install CUDA 12 or 13, or set CUDA_PATH to the folder that holds the "
      "toolkit's include/cuda.h and nvvm/libdevice.";

  auto Open = [&](StringRef Root) -> Expected<CudaToolkit> {
    CudaToolkit Found;
    Found.Root = Root.str();
    unsigned Version = versionOf(Root);
    Found.Major = Version / 1000;
    Found.Minor = Version % 1000 / 10;
    Found.Build = nvccBuild(Root);
    if (Found.Major < 12)
      return userError("the CUDA toolkit at " + Root + " is version " +
                           Twine(Found.Major) + "." + Twine(Found.Minor),
                       Remedy);
    return Found;
  };

  std::pair<const char *, std::optional<std::string>> Named[] = {
      {"--cuda-path", CudaPath.empty()
                          ? std::nullopt
                          : std::optional<std::string>(CudaPath.str())},
      {"CUDA_PATH", Env("CUDA_PATH")},
      {"CUDA_HOME", Env("CUDA_HOME")}};
  for (auto &[Source, Root] : Named) {
    if (!Root || Root->empty())
      continue;
    const bool IsFlag = StringRef(Source).starts_with("--");
    if (!versionOf(*Root))
      return userError(Twine("no CUDA toolkit at ") + *Root + ", which " +
                           Source +
                           " names: include/cuda.h or "
                           "nvvm/libdevice/libdevice.10.bc is missing",
                       IsFlag ? Remedy : Remedy + byMake(Source));
    return Open(*Root);
  }

  if (std::optional<std::string> Nvcc = onPath("nvcc", Env)) {
    // A distribution may have a link in /usr/bin that points to the toolkit.
    SmallString<128> Real;
    if (!sys::fs::real_path(*Nvcc, Real)) {
      StringRef Root = sys::path::parent_path(sys::path::parent_path(Real));
      if (versionOf(Root))
        return Open(Root);
    }
  }
  if (versionOf(Usual))
    return Open(Usual);
  return userError(
      "no CUDA toolkit found: CUDA_PATH and CUDA_HOME are not set, there is no "
      "nvcc with a toolkit around it on PATH, and none at " +
          Usual,
      Remedy);
}

Expected<std::string> findClang(const Installation &Tree, GetEnv Env) {
  if (std::optional<std::string> Chosen = Env("RECONVERGE_CLANG");
      Chosen && !Chosen->empty()) {
    if (sys::fs::can_execute(*Chosen))
      return *Chosen;
    return userError("RECONVERGE_CLANG names " + *Chosen +
                         ", which is no executable",
                     "Set it to the path of clang++ 19, or unset it.");
  }
  std::string Sibling = below(Tree.binDir(), "clang-19");
  if (sys::fs::can_execute(Sibling))
    return Sibling;
  if (std::optional<std::string> Found = onPath("clang++-19", Env))
    return *Found;
  return userError("clang 19 not found: no clang-19 beside reconverge and no "
                   "clang++-19 on PATH",
                   "Install it (Debian: apt-get install clang-19), or set "
                   "RECONVERGE_CLANG to its path.");
}

Expected<Toolchain> findToolchain(StringRef CudaPath) {
  auto Env = [](StringRef Name) { return sys::Process::GetEnv(Name); };
  Toolchain Tools;
  if (Error E = findInstallation().moveInto(Tools.Tree))
    return std::move(E);
  if (Error E = findClang(Tools.Tree, Env).moveInto(Tools.Clang))
    return std::move(E);
  if (Error E = findCudaToolkit(CudaPath, Env).moveInto(Tools.Cuda))
    return std::move(E);
  return Tools;
}

} // namespace reconverge::frontend
