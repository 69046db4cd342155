//===- runtime/trial/Comparison.cpp - Two results of one launch -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A byte in which the candidate differs is a difference, unless it is one that
// the original itself varies: then the value that it belongs to must lie
// between the least and the greatest that the original gave.
//
// The first difference is what a user is told. The others are looked at only to
// tell whether all of them are rounding: floating-point numbers that lie a few
// units in the last place apart. The first that is not settles it.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Comparison.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::runtime {

/// Beyond, a difference is more than rounding. Sums and libraries' functions
/// have been seen to differ by some tens.
static constexpr uint64_t MostUlps = 64;

void OrderSpread::add(const MemoryPage &In, ArrayRef<uint8_t> Natural,
                      ArrayRef<uint8_t> Other) {
  Page &P = Pages[In.Base + In.Offset];
  P.Varies.resize(Natural.size());
  for (size_t I = 0; I != Natural.size(); ++I)
    if (Natural[I] != Other[I] && !P.Varies.test(I)) {
      P.Varies.set(I);
      ++Bytes;
    }
  P.Others.emplace_back(Other.begin(), Other.end());
  Kept += Other.size();
}

const OrderSpread::Page *OrderSpread::page(uint64_t Address) const {
  auto Found = Pages.find(Address);
  return Found == Pages.end() ? nullptr : &Found->second;
}

std::string whyUnstable(const OrderSpread &Spread, uint64_t All) {
  constexpr uint64_t MostKept = uint64_t(1) << 30;
  if (Spread.kept() > MostKept)
    return "what depends on the order of the kernel's threads is spread over "
           "too much memory to be kept";
  constexpr double MostUnstable = 0.01;
  if (double(Spread.bytes()) <= MostUnstable * double(All))
    return "";
  return std::to_string(Spread.bytes()) + " of " + std::to_string(All) +
         " bytes depend on the order of the kernel's threads";
}

bool Comparison::isWithinSpread(const OrderSpread::Page *Page, uint64_t Address,
                                ArrayRef<uint8_t> Original,
                                ArrayRef<uint8_t> Variant, size_t At) const {
  if (!Page || !Page->Varies.test(At))
    return false;
  auto Value = valueAt(Types, Address + At, Original, Variant, At);
  if (!Value) // of no type that is known: one of the bytes seen
    return any_of(Page->Others, [&](const std::vector<uint8_t> &Other) {
      return Other[At] == Variant[At];
    });
  const double Now = numberAt(Value->Type, &Variant[Value->Begin]);
  double Least = numberAt(Value->Type, &Original[Value->Begin]), Most = Least;
  for (const std::vector<uint8_t> &Other : Page->Others) {
    const double X = numberAt(Value->Type, &Other[Value->Begin]);
    Least = std::min(Least, X);
    Most = std::max(Most, X);
  }
  return Least <= Now && Now <= Most;
}

void Comparison::add(const MemoryPage &In, ArrayRef<uint8_t> Original,
                     ArrayRef<uint8_t> Variant) {
  if (isSettled())
    return;
  const uint64_t Address = In.Base + In.Offset;
  const OrderSpread::Page *Page = Spread.page(Address);
  for (size_t I = 0; I != Original.size(); ++I) {
    if (Original[I] == Variant[I] ||
        isWithinSpread(Page, Address, Original, Variant, I))
      continue;
    const auto Value = valueAt(Types, Address + I, Original, Variant, I);
    const uint64_t Apart =
        Value ? ulpsBetween(Value->Type, &Original[Value->Begin],
                            &Variant[Value->Begin])
                    .value_or(0)
              : 0;
    const bool Rounds = Apart && Apart <= MostUlps;
    const uint64_t Most = First ? std::max(First->Ulps, Apart) : Apart;
    if (!First || !Rounds) { // what is more than rounding says more
      First.emplace();
      First->Where = In.Name();
      if (Value) {
        First->Offset = In.Offset + Value->Begin;
        First->Original = Value->TextA;
        First->Variant = Value->TextB;
      } else {
        First->Offset = In.Offset + I;
        First->Original = "byte " + std::to_string(Original[I]);
        First->Variant = "byte " + std::to_string(Variant[I]);
      }
    }
    First->Ulps = Rounds ? Most : 0;
    if (!Rounds)
      return;
    I = Value->Begin + Value->Bytes - 1;
  }
}

Verdict Comparison::verdict(uint64_t All, StringRef Unknown) const {
  Verdict V;
  V.Bytes = All;
  V.OrderDependent = Spread.bytes();
  if (!Unknown.empty()) {
    V.Kind = VerdictKind::Unknown;
    V.Reason = Unknown.str();
  } else if (First) {
    V.Kind = VerdictKind::Differs;
    V.First = *First;
  } else {
    V.Kind = Spread.bytes() ? VerdictKind::UpToOrder : VerdictKind::Identical;
  }
  return V;
}

} // namespace reconverge::runtime
