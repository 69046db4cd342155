//===- unittests/warpvm/LoadTest.cpp - Modules that are no programs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module is verified once: by LLVM's reader if it has debug information of
// its version, otherwise as it is loaded.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

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

} // namespace
} // namespace reconverge::warpvm
