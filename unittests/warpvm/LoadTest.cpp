//===- unittests/warpvm/LoadTest.cpp - How modules are read --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module is verified once: by LLVM's reader if it has debug information of
// its version, otherwise as it is loaded. Of one that was loaded before, code is
// read as it is compiled.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

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
  define ptx_kernel void @k(ptr %out) {
    %v = call i32 @twice(i32 21)
    store i32 %v, ptr addrspace(3) @Part
    %w = load i32, ptr addrspace(3) @Part
    store i32 %w, ptr %out
    ret void
  }
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
    bool AtOnce;     ///< all code was there when the program was
    bool OtherStays; ///< that of `other` was not there when k had run
    uint64_t Shared;
    uint32_t Result = 0;
  };
  /// Loads \p Text on a machine of its own and runs k.
  Loaded load(const std::string &Text) {
    LLVMContext C;
    auto M = parseKernel(C, Text);
    auto On = cantFail(Machine::create(O));
    TestProgram P(*M, *On);
    Module &In = P.program().module();
    Loaded L;
    L.AtOnce = none_of(In, [](Function &F) { return F.isMaterializable(); });
    L.Shared = cantFail(P.program().kernel("k"))->staticShared();
    P.run(shape(1, 32), &L.Result);
    L.OtherStays = In.getFunction("other")->isMaterializable();
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
  EXPECT_FALSE(Second.AtOnce);
  EXPECT_TRUE(Second.OtherStays);
  for (const Loaded &L : {First, Second}) {
    EXPECT_EQ(L.Shared, 128u);
    EXPECT_EQ(L.Result, 42u);
  }
}

TEST_F(LateReading, CodeThatIsInTheCacheIsNotRead) {
  load(Two);
  auto On = cantFail(Machine::create(O));
  LLVMContext C;
  auto M = parseKernel(C, Two);
  TestProgram P(*M, *On);
  uint32_t Result = 0;
  P.run(shape(1, 32), &Result);
  EXPECT_EQ(Result, 42u);
  EXPECT_TRUE(P.program().module().getFunction("k")->isMaterializable());
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
