//===- unittests/frontend/ptx/HeadersTest.cpp - The toolkit's own asm -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles CUDA that uses the toolkit's headers, lowers it, and checks that
// nothing remains but what docs/ptx.md lists as left out. What came out then
// goes through the NVPTX back end and ptxas, which must take it.
//
//===----------------------------------------------------------------------===//

#include "frontend/Fatbin.h"
#include "frontend/Subprocess.h"
#include "frontend/TempDir.h"
#include "frontend/Toolchain.h"
#include "frontend/ptx/InlinePtx.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace reconverge::frontend;

namespace {
class Headers : public testing::Test {
protected:
  LLVMContext Context;
  std::optional<CudaToolkit> Cuda;
  std::string Clang;

  void SetUp() override {
    auto Env = [](StringRef Name) { return sys::Process::GetEnv(Name); };
    if (auto Found = findCudaToolkit("", Env))
      Cuda = std::move(*Found);
    else
      GTEST_SKIP() << toString(Found.takeError());
    if (auto Found = sys::findProgramByName("clang++-19"))
      Clang = *Found;
    else
      GTEST_SKIP() << "clang++-19 is not installed";
  }

  std::unique_ptr<Module> read(StringRef Path) {
    SMDiagnostic Problem;
    std::unique_ptr<Module> M = parseIRFile(Path, Problem, Context);
    EXPECT_TRUE(M) << Problem.getMessage().str();
    return M;
  }

  /// Device bitcode of Inputs/<Name>, as the front end makes it.
  std::unique_ptr<Module> compile(const TempDir &Dir, StringRef Name) {
    std::string Bitcode = Dir.file(Name + ".bc");
    Command C{{Clang, "-x", "cuda", "--cuda-device-only",
               "--cuda-gpu-arch=sm_90", "--cuda-path=" + Cuda->Root,
               "-std=c++17", "-w", "-Wno-unknown-cuda-version", "-isystem",
               PTX_TEST_OVERLAY, "-O3", "-Xclang", "-disable-llvm-passes",
               "-emit-llvm", "-c", (PTX_TEST_INPUTS "/" + Name).str(), "-o",
               Bitcode},
              {}};
    if (std::string Cccl = Cuda->ccclDir(); !Cccl.empty())
      C.Arguments.insert(C.Arguments.end(), {"-isystem", Cccl});
    Expected<ProcessResult> Result = runProcess(C);
    if (!Result) {
      ADD_FAILURE() << toString(Result.takeError());
      return nullptr;
    }
    EXPECT_TRUE(Result->ok()) << Name.str() << " does not compile";
    return Result->ok() ? read(Bitcode) : nullptr;
  }

  /// Lowers \p M; what remains must be named by \p Allowed, all of which must
  /// occur, so that the list does not outlive its reasons.
  void lower(Module &M, size_t AtLeast, std::vector<StringRef> Allowed) {
    EXPECT_GE(remainingPtx(M).size(), AtLeast);
    if (Error E = lowerInlinePtx(M))
      FAIL() << toString(std::move(E));
    std::string Problems;
    raw_string_ostream OS(Problems);
    EXPECT_FALSE(verifyModule(M, &OS)) << Problems;
    std::vector<bool> Seen(Allowed.size());
    for (const RemainingPtx &R : remainingPtx(M)) {
      bool Known = false;
      for (size_t N = 0; N != Allowed.size(); ++N)
        if (StringRef(R.Asm).contains(Allowed[N]))
          Seen[N] = Known = true;
      EXPECT_TRUE(Known) << R.Asm << "\n" << R.Reason;
    }
    for (size_t N = 0; N != Allowed.size(); ++N)
      EXPECT_TRUE(Seen[N]) << Allowed[N].str() << " is lowered now, or gone";
  }

  void assemble(const TempDir &Dir, const Module &M) {
    Expected<std::string> Ptx = emitPtx(M, {});
    if (!Ptx)
      FAIL() << toString(Ptx.takeError());
    std::string File = Dir.file("out.ptx");
    std::error_code Problem;
    raw_fd_ostream(File, Problem) << *Ptx;
    ASSERT_FALSE(Problem);
    Expected<ProcessResult> Result =
        runProcess({{Cuda->tool("ptxas"), "-arch=sm_90", "-O0", "-w", File,
                     "-o", Dir.file("out.cubin")},
                    {}});
    if (!Result)
      FAIL() << toString(Result.takeError());
    EXPECT_TRUE(Result->ok()) << "ptxas refuses the PTX";
  }

  void check(StringRef Name, size_t AtLeast, std::vector<StringRef> Allowed) {
    Expected<TempDir> Dir = TempDir::create();
    if (!Dir)
      FAIL() << toString(Dir.takeError());
    std::unique_ptr<Module> M = compile(*Dir, Name);
    ASSERT_TRUE(M);
    lower(*M, AtLeast, std::move(Allowed));
    assemble(*Dir, *M);
  }
};
} // namespace

TEST_F(Headers, Libdevice) {
  auto M = read(Cuda->Root + "/nvvm/libdevice/libdevice.10.bc");
  ASSERT_TRUE(M);
  lower(*M, 50, {});
}

TEST_F(Headers, HalfAndBfloat) { check("half.cu", 200, {}); }

TEST_F(Headers, CooperativeGroups) { check("groups.cu", 5, {}); }

TEST_F(Headers, Cub) { check("cub.cu", 20, {}); }

TEST_F(Headers, LibcuxxAtomics) { check("atomics.cu", 200, {}); }

TEST_F(Headers, Intrinsics) { check("intrinsics.cu", 10, {}); }
