//===- runtime/trial/BoundTest.cpp - Values inside a bound ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error of a value is how far it lies from what the original gave: from its
// one value, or, where that varies with the order of threads, from the nearest
// end of all values seen. It is inside if it is small beside that value, or in
// itself. A NaN is as good as another NaN and as nothing else; an infinity is
// only itself.
//
// Memory has no types, and an integer must not pass for a number that is nearly
// the same. So a word is taken for a float or double only if the kernel writes
// such, and
//
// 1. where it writes ints or long longs as well, both results must look like
//    numbers that people write: an index or a count below 2^27 does not, nor a
//    negative one near zero, nor a NaN;
// 2. where it writes characters or shorts, nothing is: four of them look like a
//    float of which the low bits hardly matter;
// 3. where it writes both floats and doubles, the word must be inside as each.
//
// Limitation: hashes and other integers over the whole range can look like
// floats; one that is off in its last bits alone is then let pass. Doubles
// beside floats are mostly found to lie outside, whose lower half is no float.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/BoundTest.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge::runtime {

BoundTest::BoundTest(ArrayRef<ValueType> Written, const Tolerance &Bound) {
  auto Writes = [&](ValueType T) { return is_contained(Written, T); };
  Used.Bound = Bound;
  OnlyFloats = !Writes(ValueType::Int) && !Writes(ValueType::Long);
  if (Writes(ValueType::Short) || Writes(ValueType::Char))
    return;
  for (ValueType T : {ValueType::Double, ValueType::Float})
    if (Writes(T))
      Types.push_back(T);
}

static Tolerance larger(const Tolerance &A, const Tolerance &B) {
  return {std::max(A.Relative, B.Relative), std::max(A.Absolute, B.Absolute)};
}

/// The error of the value of type \p T that begins at \p At, by the measure
/// that lets it pass \p Bound; nothing if neither does.
static std::optional<Tolerance> errorAt(const PageResults &In, ValueType T,
                                        size_t At, const Tolerance &Bound) {
  const double Now = numberAt(T, &In.Variant[At]);
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  double Least = Infinity, Most = -Infinity;
  bool IsSameKind = false; // as a value seen that is no number
  auto See = [&](const uint8_t *Bytes) {
    const double X = numberAt(T, Bytes);
    if (!std::isfinite(X)) {
      IsSameKind |= std::isnan(X) ? std::isnan(Now) : X == Now;
      return;
    }
    Least = std::min(Least, X);
    Most = std::max(Most, X);
  };
  See(&In.Original[At]);
  for (const std::vector<uint8_t> &Other : In.Others)
    See(&Other[At]);
  if (!std::isfinite(Now))
    return IsSameKind ? std::optional(Tolerance()) : std::nullopt;
  if (Least > Most)
    return std::nullopt;
  const double Nearest = std::clamp(Now, Least, Most);
  const double Apart = std::abs(Now - Nearest);
  const double Part = Apart > 0 ? Apart / std::abs(Nearest) : 0;
  if (Part <= Bound.Relative)
    return Tolerance{Part, 0};
  if (Apart <= Bound.Absolute)
    return Tolerance{0, Apart};
  return std::nullopt;
}

std::optional<size_t> BoundTest::endOfInside(const PageResults &In, size_t At) {
  std::optional<size_t> End;
  Tolerance Error;
  for (ValueType T : Types) {
    const size_t Size = bytesOf(T), Before = (In.Address + At) % Size;
    if (Before > At || At - Before + Size > In.Original.size())
      continue;
    const size_t Begin = At - Before;
    if (!OnlyFloats && !(isPlausible(T, &In.Original[Begin]) &&
                         isPlausible(T, &In.Variant[Begin])))
      continue;
    const auto One = errorAt(In, T, Begin, Used.Bound);
    if (!One)
      return std::nullopt;
    Error = larger(Error, *One);
    End = Begin + Size;
  }
  if (!End)
    return std::nullopt;
  ++Used.Values;
  Used.Largest = larger(Used.Largest, Error);
  return End;
}

} // namespace reconverge::runtime
