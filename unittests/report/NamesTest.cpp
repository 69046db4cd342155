//===- unittests/report/NamesTest.cpp - Names of kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Names.h"

#include <gtest/gtest.h>

using reconverge::report::kernelName;
using reconverge::report::kernelNames;

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

/// As thrust::for_each and thrust::sort_by_key have it.
TEST(Names, KernelsOfLibrariesAreKnownByTheUsersTypes) {
  static const char ForEach[] =
      "cub::_V_300400_SM_900::detail::for_each::static_kernel<"
      "cub::_V_300400_SM_900::detail::for_each::policy_hub_t::policy_500_t, "
      "long, cub::_V_300400_SM_900::detail::for_each::op_wrapper_t<long, "
      "main::'lambda0'(float4), "
      "thrust::_V_300400_SM_900::detail::normal_iterator<"
      "thrust::_V_300400_SM_900::device_ptr<mesh::node<float>>>>>";
  EXPECT_EQ(kernelName(ForEach, 50),
            "cub::static_kernel<main::'lambda0'(float4)>");
  EXPECT_EQ(kernelName(ForEach, 40), "static_kernel<main::'lambda0'(float4)>");
  EXPECT_EQ(kernelName(ForEach, 37), "cub::static_kernel<'lambda0'(float4)>");
  EXPECT_EQ(kernelName(ForEach, 32), "static_kernel<'lambda0'(float4)>");
  EXPECT_EQ(kernelName(ForEach, 23), "cub::static_kernel");
  static const char Sort[] =
      "cub::_V_300400_SM_900::DeviceSortKernel<cub::_V_300400_SM_900::policy_"
      "hub"
      "<mesh::node<float>, by_area>, mesh::node<float>*, unsigned int const*, "
      "by_area, (bool)0, std::pair<float4, 3>>";
  EXPECT_EQ(kernelName(Sort, 60),
            "cub::DeviceSortKernel<node<float>, by_area>");
  EXPECT_EQ(kernelName(Sort, 38), "DeviceSortKernel<node<float>, by_area>");
  EXPECT_EQ(kernelName(Sort, 36), "cub::DeviceSortKernel<node, by_area>");
  EXPECT_EQ(kernelName(Sort, 31), "DeviceSortKernel<node, by_area>");
  EXPECT_EQ(kernelName(Sort, 30), "DeviceSortKernel<node, ...>");
  EXPECT_EQ(kernelName("cub::SortKernel<(int)4, (anonymous namespace)::by_area,"
                       " unsigned int, -1, int const*, float4>",
                       40),
            "cub::SortKernel<by_area>");
  EXPECT_EQ(
      kernelName("cub::Kernel<unsigned long long, 'lambda1'(int), int>", 28),
      "cub::Kernel<'lambda1'(int)>");
  static const char Fill[] =
      "cub::fill_kernel<void user::fill<mesh::node>(int)::'lambda'(int)>";
  EXPECT_EQ(kernelName(Fill, 31), "cub::fill_kernel<'lambda'(int)>");
  EXPECT_EQ(kernelName(Fill, 30), "fill_kernel<'lambda'(int)>");
}

TEST(Names, OfATableDiffer) {
  using Names = std::vector<std::string>;
  static const char First[] = "cub::static_kernel<500, main::'lambda'(int)>",
                    Second[] = "cub::static_kernel<500, main::'lambda0'(int)>",
                    Third[] = "cub::static_kernel<500, cuda::std::plus<int>>";
  EXPECT_EQ(kernelNames({First, Second, "k", "k", Third}, 22),
            (Names{"...rnel<'lambda'(int)>", "...nel<'lambda0'(int)>", "k", "k",
                   "cub::static_kernel"}));
  EXPECT_EQ(kernelNames({First, Third, First}, 22)[1], "cub::static_kernel");
}

TEST(Names, NoTextIsTooMuch) {
  for (const char *Odd :
       {"a<b", "a>b", "::", "a<>", "<<<", "operator<", "x<(a < b)>", ")(", "(",
        "a<b>::", "f<&(g<int>)>", "\033[1m"})
    for (unsigned Width : {0u, 1u, 3u, 8u, 40u})
      EXPECT_LE(kernelName(Odd, Width).size(), std::max(Width, 3u)) << Odd;
}
