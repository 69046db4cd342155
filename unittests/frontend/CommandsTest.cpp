//===- unittests/frontend/CommandsTest.cpp - Command lines of the tools ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Clang.h"
#include "frontend/Fatbin.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::frontend;

namespace {

Toolchain tools() {
  Toolchain Tools;
  Tools.Clang = "/bin/clang++-19";
  Tools.Cuda.Root = "/cuda";
  Tools.Cuda.Major = 13;
  Tools.Tree.Prefix = "/ours";
  return Tools;
}

/// The words as one line, with a blank at either end.
std::string line(const std::vector<std::string> &Words) {
  return " " + join(Words, " ") + " ";
}

bool has(const std::string &Line, StringRef Part) {
  return StringRef(Line).contains((" " + Part + " ").str());
}

TEST(Commands, InputsByExtension) {
  EXPECT_EQ(inputKind("a.cu"), InputKind::Cuda);
  EXPECT_EQ(inputKind("x/a.b.cpp"), InputKind::Cxx);
  EXPECT_EQ(inputKind("a.c"), InputKind::C);
  EXPECT_EQ(inputKind("a.o"), InputKind::LinkerInput);
  EXPECT_EQ(inputKind("libx.so.3"), InputKind::LinkerInput);
  EXPECT_EQ(inputKind("app"), InputKind::Other);
}

TEST(Commands, DeviceCodeComesUnoptimisedWithLines) {
  CompileOptions Options;
  Options.ClangArguments = {"-DX=1"};
  std::string Line =
      line(deviceCommand(tools(), Options, "a.cu", "a.bc").Arguments);
  for (const char *Part :
       {"--cuda-device-only", "--cuda-gpu-arch=sm_90", "-emit-llvm",
        "-Xclang -disable-llvm-passes", "-gline-tables-only", "-DX=1",
        "-isystem /ours/share/reconverge/overlay", "-c a.cu -o a.bc"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;
  EXPECT_FALSE(has(Line, "-g"));
  Options.DebugInfo = true;
  Options.Math = Numerics::fast();
  Options.Math.Contract = false;
  Line = line(deviceCommand(tools(), Options, "a.cu", "a.bc").Arguments);
  for (const char *Part : {"-g", "-fgpu-flush-denormals-to-zero",
                           "-fgpu-approx-transcendentals", "-ffp-contract=off"})
    EXPECT_TRUE(has(Line, Part)) << Part;
}

TEST(Commands, HostObjectEmbedsTheContainer) {
  CompileOptions Options;
  Options.OptLevel = 1;
  Options.HostArguments = {"-fopenmp"};
  std::string Line = line(
      hostCommand(tools(), Options, "a.cu", "a.container", "a.o").Arguments);
  for (const char *Part :
       {"-x cuda", "--cuda-host-only", "-O1", "-fopenmp",
        "-Xclang -fcuda-include-gpubinary -Xclang a.container"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;

  Line = line(hostCommand(tools(), Options, "a.cpp", "", "a.o").Arguments);
  EXPECT_TRUE(has(Line, "-x c++"));
  EXPECT_TRUE(has(Line, "-isystem /cuda/include"));
  EXPECT_FALSE(StringRef(Line).contains("gpubinary"));
}

TEST(Commands, LinksAgainstTheShimByPath) {
  LinkOptions Options;
  Options.Arguments = {"-L/cuda/lib64", "-lm"};
  std::string Line =
      line(linkCommand(tools(), Options, {"a.o", "b.o"}, "app").Arguments);
  for (const char *Part :
       {"a.o b.o", "-L/cuda/lib64 -lm", "-Wl,--disable-new-dtags",
        "-Xlinker -rpath -Xlinker /ours/lib/reconverge",
        "/ours/lib/reconverge/libcudart.so", "-o app"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;
}

TEST(Commands, FatbinaryOfBothToolkits) {
  CudaToolkit Cuda;
  Cuda.Root = "/cuda";
  Cuda.Major = 13;
  EXPECT_EQ(line(fatbinaryArguments(Cuda, 90, "c", "p", "o")),
            " /cuda/bin/fatbinary -64 --create o "
            "--image3=kind=elf,sm=90,file=c --image3=kind=ptx,sm=90,file=p ");
  Cuda.Major = 12;
  EXPECT_EQ(line(fatbinaryArguments(Cuda, 90, "c", "p", "o")),
            " /cuda/bin/fatbinary -64 --create o "
            "--image=profile=sm_90,file=c --image=profile=compute_90,file=p ");
}

} // namespace
