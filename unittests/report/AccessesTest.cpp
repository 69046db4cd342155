//===- unittests/report/AccessesTest.cpp - Rows of requests to memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Accesses.h"

#include "../model/HandMade.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace reconverge;
using namespace reconverge::report;

namespace {

struct MadeKernel {
  KernelProfile K = test::alternating("k").K;

  void add(MemorySpace Space, MemoryUse Use, uint32_t Line, AccessCounts C,
           const char *Header = nullptr) {
    AccessInfo A;
    A.Id = uint32_t(K.Accesses.size());
    A.Space = Space;
    A.Use = Use;
    A.Bytes = 4;
    if (Header)
      A.Where.push_back({Header, 341, 10, "__iAtomicAdd"});
    if (Line)
      A.Where.push_back({"src/a.cu", Line, 3, "k"});
    K.Info.Accesses.push_back(A);
    K.Accesses.push_back(C);
  }
  std::vector<AccessView> rows() const {
    return accessesOf(K, 0, [](const SourceLoc &Loc) {
      return Loc.File + ":" + std::to_string(Loc.Line);
    });
  }
};

// In a library of the toolkit it is that, and not what clang puts before it.
TEST(Accesses, PlacesAreTheUsersOrElseTheToolkits) {
  const SourceLoc Clang = {"/usr/lib/clang/__clang_cuda_device_functions.h", 1,
                           1, "f"},
                  Toolkit = {"/usr/local/cuda/include/cub/scan.cuh", 2, 1, "g"},
                  User = {"src/a.cu", 3, 1, "k"};
  EXPECT_EQ(userPlace({Clang, Toolkit, User})->Line, 3u);
  EXPECT_EQ(userPlace({Clang, Toolkit})->Line, 2u);
  EXPECT_EQ(userPlace({Clang})->Line, 1u);
  EXPECT_EQ(userPlace({}), nullptr);
}

/// requests, lanes, sectors, least, wavefronts, least, turns
TEST(Accesses, WhatIsMuchMoreThanItMustBeHasARow) {
  MadeKernel M;
  using S = MemorySpace;
  using U = MemoryUse;
  M.add(S::Global, U::Load, 1, {10, 320, 40, 40, 10, 10, 0}); // as it should be
  M.add(S::Global, U::Load, 2, {10, 320, 176, 40, 44, 10, 0});
  M.add(S::Global, U::Store, 3, {10, 320, 60, 40, 20, 10, 0}); // not more
  M.add(S::Shared, U::Load, 4, {10, 320, 0, 0, 80, 10, 0});
  M.add(S::Shared, U::Store, 5, {100, 3200, 0, 0, 100, 100, 0});
  M.add(S::Shared, U::Atomic, 6, {10, 320, 0, 0, 120, 10, 120},
        "/opt/cuda-12/targets/x/include/device_atomic_functions.hpp");
  M.add(S::Global, U::Atomic, 7, {10, 320, 10, 40, 10, 10, 39}); // few turns
  M.add(S::Local, U::Load, 8, {10, 320, 40, 10, 10, 10, 0}); // bytes in words
  M.add(S::Global, U::Load, 9, {1, 32, 16, 4, 4, 1, 0});     // 16 of 342
  M.add(S::Global, U::Load, 0, {0, 0, 0, 0, 0, 0, 0});
  const std::vector<AccessView> Rows = M.rows();
  ASSERT_EQ(Rows.size(), 3u);
  EXPECT_EQ(Rows[0].At, "src/a.cu:6");
  EXPECT_EQ(Rows[0].What, "atomics on one address: 12.0 turns");
  EXPECT_EQ(Rows[0].Which, "an atomic on shared memory, 4 bytes a lane");
  EXPECT_EQ(Rows[1].At, "src/a.cu:2");
  EXPECT_EQ(Rows[1].What, "uncoalesced: 17.6 of 4.0 sectors");
  EXPECT_EQ(Rows[1].Which, "a load from global memory, 4 bytes a lane");
  EXPECT_EQ(Rows[1].Requests, 10u);
  EXPECT_DOUBLE_EQ(Rows[1].OfKernel, 176.0 / 342);
  EXPECT_EQ(Rows[2].At, "src/a.cu:4");
  EXPECT_EQ(Rows[2].What, "bank conflicts: 8.0 of 1.0 wavefronts");
  EXPECT_DOUBLE_EQ(Rows[2].OfKernel, 80.0 / 300);
}

// p[i] = q[i] = 0: the columns tell the stores apart.
TEST(Accesses, AlikeOnOneLineHaveColumns) {
  MadeKernel M;
  for (unsigned Column : {3, 10}) {
    M.add(MemorySpace::Global, MemoryUse::Store, 7,
          {10, 320, 320, 40, 320, 10, 0});
    M.K.Info.Accesses.back().Where.back().Column = Column;
  }
  const std::vector<AccessView> Rows = M.rows();
  ASSERT_EQ(Rows.size(), 2u);
  EXPECT_EQ(Rows[0].At, "src/a.cu:7:3");
  EXPECT_EQ(Rows[1].At, "src/a.cu:7:10");
}

TEST(Accesses, CopiesAreOneRow) {
  MadeKernel M;
  for (unsigned I = 0; I < 30; ++I)
    M.add(MemorySpace::Global, MemoryUse::Load, 7, {1, 32, 32, 4, 32, 1, 0});
  M.add(MemorySpace::Global, MemoryUse::Load, 0,
        {10, 320, 320, 40, 320, 10, 0});
  const std::vector<AccessView> Rows = M.rows();
  ASSERT_EQ(Rows.size(), 2u);
  EXPECT_EQ(Rows[0].What, "uncoalesced: 32.0 of 4.0 sectors");
  EXPECT_EQ(Rows[0].Which,
            "a load from global memory, 4 bytes a lane (30 copies)");
  EXPECT_EQ(Rows[1].At, "block 0");
}

TEST(Accesses, AsATable) {
  MadeKernel M;
  M.add(MemorySpace::Global, MemoryUse::Load, 2, {10, 320, 176, 40, 44, 10, 0});
  M.add(MemorySpace::Shared, MemoryUse::Load, 4, {10, 320, 0, 0, 80, 10, 0});
  View V;
  V.Kernels.resize(1);
  V.Kernels[0].Name = "k(int*)";
  V.Accesses = M.rows();
  V.MoreAccesses = 2;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printAccesses(V, OS, {});
  EXPECT_EQ(Text, R"(Requests to memory that take more than they must
of kernel's  access
     100.0%  src/a.cu:2  uncoalesced: 17.6 of 4.0 sectors
    in k; a load from global memory, 4 bytes a lane, 10 requests
     100.0%  src/a.cu:4  bank conflicts: 8.0 of 1.0 wavefronts
    in k; a load from shared memory, 4 bytes a lane, 10 requests
and 2 more accesses; the JSON file has all
Per request, and what the same lanes would take at best; docs/memory.md has the rules.

)");
  Text.clear();
  printAccesses({}, OS, {});
  EXPECT_EQ(Text, "");
}

} // namespace
