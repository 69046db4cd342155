//===- unittests/warpvm/LoadTest.cpp - How modules are read --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module is verified once: by LLVM's reader if it has debug information of
// its version, otherwise as it is loaded. One that was loaded before is read as
// a kernel of it is compiled.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "warpvm/Outline.h"
#include "warpvm/Program.h"
#include "warpvm/emit/CachedFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// A value that is its own operand.
const char *const Invalid = R"(
  define ptx_kernel void @k() {
  entry:
    %a = add i32 %a, 1
    ret void
  }
)";

const char *const Valid = "define ptx_kernel void @k() { ret void }";

std::string errorOf(const std::string &Text, bool Debug) {
  LLVMContext C;
  auto Kernel = parseKernel(C, Text);
  if (Debug)
    Kernel->addModuleFlag(Module::Warning, "Debug Info Version",
                          DEBUG_METADATA_VERSION);
  auto Bytes = numberedBitcode(*Kernel);
  auto M = cantFail(Machine::create(MachineOptions()));
  auto P =
      M->load(MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "kernel"),
              [](uint64_t, uint64_t, StringRef) -> Expected<void *> {
                return nullptr; // there are no variables
              });
  return P ? "" : toString(P.takeError());
}

TEST(Load, AnInvalidModuleWithoutDebugInformationIsRefused) {
  EXPECT_EQ(errorOf(Valid, /*Debug=*/false), "");
  EXPECT_NE(errorOf(Invalid, /*Debug=*/false).find("device bitcode is invalid"),
            std::string::npos);
}

TEST(LoadDeathTest, TheReaderVerifiesAModuleWithDebugInformation) {
  EXPECT_EQ(errorOf(Valid, /*Debug=*/true), "");
  EXPECT_DEATH(errorOf(Invalid, /*Debug=*/true), "Broken module found");
}

/// Two kernels; k calls `twice` and has 128 bytes of shared memory.
const char *const Two = R"(
  @Part = internal addrspace(3) global [32 x i32] poison
  define i32 @twice(i32 %x) noinline {
    %y = shl i32 %x, 1
    ret i32 %y
  }
  define ptx_kernel void @other(ptr %out) {
    store i32 1, ptr %out
    ret void
  }
  define ptx_kernel void @k(ptr %out) "target-cpu"="sm_80" {
    %v = call i32 @twice(i32 21)
    store i32 %v, ptr addrspace(3) @Part
    %w = load i32, ptr addrspace(3) @Part
    store i32 %w, ptr %out
    ret void
  }
  !nvvm.annotations = !{!0}
  !0 = !{ptr @k, !"maxntidx", i32 96}
)";

class LateReading : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("load", Folder));
    O.CacheDir = std::string(Folder);
    O.ReadLate = true;
  }
  void TearDown() override { (void)sys::fs::remove_directories(Folder); }

  struct Loaded {
    bool HasModule;  ///< it was there when the program was
    bool AtOnce;     ///< ... with all code
    bool ReadsCode;  ///< it was there when k had run
    bool OtherStays; ///< ... without the code of `other`
    uint64_t Shared;
    unsigned Bound, Architecture;
    SmallVector<std::pair<uint64_t, uint64_t>> Parameters;
    uint32_t Result = 0;
  };
  /// Loads \p Text on a machine of its own and runs k.
  Loaded load(const std::string &Text) {
    LLVMContext C;
    auto M = parseKernel(C, Text);
    auto On = cantFail(Machine::create(O));
    TestProgram P(*M, *On);
    auto &Program = static_cast<LoadedProgram &>(P.program());
    Loaded L;
    L.HasModule = Program.M != nullptr;
    L.AtOnce = Program.M && none_of(*Program.M, [](Function &F) {
                 return F.isMaterializable();
               });
    const Kernel &K = *cantFail(Program.kernel("k"));
    L.Shared = K.staticShared();
    L.Bound = K.launchBound();
    L.Architecture = K.architecture();
    append_range(L.Parameters, K.parameters());
    P.run(shape(1, 32), &L.Result);
    L.ReadsCode = Program.M != nullptr;
    L.OtherStays =
        Program.M && Program.M->getFunction("other")->isMaterializable();
    return L;
  }

  SmallString<128> Folder;
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
};

TEST_F(LateReading, TheSecondTimeCodeIsReadAsItIsCompiled) {
  Loaded First = load(Two);
  EXPECT_TRUE(First.AtOnce);
  O.Counters = false; // k is compiled again, and is not in the cache
  Loaded Second = load(Two);
  EXPECT_FALSE(Second.HasModule);
  EXPECT_TRUE(Second.ReadsCode);
  EXPECT_TRUE(Second.OtherStays);
  for (const Loaded &L : {First, Second}) {
    EXPECT_EQ(L.Shared, 128u);
    EXPECT_EQ(L.Bound, 96u);
    EXPECT_EQ(L.Architecture, 80u);
    ASSERT_EQ(L.Parameters.size(), 1u);
    EXPECT_EQ(L.Parameters.front(), std::pair(uint64_t(0), uint64_t(8)));
    EXPECT_EQ(L.Result, 42u);
  }
}

TEST_F(LateReading, CodeThatIsInTheCacheIsNotRead) {
  load(Two);
  Loaded Second = load(Two);
  EXPECT_EQ(Second.Result, 42u);
  EXPECT_FALSE(Second.ReadsCode);
}

TEST_F(LateReading, WhatTheCacheHasIsNotChecked) {
  LLVMContext C;
  auto M = parseKernel(C, Two);
  const auto Bytes = numberedBitcode(*M);
  unsigned Checks = 0;
  auto Run = [&](StringRef Name, bool Sound) {
    auto On = cantFail(Machine::create(O));
    DeviceCode Code(
        MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "kernel"));
    Code.Name = "a name";
    Code.Check = [&]() -> Error {
      ++Checks;
      return Sound ? Error::success() : createStringError("damaged");
    };
    auto P = On->load(std::move(Code), nullptr); // there are no variables
    if (!P)
      return toString(P.takeError());
    uint32_t Result = 0, *Out = &Result;
    void *Args[] = {&Out};
    return toString(On->launch(*cantFail((*P)->kernel(Name)), shape(1, 32),
                               Args, LaunchOptions()));
  };
  EXPECT_EQ(Run("k", /*Sound=*/false), "damaged");
  EXPECT_EQ(Run("k", /*Sound=*/true), "");
  EXPECT_EQ(Checks, 2u);
  EXPECT_EQ(Run("k", /*Sound=*/false), "");
  EXPECT_EQ(Checks, 2u);
  EXPECT_EQ(Run("other", /*Sound=*/false), "damaged");
}

TEST_F(LateReading, VariablesHaveTheirValuesWithoutCode) {
  const std::string Text = std::string(Two) + R"(
    @Unset = external addrspace(1) global i32
    @Zero = addrspace(1) global [3 x i32] zeroinitializer, align 16
    @Fixed = addrspace(4) constant { i8, i32 } { i8 -1, i32 305419896 }
  )";
  for (bool Second : {false, true}) {
    if (Second)
      load(Text);
    auto On = cantFail(Machine::create(O));
    LLVMContext C;
    auto M = parseKernel(C, Text);
    TestProgram P(*M, *On);
    auto &Program = static_cast<LoadedProgram &>(P.program());
    EXPECT_EQ(Program.M == nullptr, Second);
    for (int Time : {1, 2}) {
      auto Zero = cantFail(Program.variable("Zero"));
      ASSERT_EQ(Zero.second, 12u);
      EXPECT_EQ(static_cast<uint32_t *>(Zero.first)[2], 0u) << Time;
      static_cast<uint32_t *>(Zero.first)[2] = 5;
      auto Fixed = cantFail(Program.variable("Fixed"));
      ASSERT_EQ(Fixed.second, 8u);
      EXPECT_EQ(static_cast<uint8_t *>(Fixed.first)[0], 0xff);
      EXPECT_EQ(static_cast<uint32_t *>(Fixed.first)[1], 0x12345678u);
      cantFail(Program.resetVariables());
    }
    EXPECT_EQ(cantFail(Program.variable("Unset")).second, 4u);
    EXPECT_EQ(cantFail(Program.variable("None")).first, nullptr);
    EXPECT_EQ(cantFail(Program.kernel("none")), nullptr);
    std::vector<std::tuple<uint64_t, uint64_t, bool>> Shapes;
    for (const VariableOutline &V : Program.Variables)
      Shapes.push_back({V.Size, V.Align, V.Constant});
    EXPECT_EQ(Shapes,
              (decltype(Shapes){{4, 4, false}, {12, 16, false}, {8, 4, true}}));
  }
}

TEST_F(LateReading, AVariableThatBeginsWithAnAddressNeedsItsModule) {
  const std::string Text = std::string(Two) + R"(
    @A = addrspace(1) global i32 7
    @B = addrspace(1) global ptr addrspace(1) @A
  )";
  load(Text);
  auto On = cantFail(Machine::create(O));
  LLVMContext C;
  auto M = parseKernel(C, Text);
  TestProgram P(*M, *On);
  auto &Program = static_cast<LoadedProgram &>(P.program());
  ASSERT_TRUE(Program.M);
  EXPECT_TRUE(Program.M->getFunction("k")->isMaterializable());
  void *B;
  std::memcpy(&B, cantFail(Program.variable("B")).first, sizeof(B));
  EXPECT_EQ(B, cantFail(Program.variable("A")).first);
}

/// As when its library is unloaded: the bytes are gone.
TEST_F(LateReading, OfAProgramThatIsGoneWhatIsCompiledRuns) {
  for (bool Second : {false, true}) {
    O.Counters = Second; // nothing is in the cache that is compiled
    auto On = cantFail(Machine::create(O));
    LLVMContext C;
    auto M = parseKernel(C, Two);
    TestProgram P(*M, *On);
    uint32_t Result = 0;
    P.run(shape(1, 32), &Result);
    P.program().forgetBitcode();
    P.overwriteBitcode();
    P.run(shape(1, 32), &Result);
    EXPECT_EQ(Result, 42u);
    auto *Out = &Result;
    const std::string Said = toString(P.launch("other", shape(1, 32), Out));
    EXPECT_EQ(Said.find("of a library that was unloaded") != std::string::npos,
              Second)
        << Said;
  }
}

/// A file that is whole, but says something else, is as none.
TEST_F(LateReading, AnOutlineThatSaysSomethingElseIsNoOutline) {
  LLVMContext C;
  const std::string Text =
      std::string(Two) + "@V = addrspace(1) global i32 1\n";
  auto M = parseKernel(C, Text);
  Outline::keep(*M, Folder, "hash");
  ASSERT_TRUE(Outline::kept(Folder, "hash"));
  std::error_code Listed;
  const std::string Path = sys::fs::directory_iterator(Folder, Listed)->path();
  const std::string Whole = readWhole(Path)->getBuffer().str();
  for (auto [From, To] : {std::pair("v 4", "v x"),
                          {"v 4,", "v "},
                          {" 01000000 ", " 010000 "},
                          {" 01000000 ", " 0g000000 "},
                          {"k 128", "k -"},
                          {"k 128,96,80", "k 128,96"},
                          {" 0,8 ", " 0 "},
                          {"k ", "j "}}) {
    std::string Other = Whole;
    const size_t At = Other.find(From);
    ASSERT_NE(At, std::string::npos) << From;
    writeWhole(Path, Other.replace(At, strlen(From), To));
    EXPECT_FALSE(Outline::kept(Folder, "hash")) << To;
  }
}

TEST_F(LateReading, FunctionsWithAnAddressAreReadAtOnce) {
  const std::string Text =
      std::string(Two) + "@Table = addrspace(1) global ptr @twice\n";
  load(Text);
  EXPECT_TRUE(load(Text).AtOnce);
}

TEST_F(LateReading, WhoLooksAtCodeHasAllOfIt) {
  load(Two);
  O.ReadLate = false;
  EXPECT_TRUE(load(Two).AtOnce);
}

} // namespace
} // namespace reconverge::warpvm
