//===- unittests/driver/CommandLineTest.cpp - From words to requests ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/CommandLine.h"
#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::driver;
using Words = std::vector<const char *>;

namespace {

BuildRequest cc(const Words &W) {
  Expected<BuildRequest> Request = parseCcWords(W);
  if (Request)
    return *Request;
  ADD_FAILURE() << toString(Request.takeError());
  return {};
}

template <class T> std::string messageOf(Expected<T> Result) {
  return Result ? "no error" : toString(Result.takeError());
}

/// The link line after the words for compilation; "<i>" for an input.
std::string linkWords(const BuildRequest &R) {
  std::vector<std::string> Words;
  for (const frontend::LinkWord &Word : R.Link.Words)
    Words.push_back(Word.IsInput ? "<i>" : Word.Text);
  return join(Words, " ");
}

bool has(const std::string &Text, StringRef Part) {
  return StringRef(Text).contains(Part);
}

TEST(CcWords, DefaultsAreNvccs) {
  BuildRequest R = cc({"a.cu"});
  EXPECT_EQ(R.Compile.Arch, 90u);
  EXPECT_EQ(R.Compile.OptLevel, 3u);
  EXPECT_FALSE(R.Compile.Math.FlushDenormals);
  EXPECT_TRUE(R.Compile.Math.PreciseDivision);
  EXPECT_TRUE(R.Compile.Math.PreciseSqrt);
  EXPECT_TRUE(R.Compile.Math.Contract);
  EXPECT_FALSE(R.Compile.Gpu);
  EXPECT_EQ(R.Make, BuildRequest::Product::Program);
}

TEST(CcWords, ArchitectureInEverySpelling) {
  for (const char *Word :
       {"-arch=sm_80", "--gpu-architecture=compute_80", "-arch=80",
        "--cuda-gpu-arch=sm_80", "--offload-arch=sm_80",
        "-gencode=arch=compute_80,code=sm_80",
        "--generate-code=arch=compute_80,code=[sm_80,compute_80]"})
    EXPECT_EQ(cc({"a.cu", Word}).Compile.Arch, 80u) << Word;
  EXPECT_EQ(cc({"a.cu", "-arch", "sm_80"}).Compile.Arch, 80u);
  EXPECT_EQ(cc({"a.cu", "-gencode", "arch=compute_80,code=sm_80"}).Compile.Arch,
            80u);
  EXPECT_EQ(cc({"a.cu", "-arch=sm_90a"}).Compile.Arch, 90u);
  EXPECT_EQ(cc({"a.cu", "-arch=native"}).Compile.Arch, 90u);
}

TEST(CcWords, ArchitecturesThatCannotBe) {
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-arch=sm_120"})), "sm_90"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-arch=sm_30"})), "older"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-arch=hopper"})),
                  "'hopper' is no GPU architecture"));
}

TEST(CcWords, TheNewestThatCanBeBuiltIsBuilt) {
  BuildRequest R = cc({"a.cu", "-gencode", "arch=compute_80,code=sm_80",
                       "-gencode", "arch=compute_70,code=sm_70"});
  EXPECT_EQ(R.Compile.Arch, 80u);
  // As CMake spells a list for clang, some of it beyond clang 19.
  R = cc({"a.cu", "--cuda-gpu-arch=sm_80", "--cuda-gpu-arch=sm_120",
          "--cuda-gpu-arch=sm_30", "--no-cuda-include-ptx=sm_80"});
  EXPECT_EQ(R.Compile.Arch, 80u);
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
}

TEST(CcWords, WhoseCodeForAGpu) {
  BuildRequest R = cc({"a.cu", "--fatbin"});
  EXPECT_TRUE(R.Compile.Gpu);
  EXPECT_EQ(R.Compile.GpuCompiler, std::nullopt);
  for (ForeignCompiler By : ForeignCompilers) {
    const std::string Word = std::string("--device-code=") + nameOf(By);
    R = cc({"a.cu", Word.c_str(), "--fatbin"});
    EXPECT_TRUE(R.Compile.Gpu);
    EXPECT_EQ(R.Compile.GpuCompiler, By);
    R = cc({"a.cu", Word.c_str(), "--device-code=reconverge"});
    EXPECT_TRUE(R.Compile.Gpu);
    EXPECT_EQ(R.Compile.GpuCompiler, std::nullopt);
  }
  EXPECT_TRUE(cc({"a.cu", "--runtime=nvidia"}).Compile.Gpu);
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "--device-code=gcc"})),
                  "Write one of: reconverge, nvcc, clang."));
}

TEST(CcWords, OptimisationLevels) {
  EXPECT_EQ(cc({"a.cu", "-O0"}).Compile.OptLevel, 0u);
  EXPECT_EQ(cc({"a.cu", "-O"}).Compile.OptLevel, 1u);
  EXPECT_EQ(cc({"a.cu", "-Os"}).Compile.OptLevel, 2u);
  EXPECT_EQ(cc({"a.cu", "-O2", "-O3"}).Compile.OptLevel, 3u);
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-O7"})), "-O7"));
}

TEST(CcWords, Arithmetic) {
  frontend::Numerics Fast = cc({"a.cu", "-use_fast_math"}).Compile.Math;
  EXPECT_TRUE(Fast.FlushDenormals);
  EXPECT_FALSE(Fast.PreciseDivision);
  EXPECT_FALSE(Fast.PreciseSqrt);
  EXPECT_FALSE(cc({"a.cu", "-fmad=false"}).Compile.Math.Contract);
  EXPECT_TRUE(cc({"a.cu", "--ftz=true"}).Compile.Math.FlushDenormals);
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-ftz=1"})), "-ftz"));
}

TEST(CcWords, UnknownOptionsGoToClangInOrder) {
  BuildRequest R = cc({"-Wall", "-Iinclude", "-D", "N=3", "a.cu", "-isystem",
                       "sys", "-std=c++20", "-fno-rtti"});
  EXPECT_EQ(join(R.Compile.ClangArguments, " "),
            "-Wall -I include -D N=3 -isystem sys -std=c++20 -fno-rtti");
  EXPECT_EQ(R.Inputs, std::vector<std::string>{"a.cu"});
}

TEST(CcWords, HostDeviceAndLinkerWordsGoToTheirTools) {
  BuildRequest R =
      cc({"a.cu", "-Xcompiler", "-Wall,-fopenmp", "-Xptxas=-v", "-lm", "-Llib",
          "-Wl,-z,now", "-lcudart", "-lcudart_static", "-cudart", "shared"});
  EXPECT_EQ(join(R.Compile.HostArguments, " "), "-Wall -fopenmp");
  EXPECT_EQ(join(R.Compile.PtxasArguments, " "), "-v");
  EXPECT_EQ(join(R.Link.Arguments, " "), "-Wall -fopenmp");
  EXPECT_EQ(linkWords(R), "<i> -l m -L lib -Wl,-z,now");
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
  EXPECT_EQ(R.Inputs.size(), 1u);
}

TEST(CcWords, TheLinkLineKeepsItsOrder) {
  BuildRequest R =
      cc({"a.o", "-Wl,--whole-archive", "liba.a", "-Wl,--no-whole-archive",
          "-lfoo", "libb.a", "-Xlinker", "-z", "-Xlinker", "defs", "-pie",
          "-stdlib=libc++", "-z", "now"});
  EXPECT_EQ(linkWords(R),
            "<i> -Wl,--whole-archive <i> -Wl,--no-whole-archive -l foo <i> "
            "-Xlinker -z -Xlinker defs -pie -z now");
  EXPECT_EQ(join(R.Inputs, " "), "a.o liba.a libb.a");
  EXPECT_EQ(join(R.Link.Arguments, " "), "-stdlib=libc++");
  EXPECT_EQ(join(R.Compile.ClangArguments, " "), "-stdlib=libc++");
}

TEST(CcWords, HostOnlyWordsStayFromTheDevice) {
  BuildRequest R = cc({"a.cu", "-fsanitize=address", "-flto=thin", "--coverage",
                       "-fprofile-instr-generate"});
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
  EXPECT_EQ(
      join(R.Compile.HostArguments, " "),
      "-fsanitize=address -flto=thin --coverage -fprofile-instr-generate");
  EXPECT_EQ(R.Compile.HostArguments, R.Link.Arguments);
}

TEST(CcWords, LanguageOfTheInputsThatFollow) {
  using frontend::InputKind;
  BuildRequest R = cc({"a.cpp", "-x", "cu", "b.cpp", "c.o", "-xc++", "d.inc",
                       "-x", "none", "e.cu", "--", "f.c"});
  EXPECT_EQ(R.Kinds,
            (std::vector<InputKind>{InputKind::Cxx, InputKind::Cuda,
                                    InputKind::LinkerInput, InputKind::Cxx,
                                    InputKind::Cuda, InputKind::C}));
  EXPECT_TRUE(
      has(messageOf(parseCcWords({"-x", "fortran", "a.f"})), "-x fortran"));
}

TEST(CcWords, DependenciesAreOurs) {
  const frontend::DependencyOptions D =
      cc({"-c", "a.cu", "-MMD", "-MP", "-MT", "x", "-MQ", "y", "-MF", "a.d"})
          .Compile.Dependencies;
  EXPECT_TRUE(D.Write);
  EXPECT_FALSE(D.SystemHeaders);
  EXPECT_TRUE(D.Phony);
  EXPECT_EQ(join(D.Names, " "), "-MT x -MQ y");
  EXPECT_EQ(D.File, "a.d");
  BuildRequest R = cc({"a.cu", "-M"});
  EXPECT_EQ(R.Make, BuildRequest::Product::Dependencies);
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
}

TEST(CcWords, Products) {
  using Product = BuildRequest::Product;
  EXPECT_EQ(cc({"a.cu", "-S"}).Make, Product::Assembly);
  EXPECT_EQ(cc({"a.cu", "-E"}).Make, Product::Preprocessed);
  EXPECT_EQ(cc({"a.cu", "-fsyntax-only"}).Make, Product::Syntax);
  EXPECT_EQ(cc({"a.cu", "--cuda-device-only", "-S"}).Make, Product::Ptx);
  EXPECT_EQ(cc({"a.cu", "--cuda-device-only", "-c", "-emit-llvm"}).Make,
            Product::DeviceBitcode);
  EXPECT_TRUE(cc({"a.cu", "--cuda-host-only", "-c"}).Compile.HostOnly);
  EXPECT_TRUE(
      has(messageOf(parseCcWords({"a.cu", "-c", "-emit-llvm"})), "-emit-llvm"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-c", "--cuda-device-only"})),
                  "--cuda-device-only"));
}

TEST(CcWords, RemediesKeepTheirOrderAndParameters) {
  BuildRequest R = cc({"a.cu", "--remap=threads=256;ids=1", "--meld"});
  EXPECT_EQ(R.Remedies, (std::vector<Candidate>{{"remap", "threads=256;ids=1"},
                                                {"meld", ""}}));
  EXPECT_TRUE(cc({"a.cu"}).Remedies.empty());
}

TEST(CcWords, QuestionsAreClangs) {
  for (const Words &W :
       {Words{"--version"}, Words{"-v"}, Words{"-dumpversion"},
        Words{"-print-search-dirs", "-m64"}, Words{"--version", "a.cu"}})
    EXPECT_TRUE(isQuestion(W)) << W.front();
  EXPECT_FALSE(isQuestion({"-v", "a.cu"}));
  EXPECT_FALSE(isQuestion({}));
  EXPECT_FALSE(isQuestion({"-o", "-v"}));
}

TEST(CcWords, NvccOnlyWordsAreTaken) {
  BuildRequest R = cc({"-lineinfo", "-rdc=false", "a.cu"});
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
  EXPECT_EQ(linkWords(R), "<i>");
}

TEST(CcWords, NvccsExtensionsHaveMacros) {
  const std::vector<std::string> Both{"-D__CUDACC_RELAXED_CONSTEXPR__=1",
                                      "-D__CUDACC_EXTENDED_LAMBDA__=1"};
  EXPECT_EQ(cc({"--expt-relaxed-constexpr", "--extended-lambda", "a.cu"})
                .Compile.ClangArguments,
            Both);
  EXPECT_EQ(cc({"-relaxed-constexpr", "-expt-extended-lambda", "a.cu"})
                .Compile.ClangArguments,
            Both);
}

TEST(CcWords, NvccsSpellingsAreTaken) {
  BuildRequest R = cc({"--compile",
                       "a.cu",
                       "--output-file",
                       "x.o",
                       "--include-path=inc",
                       "--define-macro",
                       "N=3",
                       "-D=M",
                       "--undefine-macro=O",
                       "--library",
                       "m",
                       "--library-path=lib",
                       "--pre-include",
                       "a.h",
                       "--compiler-options=-Wall,-O1",
                       "--ptxas-options",
                       "-v",
                       "--maxrregcount",
                       "32",
                       "--resource-usage",
                       "--optimize=2",
                       "--debug",
                       "--ftz",
                       "true",
                       "-fmad",
                       "false",
                       "-gencode",
                       "arch=compute_80,code=sm_80"});
  EXPECT_EQ(R.Make, BuildRequest::Product::Objects);
  EXPECT_EQ(R.Output, "x.o");
  EXPECT_EQ(join(R.Compile.ClangArguments, " "),
            "-I inc -D N=3 -D M -U O -include a.h");
  EXPECT_EQ(linkWords(R), "<i> -l m -L lib");
  EXPECT_EQ(join(R.Compile.HostArguments, " "), "-Wall -O1");
  EXPECT_EQ(join(R.Compile.PtxasArguments, " "), "-v -maxrregcount=32 -v");
  EXPECT_EQ(R.Compile.OptLevel, 2u);
  EXPECT_EQ(R.Compile.Arch, 80u);
  EXPECT_TRUE(R.Compile.DebugInfo);
  EXPECT_TRUE(R.Compile.Math.FlushDenormals);
  EXPECT_FALSE(R.Compile.Math.Contract);
}

TEST(CcWords, WhatHasNoMeaningHereIsPassedOver) {
  BuildRequest R = cc({"-t0",
                       "-t",
                       "4",
                       "--threads",
                       "2",
                       "--threads=8",
                       "-split-compile=0",
                       "-ccbin",
                       "g++",
                       "--compiler-bindir=g++",
                       "-Xcudafe",
                       "--diag_suppress=177",
                       "-Xnvlink=x",
                       "-Xfatbin",
                       "-compress-all",
                       "-diag-warn",
                       "177",
                       "--restrict",
                       "-m",
                       "64",
                       "-brief-diag",
                       "true",
                       "-src-in-ptx",
                       "-noeh",
                       "-cudadevrt",
                       "none",
                       "-link",
                       "-dopt",
                       "on",
                       "-allow-unsupported-compiler",
                       "-compress-mode=size",
                       "a.cu"});
  EXPECT_TRUE(R.Compile.ClangArguments.empty());
  EXPECT_EQ(linkWords(R), "<i>");
}

TEST(CcWords, NvccsShortAndRareSpellings) {
  BuildRequest R =
      cc({"-t=2", "-time", "t.csv", "-dp", "/", "--drive-prefix=/", "-m=64",
          "--gpu-code", "sm_90", "--x", "cu", "a.cu", "-O", "2",
          "-ftemplate-depth", "500", "--generate-dependencies-with-compile",
          "--dependency-output", "a.d"});
  EXPECT_EQ(join(R.Inputs, " "), "a.cu");
  EXPECT_EQ(R.Compile.OptLevel, 2u);
  EXPECT_EQ(join(R.Compile.ClangArguments, " "), "-ftemplate-depth=500");
  EXPECT_TRUE(R.Compile.Dependencies.Write);
  EXPECT_EQ(R.Compile.Dependencies.File, "a.d");
  EXPECT_EQ(cc({"-O", "a.cu"}).Compile.OptLevel, 1u) << "clang's";
  EXPECT_EQ(join(cc({"--profile", "a.cu"}).Compile.HostArguments, " "), "-pg");
  EXPECT_FALSE(cc({"a.cu"}).Clean);
  EXPECT_TRUE(cc({"-clean", "a.cu"}).Clean);
  EXPECT_TRUE(cc({"--clean-targets", "a.cu"}).Clean);
}

/// What nvcc 13's --help has, beside what asks a question.
TEST(CcWords, EveryOptionOfNvccHasAnAnswer) {
  enum Answer { Taken, Refused };
  struct Row {
    StringRef Long, Short, Value;
    Answer Wanted = Taken;
  };
  const Row Rows[] = {
      {"cuda", "cuda", "", Refused},
      {"cubin", "cubin", "", Refused},
      {"", "fatbin", "", Refused}, // --fatbin is ours
      {"ptx", "ptx", ""},
      {"optix-ir", "optix-ir", "", Refused},
      {"ltoir", "ltoir", "", Refused},
      {"preprocess", "E", ""},
      {"generate-dependencies", "M", ""},
      {"generate-nonsystem-dependencies", "MM", ""},
      {"generate-dependencies-with-compile", "MD", ""},
      {"generate-nonsystem-dependencies-with-compile", "MMD", ""},
      {"dependency-output", "MF", "a.d"},
      {"generate-dependency-targets", "MP", ""},
      {"compile", "c", ""},
      {"device-c", "dc", ""},
      {"device-w", "dw", ""},
      {"device-link", "dlink", ""},
      {"link", "link", ""},
      {"lib", "lib", "", Refused},
      {"run", "run", "", Refused},
      {"output-file", "o", "a"},
      {"pre-include", "include", "a.h"},
      {"objdir-as-tempdir", "objtemp", ""},
      {"library", "l", "m"},
      {"define-macro", "D", "A"},
      {"undefine-macro", "U", "A"},
      {"include-path", "I", "a"},
      {"system-include", "isystem", "a"},
      {"library-path", "L", "a"},
      {"output-directory", "odir", "a"},
      {"compiler-bindir", "ccbin", "g++"},
      {"allow-unsupported-compiler", "allow-unsupported-compiler", ""},
      {"archiver-binary", "arbin", "ar"},
      {"cudart", "cudart", "static"},
      {"cudadevrt", "cudadevrt", "none"},
      {"libdevice-directory", "ldir", "a"},
      {"target-directory", "target-dir", "a"},
      {"use-local-env", "use-local-env", ""},
      {"force-cl-env-setup", "force-cl-env-setup", ""},
      {"profile", "pg", ""},
      {"debug", "g", ""},
      {"device-debug", "G", ""},
      {"generate-line-info", "lineinfo", ""},
      {"optimization-info", "opt-info", "inline"},
      {"optimize", "O", "2"},
      {"Ofast-compile", "Ofc", "0"},
      {"dopt", "dopt", "on"},
      {"dlink-time-opt", "dlto", ""},
      {"lto", "lto", ""},
      {"gen-opt-lto", "gen-opt-lto", ""},
      {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", "9"},
      {"ftemplate-depth", "ftemplate-depth", "900"},
      {"no-exceptions", "noeh", ""},
      {"shared", "shared", ""},
      {"x", "x", "cu"},
      {"std", "std", "c++17"},
      {"no-host-device-initializer-list", "nohdinitlist", ""},
      {"no-host-device-move-forward", "nohdmoveforward", ""},
      {"expt-relaxed-constexpr", "expt-relaxed-constexpr", ""},
      {"extended-lambda", "extended-lambda", ""},
      {"expt-extended-lambda", "expt-extended-lambda", ""},
      {"machine", "m", "64"},
      {"m64", "m64", ""},
      {"compiler-options", "Xcompiler", "-Wall"},
      {"linker-options", "Xlinker", "-s"},
      {"archive-options", "Xarchive", "a"},
      {"ptxas-options", "Xptxas", "-v"},
      {"nvlink-options", "Xnvlink", "a"},
      {"static-global-template-stub", "static-global-template-stub", "true"},
      {"device-entity-has-hidden-visibility",
       "device-entity-has-hidden-visibility", "true"},
      {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler",
       ""},
      {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", ""},
      {"forward-unknown-opts", "forward-unknown-opts", ""},
      {"dont-use-profile", "noprof", ""},
      {"dryrun", "dryrun", "", Refused},
      {"verbose", "v", ""},
      {"threads", "t", "2"},
      {"split-compile", "split-compile", "2"},
      {"split-compile-extended", "split-compile-extended", "2"},
      {"fdevice-syntax-only", "fdevice-syntax-only", "", Refused},
      {"fdevice-time-trace", "fdevice-time-trace", "a"},
      {"keep", "keep", ""},
      {"keep-dir", "keep-dir", "a"},
      {"save-temps", "save-temps", ""},
      {"clean-targets", "clean", ""},
      {"time", "time", "a"},
      {"run-args", "run-args", "a", Refused},
      {"input-drive-prefix", "idp", "a"},
      {"dependency-drive-prefix", "ddp", "a"},
      {"drive-prefix", "dp", "a"},
      {"dependency-target-name", "MT", "a"},
      {"no-align-double", "no-align-double", ""},
      {"no-device-link", "nodlink", "", Refused},
      {"gpu-architecture", "arch", "sm_90"},
      {"gpu-code", "code", "sm_90"},
      {"generate-code", "gencode", "arch=compute_90,code=sm_90"},
      {"relocatable-device-code", "rdc", "true"},
      {"entries", "e", "k"},
      {"maxrregcount", "maxrregcount", "32"},
      {"use_fast_math", "use_fast_math", ""},
      {"ftz", "ftz", "true"},
      {"prec-div", "prec-div", "true"},
      {"prec-sqrt", "prec-sqrt", "true"},
      {"fmad", "fmad", "true"},
      {"extra-device-vectorization", "extra-device-vectorization", ""},
      {"default-stream", "default-stream", "legacy"},
      {"disable-warnings", "disable-warnings", ""},
      {"keep-device-functions", "keep-device-functions", ""},
      {"source-in-ptx", "src-in-ptx", ""},
      {"restrict", "restrict", ""},
      {"Wreorder", "Wreorder", ""},
      {"Wdefault-stream-launch", "Wdefault-stream-launch", ""},
      {"Wmissing-launch-bounds", "Wmissing-launch-bounds", ""},
      {"Wext-lambda-captures-this", "Wext-lambda-captures-this", ""},
      {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", ""},
      {"Werror", "Werror", "reorder"},
      {"resource-usage", "res-usage", ""},
      {"extensible-whole-program", "ewp", ""},
      {"no-compress", "no-compress", ""},
      {"qpp-config", "qpp-config", "a"},
      {"compile-as-tools-patch", "astoolspatch", "", Refused},
      {"list-gpu-code", "code-ls", "", Refused},
      {"list-gpu-arch", "arch-ls", "", Refused},
      {"display-error-number", "err-no", ""},
      {"no-display-error-number", "no-err-no", ""},
      {"diag-error", "diag-error", "177"},
      {"diag-suppress", "diag-suppress", "177"},
      {"diag-warn", "diag-warn", "177"},
      {"host-linker-script", "hls", "gen-lcs", Refused},
      {"augment-host-linker-script", "aug-hls", ""},
      {"brief-diagnostics", "brief-diag", "true"},
      {"jump-table-density", "jtd", "10"},
      {"relocatable-ptx", "reloc-ptx", ""},
      {"device-stack-protector", "device-stack-protector", "true"},
      {"compress-mode", "compress-mode", "size"},
      {"frandom-seed", "frandom-seed", "a"},
      {"sanitize", "sanitize", "memcheck", Refused},
      {"jobserver", "jobserver", ""}};
  const auto Check = [](const Row &R, const std::string &Word, bool Joined) {
    std::vector<std::string> All = {Word + (Joined ? "=" + R.Value.str() : "")};
    if (!R.Value.empty() && !Joined)
      All.push_back(R.Value.str());
    Words W = {"a.cu"};
    for (const std::string &Each : All)
      W.push_back(Each.c_str());
    auto Request = parseCcWords(W);
    if (R.Wanted == Refused) {
      EXPECT_TRUE(StringRef(messageOf(std::move(Request))).starts_with(Word))
          << All.front();
      return;
    }
    if (!Request) {
      ADD_FAILURE() << All.front() << ": " << toString(Request.takeError());
      return;
    }
    EXPECT_EQ(join(Request->Inputs, " "), "a.cu") << All.front();
    static constexpr StringLiteral OfClang[] = {"--verbose",
                                                "-v",
                                                "-D",
                                                "-I",
                                                "-U",
                                                "-include",
                                                "-pg",
                                                "-isystem",
                                                "-std",
                                                "-Werror",
                                                "-ftemplate-depth",
                                                "-ftemplate-backtrace-limit"};
    if (is_contained(OfClang, Word))
      return; // it is left to clang, which has it as well
    for (const auto *Left :
         {&Request->Compile.ClangArguments, &Request->Compile.HostArguments})
      EXPECT_FALSE(is_contained(*Left, All.front())) << All.front();
  };
  for (const Row &R : Rows)
    for (const std::string &Word : {"--" + R.Long.str(), "-" + R.Short.str()}) {
      if (Word == "--")
        continue;
      Check(R, Word, false);
      if (!R.Value.empty())
        Check(R, Word, true);
    }
}

TEST(CcWords, UnknownWordsMayBeForTheHostAlone) {
  const Words W = {"a.cu", "-fx", "-Wall", "-DN=1", "-Wno-x"};
  Words Forwards = W;
  Forwards.push_back("-forward-unknown-to-host-compiler");
  EXPECT_EQ(join(cc(W).Compile.ClangArguments, " "), "-fx -Wall -D N=1 -Wno-x");
  BuildRequest R = cc(Forwards);
  EXPECT_EQ(join(R.Compile.ClangArguments, " "), "-Wall -D N=1 -Wno-x");
  EXPECT_EQ(join(R.Compile.HostArguments, " "), "-fx");
  EXPECT_TRUE(is_contained(R.Link.Arguments, "-fx"));
}

TEST(CcWords, KindsOfWarnings) {
  auto Clangs = [](const Words &W) {
    return join(cc(W).Compile.ClangArguments, " ");
  };
  EXPECT_EQ(Clangs({"-Werror", "a.cu"}), "-Werror");
  EXPECT_EQ(Clangs({"-Werror", "all-warnings", "a.cu"}), "-Werror");
  EXPECT_EQ(Clangs({"-Werror=all-warnings", "a.cu"}), "-Werror");
  EXPECT_EQ(Clangs({"--Werror", "cross-execution-space-call", "a.cu"}), "");
  EXPECT_EQ(Clangs({"-Werror=reorder", "a.cu"}), "-Werror=reorder");
  EXPECT_EQ(Clangs({"-Werror=shadow", "a.cu"}), "-Werror=shadow");
  EXPECT_EQ(Clangs({"--disable-warnings", "a.cu"}), "-w");
}

TEST(CcWords, FoldersOfOutputs) {
  EXPECT_EQ(cc({"a.cu", "-keep"}).Keep, ".");
  EXPECT_EQ(cc({"a.cu", "--keep", "-keep-dir", "kept"}).Keep, "kept");
  EXPECT_EQ(cc({"a.cu", "--keep=kept"}).Keep, "kept");
  EXPECT_EQ(cc({"a.cu", "-c", "-odir", "out"}).OutputFolder, "out");
}

TEST(CcWords, DefaultStream) {
  BuildRequest R = cc({"a.cu", "--default-stream", "per-thread"});
  EXPECT_EQ(join(R.Compile.ClangArguments, " "),
            "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  EXPECT_EQ(join(R.Compile.HostArguments, " "),
            "-Xclang -fgpu-default-stream=per-thread");
  EXPECT_TRUE(
      cc({"a.cu", "-default-stream=legacy"}).Compile.ClangArguments.empty());
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "--default-stream=x"})),
                  "Write legacy or per-thread."));
}

TEST(CcWords, OpenMpIsNoticedWhereverItIsAsked) {
  EXPECT_EQ(cc({"a.cu"}).OpenMp, 0u);
  EXPECT_EQ(cc({"a.cu", "-Xcompiler", "-O2 -fopenmp"}).OpenMp,
            unsigned(BuildRequest::CompilesOpenMp));
  BuildRequest R = cc({"a.cu", "-fopenmp", "-lgomp", "-lm"});
  EXPECT_EQ(R.OpenMp,
            unsigned(BuildRequest::CompilesOpenMp | BuildRequest::LinksOpenMp));
  EXPECT_EQ(linkWords(R), "<i> -l m"); // and not g++'s runtime
}

TEST(CcWords, RelocatableDeviceCode) {
  using Product = BuildRequest::Product;
  EXPECT_FALSE(cc({"a.cu", "-rdc=false"}).Compile.Relocatable);
  EXPECT_TRUE(cc({"a.cu", "-rdc", "true"}).Compile.Relocatable);
  EXPECT_TRUE(
      cc({"a.cu", "--relocatable-device-code=true"}).Compile.Relocatable);
  BuildRequest R = cc({"-dc", "a.cu", "-o", "a.o"});
  EXPECT_TRUE(R.Compile.Relocatable);
  EXPECT_EQ(R.Make, Product::Objects);
  EXPECT_EQ(cc({"-dlink", "a.o", "b.o", "-o", "c.o"}).Make,
            Product::DeviceLink);
  EXPECT_FALSE(cc({"-rdc=true", "a.cu", "--emit-ptx"}).Compile.Relocatable);
}

TEST(CcWords, RefusedAndIncompleteWordsAreNamed) {
  for (const char *Word : {"-cubin", "--lib", "-run", "-dryrun", "-ltoir"})
    EXPECT_TRUE(has(messageOf(parseCcWords({Word, "a.cu"})), Word)) << Word;
  EXPECT_TRUE(has(messageOf(parseCcWords({"-fgpu-rdc", "a.cu"})), "-fgpu-rdc"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"-dc", "--runtime=nvidia", "a.cu"})),
                  "nvidia"));
  EXPECT_TRUE(
      has(messageOf(parseCcWords({"-rdc=true", "--device-code=nvcc", "a.cu"})),
          "--device-code"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"-static", "a.cu"})), "-static"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"-###", "a.cu"})), "-v"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"a.cu", "-o"})), "-o lacks"));
  EXPECT_TRUE(has(messageOf(parseCcWords({})), "no input"));
  EXPECT_TRUE(has(messageOf(parseCcWords({"-c", "a.cu", "b.cu", "-o", "c.o"})),
                  "2 inputs"));
}

/// A source that exists, since profile looks.
const char *Existing = __FILE__;

TEST(ProfileWords, ProgramArgumentsAreNotLookedAt) {
  auto R =
      parseProfileWords({Existing, "--", "--tier=x", "-o", "--", "--help"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(join(R->Arguments, " "), "--tier=x -o -- --help");
  EXPECT_FALSE(asksForHelp({Existing, "--", "--help"}));
  EXPECT_TRUE(asksForHelp({Existing, "--help", "--"}));
}

TEST(ProfileWords, TellsTheVm) {
  auto R = parseProfileWords({Existing, "--threads=2", "--tier", "blocks",
                              "--policy=ipdom", "--seed=7", "--step-limit=9",
                              "--shuffle=8", "--cache=/c"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->Vm,
            "threads=2,tier=blocks,policy=ipdom,seed=7,steps=9,shuffle=8,"
            "cache=/c");
  R = parseProfileWords({Existing, "--no-cache"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->Vm, "cache=none");
}

TEST(ProfileWords, RacesAreLookedForOnTheCpu) {
  auto R = parseProfileWords({Existing, "--races", "--no-cache"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->Vm, "races=on,cache=none");
  EXPECT_EQ(R->Device, "cpu");
  R = parseProfileWords({Existing, "--races", "--device=gpu"});
  EXPECT_EQ(toString(R.takeError()),
            "--races: a GPU does not say who accesses what\n  Leave --device "
            "gpu out: the warp VM looks for races on the CPU.");
  R = parseProfileWords({Existing, "--races", "--shuffle", "2"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_TRUE(StringRef(R->Vm).starts_with("races=on,shuffle=2,"));
}

TEST(ProfileWords, ScheduleIsShownIfAsked) {
  auto R = parseProfileWords({Existing, "--schedule"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_TRUE(R->Schedule);
  R = parseProfileWords({Existing});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_FALSE(R->Schedule);
  EXPECT_TRUE(has(messageOf(parseProfileWords({Existing, "--schedule=3"})),
                  "unknown option --schedule=3"));
}

TEST(ProfileWords, OutputIsTheReports) {
  auto R = parseProfileWords({Existing, "-o", "x.json"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->Output, "x.json");
  EXPECT_EQ(R->Build.Output, "");
}

TEST(ProfileWords, WordsAfterAProgramAreItsOwn) {
  auto R = parseProfileWords({"sh", "-o", "x.json", "script", "7", "--", "-v"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(join(R->Build.Inputs, " "), "sh") << "found in PATH";
  EXPECT_EQ(join(R->Arguments, " "), "script 7 -v");
  EXPECT_EQ(R->Output, "x.json");
  EXPECT_TRUE(has(messageOf(parseProfileWords({"./sh"})), "no such file: ./sh"))
      << "a path is not looked up";
}

TEST(ProfileWords, ConditionsThatFailARun) {
  auto R = parseProfileWords(
      {Existing, "--fail-if", "total>20%", "--fail-if=refused"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->FailIf.size(), 2u);
  EXPECT_TRUE(has(messageOf(parseProfileWords({Existing, "--fail-if=20%"})),
                  "'20%' is no condition of --fail-if"));
}

TEST(ProfileWords, SlipsAreAnswered) {
  std::string Slip = messageOf(parseProfileWords({Existing, "--teir=blocks"}));
  EXPECT_TRUE(has(Slip, "unknown option --teir=blocks")) << Slip;
  EXPECT_TRUE(has(Slip, "Did you mean --tier")) << Slip;
  EXPECT_TRUE(has(messageOf(parseProfileWords({Existing, "--tier=x"})),
                  "fused or blocks"));
  EXPECT_TRUE(has(messageOf(parseProfileWords({Existing, "--threads=many"})),
                  "whole number"));
  EXPECT_TRUE(has(messageOf(parseProfileWords({Existing, "17"})),
                  "no such file: 17\n  Arguments of the program come after"));
  EXPECT_TRUE(
      has(messageOf(parseProfileWords({"none.cu"})), "no such file: none.cu"));
  EXPECT_TRUE(has(messageOf(parseProfileWords({})), "no input"));
  EXPECT_TRUE(
      has(messageOf(parseProfileWords({Existing, "--cache=a,b"})), "comma"));
}

TEST(OptimizeWords, WhatRunsMayDoAndCost) {
  auto Plain = parseOptimizeWords({Existing});
  ASSERT_TRUE(bool(Plain)) << toString(Plain.takeError());
  EXPECT_TRUE(Plain->Sandboxed);
  EXPECT_TRUE(Plain->Whole);
  EXPECT_FALSE(Plain->TryAll);
  EXPECT_EQ(Plain->TimeLimit, 0u);
  auto All = parseOptimizeWords({Existing, "--no-sandbox", "--no-whole", "-q",
                                 "--time-limit", "90", "--allow-rounding",
                                 "--try-all"});
  ASSERT_TRUE(bool(All)) << toString(All.takeError());
  EXPECT_FALSE(All->Sandboxed);
  EXPECT_FALSE(All->Whole);
  EXPECT_TRUE(All->Quiet);
  EXPECT_TRUE(All->AllowRounding);
  EXPECT_TRUE(All->TryAll);
  EXPECT_EQ(All->TimeLimit, 90u);
  EXPECT_TRUE(has(messageOf(parseOptimizeWords({Existing, "--time-limit=x"})),
                  "'x' is no value of --time-limit"));
}

TEST(ReportWords, OneFile) {
  EXPECT_TRUE(bool(parseReportWords({"a.json"})));
  EXPECT_TRUE(has(messageOf(parseReportWords({})), "0 inputs"));
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "b"})), "2 inputs"));
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "--x"})), "--x"));
  EXPECT_TRUE(
      has(messageOf(parseReportWords({"a", "--fail-if"})), "--fail-if lacks"));
  auto R = parseReportWords({"a.json", "--fail-if=cfe<50%"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_EQ(R->FailIf.size(), 1u);
  EXPECT_FALSE(R->Schedule);
  R = parseReportWords({"--schedule", "a.json"});
  ASSERT_TRUE(bool(R)) << toString(R.takeError());
  EXPECT_TRUE(R->Schedule);
}

TEST(ReportWords, FormatsByNameOrByEnding) {
  auto FormatOf = [](std::initializer_list<const char *> Words) {
    auto R = parseReportWords(ArrayRef(Words));
    EXPECT_TRUE(bool(R));
    return R ? R->Format : ReportFormat::Text;
  };
  EXPECT_EQ(FormatOf({"a.json"}), ReportFormat::Text);
  EXPECT_EQ(FormatOf({"a.json", "-o", "x.md"}), ReportFormat::Markdown);
  EXPECT_EQ(FormatOf({"a.json", "-o", "x.speedscope.json"}),
            ReportFormat::Speedscope);
  EXPECT_EQ(FormatOf({"a.json", "-o", "x.json"}), ReportFormat::Json);
  EXPECT_EQ(FormatOf({"a.json", "-o", "x.html"}), ReportFormat::Html);
  EXPECT_EQ(FormatOf({"a.json", "-o", "x.html", "--format", "csv"}),
            ReportFormat::Csv);
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "--format=pdf"})),
                  "'pdf' is no value of --format"));
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "--top=x"})),
                  "'x' is no value of --top"));
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "--kernel=("})),
                  "no regular expression"));
  EXPECT_TRUE(has(messageOf(parseReportWords({"a", "--decisions=d"})),
                  "--decisions is for the page"));
  EXPECT_TRUE(
      has(messageOf(parseReportWords({"a", "--annotate=a.cu", "--format=csv"})),
          "are for text"));
}

TEST(DiffWords, TwoFiles) {
  auto D = parseDiffWords({"a", "b", "--top=3"});
  ASSERT_TRUE(bool(D)) << toString(D.takeError());
  EXPECT_EQ(D->Before, "a");
  EXPECT_EQ(D->After, "b");
  EXPECT_EQ(D->Choice.Top, 3u);
  EXPECT_TRUE(has(messageOf(parseDiffWords({"a"})), "1 input\n"));
}

} // namespace
