//===- VmErrorsTest.cpp - Codes, texts, and the table ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The toolkit's own library needs no GPU to say what its codes mean, and which
// functions there are.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Backend.h"
#include "runtime/vm/Errors.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <set>
#include <string>
#include <thread>

using namespace reconverge::runtime;

namespace {

class Toolkit : public testing::Test {
protected:
  void SetUp() override {
    Library = dlopen(CUDART, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(Library) << dlerror();
  }
  void *symbol(const char *Name) { return dlsym(Library, Name); }
  void *Library = nullptr;
};

TEST_F(Toolkit, NamesAndTextsAreCudas) {
  using Say = const char *(cudaError_t);
  auto *Name = reinterpret_cast<Say *>(symbol("cudaGetErrorName"));
  auto *Text = reinterpret_cast<Say *>(symbol("cudaGetErrorString"));
  ASSERT_TRUE(Name && Text);
  const std::string Unknown = Name(cudaError_t(12345678));
  unsigned Known = 0;
  for (int I = -1; I <= 10001; ++I) {
    const auto Code = cudaError_t(I);
    // CUDA 12 lacks some of the codes of 13.
    if (Name(Code) == Unknown && CUDART_VERSION < 13000)
      continue;
    ASSERT_STREQ(api::cudaGetErrorName(Code), Name(Code)) << I;
    ASSERT_STREQ(api::cudaGetErrorString(Code), Text(Code)) << I;
    Known += Name(Code) != Unknown;
  }
  EXPECT_GT(Known, 120u);
}

TEST_F(Toolkit, EveryEntryIsAFunctionOfCudart) {
  std::set<std::string> Names;
  for (const reconverge_backend_symbol &S : backendTable()) {
    EXPECT_TRUE(symbol(S.name)) << S.name << " is not in " << CUDART;
    EXPECT_TRUE(S.function) << S.name;
    EXPECT_TRUE(Names.insert(S.name).second) << S.name << " is there twice";
  }
  for (const char *Needed :
       {"__cudaRegisterFatBinary", "cudaGetErrorName", "cudaGetErrorString",
        "cudaCreateChannelDesc", "cudaLaunchKernel", "cudaLaunchKernel_ptsz",
        "cudaMemcpy_ptds", "cudaMemcpyAsync_ptsz"})
    EXPECT_TRUE(Names.count(Needed)) << Needed;
}

TEST(Errors, TheLastOneStaysUntilFetched) {
  EXPECT_EQ(api::cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(api::cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaDeviceSynchronize(), cudaSuccess); // does not clear it
  EXPECT_EQ(api::cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(api::cudaGetLastError(), cudaSuccess);
}

TEST(Errors, EachThreadHasItsOwn) {
  EXPECT_EQ(api::cudaSetDevice(99), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(api::cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(api::cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(Errors, WhatIsMissingIsNamedOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(unsupported("a flying carpet"), cudaErrorNotSupported);
  EXPECT_EQ(unsupported("a flying carpet"), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "reconverge: a flying carpet is not supported by the warp VM\n");
}

} // namespace
