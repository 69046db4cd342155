//===- model/ClassRanks.cpp - A grouping as a table of ranks --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algorithms of Liang et al. (Groupings.cpp) look at every thread of a
// launch, before it. Here they look at a sample once, and what they found is kept
// as a rank for each class of threads. A launch then sorts its threads by rank,
// which costs the same whichever algorithm it was.
//
// In a grouping, a class has groups of its own and, with what is left, a part in
// a group or two with others. Sorted by rank it lies in one piece. So ranks are
// given along the groups that share classes:
//
//   groups         a a   a b   c c   b d
//   first seen     a b c d     b is taken apart from d, with which it has a group
//   ranks          a b d c     from a group to those with which it shares a class
//
//   1. Groups are taken in their order, each once.
//   2. A group gives ranks to those of its classes that have none: first those
//      that no group still to come has.
//   3. Then come the groups with which it shares a class, that with the last
//      rank first; then those they share one with.
//
// Limitation: pieces of the sorted launch do not end where groups do, so that
// each but the last may share a group with the next. With many classes of few
// threads that is worth some percent (GroupingsTest.cpp); the more threads a
// launch has, the less.
//
//===----------------------------------------------------------------------===//

#include "model/ClassRanks.h"

#include "model/Groupings.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

using llvm::ArrayRef;

namespace reconverge::model {

static std::vector<uint32_t> classOfEach(const ThreadVectors &V) {
  std::vector<uint32_t> Classes;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    llvm::append_range(Classes, B.ClassOf);
  return Classes;
}

namespace {
class Walk {
public:
  Walk(const ThreadVectors &Sample, ThreadOrder Grouped, unsigned GroupSize);
  ClassRanks ranks();

private:
  void visit(size_t Group);
  /// How many groups to come have it.
  size_t toCome(uint32_t Class) const {
    return llvm::count_if(GroupsOf[Class], [&](size_t G) { return !Seen[G]; });
  }

  static constexpr uint32_t None = std::numeric_limits<uint32_t>::max();
  std::vector<std::vector<uint32_t>> Groups; ///< the classes of each, ascending
  std::vector<std::vector<size_t>>
      GroupsOf; ///< of each class, if more are in it
  std::vector<bool> Seen;
  std::vector<size_t> Next; ///< groups to take, the first at the end
  ClassRanks Ranks;
  uint32_t Given = 0;
};
} // namespace

Walk::Walk(const ThreadVectors &Sample, ThreadOrder Grouped, unsigned GroupSize)
    : GroupsOf(Sample.Classes.size()), Ranks(Sample.Classes.size(), None) {
  const std::vector<uint32_t> ClassOf = classOfEach(Sample);
  assert(Grouped.size() == ClassOf.size() && "a place for each thread");
  while (!Grouped.empty()) {
    std::vector<uint32_t> Classes;
    for (uint32_t Thread : Grouped.take_front(GroupSize))
      Classes.push_back(ClassOf[Thread]);
    Grouped = Grouped.drop_front(std::min<size_t>(GroupSize, Grouped.size()));
    llvm::sort(Classes);
    Classes.erase(llvm::unique(Classes), Classes.end());
    if (Classes.size() > 1)
      for (uint32_t Class : Classes)
        GroupsOf[Class].push_back(Groups.size());
    Groups.push_back(std::move(Classes));
  }
  Seen.resize(Groups.size());
}

void Walk::visit(size_t Group) {
  Seen[Group] = true;
  std::vector<uint32_t> Classes = Groups[Group];
  llvm::sort(Classes, [&](uint32_t A, uint32_t B) {
    return std::pair(toCome(A), A) < std::pair(toCome(B), B);
  });
  for (uint32_t Class : Classes) {
    if (Ranks[Class] == None)
      Ranks[Class] = Given++;
    for (size_t G : llvm::reverse(GroupsOf[Class]))
      Next.push_back(G);
  }
}

ClassRanks Walk::ranks() {
  for (size_t First = 0; First != Groups.size(); ++First)
    for (Next = {First}; !Next.empty();) {
      const size_t Group = Next.back();
      Next.pop_back();
      if (!Seen[Group])
        visit(Group);
    }
  assert(Given == Ranks.size() && "each class has threads");
  return std::move(Ranks);
}

ClassRanks classRanks(const ThreadVectors &Sample, ThreadOrder Grouped,
                      unsigned GroupSize) {
  assert(GroupSize && "a group has threads");
  return Walk(Sample, Grouped, GroupSize).ranks();
}

uint32_t nearestClass(const ThreadVectors &Sample, ArrayRef<uint32_t> Vector,
                      ArrayRef<double> Latency) {
  assert(!Sample.Classes.empty() && "one is the nearest");
  const auto Gain = [&](uint32_t Class) {
    return gainTogether(Sample.Classes[Class], Vector, Latency);
  };
  uint32_t Best = 0;
  double Most = Gain(0);
  for (uint32_t Class = 1; Class != Sample.Classes.size(); ++Class)
    if (const double This = Gain(Class); This > Most) {
      Most = This;
      Best = Class;
    }
  return Best;
}

std::vector<uint32_t> orderByRank(const ThreadVectors &V,
                                  ArrayRef<uint32_t> RankOf, size_t Ranks) {
  assert(RankOf.size() == V.Classes.size() && "a rank for each class");
  const std::vector<uint32_t> ClassOf = classOfEach(V);
  std::vector<size_t> Next(Ranks + 1); // place of each rank's next thread
  for (uint32_t Class : ClassOf)
    ++Next[RankOf[Class] + 1];
  std::partial_sum(Next.begin(), Next.end(), Next.begin());
  std::vector<uint32_t> Order(ClassOf.size());
  for (uint32_t Thread = 0; Thread != Order.size(); ++Thread)
    Order[Next[RankOf[ClassOf[Thread]]]++] = Thread;
  return Order;
}

} // namespace reconverge::model
