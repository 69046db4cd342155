//===- unittests/warpvm/NaNsTest.cpp - Which NaN an operation leaves ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that compute NaNs in every way, and show their bits in every way. Both
// kinds of code must leave the one NaN of the type; what was only moved keeps its
// bits.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// A type of real numbers, by its bits.
template <typename Bits> struct Format {
  const char *Type, *Suffix, *Int; ///< in IR
  Bits One, Infinity, NaN;         ///< the last, the one that must be left
  bool AnySign = false;            ///< of that one
  static constexpr Bits Sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));

  bool isNaN(Bits X) const { return Bits(X & ~Sign) > Infinity; }
  bool isTheNaN(Bits X) const {
    return X == NaN || (AnySign && Bits(X & ~Sign) == NaN);
  }
};

/// Operands, by lane: no NaN, infinities, and NaNs of either sign with a payload.
template <typename Bits>
std::vector<Bits> operands(const Format<Bits> &F, unsigned Turn) {
  const Bits Sign = F.Sign;
  const Bits Quiet = Bits(F.Infinity | (F.Infinity & -F.Infinity) >> 1);
  const std::array<Bits, 8> Kinds = {F.One,
                                     Bits(Sign | F.One),
                                     F.Infinity,
                                     Bits(Sign | F.Infinity),
                                     Bits(Quiet | 5),
                                     Bits(Sign | Quiet | 6),
                                     0,
                                     Sign};
  std::vector<Bits> All;
  for (unsigned I = 0; I < 512; ++I)
    All.push_back(Kinds[(I >> (3 * Turn)) % 8]);
  return All;
}

struct Case {
  const char *Text; ///< %r of %a, %b, %c, of type TYPE; INT has its bits
  bool Moves;       ///< other NaNs than the one may be left, those of %c
};

const Case Cases[] = {
    {"%r = fadd TYPE %a, %b", false},
    {"%s = fsub TYPE %a, %b\n %r = fneg TYPE %s", false},
    {"%p = fmul TYPE %a, %b\n %m = fneg TYPE %p\n %r = fadd TYPE %m, %c",
     false},
    {"%m = fneg TYPE %a\n"
     "%r = call TYPE @llvm.fma.SUFFIX(TYPE %m, TYPE %b, TYPE %c)",
     false},
    {"%q = fdiv TYPE %a, %b\n %r = call TYPE @llvm.fabs.SUFFIX(TYPE %q)",
     false},
    {"%q = call TYPE @llvm.sqrt.SUFFIX(TYPE %a)\n %r = fsub TYPE %b, %q",
     false},
    // An integer of it.
    {"%s = fsub TYPE %a, %b\n %i = bitcast TYPE %s to INT\n"
     "%j = xor INT %i, 0\n %r = bitcast INT %j to TYPE",
     false},
    // Its sign.
    {"%s = fsub TYPE %a, %b\n %m = fneg TYPE %s\n"
     "%r = call TYPE @llvm.copysign.SUFFIX(TYPE 1.0, TYPE %m)",
     false},
    // Where it meets what is only moved.
    {"%s = fsub TYPE %a, %b\n %m = fneg TYPE %s\n %d = fcmp olt TYPE %a, %b\n"
     "%r = select i1 %d, TYPE %c, TYPE %m",
     true},
    {"%r = freeze TYPE %c", true},
    // In memory.
    {"store TYPE %a, ptr %go\n"
     "%o = atomicrmw fadd ptr %go, TYPE %b monotonic\n %r = load TYPE, ptr %go",
     false},
    // Around a loop, and out of a branch.
    {"br label %loop\nloop:\n"
     "%k = phi i32 [ 0, %entry ], [ %l, %loop ]\n"
     "%x = phi TYPE [ 1.0, %entry ], [ %y, %loop ]\n"
     "%z = fmul TYPE %x, %a\n %w = fneg TYPE %z\n %y = fadd TYPE %b, %w\n"
     "%l = add i32 %k, 1\n %again = icmp ult i32 %l, 3\n"
     "br i1 %again, label %loop, label %out\nout:\n %r = phi TYPE [ %y, %loop "
     "]",
     false},
    {"%d = fcmp olt TYPE %a, %b\n br i1 %d, label %side, label %out\n"
     "side:\n %s = fsub TYPE %a, %b\n %m = fneg TYPE %s\n br label %out\n"
     "out:\n %r = phi TYPE [ %m, %side ], [ %c, %entry ]",
     true},
};

std::string replaced(std::string Text, StringRef From, StringRef To) {
  for (size_t At = 0; (At = Text.find(From.str(), At)) != std::string::npos;)
    Text.replace(At, From.size(), To.str());
  return Text;
}

template <typename Bits> void check(const Format<Bits> &F) {
  const auto A = operands(F, 0), B = operands(F, 1), C = operands(F, 2);
  for (const Case &Of : Cases) {
    std::string Text = R"(
      define ptx_kernel void @k(ptr %pa, ptr %pb, ptr %pc, ptr %po) {
      entry:
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %ga = getelementptr TYPE, ptr %pa, i32 %tid
        %gb = getelementptr TYPE, ptr %pb, i32 %tid
        %gc = getelementptr TYPE, ptr %pc, i32 %tid
        %go = getelementptr TYPE, ptr %po, i32 %tid
        %a = load TYPE, ptr %ga
        %b = load TYPE, ptr %gb
        %c = load TYPE, ptr %gc
        )" + std::string(Of.Text) +
                       "\n store TYPE %r, ptr %go\n ret void\n}";
    Text = replaced(Text, "TYPE", F.Type);
    Text = replaced(Text, "SUFFIX", F.Suffix);
    Text = replaced(Text, "INT", F.Int);
    std::vector<Bits> First;
    for (auto [How, Isa] : {std::pair(Effort::Fast, ""),
                            {Effort::Well, ""},
                            {Effort::Fast, "avx2"},
                            {Effort::Well, "avx2"}}) {
      MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
      O.Compile = How;
      O.Isa = Isa;
      TestProgram P(Text, O);
      std::vector<Bits> Got(A.size());
      P.run(shape(1, unsigned(A.size())), A.data(), B.data(), C.data(),
            Got.data());
      for (size_t I = 0; I < Got.size(); ++I) {
        if (F.isNaN(Got[I]))
          ASSERT_TRUE(F.isTheNaN(Got[I]) || (Of.Moves && Got[I] == C[I]))
              << Of.Text << ": " << std::hex << Got[I] << " of " << A[I] << ", "
              << B[I] << ", " << C[I];
      }
      if (First.empty())
        First = Got;
      ASSERT_EQ(First, Got) << Of.Text;
    }
  }
}

TEST(NaNs, OfFloat) {
  check<uint32_t>({"float", "f32", "i32", 0x3f800000, 0x7f800000, 0x7fffffff});
}
TEST(NaNs, OfDouble) {
  check<uint64_t>({"double", "f64", "i64", 0x3ff0000000000000,
                   0x7ff0000000000000, 0xfff8000000000000});
}
TEST(NaNs, OfHalf) {
  check<uint16_t>({"half", "f16", "i16", 0x3c00, 0x7c00, 0x7fff});
}
TEST(NaNs, OfBfloat) {
  check<uint16_t>({"bfloat", "bf16", "i16", 0x3f80, 0x7f80, 0x7fff,
                   /*AnySign=*/true});
}

} // namespace
} // namespace reconverge::warpvm
