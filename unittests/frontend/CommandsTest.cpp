//===- unittests/frontend/CommandsTest.cpp - Command lines of the tools ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontend/Clang.h"
#include "frontend/Dependencies.h"
#include "frontend/Fatbin.h"
#include "frontend/ForeignCode.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
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

TEST(Commands, NvccIsToldWhatTheCodeMeans) {
  CompileOptions Options;
  Options.ClangArguments = {"-DX=1",        "-I",       "folder", "-Wall",
                            "-std=gnu++20", "-include", "a.h",    "-fno-rtti"};
  Options.Math.PreciseSqrt = false;
  std::string Line = line(
      ptxArguments(ForeignCompiler::Nvcc, tools(), Options, "a.cu", "a.ptx"));
  for (const char *Part :
       {"/cuda/bin/nvcc -ptx", "-arch=compute_90", "-DX=1", "-I folder",
        "-std=c++20", "-include a.h", "-ftz=false", "-prec-div=true",
        "-prec-sqrt=false", "-fmad=true", "a.cu -o a.ptx"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;
  for (const char *Part : {"-Wall", "-fno-rtti", "-use_fast_math"})
    EXPECT_FALSE(has(Line, Part)) << Part << "\n" << Line;
}

TEST(Commands, StockClangGetsAllAndNothingOfOurs) {
  CompileOptions Options;
  Options.ClangArguments = {"-DX=1", "-fno-unroll-loops",
                            "-fplugin=/ours/bin/../lib/libReconvergeClang.so",
                            "-fplugin=/theirs/x.so"};
  Options.DebugInfo = true;
  auto Line = [&] {
    return line(ptxArguments(ForeignCompiler::Clang, tools(), Options, "a.inc",
                             "a.ptx"));
  };
  for (const char *Part :
       {"/bin/clang++-19", "-x cuda --cuda-device-only", "-O3", "-DX=1",
        "-fno-unroll-loops", "-fplugin=/theirs/x.so", "-w",
        "-fno-strict-aliasing", "-gline-tables-only -S a.inc -o a.ptx"})
    EXPECT_TRUE(has(Line(), Part)) << Part << "\n" << Line();
  for (const char *Part : {"libReconverge", "-disable-llvm-passes",
                           "-ffp-contract", "-emit-llvm", " -g "})
    EXPECT_FALSE(StringRef(Line()).contains(Part)) << Part << "\n" << Line();
  Options.OwnPasses = true;
  EXPECT_TRUE(has(Line(), "-fpass-plugin=/ours/lib/libReconverge.so"));
  Options.OptLevel = 1;
  Options.Math.Contract = false;
  EXPECT_TRUE(has(Line(), "-O1")) << Line();
  EXPECT_TRUE(has(Line(), "-ffp-contract=off")) << Line();
}

TEST(Commands, DeviceCodeComesUnoptimisedWithLines) {
  CompileOptions Options;
  Options.ClangArguments = {"-DX=1", "-fstrict-aliasing"};
  std::string Line =
      line(deviceCommand(tools(), Options, "a.cu", "a.bc").Arguments);
  for (const char *Part :
       {"--cuda-device-only", "--cuda-gpu-arch=sm_90", "-emit-llvm",
        "-Xclang -disable-llvm-passes", "-gline-tables-only", "-DX=1",
        "-isystem /ours/share/reconverge/overlay", "-c a.cu -o a.bc"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;
  // As nvcc's; the user's word comes later.
  EXPECT_LT(Line.find("-fno-strict-aliasing"), Line.find("-fstrict-aliasing"));
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
  EXPECT_FALSE(StringRef(Line).contains("aliasing"));
  EXPECT_TRUE(has(Line, "-fwrapv"));
  EXPECT_FALSE(StringRef(Line).contains("-fpass-plugin"));
  Options.OwnPasses = true;
  Line = line(
      hostCommand(tools(), Options, "a.cu", "a.container", "a.o").Arguments);
  EXPECT_TRUE(has(Line, "-fpass-plugin=/ours/lib/libReconverge.so")) << Line;
  Line =
      line(hostCommand(tools(), Options, "a.cu", "", "a.i", Stage::Preprocessed)
               .Arguments);
  EXPECT_FALSE(StringRef(Line).contains("-fpass-plugin")) << Line;

  Line = line(hostCommand(tools(), Options, "a.cpp", "", "a.o").Arguments);
  EXPECT_TRUE(has(Line, "-x c++"));
  EXPECT_TRUE(has(Line, "-isystem /cuda/include"));
  EXPECT_FALSE(StringRef(Line).contains("gpubinary"));

  Options.HostArguments = {"-fsanitize=undefined"};
  Line = line(hostCommand(tools(), Options, "a.cpp", "", "a.o").Arguments);
  EXPECT_FALSE(has(Line, "-fwrapv"));
}

TEST(Commands, WhatNvccTellsItsCompilers) {
  Toolchain Tools = tools();
  Tools.Cuda.Minor = 2;
  Tools.Cuda.Build = 88;
  CompileOptions Options;
  Options.ClangArguments = {"-std=c++20", "-DX"};
  auto Host = [&](SourceFile Source) {
    return line(hostCommand(Tools, Options, Source, "", "a.o").Arguments);
  };
  for (const char *Source : {"a.cu", "a.cpp", "a.c"})
    EXPECT_TRUE(has(Host(Source), "-D__CUDACC_VER_MAJOR__=13 "
                                  "-D__CUDACC_VER_MINOR__=2 "
                                  "-D__CUDACC_VER_BUILD__=88"))
        << Source;
  // A CUDA source sees it only behind clang's headers.
  EXPECT_FALSE(has(Host("a.cu"), "-D__NVCC__=1"));
  EXPECT_TRUE(has(Host("a.cpp"), "-D__NVCC__=1"));
  // To CMake we are clang.
  EXPECT_TRUE(has(Host("x/CMakeCUDACompilerId.cu"), "-DRECONVERGE_AS_CLANG"));
  EXPECT_FALSE(has(Host("a.cu"), "-DRECONVERGE_AS_CLANG"));
  EXPECT_TRUE(has(Host("a.cu"), "-Wno-register"));
  EXPECT_TRUE(has(Host("a.cpp"), "-Wno-error=register"));
  // C++'s standard is not for C.
  EXPECT_TRUE(has(Host("a.cpp"), "-std=c++20 -DX"));
  EXPECT_TRUE(has(Host("a.c"), "-DX"));
  EXPECT_FALSE(has(Host("a.c"), "-std=c++20"));
}

TEST(Commands, LinksAgainstTheShimByPath) {
  LinkOptions Options;
  Options.Arguments = {"-pthread"};
  Options.Words = {{"", true},
                   {"-L/cuda/lib64", false},
                   {"", true},
                   {"-lm", false},
                   {"", true}};
  std::string Line =
      line(linkCommand(tools(), Options,
                       {"a.o", "b.o", "/cuda/lib64/libcudart_static.a"}, "app")
               .Arguments);
  for (const char *Part :
       {"a.o -L/cuda/lib64 b.o -lm "
        "/ours/lib/reconverge/libReconvergeLaunch.a -L/cuda/lib "
        "/ours/lib/reconverge/libcudart.so",
        "-pthread -L/ours/lib/reconverge", "-Wl,--disable-new-dtags",
        "-Xlinker -rpath -Xlinker /ours/lib/reconverge",
        "/ours/lib/reconverge/libcudart.so", "-o app"})
    EXPECT_TRUE(has(Line, Part)) << Part << "\n" << Line;
}

TEST(Commands, FormsOfCudasRuntime) {
  for (const char *Word :
       {"cudart", "cudart_static", "cudadevrt", ":libcudart.so.13",
        "/cuda/lib64/libcudart.so", "libcudart_static.a"})
    EXPECT_TRUE(isCudaRuntime(Word)) << Word;
  for (const char *Word : {"cudart_checks", "cuda", "libcublas.so", "m", ""})
    EXPECT_FALSE(isCudaRuntime(Word)) << Word;
}

TEST(Commands, OursStandsForCudasDriver) {
  LinkOptions Options;
  Options.Words = {{"-lcuda", false}, {"", true}, {"-lcublas", false}};
  const std::string Stub = "/cuda/lib64/stubs/libcuda.so";
  std::string Line =
      line(linkCommand(tools(), Options, {Stub}, "app").Arguments);
  EXPECT_TRUE(has(Line, "-lreconverge-cuda -lreconverge-cuda -lcublas"))
      << Line;
  Options.Runtime = CudaRuntime::Nvidia;
  Line = line(linkCommand(tools(), Options, {Stub}, "app").Arguments);
  EXPECT_TRUE(has(Line, "-lcuda " + Stub + " -lcublas")) << Line;
}

TEST(Commands, AsFarAsAsked) {
  CompileOptions Options;
  Options.Dependencies.Names = {"-MT", "t"};
  std::string Line = line(hostCommand(tools(), Options, "a.cu", "", "a.i",
                                      Stage::Preprocessed, "a.d")
                              .Arguments);
  EXPECT_TRUE(has(Line, "-MD -MF a.d -MT t -E a.cu -o a.i")) << Line;
  Options.Dependencies.SystemHeaders = false;
  Line = line(
      deviceCommand(tools(), Options, "a.cu", "", Stage::Dependencies, "a.d")
          .Arguments);
  EXPECT_TRUE(has(Line, "-MM -MF a.d -MT t a.cu")) << Line;
  EXPECT_FALSE(has(Line, "-emit-llvm"));
  Line =
      line(hostCommand(tools(), Options, SourceFile("a.inc", InputKind::Cuda),
                       "", "", Stage::Syntax)
               .Arguments);
  EXPECT_TRUE(has(Line, "-x cuda")) << Line;
  EXPECT_TRUE(has(Line, "-fsyntax-only a.inc")) << Line;
}

TEST(Dependencies, OfBothReadingsOnce) {
  StringRef Device = "a.o: dir/a.cu \\\n  both.h device\\ only.h\n";
  StringRef Host = "a.o: dir/a.cu both.h \\\n C:/host.h\n";
  EXPECT_EQ(mergeDependencies({Device, Host}, false),
            "a.o: \\\n  dir/a.cu \\\n  both.h \\\n  device\\ only.h "
            "\\\n  C:/host.h\n");
  EXPECT_EQ(mergeDependencies({"a.o b.o: a.cu x$$y.h"}, true),
            "a.o b.o: \\\n  a.cu \\\n  x$$y.h\n\nx$$y.h:\n");
  EXPECT_EQ(mergeDependencies({"a.o:\n"}, true), "a.o:\n");
  EXPECT_EQ(dependencyFileFor("x.dir/a.cu.o"), "x.dir/a.cu.d");
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
