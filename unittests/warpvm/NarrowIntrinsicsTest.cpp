//===- unittests/warpvm/NarrowIntrinsicsTest.cpp - NVVM on 16 bits --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every intrinsic that LLVM has on halves, bfloats and pairs of them, under all
// its modifiers, against LLVM's APFloat: values of every kind in each operand.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Function.h"

#include <optional>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// A type as its intrinsics' names have it.
struct Kind {
  const char *Name, *Type;
  const fltSemantics &Format;
  unsigned Lanes;
  unsigned width() const { return APFloat::getSizeInBits(Format); }
};

std::vector<Kind> kinds() {
  return {{"f16", "half", APFloat::IEEEhalf(), 1},
          {"f16x2", "<2 x half>", APFloat::IEEEhalf(), 2},
          {"bf16", "bfloat", APFloat::BFloat(), 1},
          {"bf16x2", "<2 x bfloat>", APFloat::BFloat(), 2},
          {"f", "float", APFloat::IEEEsingle(), 1}};
}

/// What a name says, and the result for one lane.
struct Operation {
  std::string Name;
  bool says(StringRef Word) const {
    SmallVector<StringRef, 8> Words;
    StringRef(Name).split(Words, '.');
    return is_contained(Words, Word);
  }

  APFloat flushed(APFloat X) const {
    if (says("ftz") && !says("bf16") && !says("bf16x2") && X.isDenormal())
      return APFloat::getZero(X.getSemantics(), X.isNegative());
    return X;
  }
  APFloat clamped(APFloat X) const {
    const APFloat Zero = APFloat::getZero(X.getSemantics());
    if (says("sat")) {
      const APFloat One(X.getSemantics(), 1);
      return X.isNaN() || X.isZero() || X < Zero ? Zero : X > One ? One : X;
    }
    return says("relu") && !X.isNaN() && X.isNegative() ? Zero : X;
  }
  /// The better of two numbers.
  APFloat pick(APFloat X, APFloat Y) const {
    const bool Least = StringRef(Name).starts_with("fmin");
    bool Negative = X.isNegative() != Y.isNegative();
    if (says("xorsign")) {
      X.clearSign();
      Y.clearSign();
    }
    APFloat Best = says("nan") ? Least ? minimum(X, Y) : maximum(X, Y)
                   : X.isNaN() ? Y
                   : Y.isNaN() ? X
                   : Least     ? minimum(X, Y)
                               : maximum(X, Y);
    if (says("xorsign") && Best.isNegative() != Negative)
      Best.changeSign();
    return Best;
  }
  APFloat operator()(const APFloat *In) const {
    APFloat A = flushed(In[0]), B = flushed(In[1]), C = flushed(In[2]);
    if (StringRef(Name).starts_with("fma.")) {
      A.fusedMultiplyAdd(B, C, APFloat::rmNearestTiesToEven);
      return clamped(flushed(A));
    }
    if (StringRef(Name).starts_with("f"))
      return pick(A, B);
    if (StringRef(Name).starts_with("neg"))
      A.changeSign();
    else
      A.clearSign();
    return A;
  }
};

unsigned operandsOf(StringRef Name) {
  return Name.starts_with("fma.") ? 3 : Name.starts_with("f") ? 2 : 1;
}

/// All that LLVM has of a kind; f32 only where signs are combined.
std::vector<Operation> operations(const Kind &K) {
  std::vector<Operation> All;
  auto Add = [&](const Twine &Name) {
    const std::string Whole = (Name + "." + K.Name).str();
    const bool Known = Function::lookupIntrinsicID("llvm.nvvm." + Whole) !=
                       Intrinsic::not_intrinsic;
    if (Known && (K.width() == 16 || StringRef(Whole).contains("xorsign")))
      All.push_back({Whole});
  };
  for (const char *Flush : {"", ".ftz"}) {
    for (const char *Clamp : {"", ".sat", ".relu"})
      Add(Twine("fma.rn") + Flush + Clamp);
    for (const char *Which : {"fmin", "fmax"})
      for (const char *NaN : {"", ".nan"})
        for (const char *Signs : {"", ".xorsign.abs"})
          Add(Twine(Which) + Flush + NaN + Signs);
  }
  Add("abs");
  Add("neg");
  return All;
}

/// Numbers of each kind that a format has, as bits.
std::vector<uint32_t> samples(const Kind &K) {
  std::vector<uint32_t> All;
  auto Take = [&](const APFloat &X) {
    for (bool Negative : {false, true}) {
      APFloat Y = X;
      if (Negative)
        Y.changeSign();
      All.push_back(uint32_t(Y.bitcastToAPInt().getZExtValue()));
    }
  };
  const fltSemantics &F = K.Format;
  Take(APFloat::getZero(F));
  Take(APFloat::getInf(F));
  Take(APFloat::getNaN(F));
  Take(APFloat::getLargest(F));
  Take(APFloat::getSmallest(F));
  Take(APFloat::getSmallestNormalized(F));
  Take(APFloat(F, "0.3"));
  Take(APFloat(F, 1));
  Take(APFloat(F, "1.7"));
  Random R(3);
  for (int I = 0; I < 3; ++I)
    All.push_back(uint32_t(R.next()) & maskTrailingOnes<uint32_t>(K.width()));
  return All;
}

/// `out[i] = text(a[i], b[i], c[i])` of i32.
std::string mapKernel(const std::string &Declaration, const std::string &Text) {
  std::string Kernel = R"(
    define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
      %row = mul i32 %block, 128
      %i = add i32 %row, %t
      %inside = icmp ult i32 %i, %n
      br i1 %inside, label %on, label %gone
    on:
      %first = mul i32 %i, 3
      %pa = getelementptr i32, ptr %in, i32 %first
      %pb = getelementptr i32, ptr %pa, i32 1
      %pc = getelementptr i32, ptr %pa, i32 2
      %a = load i32, ptr %pa
      %b = load i32, ptr %pb
      %c = load i32, ptr %pc
)" + Text + R"(
      %po = getelementptr i32, ptr %out, i32 %i
      store i32 %r, ptr %po
      br label %gone
    gone:
      ret void
    }
)";
  return Kernel + Declaration;
}

std::vector<uint32_t> run(const std::string &Text,
                          const std::vector<uint32_t> &In) {
  TestProgram P(Text, optionsFor(32, Tier::Fused, PolicyKind::Frontier));
  const uint32_t N = uint32_t(In.size() / 3);
  std::vector<uint32_t> Out(N);
  P.run(shape((N + 127) / 128, 128), In.data(), Out.data(), N);
  return Out;
}

/// IR that makes \p Type out of i32 %NAME, as %NAME.t.
std::string unpack(const std::string &Name, const Kind &K) {
  if (K.Lanes * K.width() == 32)
    return "%" + Name + ".t = bitcast i32 %" + Name + " to " + K.Type + "\n";
  return "%" + Name + ".s = trunc i32 %" + Name + " to i16\n%" + Name +
         ".t = bitcast i16 %" + Name + ".s to " + K.Type + "\n";
}

std::string pack(const Kind &K) {
  if (K.Lanes * K.width() == 32)
    return std::string("%r = bitcast ") + K.Type + " %x to i32\n";
  return std::string("%s = bitcast ") + K.Type +
         " %x to i16\n%r = zext i16 %s to i32\n";
}

bool same(const fltSemantics &F, const APInt &Got, const APFloat &Want) {
  return Want.isNaN() ? APFloat(F, Got).isNaN() : Got == Want.bitcastToAPInt();
}

TEST(NarrowIntrinsics, AgreeWithExactArithmetic) {
  unsigned Tried = 0;
  for (const Kind &K : kinds()) {
    // All triples; pairs of lanes have different ones.
    const std::vector<uint32_t> Values = samples(K);
    const size_t N = Values.size();
    std::vector<uint32_t> In;
    for (size_t I = 0; I < N * N * N; ++I) {
      const size_t Others = (I * 7 + 5) % (N * N * N);
      for (size_t By : {size_t(1), N, N * N}) {
        uint32_t Word = Values[I / By % N];
        if (K.Lanes == 2)
          Word |= Values[Others / By % N] << 16;
        In.push_back(Word);
      }
    }
    for (const Operation &Op : operations(K)) {
      SCOPED_TRACE(Op.Name);
      std::string Types, Args, Text;
      for (unsigned A = 0; A < operandsOf(Op.Name); ++A) {
        const std::string Name(1, char('a' + A));
        Text += unpack(Name, K);
        Types += (A ? ", " : "") + std::string(K.Type);
        Args += (A ? ", " : "") + std::string(K.Type) + " %" + Name + ".t";
      }
      Text += std::string("%x = call ") + K.Type + " @llvm.nvvm." + Op.Name +
              "(" + Args + ")\n" + pack(K);
      // The first operands change fastest: these are all that it looks at.
      size_t Count = 3;
      for (unsigned A = 0; A < operandsOf(Op.Name); ++A)
        Count *= N;
      const std::vector<uint32_t> Looked(In.begin(), In.begin() + Count);
      const auto Out =
          run(mapKernel(std::string("declare ") + K.Type + " @llvm.nvvm." +
                            Op.Name + "(" + Types + ")\n",
                        Text),
              Looked);
      ++Tried;
      for (size_t I = 0; I < Out.size(); ++I)
        for (unsigned Lane = 0; Lane < K.Lanes; ++Lane) {
          auto Part = [&](uint32_t Word) {
            return APInt(32, Word).extractBits(K.width(), Lane * K.width());
          };
          const APFloat Operands[] = {APFloat(K.Format, Part(In[3 * I])),
                                      APFloat(K.Format, Part(In[3 * I + 1])),
                                      APFloat(K.Format, Part(In[3 * I + 2]))};
          const APFloat Want = Op(Operands);
          ASSERT_TRUE(same(K.Format, Part(Out[I]), Want))
              << "lane " << Lane << " of " << std::hex << In[3 * I] << ", "
              << In[3 * I + 1] << ", " << In[3 * I + 2] << " gives " << Out[I]
              << ", not "
              << toString(Want.bitcastToAPInt(), 16, /*Signed=*/false);
        }
    }
  }
  EXPECT_GT(Tried, 90u);
}

TEST(NarrowIntrinsics, ConvertAsTheirNamesSay) {
  struct Conversion {
    const char *Name, *Type;
    const fltSemantics &Format;
    unsigned Lanes;
  };
  const fltSemantics &Half = APFloat::IEEEhalf(), &Brain = APFloat::BFloat();
  const Conversion All[] = {{"ff2f16x2.rn", "<2 x half>", Half, 2},
                            {"ff2f16x2.rn.relu", "<2 x half>", Half, 2},
                            {"ff2f16x2.rz", "<2 x half>", Half, 2},
                            {"ff2f16x2.rz.relu", "<2 x half>", Half, 2},
                            {"ff2bf16x2.rn", "<2 x bfloat>", Brain, 2},
                            {"ff2bf16x2.rn.relu", "<2 x bfloat>", Brain, 2},
                            {"ff2bf16x2.rz", "<2 x bfloat>", Brain, 2},
                            {"ff2bf16x2.rz.relu", "<2 x bfloat>", Brain, 2},
                            {"f2bf16.rn", "bfloat", Brain, 1},
                            {"f2bf16.rz.relu", "bfloat", Brain, 1},
                            {"f2h.rn", "i16", Half, 1}};
  std::vector<uint32_t> In;
  Random R(5);
  for (int I = 0; I < 6000; ++I) {
    // Around halves' range, and anywhere.
    uint32_t Bits = uint32_t(R.next());
    if (I % 2)
      Bits = (Bits & 0x807fffff) | (100 + R.below(50)) << 23;
    In.push_back(I % 3 ? Bits : Bits & 0xfffff000); // ties among them
  }
  for (const Conversion &C : All) {
    SCOPED_TRACE(C.Name);
    const bool Two = C.Lanes == 2;
    std::string Text = "%f = bitcast i32 %a to float\n%g = bitcast i32 %b to "
                       "float\n";
    Text += std::string("%x = call ") + C.Type + " @llvm.nvvm." + C.Name +
            "(float %f" + (Two ? ", float %g)\n" : ")\n");
    Text += Two ? std::string("%r = bitcast ") + C.Type + " %x to i32\n"
                : std::string("%s = bitcast ") + C.Type +
                      " %x to i16\n%r = zext i16 %s to i32\n";
    const auto Out =
        run(mapKernel(std::string("declare ") + C.Type + " @llvm.nvvm." +
                          C.Name + "(float" + (Two ? ", float)\n" : ")\n"),
                      Text),
            In);
    const Operation Op{C.Name};
    for (size_t I = 0; I < Out.size(); ++I)
      for (unsigned Lane = 0; Lane < C.Lanes; ++Lane) {
        // The first operand is the upper half.
        APFloat Want(APFloat::IEEEsingle(),
                     APInt(32, In[3 * I + (Two && Lane == 0)]));
        bool Lost;
        Want.convert(C.Format,
                     Op.says("rz") ? APFloat::rmTowardZero
                                   : APFloat::rmNearestTiesToEven,
                     &Lost);
        Want = Op.clamped(Want);
        ASSERT_TRUE(
            same(C.Format, APInt(32, Out[I]).extractBits(16, 16 * Lane), Want))
            << std::hex << In[3 * I] << ", " << In[3 * I + 1] << " gives "
            << Out[I];
      }
  }
}

/// PTX ISA, fns, by looking at each bit.
TEST(NarrowIntrinsics, FindTheNthBit) {
  std::vector<uint32_t> In;
  Random R(9);
  for (int I = 0; I < 3000; ++I) {
    In.push_back(uint32_t(R.next()) & uint32_t(R.next()));
    In.push_back(R.below(32));
    In.push_back(uint32_t(int(R.below(21)) - 10));
  }
  const auto Out =
      run(mapKernel("declare i32 @llvm.nvvm.fns(i32, i32, i32)\n",
                    "%r = call i32 @llvm.nvvm.fns(i32 %a, i32 %b, i32 %c)\n"),
          In);
  for (size_t I = 0; I < Out.size(); ++I) {
    const uint32_t Mask = In[3 * I], Base = In[3 * I + 1];
    const int Nth = int(In[3 * I + 2]);
    std::vector<uint32_t> Bits;
    for (int B = int(Base); B >= 0 && B < 32; B += Nth < 0 ? -1 : 1)
      if (Mask >> B & 1)
        Bits.push_back(uint32_t(B));
    const size_t Place = Nth ? size_t(std::abs(Nth)) - 1 : 0;
    uint32_t Want = Place < Bits.size() ? Bits[Place] : ~0u;
    if (Nth == 0)
      Want = Mask >> Base & 1 ? Base : ~0u;
    EXPECT_EQ(Out[I], Want)
        << std::hex << Mask << " from " << Base << ", " << std::dec << Nth;
  }
}

} // namespace
} // namespace reconverge::warpvm
