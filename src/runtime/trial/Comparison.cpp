//===- runtime/trial/Comparison.cpp - Two results of one launch -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A byte in which the candidate differs is a difference, unless it is one that
// the original itself varies: then the value that it belongs to must lie
// between the least and the greatest that the original gave. A few runs show a
// part of what orders can do, so a floating-point number that keeps half of its
// digits in all of them, as a sum does, may lie as far beyond these two as they
// lie apart.
//
// An allocation in which the original's results have the same words in other
// places holds a set: what atomics append. There a candidate may have them in
// any place. Sums of hashes of words tell that, so that nothing is kept: equal
// pages add nothing, and those that are not add what they have more and less.
// Limitation: a record of several words is told by its words alone.
//
// The first difference is what a user is told. The others are looked at only to
// tell whether all of them are rounding: floating-point numbers that lie a few
// units in the last place apart. The first that is not settles it.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Comparison.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace reconverge::runtime {

/// Beyond, a difference is more than rounding. Sums and libraries' functions
/// have been seen to differ by some tens.
static constexpr uint64_t MostUlps = 64;

/// Of the words in \p Data, in any order: the sum of their hashes.
static uint64_t sumOf(ArrayRef<uint8_t> Data) {
  constexpr size_t WordBytes = 4;
  uint64_t Sum = 0;
  for (size_t I = 0; I < Data.size(); I += WordBytes) {
    uint32_t Word = 0;
    std::memcpy(&Word, &Data[I], std::min(WordBytes, Data.size() - I));
    // SplitMix64's finish: words that are alike have nothing in common.
    uint64_t X = Word + 0x9e3779b97f4a7c15;
    X = (X ^ (X >> 30)) * 0xbf58476d1ce4e5b9;
    X = (X ^ (X >> 27)) * 0x94d049bb133111eb;
    Sum += X ^ (X >> 31);
  }
  return Sum;
}

/// What \p After has over \p Before; 0: the same words.
static uint64_t balance(ArrayRef<uint8_t> Before, ArrayRef<uint8_t> After) {
  return sumOf(After) - sumOf(Before);
}

/// What of a floating-point number's magnitude its second half of digits is
/// worth; 0 of other types.
static double halfOf(ValueType T) {
  switch (T) {
  case ValueType::Double:
    return 0x1p-26;
  case ValueType::Float:
    return 0x1p-12;
  default:
    return 0;
  }
}

/// Whether the value around byte \p At, at \p Address, is a floating-point
/// number of which the first half of its digits is the same in both.
static bool isNear(ArrayRef<ValueType> Types, uint64_t Address,
                   ArrayRef<uint8_t> A, ArrayRef<uint8_t> B, size_t At) {
  const auto Value = valueAt(Types, Address, A, B, At);
  if (!Value)
    return false;
  const double X = numberAt(Value->Type, &A[Value->Begin]),
               Y = numberAt(Value->Type, &B[Value->Begin]);
  return std::abs(X - Y) <= halfOf(Value->Type) * std::abs(X);
}

void OrderSpread::add(const MemoryPage &In, ArrayRef<uint8_t> Natural,
                      ArrayRef<uint8_t> Other) {
  Page &P = Pages[In.Base + In.Offset];
  Allocation &A = Allocations[In.Base];
  P.Varies.resize(Natural.size());
  P.Loose.resize(Natural.size());
  for (size_t I = 0; I != Natural.size(); ++I) {
    if (Natural[I] == Other[I])
      continue;
    Bytes += !P.Varies.test(I);
    P.Varies.set(I);
    if (P.Loose.test(I) ||
        isNear(Types, In.Base + In.Offset + I, Natural, Other, I))
      continue;
    P.Loose.set(I);
    ++A.Loose;
  }
  P.Others.emplace_back(Other.begin(), Other.end());
  Kept += Other.size();
  A.Balance += balance(Natural, Other);
}

bool OrderSpread::isSet(uint64_t Base) const {
  auto Found = Allocations.find(Base);
  return Found != Allocations.end() && !Found->second.Balance;
}

uint64_t OrderSpread::loose() const {
  uint64_t Sum = 0;
  for (const auto &[Base, A] : Allocations)
    if (A.Balance)
      Sum += A.Loose;
  return Sum;
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
  if (double(Spread.loose()) <= MostUnstable * double(All))
    return "";
  return std::to_string(Spread.loose()) + " of " + std::to_string(All) +
         " bytes depend on the order of the kernel's threads";
}

bool Comparison::isWithinSpread(const OrderSpread::Page *Page, uint64_t Address,
                                ArrayRef<uint8_t> Original,
                                ArrayRef<uint8_t> Variant, size_t At) const {
  if (!Page)
    return false;
  auto Value = valueAt(Types, Address + At, Original, Variant, At);
  if (!Value) // of no type that is known: one of the bytes seen
    return Page->Varies.test(At) &&
           any_of(Page->Others, [&](const std::vector<uint8_t> &Other) {
             return Other[At] == Variant[At];
           });
  const double Now = numberAt(Value->Type, &Variant[Value->Begin]);
  double Least = numberAt(Value->Type, &Original[Value->Begin]), Most = Least;
  for (const std::vector<uint8_t> &Other : Page->Others) {
    const double X = numberAt(Value->Type, &Other[Value->Begin]);
    Least = std::min(Least, X);
    Most = std::max(Most, X);
  }
  const double Apart = Most - Least,
               Margin =
                   Apart <= halfOf(Value->Type) * std::abs(Most) ? Apart : 0;
  return Least - Margin <= Now && Now <= Most + Margin;
}

Difference Comparison::differenceAt(const MemoryPage &In,
                                    ArrayRef<uint8_t> Original,
                                    ArrayRef<uint8_t> Variant,
                                    size_t At) const {
  Difference D;
  D.Where = In.Name();
  if (const auto Value =
          valueAt(Types, In.Base + In.Offset + At, Original, Variant, At)) {
    D.Offset = In.Offset + Value->Begin;
    D.Original = textOf(Value->Type, &Original[Value->Begin]);
    D.Variant = textOf(Value->Type, &Variant[Value->Begin]);
  } else {
    D.Offset = In.Offset + At;
    D.Original = "byte " + std::to_string(Original[At]);
    D.Variant = "byte " + std::to_string(Variant[At]);
  }
  return D;
}

void Comparison::addToSet(const MemoryPage &In, ArrayRef<uint8_t> Original,
                          ArrayRef<uint8_t> Variant) {
  Set &S = Sets[In.Base];
  S.Balance += balance(Original, Variant);
  const OrderSpread::Page *Page = Spread.page(In.Base + In.Offset);
  for (size_t I = 0; I != Original.size() && !S.First; ++I)
    if (Original[I] != Variant[I] &&
        !isWithinSpread(Page, In.Base + In.Offset, Original, Variant, I))
      S.First = differenceAt(In, Original, Variant, I);
}

std::optional<size_t> Comparison::note(const MemoryPage &In,
                                       ArrayRef<uint8_t> Original,
                                       ArrayRef<uint8_t> Variant, size_t At) {
  const auto Value =
      valueAt(Types, In.Base + In.Offset + At, Original, Variant, At);
  const uint64_t Apart = Value
                             ? ulpsBetween(Value->Type, &Original[Value->Begin],
                                           &Variant[Value->Begin])
                                   .value_or(0)
                             : 0;
  const bool Rounds = Apart && Apart <= MostUlps;
  const bool AllDid = !First || First->Ulps;
  const uint64_t Most = First ? std::max(First->Ulps, Apart) : Apart;
  if (!First || (AllDid && !Rounds)) // what is more than rounding says more
    First = differenceAt(In, Original, Variant, At);
  First->Ulps = AllDid && Rounds ? Most : 0;
  return Rounds ? std::optional(Value->Begin + Value->Bytes) : std::nullopt;
}

void Comparison::add(const MemoryPage &In, ArrayRef<uint8_t> Original,
                     ArrayRef<uint8_t> Variant) {
  if (isSettled())
    return;
  if (Spread.isSet(In.Base))
    return addToSet(In, Original, Variant);
  const uint64_t Address = In.Base + In.Offset;
  const OrderSpread::Page *Page = Spread.page(Address);
  for (size_t I = 0; I != Original.size(); ++I) {
    if (Original[I] == Variant[I] ||
        isWithinSpread(Page, Address, Original, Variant, I))
      continue;
    const std::optional<size_t> End = note(In, Original, Variant, I);
    if (!End)
      return;
    I = *End - 1;
  }
}

const Difference *Comparison::whatDiffers() const {
  if (isSettled())
    return &*First;
  for (const auto &[Base, S] : Sets)
    if (S.Balance && S.First)
      return &*S.First;
  return First ? &*First : nullptr;
}

Verdict Comparison::verdict(uint64_t All, StringRef Unknown) const {
  Verdict V;
  V.Bytes = All;
  V.OrderDependent = Spread.bytes();
  if (!Unknown.empty()) {
    V.Kind = VerdictKind::Unknown;
    V.Reason = Unknown.str();
  } else if (const auto *Other = whatDiffers()) {
    V.Kind = VerdictKind::Differs;
    V.First = *Other;
  } else {
    V.Kind = Spread.bytes() ? VerdictKind::UpToOrder : VerdictKind::Identical;
  }
  return V;
}

} // namespace reconverge::runtime
