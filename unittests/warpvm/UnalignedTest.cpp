//===- unittests/warpvm/UnalignedTest.cpp - Odd places, odd widths --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value of each width through local, shared and global memory, at every
// offset from 0 to 15 and with no alignment promised. Widths that no register
// has are what SROA leaves of a memcpy to an odd offset (OddAccesses.cpp).
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cstring>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

struct Width {
  const char *Type;
  unsigned Bits;
};
const Width Widths[] = {
    {"i4", 4},   {"i8", 8},   {"i16", 16},    {"half", 16},
    {"i17", 17}, {"i24", 24}, {"i32", 32},    {"float", 32},
    {"i40", 40}, {"i48", 48}, {"i56", 56},    {"i64", 64},
    {"ptr", 64}, {"i96", 96}, {"double", 64}, {"i128", 128}};

/// Each thread has a row of 40 bytes of shared and of 40 bytes of global
/// memory, and writes its local 40 bytes to a third. In all three, it stores
/// its element at an offset; then it loads what its neighbour stored. Elements
/// lie without gaps, so those accesses are one vector's.
const char *Text = R"(
  @s = internal addrspace(3) global [2560 x i8] poison
  define ptx_kernel void @k(ptr %in, i64 %offset, i64 %mask, ptr %local,
                            ptr %shared, ptr %global, ptr %back) {
  entry:
    %own = alloca [40 x i8]
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %i = zext i32 %t to i64
    %row = mul i64 %i, 40
    %pl = getelementptr i8, ptr %own, i64 %offset
    %ps0 = getelementptr i8, ptr addrspace(3) @s, i64 %row
    %ps = getelementptr i8, ptr addrspace(3) %ps0, i64 %offset
    %pg0 = getelementptr i8, ptr %global, i64 %row
    %pg = getelementptr i8, ptr %pg0, i64 %offset
    call void @llvm.memset.p0.i64(ptr %own, i8 -52, i64 40, i1 false)
    call void @llvm.memset.p3.i64(ptr addrspace(3) %ps0, i8 -52, i64 40, i1 false)
    %moved = lshr i64 %mask, %i
    %one = trunc i64 %moved to i1
    br i1 %one, label %on, label %all
  on:
    %step = mul i64 %i, BYTES
    %from0 = getelementptr i8, ptr %in, i64 %offset
    %from = getelementptr i8, ptr %from0, i64 %step
    %x = load TYPE, ptr %from, align 1
    store TYPE %x, ptr %pl, align 1
    store TYPE %x, ptr addrspace(3) %ps, align 1
    store TYPE %x, ptr %pg, align 1
    br label %all
  all:
    call void @llvm.nvvm.barrier0()
    %pw = getelementptr i8, ptr %local, i64 %row
    call void @llvm.memcpy.p0.p0.i64(ptr %pw, ptr %own, i64 40, i1 false)
    %pt = getelementptr i8, ptr %shared, i64 %row
    call void @llvm.memcpy.p0.p3.i64(ptr %pt, ptr addrspace(3) %ps0, i64 40, i1 false)
    br i1 %one, label %again, label %gone
  again:
    %yl = load TYPE, ptr %pl, align 1
    %n = xor i64 %i, 1
    %nrow = mul i64 %n, 40
    %qs0 = getelementptr i8, ptr addrspace(3) @s, i64 %nrow
    %qs = getelementptr i8, ptr addrspace(3) %qs0, i64 %offset
    %ys = load TYPE, ptr addrspace(3) %qs, align 1
    %step2 = mul i64 %i, BYTES
    %to0 = getelementptr i8, ptr %back, i64 1
    %to = getelementptr i8, ptr %to0, i64 %step2
    store TYPE %yl, ptr %to, align 1
    %tos = getelementptr i8, ptr %to, i64 2048
    store TYPE %ys, ptr %tos, align 1
    br label %gone
  gone:
    ret void
  }
)";

std::string replaced(std::string In, StringRef What, StringRef By) {
  for (size_t At = 0; (At = In.find(What.str(), At)) != std::string::npos;
       At += By.size())
    In.replace(At, What.size(), By.str());
  return In;
}

TEST(Unaligned, EveryWidthAtEveryOffsetOfEveryMemory) {
  constexpr unsigned N = 64, Row = 40;
  for (const Width &T : Widths) {
    const unsigned Bytes = (T.Bits + 7) / 8;
    const std::string Kernel = replaced(replaced(Text, "TYPE", T.Type), "BYTES",
                                        std::to_string(Bytes));
    for (const MachineOptions &O :
         {optionsFor(32, Tier::Fused, PolicyKind::Frontier),
          optionsFor(64, Tier::Blocks, PolicyKind::Frontier)}) {
      TestProgram P(Kernel, O);
      for (unsigned Offset = 0; Offset < 16; ++Offset) {
        const uint64_t Mask = Offset % 2 ? 0xff3ffbfeffff0ff7 : ~0ull;
        SCOPED_TRACE(std::string(T.Type) + ", " + describe(O) + ", offset " +
                     std::to_string(Offset));
        std::vector<uint8_t> In(16 + N * Bytes);
        Random R(T.Bits + Offset);
        for (unsigned B = 0; B < In.size(); ++B)
          In[B] = uint8_t(R.next() >> 20);
        // The bits of a last byte that are not the element's are 0.
        for (unsigned I = 0; T.Bits % 8 && I < N; ++I)
          In[Offset + I * Bytes + Bytes - 1] &= (1 << T.Bits % 8) - 1;
        std::vector<uint8_t> Local(N * Row, 0xcc),
            Shared = Local, Global = Local, Back(4096, 0xcc);
        auto Rows = Local, WantBack = Back;
        for (unsigned I = 0; I < N; ++I)
          if (Mask >> I & 1)
            std::memcpy(&Rows[I * Row + Offset], &In[Offset + I * Bytes],
                        Bytes);
        for (unsigned I = 0; I < N; ++I)
          if (Mask >> I & 1) {
            std::memcpy(&WantBack[1 + I * Bytes], &In[Offset + I * Bytes],
                        Bytes);
            std::memcpy(&WantBack[2049 + I * Bytes],
                        &Rows[(I ^ 1) * Row + Offset], Bytes);
          }
        // What the neighbour never stored has bits that the element lacks.
        if (T.Bits % 8)
          for (unsigned I = 0; I < N; ++I)
            if (Mask >> I & ~(Mask >> (I ^ 1)) & 1)
              WantBack[2049 + I * Bytes + Bytes - 1] &= (1 << T.Bits % 8) - 1;
        P.run(shape(1, N), In.data(), uint64_t(Offset), Mask, Local.data(),
              Shared.data(), Global.data(), Back.data());
        ASSERT_EQ(Local, Rows);
        ASSERT_EQ(Shared, Rows);
        ASSERT_EQ(Global, Rows);
        ASSERT_EQ(Back, WantBack);
      }
    }
  }
}

} // namespace
} // namespace reconverge::warpvm
