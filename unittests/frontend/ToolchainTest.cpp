//===- unittests/frontend/ToolchainTest.cpp - Finding the tools -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Toolchain.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/OpenMp.h"
#include "frontend/TempDir.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>
#include <map>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::frontend;

namespace {

/// A folder of made-up toolkits and an environment to find them by.
class ToolchainTest : public testing::Test {
protected:
  TempDir Root = cantFail(TempDir::create());
  std::map<std::string, std::string> Environment;

  void write(StringRef Path, StringRef Text) {
    std::string File = Root.file(Path);
    ASSERT_FALSE(sys::fs::create_directories(sys::path::parent_path(File)));
    cantFail(writeFileAtomically(File, [&](raw_ostream &OS) { OS << Text; }));
  }

  void writeProgram(StringRef Path) {
    write(Path, "#!/bin/sh\n");
    ASSERT_FALSE(sys::fs::setPermissions(Root.file(Path), sys::fs::all_all));
  }

  /// A toolkit of that CUDA_VERSION, with all that makes one.
  std::string toolkit(StringRef Name, unsigned Version) {
    write((Name + "/include/cuda.h").str(),
          "#define CUDA_VERSION " + std::to_string(Version) + "\n");
    write((Name + "/nvvm/libdevice/libdevice.10.bc").str(), "");
    writeProgram((Name + "/bin/nvcc").str());
    return Root.file(Name);
  }

  Expected<CudaToolkit> find(StringRef CudaPath = "") {
    return findCudaToolkit(
        CudaPath, [&](StringRef Name) { return lookUp(Name); },
        Root.file("usual"));
  }

  std::optional<std::string> lookUp(StringRef Name) {
    auto It = Environment.find(Name.str());
    if (It == Environment.end())
      return std::nullopt;
    return It->second;
  }

  std::string rootOf(Expected<CudaToolkit> Found) {
    return Found ? Found->Root : "error: " + toString(Found.takeError());
  }
};

TEST_F(ToolchainTest, ReadsTheVersion) {
  Environment["CUDA_PATH"] = toolkit("cuda", 12060);
  Expected<CudaToolkit> Found = find();
  ASSERT_TRUE(bool(Found)) << toString(Found.takeError());
  EXPECT_EQ(Found->Major, 12u);
  EXPECT_EQ(Found->Minor, 6u);
}

TEST_F(ToolchainTest, PlacesHaveAnOrder) {
  std::string Usual = toolkit("usual", 13000);
  EXPECT_EQ(rootOf(find()), Usual);
  std::string OnPath = toolkit("path", 13000);
  Environment["PATH"] = "/nowhere:" + OnPath + "/bin";
  EXPECT_EQ(rootOf(find()), OnPath);
  Environment["CUDA_HOME"] = toolkit("home", 13000);
  EXPECT_EQ(rootOf(find()), Environment["CUDA_HOME"]);
  Environment["CUDA_PATH"] = toolkit("named", 13000);
  EXPECT_EQ(rootOf(find()), Environment["CUDA_PATH"]);
  std::string Option = toolkit("option", 13000);
  EXPECT_EQ(rootOf(find(Option)), Option);
}

TEST_F(ToolchainTest, LinkOnPathLeadsToItsToolkit) {
  std::string Real = toolkit("real", 13000);
  ASSERT_FALSE(sys::fs::create_directories(Root.file("links")));
  ASSERT_FALSE(
      sys::fs::create_link(Real + "/bin/nvcc", Root.file("links/nvcc")));
  Environment["PATH"] = Root.file("links");
  EXPECT_EQ(rootOf(find()), Real);
}

TEST_F(ToolchainTest, NamedPlaceIsNotPassedOver) {
  toolkit("usual", 13000);
  Environment["CUDA_PATH"] = Root.file("empty");
  std::string Message = rootOf(find());
  EXPECT_NE(Message.find("no CUDA toolkit at " + Root.file("empty") +
                         ", which CUDA_PATH names"),
            std::string::npos)
      << Message;
}

TEST_F(ToolchainTest, NoneFoundSaysWhatWasLookedForAndHowToPointToIt) {
  Expected<CudaToolkit> Found = find();
  ASSERT_FALSE(bool(Found));
  std::string Text;
  raw_string_ostream OS(Text);
  EXPECT_EQ(reportError(Found.takeError(), OS), 2);
  for (const char *Part :
       {"CUDA_PATH", "CUDA_HOME", "nvcc", "usual", "set CUDA_PATH to"})
    EXPECT_TRUE(StringRef(Text).contains(Part)) << Part << "\n" << Text;
}

TEST_F(ToolchainTest, OldToolkitIsRefused) {
  Environment["CUDA_PATH"] = toolkit("old", 11080);
  EXPECT_NE(rootOf(find()).find("version 11.8"), std::string::npos);
}

TEST_F(ToolchainTest, KnowsWhatAToolkitLacks) {
  CudaToolkit Kit;
  Kit.Root = toolkit("cuda", 13000);
  EXPECT_TRUE(Kit.lacksTextureHeader());
  EXPECT_EQ(Kit.ccclDir(), "");
  write("cuda/include/texture_fetch_functions.h", "");
  write("cuda/include/cccl/cub/cub.cuh", "");
  EXPECT_FALSE(Kit.lacksTextureHeader());
  EXPECT_EQ(Kit.ccclDir(), Kit.Root + "/include/cccl");
}

TEST_F(ToolchainTest, ClangByEnvironmentSiblingOrPath) {
  Installation Tree{Root.file("tree")};
  auto Find = [&] {
    Expected<std::string> Found =
        findClang(Tree, [&](StringRef Name) { return lookUp(Name); });
    return Found ? *Found : "error: " + toString(Found.takeError());
  };
  EXPECT_NE(Find().find("clang 19 not found"), std::string::npos);
  writeProgram("bin/clang++-19");
  Environment["PATH"] = Root.file("bin");
  EXPECT_EQ(Find(), Root.file("bin/clang++-19"));
  writeProgram("tree/bin/clang-19");
  EXPECT_EQ(Find(), Root.file("tree/bin/clang-19"));
  writeProgram("mine");
  Environment["RECONVERGE_CLANG"] = Root.file("mine");
  EXPECT_EQ(Find(), Root.file("mine"));
  Environment["RECONVERGE_CLANG"] = Root.file("none");
  EXPECT_NE(Find().find("RECONVERGE_CLANG names"), std::string::npos);
}

TEST_F(ToolchainTest, MachineFileByNameOrPath) {
  Installation Tree{Root.file("tree")};
  write("tree/share/reconverge/machines/b.json", "{}");
  write("tree/share/reconverge/machines/a.json", "{}");
  write("mine.json", "{}");
  EXPECT_EQ(cantFail(findMachineFile(Tree, "a")),
            Root.file("tree/share/reconverge/machines/a.json"));
  EXPECT_EQ(cantFail(findMachineFile(Tree, Root.file("mine.json"))),
            Root.file("mine.json"));
  std::string Message = toString(findMachineFile(Tree, "c").takeError());
  EXPECT_NE(Message.find("no machine file 'c'\n  Name one of a, b"),
            std::string::npos)
      << Message;
}

/// A GPU has the file that says its name, whole: others begin alike.
TEST_F(ToolchainTest, MachineFileByTheGpusName) {
  const auto FileOf = [](llvm::StringRef Gpu) {
    return llvm::sys::path::stem(machineFileOf(MACHINES_DIR, Gpu)).str();
  };
  EXPECT_EQ(FileOf("NVIDIA H200"), "h200"); // by what measured-on says
  EXPECT_EQ(FileOf("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(FileOf("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(FileOf("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
  EXPECT_EQ(FileOf("NVIDIA H100 PCIe"), "");
  EXPECT_EQ(FileOf(""), "");
  write("broken/a.json", "{}");
  EXPECT_EQ(machineFileOf(Root.file("broken"), "NVIDIA H200"), "");
}

TEST_F(ToolchainTest, NvccsBuildNumber) {
  std::string Kit = toolkit("kit", 13000);
  EXPECT_EQ(cantFail(find(Kit)).Build, 0u);
  write("kit/version.json",
        R"({ "cuda" : { "name" : "CUDA SDK", "version" : "13.0.2" },
             "cuda_nvcc" : { "name" : "CUDA NVCC", "version" : "13.0.88" } })");
  EXPECT_EQ(cantFail(find(Kit)).Build, 88u);
}

TEST_F(ToolchainTest, NewestOpenMpRuntimeThatIsWhole) {
  Toolchain Tools;
  Tools.Tree.Prefix = Root.file("ours");
  Tools.Clang = Root.file("usr/lib/llvm-19/bin/clang");
  writeProgram("usr/lib/llvm-19/bin/clang");
  auto Find = [&] {
    auto Found = findOpenMp(openMpRoots(Tools, Root.file("usr/lib")));
    return Found ? Found->Libraries + " " + Found->Headers : "";
  };
  EXPECT_EQ(Find(), "");
  write("usr/lib/llvm-18/lib/libomp.so", ""); // without its header
  write("usr/lib/llvm-9/lib/libomp.so", "");
  write("usr/lib/llvm-9/lib/clang/9.0.1/include/omp.h", "");
  write("usr/lib/llvm-14/lib/libomp.so", "");
  write("usr/lib/llvm-14/lib/clang/14.0.6/include/omp.h", "");
  std::string Lib = Root.file("usr/lib/llvm-14/lib");
  EXPECT_EQ(Find(), Lib + " " + Lib + "/clang/14.0.6/include");
  // Beside clang itself, and then in our own tree.
  write("usr/lib/llvm-19/lib/libomp.so", "");
  write("usr/lib/llvm-19/lib/clang/19/include/omp.h", "");
  Lib = Root.file("usr/lib/llvm-19/lib");
  EXPECT_EQ(Find(), Lib + " " + Lib + "/clang/19/include");
  write("ours/lib/libomp.so", "");
  write("ours/lib/clang/19/include/omp.h", "");
  Lib = Root.file("ours/lib");
  EXPECT_EQ(Find(), Lib + " " + Lib + "/clang/19/include");
}

TEST_F(ToolchainTest, HeaderOfOpenMpWithoutItsRuntime) {
  auto Find = [&] { return openMpHeaders({}, Root.file("gcc")); };
  EXPECT_EQ(Find(), "");
  write("gcc/some-linux/13/include/stddef.h", "");
  write("gcc/some-linux/9/include/omp.h", "");
  write("gcc/some-linux/12/include/omp.h", "");
  EXPECT_EQ(Find(), Root.file("gcc/some-linux/12/include"));
}

} // namespace
