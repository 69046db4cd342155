//===- unittests/warpvm/ProductTest.cpp - Matrices over the lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m16n8k16 with sums in float, by NVVM's intrinsics, in every set-up of the
// machine. Fragments are filled by the formulas of the PTX ISA ("Matrix
// Fragments for mma.m16n8k16"), written down once more here. Whole numbers are
// compared with three nested loops, exactly; what is inexact with the rule of
// docs/warp-vm.md, worked out by hand for each case. Programs with inline PTX
// are test/vm/tensor-cores.cu and test/vm/tensor-core-bits.cu.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/ADT/APFloat.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

constexpr unsigned M = 16, N = 8, K = 16;
constexpr float Infinity = std::numeric_limits<float>::infinity();
/// What D holds before a launch; no test has it as a result.
constexpr float Unwritten = -12345;
constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

enum class Element { Half, BFloat };

const char *nameOf(Element E) { return E == Element::Half ? "f16" : "bf16"; }

/// \p X, which the type holds, in 16 bits.
uint32_t encode(Element E, float X) {
  APFloat F(X);
  bool Loses = false;
  F.convert(E == Element::Half ? APFloat::IEEEhalf() : APFloat::BFloat(),
            APFloat::rmNearestTiesToEven, &Loses);
  EXPECT_FALSE(Loses && !std::isnan(X)) << X;
  return uint32_t(F.bitcastToAPInt().getZExtValue());
}

/// One product, and its fragments as 32 lanes hold them.
struct Matrices {
  float A[M][K] = {}, B[K][N] = {}, C[M][N] = {};

  /// Whole numbers so small that all sums are exact.
  void draw(Random &R) {
    auto Fill = [&](auto &Rows) {
      for (auto &Row : Rows)
        for (float &X : Row)
          X = float(int(R.below(17)) - 8);
    };
    Fill(A);
    Fill(B);
    Fill(C);
  }
  /// An element of A B + C.
  float want(unsigned I, unsigned J) const {
    float Sum = C[I][J];
    for (unsigned X = 0; X != K; ++X)
      Sum += A[I][X] * B[X][J];
    return Sum;
  }
};

/// The registers of all threads, a thread's together.
struct Fragments {
  std::vector<uint32_t> A, B, C, D;
  explicit Fragments(unsigned Threads)
      : A(Threads * 4), B(Threads * 2), C(Threads * 4),
        D(Threads * 4, std::bit_cast<uint32_t>(Unwritten)) {}

  /// What the threads from \p First on hold of \p X.
  void fill(unsigned First, Element E, const Matrices &X) {
    for (unsigned Lane = 0; Lane != 32; ++Lane) {
      const unsigned G = Lane >> 2, T = Lane % 4, Thread = First + Lane;
      auto Pair = [&](float Low, float High) {
        return encode(E, Low) | encode(E, High) << 16;
      };
      for (unsigned R = 0; R != 4; ++R) {
        const unsigned Row = G + (R % 2 ? 8 : 0);
        const unsigned Column = 2 * T + (R < 2 ? 0 : 8);
        A[Thread * 4 + R] = Pair(X.A[Row][Column], X.A[Row][Column + 1]);
      }
      for (unsigned R = 0; R != 2; ++R) {
        const unsigned Row = 2 * T + 8 * R;
        B[Thread * 2 + R] = Pair(X.B[Row][G], X.B[Row + 1][G]);
      }
      for (unsigned I = 0; I != 4; ++I)
        C[Thread * 4 + I] =
            std::bit_cast<uint32_t>(X.C[G + (I < 2 ? 0 : 8)][2 * T + I % 2]);
    }
  }
  /// The bits of element (\p Row, \p Column) of D.
  uint32_t result(unsigned First, unsigned Row, unsigned Column) const {
    const unsigned Thread = First + Row % 8 * 4 + Column / 2;
    return D[Thread * 4 + Row / 8 * 2 + Column % 2];
  }
};

/// Loads "%NAME0", ... of \p Type from the thread's \p Count registers at
/// argument \p From.
std::string loads(const std::string &Name, unsigned Count, const char *Type,
                  const std::string &From) {
  const std::string Base = "%" + Name + ".base";
  std::string Text = Base + ".at = mul i32 %tid, " + std::to_string(Count) +
                     "\n" + Base + " = getelementptr i32, ptr " + From +
                     ", i32 " + Base + ".at\n";
  for (unsigned R = 0; R != Count; ++R) {
    const std::string Own = "%" + Name + std::to_string(R);
    Text += Own + ".p = getelementptr i32, ptr " + Base + ", i32 " +
            std::to_string(R) + "\n" + Own + " = load " + Type + ", ptr " +
            Own + ".p\n";
  }
  return Text;
}

/// The intrinsic on %a0 to %a3, %b0, %b1 and \p C0 to 3; gives %r0 to %r3.
std::string product(Element E, const std::string &C = "%c") {
  const std::string Type = E == Element::Half ? "<2 x half>" : "i32";
  std::string Text = "%all = call { float, float, float, float } ";
  Text += E == Element::Half ? "@llvm.nvvm.mma.m16n8k16.row.col.f32.f32("
                             : "@llvm.nvvm.mma.m16n8k16.row.col.bf16(";
  for (const char *Own : {"%a0", "%a1", "%a2", "%a3", "%b0", "%b1"})
    Text += Type + " " + Own + ", ";
  for (unsigned R = 0; R != 4; ++R)
    Text += (R ? ", float " : "float ") + C + std::to_string(R);
  Text += ")\n";
  for (unsigned R = 0; R != 4; ++R)
    Text += "%r" + std::to_string(R) +
            " = extractvalue { float, float, float, float } %all, " +
            std::to_string(R) + "\n";
  return Text;
}

std::string stores() {
  std::string Text = "%d.at = mul i32 %tid, 4\n"
                     "%d.base = getelementptr float, ptr %d, i32 %d.at\n";
  for (unsigned R = 0; R != 4; ++R) {
    const std::string I = std::to_string(R);
    Text += "%d" + I + ".p = getelementptr float, ptr %d.base, i32 " + I +
            "\nstore float %r" + I + ", ptr %d" + I + ".p\n";
  }
  return Text;
}

constexpr const char *Begin = R"(
  define ptx_kernel void @k(ptr %a, ptr %b, ptr %c, ptr %d) {
  entry:
    %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";

std::string operands(Element E) {
  const char *Type = E == Element::Half ? "<2 x half>" : "i32";
  return loads("a", 4, Type, "%a") + loads("b", 2, Type, "%b");
}

std::string accumulator() { return loads("c", 4, "float", "%c"); }

/// D = A B + C, by every warp.
std::string plainKernel(Element E) {
  return Begin + operands(E) + accumulator() + product(E) + stores() +
         "ret void\n}";
}

void launch(TestProgram &P, unsigned Threads, Fragments &F) {
  P.run(shape(1, Threads), F.A.data(), F.B.data(), F.C.data(), F.D.data());
}

/// Two random products of 64 threads.
struct Two {
  Fragments F{64};
  Matrices Each[2];
  Two(Element E, Random &R) {
    for (unsigned W : {0u, 1u}) {
      Each[W].draw(R);
      F.fill(W * 32, E, Each[W]);
    }
  }
  /// Each element of D with \p Want(matrices, row, column).
  template <typename Function> void compare(Function Want) const {
    for (unsigned W : {0u, 1u})
      for (unsigned I = 0; I != M; ++I)
        for (unsigned J = 0; J != N; ++J)
          ASSERT_EQ(F.result(W * 32, I, J),
                    std::bit_cast<uint32_t>(float(Want(Each[W], I, J))))
              << "product " << W << ", element " << I << ", " << J;
  }
};

/// \p Body for both types of elements, in every set-up.
template <typename Function> void everywhere(Function Body) {
  for (Element E : {Element::Half, Element::BFloat})
    for (const MachineOptions &O : allSetups()) {
      SCOPED_TRACE(std::string(nameOf(E)) + ", " + describe(O));
      Body(E, O);
    }
}

/// Each 32 threads have matrices of their own. In warps of 64, 32 and 96
/// threads leave half a warp without any.
TEST(Product, OfWholeNumbersIsExact) {
  Random R(5);
  everywhere([&](Element E, const MachineOptions &O) {
    TestProgram P(plainKernel(E), O);
    for (unsigned Threads : {32u, 64u, 96u, 128u}) {
      Fragments F(Threads);
      std::vector<Matrices> Each(Threads / 32);
      for (unsigned W = 0; W != Each.size(); ++W) {
        Each[W].draw(R);
        F.fill(W * 32, E, Each[W]);
      }
      launch(P, Threads, F);
      for (unsigned W = 0; W != Each.size(); ++W)
        for (unsigned I = 0; I != M; ++I)
          for (unsigned J = 0; J != N; ++J)
            ASSERT_EQ(std::bit_cast<float>(F.result(W * 32, I, J)),
                      Each[W].want(I, J))
                << Threads << " threads, product " << W << ", element " << I
                << ", " << J;
    }
  });
}

/// for (i = 0; i < 5; ++i) C = A B + C, in registers.
TEST(Product, AccumulatesInALoop) {
  Random R(6);
  everywhere([&](Element E, const MachineOptions &O) {
    std::string Text = Begin + operands(E) + accumulator() +
                       "br label %loop\nloop:\n"
                       "%i = phi i32 [ 0, %entry ], [ %i1, %loop ]\n";
    for (const char *X : {"0", "1", "2", "3"})
      Text += std::string("%s") + X + " = phi float [ %c" + X +
              ", %entry ], [ %r" + X + ", %loop ]\n";
    Text += product(E, "%s") +
            "%i1 = add i32 %i, 1\n"
            "%more = icmp ult i32 %i1, 5\n"
            "br i1 %more, label %loop, label %out\nout:\n" +
            stores() + "ret void\n}";
    TestProgram P(Text, O);
    Two X(E, R);
    launch(P, 64, X.F);
    X.compare([](const Matrices &Each, unsigned I, unsigned J) {
      const float C = Each.C[I][J];
      return 5 * (Each.want(I, J) - C) + C;
    });
    EXPECT_EQ(P.block("loop").Warps, 5 * 64 / O.WarpSize)
        << "one run a warp and round";
    EXPECT_EQ(P.block("loop").Lanes, 5u * 64);
  });
}

/// Lanes run different numbers of rounds of a loop first.
std::string lateKernel(Element E) {
  return Begin + operands(E) + accumulator() + R"(
      %rounds = urem i32 %tid, 5
      br label %head
    head:
      %i = phi i32 [ 0, %entry ], [ %i1, %body ]
      %on = icmp ult i32 %i, %rounds
      br i1 %on, label %body, label %meet
    body:
      %i1 = add i32 %i, 1
      br label %head
    meet:
  )" + product(E) +
         stores() + "ret void\n}";
}

void checkTwo(TestProgram &P, Element E, Random &R) {
  Two X(E, R);
  launch(P, 64, X.F);
  X.compare([](const Matrices &Each, unsigned I, unsigned J) {
    return Each.want(I, J);
  });
}

TEST(Product, WaitsForLanesThatComeLate) {
  Random R(7);
  everywhere([&](Element E, const MachineOptions &O) {
    TestProgram P(lateKernel(E), O);
    checkTwo(P, E, R);
    EXPECT_EQ(P.block("meet").Warps, 64 / O.WarpSize);
    EXPECT_EQ(P.block("meet").Lanes, 64u);
  });
}

/// Under a seed, without counters, lanes part and go on in any order.
TEST(Product, MeetsInEveryOrder) {
  Random R(10);
  for (uint64_t Seed = 1; Seed <= 8; ++Seed)
    everywhere([&](Element E, MachineOptions O) {
      if (O.Policy != PolicyKind::Frontier)
        return;
      SCOPED_TRACE("seed " + std::to_string(Seed));
      O.Seed = Seed;
      O.Counters = false;
      TestProgram P(lateKernel(E), O);
      checkTwo(P, E, R);
    });
}

/// CUDA leaves open what happens without some lanes. Here theirs are zeros: the
/// last four lanes have column 7 of B, and rows 7 and 15 of A, C and D.
TEST(Product, TakesZerosOfLanesThatHaveReturned) {
  Random R(8);
  everywhere([&](Element E, const MachineOptions &O) {
    TestProgram P(Begin + operands(E) + accumulator() + R"(
        %lane = and i32 %tid, 31
        %stays = icmp ult i32 %lane, 28
        br i1 %stays, label %on, label %gone
      on:
    )" + product(E) + stores() +
                      "br label %gone\ngone:\nret void\n}",
                  O);
    Two X(E, R);
    launch(P, 64, X.F);
    X.compare([](const Matrices &Each, unsigned I, unsigned J) {
      return I % 8 == 7 ? Unwritten : J == 7 ? Each.C[I][J] : Each.want(I, J);
    });
  });
}

/// C and factors, and the bits that come out.
struct Sum {
  const char *What;
  float C;
  std::vector<std::pair<float, float>> Factors;
  uint32_t Want;
};

/// Puts the sums on the diagonal of one product and compares.
void checkSums(ArrayRef<Sum> Sums) {
  everywhere([&](Element E, const MachineOptions &O) {
    TestProgram P(plainKernel(E), O);
    for (const Sum &S : Sums) {
      Matrices X;
      X.C[11][5] = S.C;
      // From the end on too: the order of the factors does not matter.
      for (bool Back : {false, true}) {
        for (unsigned I = 0; I != K; ++I) {
          const unsigned At = Back ? K - 1 - I : I;
          std::tie(X.A[11][At], X.B[At][5]) =
              I < S.Factors.size() ? S.Factors[I] : std::pair(0.0f, 0.0f);
        }
        Fragments F(64);
        F.fill(32, E, X);
        launch(P, 64, F);
        EXPECT_EQ(F.result(32, 11, 5), S.Want) << S.What;
      }
    }
  });
}

std::vector<std::pair<float, float>> times(unsigned Count, float A, float B) {
  return std::vector<std::pair<float, float>>(Count, {A, B});
}

/// All terms are cut two bits below the last of a float with the largest
/// exponent, here that of 1: below 2^-25. The sum is cut to float.
TEST(Product, CutsTermsAndSums) {
  checkSums({
      {"a term of 2^-24 alone is lost in the sum", 1,
       times(1, 0x1p-12f, 0x1p-12f), 0x3f800000},
      {"two make a float's last bit", 1, times(2, 0x1p-12f, 0x1p-12f),
       0x3f800001},
      {"four of 2^-25 make it too", 1, times(4, 0x1p-12f, 0x1p-13f),
       0x3f800001},
      {"of 2^-26 each is cut", 1, times(16, 0x1p-13f, 0x1p-13f), 0x3f800000},
      {"1 - 2^-24 is a float", 1, times(1, -0x1p-12f, 0x1p-12f), 0x3f7fffff},
      {"1 - 2^-25 is cut to it", 1, times(1, -0x1p-12f, 0x1p-13f), 0x3f7fffff},
      {"-1 - 2^-24 is cut towards zero", -1, times(1, -0x1p-12f, 0x1p-12f),
       0xbf800000},
      {"what cancels out leaves the rest",
       0x1p20f,
       {{-0x1p10f, 0x1p10f}, {1, 1}},
       0x3f800000},
      {"unless it was cut", 0x1p26f, {{-0x1p13f, 0x1p13f}, {0.5f, 0.5f}}, 0},
      {"zeros of either sign add up to +0", 0, times(2, -1, 0), 0},
  });
}

TEST(Product, InfinitiesAndNaN) {
  checkSums({
      {"infinity", 1, {{Infinity, 2}, {1, 1}}, 0x7f800000},
      {"infinity the other way", 1, {{Infinity, -2}, {1, 1}}, 0xff800000},
      {"an infinite accumulator", -Infinity, {{1, 1}}, 0xff800000},
      {"infinity times zero", 1, {{Infinity, 0}}, 0x7fffffff},
      {"infinities of both signs",
       1,
       {{Infinity, 1}, {-1, Infinity}},
       0x7fffffff},
      {"against the accumulator", Infinity, {{-Infinity, 1}}, 0x7fffffff},
      {"NaN in A", 1, {{NaN, 1}}, 0x7fffffff},
      {"NaN in B, times zero", 1, {{0, NaN}}, 0x7fffffff},
      {"NaN in C", NaN, {{1, 1}}, 0x7fffffff},
  });
}

/// A row of A with NaN and a column of B with infinity leave the rest alone.
TEST(Product, KeepsInfinitiesAndNaNInTheirRows) {
  Random R(9);
  everywhere([&](Element E, const MachineOptions &O) {
    TestProgram P(plainKernel(E), O);
    Matrices X;
    X.draw(R);
    X.A[3][9] = NaN;
    for (unsigned I = 0; I != M; ++I)
      X.A[I][2] = 1;
    X.B[2][6] = Infinity;
    Fragments F(64);
    F.fill(0, E, X);
    F.fill(32, E, X);
    launch(P, 64, F);
    for (unsigned W : {0u, 32u})
      for (unsigned I = 0; I != M; ++I)
        for (unsigned J = 0; J != N; ++J) {
          const uint32_t Got = F.result(W, I, J);
          if (I == 3)
            ASSERT_EQ(Got, 0x7fffffffu);
          else
            ASSERT_EQ(std::bit_cast<float>(Got),
                      J == 6 ? Infinity : X.want(I, J));
        }
  });
}

} // namespace
} // namespace reconverge::warpvm
