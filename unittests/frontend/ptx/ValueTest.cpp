//===- unittests/frontend/ptx/ValueTest.cpp - What lowered PTX computes ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs/golden.txt holds what an H200 computed for each case and each of its
// input tuples (utils/ptx-golden.py made it). The lowered function must compute
// the same, bit by bit; NaNs of a float result count as equal, since neither
// LLVM nor PTX fixes their payload.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Snippet.h"
#include "Vectors.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;

namespace {
/// How results compare: a float format and its lanes; no format for bits.
struct Format {
  const fltSemantics *Semantics = nullptr;
  unsigned Lanes = 1;
};
} // namespace

static Format formatOf(StringRef How) {
  Format F;
  F.Lanes = How.consume_back("x2") ? 2 : 1;
  if (How == "f16")
    F.Semantics = &APFloat::IEEEhalf();
  else if (How == "bf16")
    F.Semantics = &APFloat::BFloat();
  else if (How == "f32")
    F.Semantics = &APFloat::IEEEsingle();
  else if (How == "f64")
    F.Semantics = &APFloat::IEEEdouble();
  else
    EXPECT_EQ(How, "bits");
  return F;
}

static bool agrees(Format F, const APInt &A, const APInt &B) {
  if (!F.Semantics)
    return A == B;
  unsigned Width = A.getBitWidth() / F.Lanes;
  for (unsigned N = 0; N != F.Lanes; ++N) {
    APInt X = A.extractBits(Width, N * Width),
          Y = B.extractBits(Width, N * Width);
    if (X != Y &&
        !(APFloat(*F.Semantics, X).isNaN() && APFloat(*F.Semantics, Y).isNaN()))
      return false;
  }
  return true;
}

static unsigned widthOf(StringRef Code) {
  return Code == "h" ? 16 : Code == "r" || Code == "f" ? 32 : 64;
}

static std::string show(ArrayRef<APInt> Values) {
  std::string Text;
  for (const APInt &V : Values)
    Text += " 0x" + toString(V, 16, false);
  return Text;
}

/// Compares all tuples of one case; false after the first that differs.
static bool check(StringRef Case, StringRef Golden) {
  SmallVector<StringRef, 3> Fields;
  Case.split(Fields, " | ", 2);
  if (Fields.size() != 3) {
    ADD_FAILURE() << "malformed case: " << Case.str();
    return false;
  }
  Format How = formatOf(Fields[0]);
  SmallVector<StringRef, 8> Codes;
  Fields[1].split(Codes, ',');
  std::vector<unsigned> Ins, Outs;
  for (StringRef Code : Codes) {
    bool IsOut = Code.consume_front("=");
    (IsOut ? Outs : Ins).push_back(widthOf(Code));
  }
  LLVMContext C;
  Snippet S(C, Fields[2], Fields[1]);
  std::string Reason = S.lower();
  if (!Reason.empty()) {
    ADD_FAILURE() << Case.str() << "\nrefused: " << Reason;
    return false;
  }
  SmallVector<StringRef, 64> Results;
  Golden.split(Results, ' ');
  if (Results.size() != vectors::Tuples * Outs.size()) {
    ADD_FAILURE() << Case.str() << "\nhas too few results";
    return false;
  }
  uint64_t Seed = vectors::hash(Fields[2].str().c_str());
  for (unsigned T = 0; T != vectors::Tuples; ++T) {
    std::vector<APInt> Args, Expected;
    for (unsigned N = 0; N != Ins.size(); ++N)
      Args.push_back(APInt(Ins[N], vectors::input(Seed, N, T, Ins[N])));
    for (unsigned N = 0; N != Outs.size(); ++N)
      Expected.push_back(
          APInt(64, Results[T * Outs.size() + N], 16).trunc(Outs[N]));
    std::string Why;
    auto Actual = evaluate(*S.F, Args, Why);
    if (!Actual) {
      ADD_FAILURE() << Case.str() << "\ncannot be computed:" << Why << "\n"
                    << S.text();
      return false;
    }
    for (unsigned N = 0; N != Outs.size(); ++N)
      if (!agrees(How, (*Actual)[N], Expected[N])) {
        ADD_FAILURE() << Case.str() << "\ninputs  " << show(Args)
                      << "\nGPU     " << show(Expected) << "\nlowered "
                      << show(*Actual) << "\n"
                      << S.text();
        return false;
      }
  }
  return true;
}

TEST(Value, AgreesWithTheGpu) {
  auto Buffer = MemoryBuffer::getFile(PTX_TEST_INPUTS "/golden.txt");
  ASSERT_TRUE(bool(Buffer)) << "Inputs/golden.txt is missing";
  SmallVector<StringRef, 0> Lines;
  (*Buffer)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(Lines.size() % 2, 0u);
  EXPECT_GT(Lines.size(), 2000u);
  unsigned Wrong = 0;
  for (size_t N = 0; N != Lines.size(); N += 2)
    Wrong += !check(Lines[N], Lines[N + 1]);
  EXPECT_EQ(Wrong, 0u) << "of " << Lines.size() / 2 << " cases";
}
