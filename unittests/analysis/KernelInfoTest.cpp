//===- unittests/analysis/KernelInfoTest.cpp - Facts of a kernel ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parsed.h"
#include "analysis/Costs.h"
#include "analysis/KernelInfoPrinter.h"
#include "analysis/Numbering.h"

#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace reconverge;
using namespace reconverge::analysis;

namespace {

KernelInfo describe(Parsed &P, StringRef Kernel = "k") {
  numberBlocks(P.module());
  return describeKernel(P.function(Kernel), MachineModel::unit(),
                        "0123456789abcdef");
}

using Positions = std::vector<uint32_t>;

TEST(KernelInfo, BlocksAndBranches) {
  Parsed P(R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    define void @unused() { ret void }
    define ptx_kernel void @k(i32 %n, ptr %p) {
    entry:
      %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %out = icmp sge i32 %i, %n
      br i1 %out, label %end, label %work
    work:
      %big = icmp sgt i32 %n, 9
      br i1 %big, label %more, label %split
    more:
      store i32 1, ptr %p
      br label %split
    split:
      %a = getelementptr i32, ptr %p, i32 %i
      %v = load i32, ptr %a
      switch i32 %v, label %end [ i32 0, label %zero
                                  i32 1, label %zero ]
    zero:
      store i32 0, ptr %a
      br label %end
    end:
      ret void
    }
  )");
  KernelInfo Info = describe(P);
  EXPECT_EQ(Info.Name, "k");
  EXPECT_EQ(Info.Module, "0123456789abcdef");
  ASSERT_EQ(Info.Blocks.size(), 6u);
  EXPECT_EQ(Info.Blocks[0].Id, 1u) << "block 0 is another function's";
  EXPECT_EQ(Info.Blocks[0].Instructions, 3u);
  EXPECT_EQ(Info.Blocks[3].Instructions, 3u);
  EXPECT_EQ(Info.Blocks[3].Latency, 3);
  EXPECT_EQ(Info.Blocks[3].IssueSlots, 3);

  // The branch on %big is uniform, and not listed.
  ASSERT_EQ(Info.Branches.size(), 2u);
  const BranchInfo &Guard = Info.Branches[0], &Switch = Info.Branches[1];
  EXPECT_EQ(Guard.Id, 0u);
  EXPECT_EQ(Guard.Block, 0u);
  EXPECT_EQ(Guard.Kind, BranchKind::If);
  EXPECT_EQ(Guard.Reason, "thread id");
  EXPECT_TRUE(Guard.LeavesKernel);
  EXPECT_EQ(Guard.Successors, (Positions{5, 1}));
  EXPECT_EQ(Guard.Region, (Positions{1, 2, 3, 4}));
  EXPECT_EQ(Switch.Id, 2u);
  EXPECT_EQ(Switch.Kind, BranchKind::Switch);
  EXPECT_EQ(Switch.Reason, "load");
  EXPECT_EQ(Switch.Successors, (Positions{5, 4, 4})) << "one a case";
  EXPECT_EQ(Switch.Region, (Positions{4}));
}

/// Numbers, kinds and widths; constant memory and parameters are no accesses.
TEST(KernelInfo, Accesses) {
  Parsed P(R"(
    @tile = internal addrspace(3) global [64 x i32] undef
    @table = internal addrspace(4) constant [4 x i32] zeroinitializer
    declare <4 x float> @llvm.nvvm.ldg.global.f.v4f32.p1(ptr addrspace(1), i32)
    define ptx_kernel void @k(ptr %p, ptr byval(i32) %q) {
    entry:
      %own = alloca i32, addrspace(5)
      %v = load i64, ptr %p
      %r = load i32, ptr %q
      %t = load i32, ptr addrspace(4) @table
      store i16 1, ptr addrspace(3) @tile
      br label %next
    next:
      store i32 %r, ptr addrspace(5) %own
      %g = addrspacecast ptr %p to ptr addrspace(1)
      %w = call <4 x float> @llvm.nvvm.ldg.global.f.v4f32.p1(ptr addrspace(1) %g, i32 16)
      %old = atomicrmw add ptr addrspace(3) @tile, i32 1 seq_cst
      %far = inttoptr i64 %v to ptr
      store i8 1, ptr %far
      ret void
    }
  )");
  struct Row {
    uint32_t Block;
    MemoryUse Use;
    MemorySpace Space;
    uint32_t Bytes;
    bool operator==(const Row &) const = default;
  };
  const std::vector<Row> Expected = {
      {0, MemoryUse::Load, MemorySpace::Global, 8},
      {0, MemoryUse::Store, MemorySpace::Shared, 2},
      {1, MemoryUse::Store, MemorySpace::Local, 4},
      {1, MemoryUse::Load, MemorySpace::Global, 16},
      {1, MemoryUse::Atomic, MemorySpace::Shared, 4},
      {1, MemoryUse::Store, MemorySpace::Generic, 1}};
  KernelInfo Info = describe(P);
  ASSERT_EQ(Info.Accesses.size(), Expected.size());
  for (size_t I = 0; I != Expected.size(); ++I) {
    const AccessInfo &A = Info.Accesses[I];
    EXPECT_EQ(A.Id, I);
    EXPECT_EQ((Row{A.Block, A.Use, A.Space, A.Bytes}), Expected[I]) << I;
  }
  EXPECT_EQ(numbersOf(P.function()).Accesses.size(), Expected.size());
}

/// By the unit machine, so that a chain's cycles are its instructions.
TEST(KernelInfo, LongestChain) {
  Parsed P(R"(
    define ptx_kernel void @k(ptr %p, ptr %q, i32 %n) {
      %a = load i64, ptr %p             ; 1
      %b = inttoptr i64 %a to ptr
      %c = load i32, ptr %b             ; 2
      %d = load i32, ptr %q             ; beside the two
      %e = add i32 %c, %d               ; 3
      %f = mul i32 %n, %n               ; beside them
      %g = xor i32 %e, %f               ; 4
      store i32 %g, ptr %q              ; 5
      ret void
    }
  )");
  KernelInfo Info = describe(P);
  EXPECT_EQ(Info.Blocks[0].Path, 5);
  EXPECT_EQ(Info.Blocks[0].PathLoads, 2u);
  EXPECT_EQ(Info.Blocks[0].Busy[size_t(Unit::Issue)], 8);
}

constexpr StringLiteral WithHelper = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  define internal i32 @helper(i32 %v) {
  entry:
    %c = icmp sgt i32 %v, 3
    br i1 %c, label %then, label %end
  then:
    %w = mul i32 %v, %v
    br label %end
  end:
    %r = phi i32 [ %v, %entry ], [ %w, %then ]
    ret i32 %r
  }
  define ptx_kernel void @k(ptr %p) {
  entry:
    %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %c = trunc i32 %i to i1
    br i1 %c, label %then, label %end
  then:
    %a = call i32 @helper(i32 %i)
    store i32 %a, ptr %p
    br label %end
  end:
    MORE
    ret void
  }
)";

std::string withHelper(StringRef More) {
  std::string Text = WithHelper.str();
  return Text.replace(Text.find("MORE"), 4, More.str());
}

/// Positions: the kernel's blocks 0-2, the helper's 3-5.
TEST(KernelInfo, RegionHoldsFunctionsCalledOnlyThere) {
  Parsed Only(withHelper(""));
  KernelInfo Info = describe(Only);
  ASSERT_EQ(Info.Branches.size(), 2u);
  EXPECT_EQ(Info.Branches[0].Region, (Positions{1, 3, 4, 5}));
  EXPECT_EQ(Info.Branches[1].Region, (Positions{4}));
  EXPECT_EQ(Info.Branches[1].Reason, "argument");
  EXPECT_FALSE(Info.Branches[1].LeavesKernel) << "it returns to the kernel";

  Parsed Elsewhere(withHelper("%b = call i32 @helper(i32 1)"));
  EXPECT_EQ(describe(Elsewhere).Branches[0].Region, (Positions{1}));
}

/// A call through a pointer may be of any function whose address is taken: here
/// of the one that is called there alone, from within the other's region too.
TEST(KernelInfo, RegionHoldsFunctionsCalledThroughPointersOnlyThere) {
  const char *Text = R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    @table = addrspace(1) constant [2 x ptr] [ptr @leaf, ptr @all]
    define internal void @leaf(ptr %p) {
      store i32 1, ptr %p
      ret void
    }
    define internal void @all(ptr %p) {
      %f = load ptr, ptr addrspace(1) @table
      call void %f(ptr %p)
      ret void
    }
    define ptx_kernel void @k(ptr %p, ptr %f) {
    entry:
      %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %c = trunc i32 %i to i1
      br i1 %c, label %then, label %end
    then:
      call void %f(ptr %p)
      br label %end
    end:
      MORE
      ret void
    }
  )";
  auto With = [&](StringRef More) {
    std::string All = Text;
    return All.replace(All.find("MORE"), 4, More.str());
  };
  Parsed Only(With(""));
  KernelInfo Info = describe(Only);
  ASSERT_EQ(Info.Branches.size(), 1u);
  EXPECT_EQ(Info.Branches[0].Region, (Positions{1, 3, 4}));
  Parsed Elsewhere(With("call void @leaf(ptr %p)"));
  EXPECT_EQ(describe(Elsewhere).Branches[0].Region, (Positions{1, 4}))
      << "positions of @all alone";
}

/// Inlined twice: one branch, whose region covers both copies.
TEST(KernelInfo, CopiesAreOneBranch) {
  Parsed P(withHelper("%b = call i32 @helper(i32 %i)"));
  numberBlocks(P.module());
  for (const char *Name : {"a", "b"}) {
    InlineFunctionInfo Inline;
    ASSERT_TRUE(
        InlineFunction(cast<CallBase>(P.value(Name)), Inline).isSuccess());
  }
  KernelInfo Info = describeKernel(P.function(), MachineModel::unit(), "");
  ASSERT_EQ(Info.Branches.size(), 2u);
  unsigned Copied = Info.Branches[1].Id == 0 ? 1 : 0;
  EXPECT_EQ(Info.Branches[Copied].Id, 0u);
  EXPECT_EQ(Info.Branches[Copied].Reason, "thread id");
  EXPECT_EQ(Info.Branches[Copied].Region.size(), 1u);
}

constexpr StringLiteral WithLines = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  define ptx_kernel void @_ZN3app4walkIfEEvPT_(ptr %p) !dbg !4 {
  entry:
    %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !8
    %c = trunc i32 %i to i1, !dbg !9
    br i1 %c, label %then, label %end, !dbg !10
  then:
    store i32 1, ptr %p, !dbg !11
    br label %end, !dbg !11
  end:
    ret void
  }
  !llvm.module.flags = !{!0}
  !llvm.dbg.cu = !{!1}
  !0 = !{i32 2, !"Debug Info Version", i32 3}
  !1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2,
                               emissionKind: LineTablesOnly)
  !2 = !DIFile(filename: "app.cu", directory: "/src")
  !3 = !DISubroutineType(types: !{})
  !4 = distinct !DISubprogram(name: "walk<float>",
       linkageName: "_ZN3app4walkIfEEvPT_", scope: !2, file: !2, line: 10,
       type: !3, unit: !1, spFlags: DISPFlagDefinition)
  !5 = distinct !DISubprogram(name: "odd", linkageName: "_ZN3app3oddEi",
       scope: !2, file: !6, line: 2, type: !3, unit: !1,
       spFlags: DISPFlagDefinition)
  !6 = !DIFile(filename: "odd.cuh", directory: "/src")
  !8 = !DILocation(line: 0, scope: !4)
  !9 = !DILocation(line: 3, column: 10, scope: !5, inlinedAt: !12)
  !10 = !DILocation(line: 0, scope: !4)
  !11 = !DILocation(line: 13, column: 5, scope: !4)
  !12 = distinct !DILocation(line: 12, column: 7, scope: !4)
)";

/// The branch has no line: its condition's is taken, with the call it was
/// inlined through.
TEST(KernelInfo, PlacesAndNames) {
  Parsed P(WithLines);
  KernelInfo Info = describe(P, "_ZN3app4walkIfEEvPT_");
  EXPECT_EQ(Info.Name, "_ZN3app4walkIfEEvPT_");
  EXPECT_EQ(Info.Display, "app::walk<float>");
  ASSERT_EQ(Info.Where.size(), 1u);
  EXPECT_EQ(Info.Where[0].Line, 10u);
  ASSERT_EQ(Info.Branches.size(), 1u);
  const SourceChain &Where = Info.Branches[0].Where;
  ASSERT_EQ(Where.size(), 2u);
  EXPECT_EQ(Where[0].File, "/src/odd.cuh");
  EXPECT_EQ(Where[0].Line, 3u);
  EXPECT_EQ(Where[0].Column, 10u);
  EXPECT_EQ(Where[0].Function, "app::odd");
  EXPECT_EQ(Where[1].File, "/src/app.cu");
  EXPECT_EQ(Where[1].Line, 12u);
  EXPECT_EQ(Where[1].Function, "app::walk<float>");
  ASSERT_EQ(Info.Blocks[1].Where.size(), 1u);
  EXPECT_EQ(Info.Blocks[1].Where[0].Line, 13u);
  EXPECT_TRUE(Info.Blocks[2].Where.empty());
}

constexpr StringLiteral WithLoop = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  define ptx_kernel void @k(ptr %p, i32 %n) !dbg !4 {
  entry:
    %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    br label %head
  head:
    %r = phi i32 [ 0, %entry ], [ %next, %latch ]
    %done = phi i1 [ false, %entry ], [ %stop, %latch ]
    %next = add i32 %r, 1, !dbg !8
    %stop = icmp sgt i32 %r, %i, !dbg !9
    br label %test
  test:
    %leave = phi i1 [ %done, %head ]
    store i32 %next, ptr %p, !dbg !8
    br i1 %leave, label %end, label %latch
  latch:
    br label %head, !llvm.loop !10
  end:
    ret void
  }
  !llvm.module.flags = !{!0}
  !llvm.dbg.cu = !{!1}
  !0 = !{i32 2, !"Debug Info Version", i32 3}
  !1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2,
                               emissionKind: LineTablesOnly)
  !2 = !DIFile(filename: "app.cu", directory: "/src")
  !3 = !DISubroutineType(types: !{})
  !4 = distinct !DISubprogram(name: "k", scope: !2, file: !2, line: 10,
       type: !3, unit: !1, spFlags: DISPFlagDefinition)
  !8 = !DILocation(line: 33, column: 11, scope: !4)
  !9 = !DILocation(line: 34, column: 11, scope: !4)
  !10 = distinct !{!10, !11, !12}
  !11 = !DILocation(line: 21, column: 3, scope: !4)
  !12 = !DILocation(line: 40, column: 3, scope: !4)
)";

/// Neither the branch nor its condition has a line: it is the loop's, and not
/// that of the store before it.
TEST(KernelInfo, ExitOfALoopIsAtItsBeginning) {
  Parsed P(WithLoop);
  KernelInfo Info = describe(P);
  ASSERT_EQ(Info.Branches.size(), 1u);
  EXPECT_EQ(Info.Branches[0].Kind, BranchKind::LoopExit);
  ASSERT_EQ(Info.Branches[0].Where.size(), 1u);
  EXPECT_EQ(Info.Branches[0].Where[0].Line, 21u);
  EXPECT_EQ(Info.Branches[0].Where[0].Column, 3u);
}

TEST(KernelInfo, Printed) {
  Parsed P(WithLines);
  std::string Text;
  raw_string_ostream Stream(Text);
  print(Stream, describe(P, "_ZN3app4walkIfEEvPT_"));
  EXPECT_EQ(
      Text,
      "kernel 'app::walk<float>' (_ZN3app4walkIfEEvPT_)\n"
      "  block 0: #0, 2 instructions, at /src/odd.cuh:3:10 in app::odd, "
      "from /src/app.cu:12:7 in app::walk<float>\n"
      "  block 1: #1, 1 instructions, at /src/app.cu:13:5 in "
      "app::walk<float>\n"
      "  block 2: #2, 1 instructions\n"
      "  branch #0 in block 0: if, to 1 2, region 1, thread id, leaves "
      "the kernel, at /src/odd.cuh:3:10 in app::odd, from /src/app.cu:12:7 in "
      "app::walk<float>\n");
}

} // namespace
