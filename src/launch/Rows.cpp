//===- launch/Rows.cpp - Arrays that lie in the order of threads ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array A, of which thread i accesses the cells i + k * stride:
//
//   allocation   [begin ........ A ........................ end)
//   rows              first row    row 0   row 1   ...
//   copy         of one tile of threads after the other, in the order in which
//                they run: first row of the tile, ..., its row 0, its row 1, ...
//
// Which rows there are, nobody says: all that reach into the allocation are
// taken, and steps leave out cells beyond its ends. An access outside of it is
// an error of the program's, so no k is missed.
//
// Another pointer into the allocation might lead to a cell of the array, which
// the copy would not see. A pointer right behind it counts as one, since a
// program may go backwards from there, unless an allocation begins at it.
//
// This file is linked into users' programs: it uses no LLVM and throws no
// exceptions of its own.
//
//===----------------------------------------------------------------------===//

#include "launch/Rows.h"

#include "launch/Arguments.h"
#include "launch/Trips.h"

namespace reconverge::launch {

/// So that no product below passes 2^64.
static constexpr uint64_t MostStride = uint64_t(1) << 31, MostCellBytes = 1024,
                          MostBytes = uint64_t(1) << 46;

static uint64_t divideUp(uint64_t A, uint64_t By) {
  return A / By + (A % By != 0);
}

static std::optional<RowsHere> findRows(const RecipeRows &A,
                                        const LaunchShape &Shape,
                                        uint64_t Address, MemoryRange In,
                                        void *const *Args) {
  const auto Stride = tripsOf(A.Stride, Shape, Args);
  const uint64_t Threads = Shape.blocks() * Shape.blockThreads();
  // Of a guarded one the copies are mostly used, too.
  if (!Stride || !*Stride || *Stride > MostStride ||
      A.CellBytes > MostCellBytes || In.End - In.Begin > MostBytes ||
      Threads > (A.Guarded ? 2 * *Stride + 1024 : *Stride))
    return std::nullopt;
  const uint64_t Pitch = *Stride * A.CellBytes,
                 Lower = divideUp(Address - In.Begin, Pitch),
                 Rows = Lower + divideUp(In.End - Address, Pitch),
                 RowOfTile = uint64_t(A.tile()) * A.CellBytes;
  RowsHere Here;
  if (__builtin_mul_overflow(divideUp(Threads, A.tile()), Rows * RowOfTile,
                             &Here.CopyBytes) ||
      Here.CopyBytes > MostBytes)
    return std::nullopt;
  Here.Fields[RecipeRows::Row0] = Lower * RowOfTile;
  Here.Fields[RecipeRows::First] = Address - Lower * Pitch;
  Here.Fields[RecipeRows::Begin] = In.Begin;
  Here.Fields[RecipeRows::End] = In.End;
  Here.Fields[RecipeRows::Count] = Rows;
  Here.Fields[RecipeRows::Pitch] = Pitch;
  Here.Fields[RecipeRows::Step] = Rows * RowOfTile;
  return Here;
}

std::optional<std::vector<RowsHere>> findRows(const Recipe &R,
                                              const LaunchShape &Shape,
                                              void *const *Args, Place &On) {
  std::vector<RowsHere> All;
  for (const RecipeRows &A : R.Rows) {
    const uint64_t Address = pointerAt({A.Pointer, 0}, Args);
    const auto In = On.rangeOf(Address);
    if (!In || Address < In->Begin || Address >= In->End)
      return std::nullopt;
    const auto LeadsThere = [&](const RecipePointer &P) {
      const uint64_t To = pointerAt(P, Args);
      if (To != In->End)
        return To >= In->Begin && To < In->End;
      const auto Next = On.rangeOf(To);
      return !Next || Next->Begin != To;
    };
    for (const RecipePointer &P : R.Elsewhere)
      if (LeadsThere(P))
        return std::nullopt;
    for (const RecipeRows &Other : R.Rows)
      if (&Other != &A && LeadsThere({Other.Pointer, 0}))
        return std::nullopt;
    const auto Here = findRows(A, Shape, Address, *In, Args);
    if (!Here)
      return std::nullopt;
    All.push_back(*Here);
  }
  return All;
}

} // namespace reconverge::launch
