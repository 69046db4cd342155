//===- launch/Trips.cpp - A loop over the grid, as a launch ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k<<<grid, block>>>(..., n)    for (i = thread; i < n; i += threads) body(i)
//   k<<<ceil(n / block), block>>>(..., n)        i = thread; if (i < n) body(i)
//
// The code computes the number of a thread in 32 bits, perhaps with a sign, so
// none may be 2^31 or more.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/Trips.h"

#include <algorithm>
#include <cstring>

namespace reconverge::launch {

static constexpr uint64_t MostThreads = INT32_MAX;

static uint64_t cut(uint64_t Value, uint32_t Bits) {
  return Bits >= 64 ? Value : Value & ((uint64_t(1) << Bits) - 1);
}

static int64_t withSign(uint64_t Value, uint32_t Bits) {
  const uint32_t Above = 64 - Bits;
  return int64_t(Value << Above) >> Above;
}

/// Of two operands of \p Bits bits; none: it divides by 0, or shifts too far.
static std::optional<uint64_t> apply(TripCount::Kind What, uint32_t Bits,
                                     uint64_t A, uint64_t B) {
  const int64_t SA = withSign(A, Bits), SB = withSign(B, Bits);
  switch (What) {
  case TripCount::Add:
    return A + B;
  case TripCount::Sub:
    return A - B;
  case TripCount::Mul:
    return A * B;
  case TripCount::UDiv:
    return B ? std::optional(A / B) : std::nullopt;
  case TripCount::SDiv:
    return SB && SB != -1 ? std::optional(uint64_t(SA / SB)) : std::nullopt;
  case TripCount::Shl:
    return B < Bits ? std::optional(A << B) : std::nullopt;
  case TripCount::LShr:
    return B < Bits ? std::optional(A >> B) : std::nullopt;
  case TripCount::AShr:
    return B < Bits ? std::optional(uint64_t(SA >> B)) : std::nullopt;
  case TripCount::UMin:
    return std::min(A, B);
  case TripCount::UMax:
    return std::max(A, B);
  case TripCount::SMin:
    return uint64_t(std::min(SA, SB));
  case TripCount::SMax:
    return uint64_t(std::max(SA, SB));
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> tripsOf(const TripCount &Count,
                                const LaunchShape &Shape, void *const *Args) {
  std::vector<uint64_t> Stack;
  auto Pop = [&] {
    const uint64_t Last = Stack.back();
    Stack.pop_back();
    return Last;
  };
  for (const TripCount::Term &T : Count.Terms) {
    std::optional<uint64_t> Value = 0;
    if (T.What == TripCount::Constant) {
      Value = T.Value;
    } else if (T.What == TripCount::Argument) {
      if (!Args)
        return std::nullopt;
      std::memcpy(&*Value, static_cast<const char *>(Args[T.Number]) + T.Value,
                  T.Bits / 8);
    } else if (T.What == TripCount::Dimension) {
      Value = T.Number < 3 ? Shape.Grid[T.Number] : Shape.Block[T.Number - 3];
    } else if (T.What >= TripCount::Trunc) {
      if (Stack.empty())
        return std::nullopt;
      const uint64_t Of = Pop();
      Value = T.What == TripCount::SExt ? uint64_t(withSign(Of, T.Number)) : Of;
    } else {
      if (Stack.size() < 2)
        return std::nullopt;
      const uint64_t Right = Pop(), Left = Pop();
      Value = apply(T.What, T.Bits, Left, Right);
    }
    if (!Value)
      return std::nullopt;
    Stack.push_back(cut(*Value, T.Bits));
  }
  return Stack.size() == 1 ? std::optional(Stack.back()) : std::nullopt;
}

static bool isFlat(const std::array<uint32_t, 3> &Sizes) {
  return Sizes[1] == 1 && Sizes[2] == 1;
}

LaunchShape takenAs(const Recipe &R, const LaunchShape &Shape,
                    void *const *Args) {
  if (!R.Trips)
    return Shape;
  LaunchShape As = Shape;
  As.Grid = {0, 1, 1};
  const auto Trips = tripsOf(*R.Trips, Shape, Args);
  const uint64_t Threads = Shape.blockThreads();
  if (!Trips || !Threads || !Shape.blocks() || !isFlat(Shape.Grid) ||
      !isFlat(Shape.Block))
    return As;
  const uint64_t Blocks = *Trips / Threads + (*Trips % Threads != 0);
  if (Blocks <= MostThreads / Threads)
    As.Grid[0] = uint32_t(Blocks);
  return As;
}

} // namespace reconverge::launch
