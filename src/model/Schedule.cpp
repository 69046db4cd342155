//===- model/Schedule.cpp - Which multiprocessor runs what when -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How hardware deals out thread blocks is not documented; what fits it well is
// dynamic round-robin (Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate
// GPU Performance Model for Effective Control Flow Divergence Optimization",
// section IV-B-2):
//
//   1. Thread blocks go in the order of their numbers.
//   2. The first ones go to the multiprocessors in turn, one each, then a
//      second one each, and so on until all have what they have room for.
//   3. Each of the rest goes where a thread block ends next.
//
//   SM 0 |00003.|   times 4, 3, 3, 1: thread block 2 goes where 1 has ended,
//   SM 1 |111222|   and not to SM 0, whose turn it would be
//
// A slot is free at one time, so a queue of slots by that time, then by their
// place on the multiprocessor, then by multiprocessor, does all three: at time 0
// that order is the round-robin of step 2, and later it makes ties come out the
// same each time. Thread blocks are taken out and put back at O(log slots).
//
// No slot waits while a thread block does. So slots idle at the end only, and
// what the tail is follows from when each slot has its last thread block.
//
// A thread block takes its time in a slot whoever runs beside it: as in the
// paper, two on one multiprocessor do not slow each other down. So a schedule
// with more slots is not comparable with one with fewer.
//
//===----------------------------------------------------------------------===//

#include "model/Schedule.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <queue>
#include <tuple>

namespace reconverge::model {

double Schedule::busyShare() const {
  return End > 0 ? Busy / (End * double(On.all())) : 1;
}

double Schedule::tailShare() const {
  return End > 0 ? 1 - AllMultiprocessorsUntil / End : 0;
}

namespace {
struct FreeSlot {
  double At;
  uint32_t Slot, Multiprocessor;
  bool operator>(const FreeSlot &Other) const {
    return std::tie(At, Slot, Multiprocessor) >
           std::tie(Other.At, Other.Slot, Other.Multiprocessor);
  }
};
} // namespace

Schedule schedule(llvm::ArrayRef<double> Times, BlockSlots On,
                  bool KeepPlaces) {
  assert(On.Multiprocessors && On.AtOnce && "thread blocks need a place");
  Schedule S;
  S.On = On;
  // Further slots than there are thread blocks would stay empty.
  const uint64_t Used = std::min<uint64_t>(On.all(), Times.size());
  std::vector<FreeSlot> Slots;
  Slots.reserve(Used);
  for (uint64_t I = 0; I != Used; ++I)
    Slots.push_back({0, uint32_t(I / On.Multiprocessors),
                     uint32_t(I % On.Multiprocessors)});
  std::priority_queue Free(std::greater<>(), std::move(Slots));
  if (KeepPlaces)
    S.Places.reserve(Times.size());
  std::vector<double> EndOf(std::min<uint64_t>(On.Multiprocessors, Used));
  for (double Time : Times) {
    FreeSlot Next = Free.top();
    Free.pop();
    const double Start = Next.At;
    Next.At += Time;
    if (KeepPlaces)
      S.Places.push_back({Next.Multiprocessor, Next.Slot, Start, Next.At});
    S.Busy += Time;
    S.End = std::max(S.End, Next.At);
    double &End = EndOf[Next.Multiprocessor];
    End = std::max(End, Next.At);
    Free.push(Next);
  }
  if (Used == On.all())
    S.AllSlotsUntil = Free.top().At;
  if (EndOf.size() == On.Multiprocessors)
    S.AllMultiprocessorsUntil = *std::ranges::min_element(EndOf);
  return S;
}

//===----------------------------------------------------------------------===//
// The drawing
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  uint32_t Multiprocessor, Slot;
  double End = 0;
  std::vector<uint32_t> Blocks; ///< ascending in number and time
};
} // namespace

/// The slots that have thread blocks, by multiprocessor.
static std::vector<Row> rowsOf(const Schedule &S) {
  std::vector<uint32_t> Order(S.Places.size());
  for (uint32_t I = 0; I != Order.size(); ++I)
    Order[I] = I;
  llvm::sort(Order, [&](uint32_t A, uint32_t B) {
    const Schedule::Placed &PA = S.Places[A], &PB = S.Places[B];
    return std::tie(PA.Multiprocessor, PA.Slot, A) <
           std::tie(PB.Multiprocessor, PB.Slot, B);
  });
  std::vector<Row> Rows;
  for (uint32_t I : Order) {
    const Schedule::Placed &P = S.Places[I];
    if (Rows.empty() || Rows.back().Multiprocessor != P.Multiprocessor ||
        Rows.back().Slot != P.Slot)
      Rows.push_back({P.Multiprocessor, P.Slot, 0, {}});
    Rows.back().Blocks.push_back(I);
    Rows.back().End = P.End;
  }
  return Rows;
}

/// \p Count of \p Rows, from the one that ends last to the one that ends first.
static std::vector<Row> someOf(std::vector<Row> Rows, size_t Count) {
  llvm::sort(Rows, [](const Row &A, const Row &B) {
    return std::tuple(-A.End, A.Multiprocessor, A.Slot) <
           std::tuple(-B.End, B.Multiprocessor, B.Slot);
  });
  std::vector<Row> Some;
  for (size_t I = 0; I != Count; ++I)
    Some.push_back(Count == 1 ? Rows[0]
                              : Rows[I * (Rows.size() - 1) / (Count - 1)]);
  return Some;
}

static std::string nameOf(const Row &R, const Schedule &S) {
  std::string Name = "SM " + std::to_string(R.Multiprocessor);
  return S.On.AtOnce == 1 ? Name : Name + "." + std::to_string(R.Slot);
}

std::vector<std::string> draw(const Schedule &S, unsigned Lines,
                              unsigned Width) {
  assert(Lines >= 2 && "one line says that there are more");
  std::vector<Row> Rows = rowsOf(S);
  const size_t All = Rows.size();
  if (All > Lines)
    Rows = someOf(std::move(Rows), Lines - 1);
  size_t NameWidth = 0;
  for (const Row &R : Rows)
    NameWidth = std::max(NameWidth, nameOf(R, S).size());
  assert(Width > NameWidth + 3 && "a drawing needs some room");
  const size_t Columns = Width - NameWidth - 3;
  auto ColumnOf = [&](double Time) {
    return S.End > 0 && std::isfinite(S.End)
               ? size_t(std::lround(Time / S.End * double(Columns)))
               : 0;
  };
  std::vector<std::string> Drawing;
  for (const Row &R : Rows) {
    std::string Bar(Columns, '.');
    for (uint32_t I : R.Blocks)
      std::fill(Bar.begin() + ColumnOf(S.Places[I].Start),
                Bar.begin() + ColumnOf(S.Places[I].End),
                "0123456789abcdefghijklmnopqrstuvwxyz"[I % 36]);
    std::string Name = nameOf(R, S);
    Name.resize(NameWidth, ' ');
    Drawing.push_back(Name + " |" + Bar + "|");
  }
  if (All > Lines)
    Drawing.push_back(std::to_string(Lines - 1) + " of " + std::to_string(All) +
                      " slots, from the last to end to the first");
  return Drawing;
}

} // namespace reconverge::model
