//===- launch/NextArguments.cpp - Of a launch not made yet ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each integer and pointer makes the step that it has made before. One launch that breaks the steps is taken for the start of another round
// over the same data, a second one for other steps. After a launch that was
// foretold wrongly nothing is foretold for 1, then 2, 4, ... 32 launches.
//
// Arguments that stay the same foretell nothing: the data are the same, and an
// order of them is better reused (Orders.cpp), or others, that are not there yet.
//
// A number that would become 0 or change its sign ends the sequence: it may be a
// stride, or an unsigned number of rounds that would be large.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/NextArguments.h"

#include <algorithm>
#include <cstring>

namespace reconverge::launch {

static constexpr unsigned MostPause = 32;

ArgumentBytes NextArguments::copy(void *const *Args) const {
  ArgumentBytes Copy;
  for (size_t I = 0; I != Of.Sizes.size(); ++I) {
    const char *From = static_cast<const char *>(Args[I]);
    Copy.emplace_back(From, From + Of.Sizes[I]);
  }
  return Copy;
}

static char *at(ArgumentBytes &Of, const RecipeAhead::Part &P) {
  return Of[P.Of.Number].data() + P.Of.At;
}
static const char *at(const ArgumentBytes &Of, const RecipeAhead::Part &P) {
  return Of[P.Of.Number].data() + P.Of.At;
}

bool NextArguments::areAlike(const ArgumentBytes &A,
                             const ArgumentBytes &B) const {
  return std::all_of(Of.Parts.begin(), Of.Parts.end(), [&](const auto &P) {
    return std::memcmp(at(A, P), at(B, P), P.Bytes) == 0;
  });
}

/// With its sign.
static int64_t read(const ArgumentBytes &From, const RecipeAhead::Part &P) {
  uint64_t Value = 0;
  std::memcpy(&Value, at(From, P), P.Bytes);
  const unsigned Above = 64 - 8 * P.Bytes;
  return int64_t(Value << Above) >> Above;
}

std::vector<uint64_t> NextArguments::stepsTo(const ArgumentBytes &Now) const {
  std::vector<uint64_t> All;
  for (const RecipeAhead::Part &P : Of.Parts)
    All.push_back(P.Advances ? uint64_t(read(Now, P)) - uint64_t(read(Last, P))
                             : 0);
  return All;
}

bool NextArguments::see(void *const *Args) {
  ArgumentBytes Now = copy(Args);
  const bool IsRight = Said && areAlike(Now, Next);
  if (IsRight) {
    Proven = true;
    Every = 0;
  } else if (!Last.empty()) {
    if (Said) {
      Every = std::min(Every ? 2 * Every : 1, MostPause);
      Pause = Every;
    }
    if (!Proven)
      Steps = stepsTo(Now);
    Proven = false;
  }
  Said = false;
  Last = std::move(Now);
  return IsRight;
}

static int signOf(int64_t Value) { return (Value > 0) - (Value < 0); }

/// Makes Next of Last and Steps.
bool NextArguments::advance() {
  Next = Last;
  bool Moves = false;
  for (size_t I = 0; I != Steps.size(); ++I) {
    const RecipeAhead::Part &P = Of.Parts[I];
    if (!P.Advances || !Steps[I])
      continue;
    Moves = true;
    const int64_t Before = read(Last, P);
    const uint64_t Value = uint64_t(Before) + Steps[I];
    std::memcpy(at(Next, P), &Value, P.Bytes);
    const int64_t After = read(Next, P);
    if (signOf(After) != (Before ? signOf(Before) : 1))
      return false;
  }
  return Moves;
}

void **NextArguments::foretell() {
  if (Pause) {
    --Pause;
    return nullptr;
  }
  Said = advance();
  if (!Said)
    return nullptr;
  Pointers.clear();
  for (std::vector<char> &Bytes : Next)
    Pointers.push_back(Bytes.data());
  return Pointers.data();
}

} // namespace reconverge::launch
