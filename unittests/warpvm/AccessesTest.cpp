//===- unittests/warpvm/AccessesTest.cpp - Requests of kernels, counted ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose requests can be counted by hand. One thread block of 40 threads
// is a full warp and one of 8 lanes.
//
//===----------------------------------------------------------------------===//

#include "analysis/Accesses.h"
#include "Harness.h"
#include "analysis/Numbering.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

const char *const Declarations = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  declare i32 @llvm.nvvm.ldg.global.i.i32.p1(ptr addrspace(1), i32)
  declare i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr, i32)
)";

/// All that a request adds up to.
struct Want {
  uint64_t Requests, Lanes, Sectors, LeastSectors, Wavefronts, LeastWavefronts,
      Turns = 0;
};

std::vector<MachineOptions> countingSetups() {
  std::vector<MachineOptions> All = setups(32);
  All.push_back(All.front());
  All.back().Compile = Effort::Well;
  All.push_back(All.front());
  All.back().Isa = "avx2";
  All.push_back(All.front());
  All.back().Check = true;
  for (MachineOptions &O : All)
    O.Accesses = true;
  return All;
}

/// Runs kernel k of \p Text under every set-up and compares what is counted of
/// its accesses, in program order.
template <typename... Args>
void check(const std::string &Text, const LaunchShape &Shape,
           ArrayRef<Want> Wanted, const Footprint &Touched, Args... Values) {
  for (const MachineOptions &O : countingSetups()) {
    SCOPED_TRACE(describe(O) + (O.Compile == Effort::Well ? ", well" : "") +
                 (O.Check ? ", checked" : "") + O.Isa);
    TestProgram P(Declarations + Text, O);
    P.run(Shape, Values...);
    const LaunchCounts &C = P.counts();
    ASSERT_EQ(C.Accesses.size(), Wanted.size());
    for (size_t I = 0; I < Wanted.size(); ++I) {
      SCOPED_TRACE("access " + std::to_string(I));
      EXPECT_EQ(C.Accesses[I].Requests, Wanted[I].Requests);
      EXPECT_EQ(C.Accesses[I].Lanes, Wanted[I].Lanes);
      EXPECT_EQ(C.Accesses[I].Sectors, Wanted[I].Sectors);
      EXPECT_EQ(C.Accesses[I].LeastSectors, Wanted[I].LeastSectors);
      EXPECT_EQ(C.Accesses[I].Wavefronts, Wanted[I].Wavefronts);
      EXPECT_EQ(C.Accesses[I].LeastWavefronts, Wanted[I].LeastWavefronts);
      EXPECT_EQ(C.Accesses[I].Turns, Wanted[I].Turns);
    }
    EXPECT_EQ(C.Touched.ThreadBlocks, Touched.ThreadBlocks);
    EXPECT_EQ(C.Touched.BlockLoads, Touched.BlockLoads);
    EXPECT_EQ(C.Touched.GridLoads, Touched.GridLoads);
    EXPECT_EQ(C.Touched.GridStores, Touched.GridStores);
  }
}

/// Bytes at a multiple of 2 KiB.
class Buffer {
public:
  explicit Buffer(size_t Bytes) : Room(Bytes + 2048) {}
  uint8_t *get() {
    return reinterpret_cast<uint8_t *>(
        (reinterpret_cast<uintptr_t>(Room.data()) + 2047) / 2048 * 2048);
  }

private:
  std::vector<uint8_t> Room;
};

TEST(Accesses, CoalescedAndStrided) {
  Buffer In(64 << 10), Out(64 << 10);
  // Two blocks of 40 threads read the same 160 bytes, and each writes every
  // 8th word: a sector a lane, 40 of them.
  check(R"(
    define ptx_kernel void @k(ptr %in, ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %p = getelementptr i32, ptr %in, i32 %t
      %x = load i32, ptr %p
      %first = mul i32 %b, 40
      %n = add i32 %first, %t
      %n8 = mul i32 %n, 8
      %q = getelementptr i32, ptr %out, i32 %n8
      store i32 %x, ptr %q
      ret void
    })",
        shape(2, 40),
        {{4, 80, 2 * (4 + 1), 2 * (4 + 1), 4, 4},
         // Lines: 32 sectors are 8; 8 sectors are 2.
         {4, 80, 80, 2 * (4 + 1), 2 * (8 + 2), 4}},
        {2, 10, 5, 80}, In.get(), Out.get());
}

TEST(Accesses, SameAddressAndPartOfTheLanes) {
  Buffer In(4096), Out(4096);
  // All lanes read word 1; those with an odd index write their own.
  check(R"(
    define ptx_kernel void @k(ptr %in, ptr %out) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %one = getelementptr i32, ptr %in, i32 1
      %x = load i32, ptr %one
      %odd = trunc i32 %t to i1
      br i1 %odd, label %then, label %done
    then:
      %q = getelementptr i32, ptr %out, i32 %t
      store i32 %x, ptr %q
      br label %done
    done:
      ret void
    })",
        shape(1, 40), {{2, 40, 2, 4 + 1, 2, 2}, {2, 20, 4 + 1, 2 + 1, 2, 2}},
        {1, 1, 1, 5}, In.get(), Out.get());
}

TEST(Accesses, SharedBanks) {
  Buffer Out(4096);
  // A column of 32 x 32 words, then one of 32 x 33, every other word, and a word
  // that is the same for all.
  check(R"(
    @tile = internal addrspace(3) global [1056 x i32] undef
    define ptx_kernel void @k(ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %c = mul i32 %t, 32
      %p = getelementptr i32, ptr addrspace(3) @tile, i32 %c
      store i32 %t, ptr addrspace(3) %p
      %c3 = mul i32 %t, 33
      %q = getelementptr i32, ptr addrspace(3) @tile, i32 %c3
      %x = load i32, ptr addrspace(3) %q
      %c2 = mul i32 %t, 2
      %r = getelementptr i32, ptr addrspace(3) @tile, i32 %c2
      store i32 %x, ptr addrspace(3) %r
      %y = load i32, ptr addrspace(3) @tile
      %to = getelementptr i32, ptr %out, i32 %t
      store i32 %y, ptr %to
      ret void
    })",
        shape(1, 32),
        {{1, 32, 0, 0, 32, 1},
         {1, 32, 0, 0, 1, 1},
         {1, 32, 0, 0, 2, 1},
         {1, 32, 0, 0, 1, 1},
         {1, 32, 4, 4, 1, 1}},
        {1, 0, 0, 4}, Out.get());
}

TEST(Accesses, AtomicsTakeTurns) {
  Buffer Out(4096);
  // Pairs of lanes at one word of shared memory; all at one of global memory,
  // by way of an intrinsic.
  check(R"(
    @bins = internal addrspace(3) global [16 x i32] undef
    define ptx_kernel void @k(ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %half = lshr i32 %t, 1
      %p = getelementptr i32, ptr addrspace(3) @bins, i32 %half
      %old = atomicrmw add ptr addrspace(3) %p, i32 1 monotonic
      %inc = call i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr %out, i32 99)
      ret void
    })",
        shape(1, 32), {{1, 32, 0, 0, 2, 1, 2}, {1, 32, 1, 4, 1, 1, 32}},
        // An atomic is no load of a block's: the first cache has no part in it.
        {1, 0, 1, 1}, Out.get());
}

TEST(Accesses, JoinedAndSplit) {
  Buffer In(8192), Out(8192);
  // Four words that lie together are one access of 16 bytes, as on a GPU; what
  // the VM has to split is one as well.
  check(R"(
    define ptx_kernel void @k(ptr %in, ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %p0 = getelementptr [4 x i32], ptr %in, i32 %t
      %a = load i32, ptr %p0, align 16
      %p1 = getelementptr inbounds i8, ptr %p0, i64 4
      %b = load i32, ptr %p1, align 4
      %p2 = getelementptr inbounds i8, ptr %p0, i64 8
      %c = load i32, ptr %p2, align 8
      %p3 = getelementptr inbounds i8, ptr %p0, i64 12
      %d = load i32, ptr %p3, align 4
      %ab = add i32 %a, %b
      %cd = add i32 %c, %d
      %s = add i32 %ab, %cd
      %v = load <8 x i32>, ptr %in, align 32
      %e = extractelement <8 x i32> %v, i32 0
      %sum = add i32 %s, %e
      %odd = trunc i32 %sum to i24
      %q = getelementptr i32, ptr %out, i32 %t
      store i24 %odd, ptr %q, align 4
      ret void
    })",
        shape(1, 32),
        {{1, 32, 16, 16, 4, 4},
         {},
         {},
         {},
         // 32 bytes for all lanes, of which four go at once.
         {1, 32, 1, 32, 8, 8},
         // 3 of each 4 bytes.
         {1, 32, 4, 3, 1, 1}},
        {1, 16, 16, 4}, In.get(), Out.get());
}

TEST(Accesses, LocalMemoryAndGenericPointers) {
  Buffer Out(4096);
  // A local array at one offset of all lanes, then through a pointer that may
  // lead to shared memory as well: even lanes have it lead there.
  check(R"(
    @s = internal addrspace(3) global [32 x i32] undef
    define ptx_kernel void @k(ptr %out, i32 %n) {
      %a = alloca [8 x i32], align 4
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %at = getelementptr [8 x i32], ptr %a, i32 0, i32 %n
      store volatile i32 %t, ptr %at
      %shared = getelementptr [32 x i32], ptr addrspace(3) @s, i32 0, i32 %t
      %g = addrspacecast ptr addrspace(3) %shared to ptr
      %odd = trunc i32 %t to i1
      %p = select i1 %odd, ptr %at, ptr %g
      %x = load volatile i32, ptr %p
      ret void
    })",
        shape(1, 32),
        {{1, 32, 4, 4, 1, 1},
         // 16 lanes of shared memory: a wavefront. 16 of local memory: a line,
         // in each of whose sectors four lanes have a word.
         {1, 32, 4, 2, 2, 2}},
        {1, 0, 0, 0}, Out.get(), 3);
}

TEST(Accesses, ParametersThroughGenericPointersAreNoRequests) {
  struct Numbers {
    int32_t Each[8];
  };
  Buffer Out(4096);
  // All lanes read the parameter, then odd lanes alone do.
  check(R"(
    define ptx_kernel void @k(ptr byval([8 x i32]) readonly %numbers,
                                ptr %out) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %odd = and i32 %t, 1
      %isOdd = trunc i32 %t to i1
      %first = getelementptr i32, ptr %numbers, i32 %odd
      %q = getelementptr i32, ptr %out, i32 %t
      %p = select i1 %isOdd, ptr %first, ptr %numbers
      %x = load i32, ptr %p
      %r = select i1 %isOdd, ptr %first, ptr %q
      %y = load i32, ptr %r
      %sum = add i32 %x, %y
      store i32 %sum, ptr %q
      ret void
    })",
        shape(1, 32), {{}, {1, 16, 4, 2, 1, 1}, {1, 32, 4, 4, 1, 1}},
        {1, 4, 4, 4}, Numbers{}, Out.get());
}

TEST(Accesses, ReadOnlyLoadsAndSeveralThreads) {
  Buffer In(1 << 20), Out(1 << 20);
  LaunchCounts First;
  for (unsigned Threads : {1u, 3u}) {
    MachineOptions O = setups(32).front();
    O.Accesses = true;
    O.Threads = Threads;
    TestProgram P(std::string(Declarations) + R"(
      define ptx_kernel void @k(ptr addrspace(1) %in, ptr %out) {
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        %first = mul i32 %b, 32
        %n = add i32 %first, %t
        %p = getelementptr i32, ptr addrspace(1) %in, i32 %n
        %x = call i32 @llvm.nvvm.ldg.global.i.i32.p1(ptr addrspace(1) %p,
                                                     i32 4)
        %q = getelementptr i32, ptr %out, i32 %n
        store i32 %x, ptr %q
        ret void
      })",
                  O);
    // As many blocks as no thread can take alone.
    P.run(shape(500, 64), In.get(), Out.get());
    const LaunchCounts &C = P.counts();
    ASSERT_EQ(C.Accesses.size(), 2u);
    for (const AccessCounts &A : C.Accesses) {
      EXPECT_EQ(A.Requests, 1000u);
      EXPECT_EQ(A.Sectors, 4000u);
    }
    // Half of a block's words are its neighbour's, too: 501 times 32 words.
    EXPECT_EQ(C.Touched.BlockLoads, 4000u);
    EXPECT_EQ(C.Touched.GridLoads, 501u * 4);
    EXPECT_EQ(C.Touched.GridStores, 501u * 4);
  }
}

TEST(Accesses, AreNotCountedUnlessAskedFor) {
  Buffer Out(4096);
  TestProgram P(std::string(Declarations) + R"(
    define ptx_kernel void @k(ptr %out) {
      store i32 1, ptr %out
      ret void
    })",
                setups(32).front());
  P.run(shape(1, 32), Out.get());
  EXPECT_TRUE(P.counts().Accesses.empty());
  EXPECT_EQ(P.counts().Touched.ThreadBlocks, 0u);
}

} // namespace
} // namespace reconverge::warpvm
