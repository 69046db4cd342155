//===- unittests/report/NamesTest.cpp - Names of kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Names.h"

#include <gtest/gtest.h>

using reconverge::report::kernelName;

static const char Scan[] =
    "cub::CUB_300001_SM_900_NS::detail::scan::DeviceScanKernel<"
    "cub::CUB_300001_SM_900_NS::detail::scan::policy_hub<int, int>::Policy900, "
    "int const*, thrust::THRUST_300001_SM_900_NS::counting<int>, "
    "cuda::std::__4::plus<void>, (bool)0>";

TEST(Names, ShortOnesStay) {
  EXPECT_EQ(kernelName("assign", 20), "assign");
  EXPECT_EQ(kernelName("ns::walk<float>", 20), "ns::walk<float>");
  EXPECT_EQ(kernelName("a<int>::b<3>(int*, a<int>)", 40), "a<int>::b<3>");
  EXPECT_EQ(kernelName("(anonymous namespace)::walk(int)", 40),
            "(anonymous namespace)::walk");
  EXPECT_EQ(kernelName("", 40), "");
}

TEST(Names, InlineNamespacesAndTagsGoAlways) {
  EXPECT_EQ(kernelName("cub::CUB_300001_SM_900_NS::detail::f", 99),
            "cub::detail::f");
  EXPECT_EQ(kernelName("cub::_V_300400_SM_1000::f", 99), "cub::f");
  EXPECT_EQ(kernelName("std::__cxx11::f[abi:cxx11]", 99), "std::f");
  EXPECT_EQ(kernelName(Scan, 500),
            "cub::detail::scan::DeviceScanKernel<"
            "cub::detail::scan::policy_hub<int, int>::Policy900, int const*, "
            "thrust::counting<int>, cuda::std::plus<void>, (bool)0>");
}

TEST(Names, LoseWhatTellsLeastFirst) {
  EXPECT_EQ(kernelName(Scan, 99), "cub::detail::scan::DeviceScanKernel<"
                                  "Policy900, int const*, counting<int>, "
                                  "plus<void>, (bool)0>");
  EXPECT_EQ(kernelName(Scan, 90),
            "cub::detail::scan::DeviceScanKernel<"
            "Policy900, int const*, counting, plus, (bool)0>");
  EXPECT_EQ(kernelName(Scan, 72),
            "cub::DeviceScanKernel<"
            "Policy900, int const*, counting, plus, (bool)0>");
  EXPECT_EQ(kernelName(Scan, 50),
            "cub::DeviceScanKernel<Policy900, int const*, ...>");
  EXPECT_EQ(kernelName(Scan, 24), "cub::DeviceScanKernel");
  EXPECT_EQ(kernelName(Scan, 12), "...canKernel") << "the tail stays";
}

TEST(Names, NoTextIsTooMuch) {
  for (const char *Odd :
       {"a<b", "a>b", "::", "a<>", "<<<", "operator<", "x<(a < b)>", ")(", "(",
        "a<b>::", "f<&(g<int>)>", "\033[1m"})
    for (unsigned Width : {0u, 1u, 3u, 8u, 40u})
      EXPECT_LE(kernelName(Odd, Width).size(), std::max(Width, 3u)) << Odd;
}
