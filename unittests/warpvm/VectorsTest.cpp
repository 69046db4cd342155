//===- unittests/warpvm/VectorsTest.cpp - A lane's own vectors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel makes %out, a word, from %in, a word, by way of vectors that the
// Scalarizer alone would not dissolve.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr unsigned Threads = 40; // the last warp is a part of one

/// Runs \p Body under every set-up on words that \p In gives by thread.
void check(
    StringRef Body, function_ref<uint32_t(uint32_t)> Expected,
    function_ref<uint32_t(unsigned)> In = [](unsigned T) {
      return 0x9e3779b1u * (T + 1);
    }) {
  const std::string Text = ("define ptx_kernel void @k(ptr %from, ptr %to) {\n"
                            "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                            "%pi = getelementptr i32, ptr %from, i32 %t\n"
                            "%po = getelementptr i32, ptr %to, i32 %t\n"
                            "%in = load i32, ptr %pi\n" +
                            Body + "\nstore i32 %out, ptr %po\nret void\n}\n")
                               .str();
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O) + "\n" + Text);
    TestProgram P(Text, O);
    std::vector<uint32_t> From(Threads), To(Threads);
    for (unsigned T = 0; T < Threads; ++T)
      From[T] = In(T);
    P.run(shape(1, Threads), From.data(), To.data());
    for (unsigned T = 0; T < Threads; ++T)
      ASSERT_EQ(To[T], Expected(From[T])) << "thread " << T;
  }
}

TEST(Vectors, PairOfHalvesFromAWordAndBack) {
  check(R"(%v = bitcast i32 %in to <2 x half>
           %turned = shufflevector <2 x half> %v, <2 x half> poison,
                                   <2 x i32> <i32 1, i32 0>
           %n = fneg <2 x half> %turned
           %out = bitcast <2 x half> %n to i32)",
        [](uint32_t X) { return (X >> 16 | X << 16) ^ 0x80008000u; });
}

TEST(Vectors, VolatileAccesses) {
  check(R"(%v = load volatile <2 x i16>, ptr %pi
           %w = add <2 x i16> %v, <i16 1, i16 2>
           store volatile <2 x i16> %w, ptr %po
           %out = load volatile i32, ptr %po)",
        [](uint32_t X) { return ((X + 1) & 0xffff) | ((X >> 16) + 2) << 16; });
}

TEST(Vectors, InsertedAndExtractedElements) {
  check(R"(%v = bitcast i32 %in to <2 x half>
           %lo = extractelement <2 x half> %v, i64 0
           %w = insertelement <2 x half> %v, half %lo, i64 1
           %out = bitcast <2 x half> %w to i32)",
        [](uint32_t X) { return (X & 0xffff) * 0x10001u; });
}

TEST(Vectors, FrozenWhole) {
  check(R"(%v = bitcast i32 %in to <2 x half>
           %part = insertelement <2 x half> poison, half 0xH3C00, i64 1
           %lo = extractelement <2 x half> %v, i64 0
           %w = insertelement <2 x half> %part, half %lo, i64 0
           %f = freeze <2 x half> %w
           %word = bitcast <2 x half> %f to i32
           %one = insertvalue {i32, [2 x i32]} poison, i32 %word, 1, 1
           %two = insertvalue {i32, [2 x i32]} %one, i32 7, 0
           %g = freeze {i32, [2 x i32]} %two
           %a = extractvalue {i32, [2 x i32]} %g, 1, 1
           %b = extractvalue {i32, [2 x i32]} %g, 0
           %out = add i32 %a, %b)",
        [](uint32_t X) { return (0x3c000000u | (X & 0xffff)) + 7; });
}

TEST(Vectors, ElementsOfAnotherWidth) {
  check(R"(%v = bitcast i32 %in to <4 x i8>
           %w = add <4 x i8> %v, <i8 1, i8 2, i8 3, i8 4>
           %p = bitcast <4 x i8> %w to <2 x i16>
           %q = mul <2 x i16> %p, <i16 3, i16 5>
           %out = bitcast <2 x i16> %q to i32)",
        [](uint32_t X) {
          uint32_t Bytes = 0;
          for (unsigned I = 0; I < 4; ++I)
            Bytes |= ((X >> 8 * I) + I + 1 & 0xff) << 8 * I;
          return ((Bytes & 0xffff) * 3 & 0xffff) | (Bytes >> 16) * 5 << 16;
        });
}

TEST(Vectors, BooleansPacked) {
  check(R"(%v = bitcast i32 %in to <4 x i8>
           %c = icmp slt <4 x i8> %v, zeroinitializer
           %m = bitcast <4 x i1> %c to i4
           %out = zext i4 %m to i32)",
        [](uint32_t X) {
          return (X >> 7 & 1) | (X >> 14 & 2) | (X >> 21 & 4) | (X >> 28 & 8);
        });
}

TEST(Vectors, ThroughAPhiInDivergentCode) {
  check(R"(%odd = trunc i32 %in to i1
           %v = bitcast i32 %in to <2 x i16>
           br i1 %odd, label %some, label %join
         some:
           %w = xor <2 x i16> %v, <i16 -1, i16 0>
           br label %join
         join:
           %x = phi <2 x i16> [ %v, %0 ], [ %w, %some ]
           %out = bitcast <2 x i16> %x to i32)",
        [](uint32_t X) { return X & 1 ? X ^ 0xffff : X; });
}

TEST(Vectors, PairIntrinsicTakesBoth) {
  // 2^0 and 2^1, 2^2, ... in halves.
  check(
      R"(%v = bitcast i32 %in to <2 x half>
         %e = call <2 x half> @llvm.nvvm.ex2.approx.f16x2(<2 x half> %v)
         %out = bitcast <2 x half> %e to i32)",
      [](uint32_t X) {
        const unsigned Power = X == 0 ? 0 : X == 0x3c000000 ? 1 : 2;
        return 0x3c00u | (0x3c00u + (Power << 10)) << 16;
      },
      [](unsigned T) {
        return T % 3 * 0x04000000u + (T % 3 ? 0x38000000u : 0);
      });
}

/// Arguments and results of a function that stays one.
TEST(Vectors, PassedToAndFromAFunction) {
  for (const MachineOptions &O : allSetups()) {
    SCOPED_TRACE(describe(O));
    TestProgram P(R"(
      define <2 x i32> @turn(<2 x i32> %v, i32 %n) {
      entry:
        %last = icmp eq i32 %n, 0
        br i1 %last, label %end, label %more
      more:
        %w = shufflevector <2 x i32> %v, <2 x i32> poison,
                           <2 x i32> <i32 1, i32 0>
        %n1 = sub i32 %n, 1
        %r = call <2 x i32> @turn(<2 x i32> %w, i32 %n1)
        %s = add <2 x i32> %r, <i32 1, i32 10>
        ret <2 x i32> %s
      end:
        ret <2 x i32> %v
      }
      define ptx_kernel void @k(ptr %out) {
        %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %v = insertelement <2 x i32> <i32 0, i32 100>, i32 %t, i32 0
        %n = and i32 %t, 3
        %r = call <2 x i32> @turn(<2 x i32> %v, i32 %n)
        %p = getelementptr <2 x i32>, ptr %out, i32 %t
        store <2 x i32> %r, ptr %p
        ret void
      })",
                  O);
    std::vector<uint32_t> Out(2 * Threads);
    P.run(shape(1, Threads), Out.data());
    for (unsigned T = 0; T < Threads; ++T) {
      const unsigned N = T & 3;
      ASSERT_EQ(Out[2 * T], (N & 1 ? 100 : T) + N) << T;
      ASSERT_EQ(Out[2 * T + 1], (N & 1 ? T : 100) + 10 * N) << T;
    }
  }
}

TEST(Vectors, Reductions) {
  auto Byte = [](uint32_t X, unsigned I) { return X >> 8 * I & 0xff; };
  check(R"(%v = bitcast i32 %in to <4 x i8>
           %s = call i8 @llvm.vector.reduce.add.v4i8(<4 x i8> %v)
           %out = zext i8 %s to i32)",
        [&](uint32_t X) {
          return (Byte(X, 0) + Byte(X, 1) + Byte(X, 2) + Byte(X, 3)) & 0xff;
        });
  check(R"(%v = bitcast i32 %in to <4 x i8>
           %s = call i8 @llvm.vector.reduce.umax.v4i8(<4 x i8> %v)
           %out = zext i8 %s to i32)",
        [&](uint32_t X) {
          return std::max(std::max(Byte(X, 0), Byte(X, 1)),
                          std::max(Byte(X, 2), Byte(X, 3)));
        });
  check(
      R"(%v = bitcast i32 %in to <4 x i8>
           %c = icmp eq <4 x i8> %v, zeroinitializer
           %s = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %c)
           %out = zext i1 %s to i32)",
      [&](uint32_t X) {
        return uint32_t(!Byte(X, 0) || !Byte(X, 1) || !Byte(X, 2) ||
                        !Byte(X, 3));
      },
      [](unsigned T) { return 0x01010101u << T % 32; });
}

} // namespace
} // namespace reconverge::warpvm
