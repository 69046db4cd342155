//===- model/Groupings.cpp - Threads put together by what they do ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Y. Liang, M. T. Satria, K. Rupnow, D. Chen, "An Accurate GPU Performance Model
// for Effective Control Flow Divergence Optimization", section V. With Min and
// Max of a group the least and most that one of its threads runs a block,
//
//   Benefit(g, h) = sum over b of lat[b] Min of both together              (8)
//   Cost(g, h)    = sum over b of lat[b] (Max - Min of both together)      (9)
//   Gain          = Benefit - Cost = sum over b of lat[b] (2 Min - Max)   (10)
//
// The paper's algorithms work on threads. These work on classes of threads with
// equal vectors, and come to the same groups:
//
//   Two threads of class c gain Lat(c) = sum of lat[b] BBV(c)[b] together, and no
//   group with a thread of c in it gains more by any merge: 2 Min - Max <= Min <=
//   BBV(c)[b] for each b. So Greedy merges all threads of a class before one of
//   them meets another class, and Greedy-Max takes equal threads first by its
//   definition. What Greedy then merges is one group for each class, of the
//   threads that filled no group.
//
// What the paper leaves open: ties, the threads that stay behind where two groups
// are more than one (here the last of the group that takes less time, so that
// what is left costs little and the numbers of threads decide nothing), and the
// order of Greedy's groups, which it says is not by latency (here that of their
// first threads).
//
// Limitation: where a thread block is no multiple of a group, groups and warps
// are not the same threads.
//
//===----------------------------------------------------------------------===//

#include "model/Groupings.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

using llvm::ArrayRef;

namespace reconverge::model {

namespace {
/// The threads of each class, ascending.
using Members = std::vector<std::vector<uint32_t>>;

/// What the threads of a group have in common, and what they do together.
struct Envelope {
  std::vector<uint32_t> Min, Max;
  explicit Envelope(ArrayRef<uint32_t> Vector)
      : Min(Vector.vec()), Max(Vector.vec()) {}
  void add(const Envelope &Other) {
    for (size_t B = 0; B != Min.size(); ++B) {
      Min[B] = std::min(Min[B], Other.Min[B]);
      Max[B] = std::max(Max[B], Other.Max[B]);
    }
  }
};
} // namespace

static double gain(const Envelope &G, const Envelope &H,
                   ArrayRef<double> Latency) {
  double Sum = 0;
  for (size_t B = 0; B != Latency.size(); ++B)
    Sum += Latency[B] *
           (2.0 * std::min(G.Min[B], H.Min[B]) - std::max(G.Max[B], H.Max[B]));
  return Sum;
}

double gainTogether(ArrayRef<uint32_t> A, ArrayRef<uint32_t> B,
                    ArrayRef<double> Latency) {
  double Sum = 0;
  for (size_t I = 0; I != Latency.size(); ++I)
    Sum += Latency[I] * (2.0 * std::min(A[I], B[I]) - std::max(A[I], B[I]));
  return Sum;
}

static Members membersOf(const ThreadVectors &V) {
  Members Of(V.Classes.size());
  uint32_t Thread = 0;
  for (const ThreadVectors::ThreadBlock &B : V.Blocks)
    for (uint32_t Class : B.ClassOf)
      Of[Class].push_back(Thread++);
  return Of;
}

std::vector<uint32_t> sorted(const ThreadVectors &V) {
  std::vector<uint32_t> Classes(V.Classes.size());
  std::iota(Classes.begin(), Classes.end(), 0);
  llvm::sort(Classes, [&](uint32_t A, uint32_t B) {
    return std::tie(V.Classes[A], A) < std::tie(V.Classes[B], B);
  });
  const Members Of = membersOf(V);
  std::vector<uint32_t> Order;
  for (uint32_t Class : Classes)
    llvm::append_range(Order, Of[Class]);
  return Order;
}

//===----------------------------------------------------------------------===//
// Greedy
//===----------------------------------------------------------------------===//

namespace {
struct Group {
  std::vector<uint32_t> Threads, Classes; ///< parallel
  Envelope Of;
  bool IsOpen = true;
  // The later group with which it gains most.
  double Most = 0;
  size_t Partner = None;

  static constexpr size_t None = std::numeric_limits<size_t>::max();
};

class Greedy {
public:
  Greedy(const ThreadVectors &V, ArrayRef<double> Latency, unsigned GroupSize);
  std::vector<uint32_t> order();

private:
  void open(Group G);
  void consider(Group &G, size_t Later);
  void findPartner(size_t G);
  size_t best() const;
  double timeOf(const Envelope &Of) const {
    return std::inner_product(Of.Max.begin(), Of.Max.end(), Latency.begin(),
                              0.0);
  }
  Group merge(const Group &A, const Group &B);

  const ThreadVectors &V;
  const ArrayRef<double> Latency;
  const unsigned GroupSize;
  std::vector<Group> Groups; ///< those still open among them
  std::vector<std::vector<uint32_t>> Full;
};
} // namespace

Greedy::Greedy(const ThreadVectors &V, ArrayRef<double> Latency,
               unsigned GroupSize)
    : V(V), Latency(Latency), GroupSize(GroupSize) {
  for (auto [Class, Threads] : llvm::enumerate(membersOf(V))) {
    ArrayRef<uint32_t> Rest = Threads;
    for (; Rest.size() >= GroupSize; Rest = Rest.drop_front(GroupSize))
      Full.push_back(Rest.take_front(GroupSize).vec());
    if (!Rest.empty())
      Groups.push_back({Rest.vec(),
                        std::vector<uint32_t>(Rest.size(), uint32_t(Class)),
                        Envelope(V.Classes[Class])});
  }
  for (size_t G = 0; G != Groups.size(); ++G)
    findPartner(G);
}

void Greedy::consider(Group &G, size_t Later) {
  const double Gain = gain(G.Of, Groups[Later].Of, Latency);
  if (G.Partner == Group::None || Gain > G.Most) {
    G.Most = Gain;
    G.Partner = Later;
  }
}

void Greedy::findPartner(size_t G) {
  Groups[G].Partner = Group::None;
  for (size_t Later = G + 1; Later != Groups.size(); ++Later)
    if (Groups[Later].IsOpen)
      consider(Groups[G], Later);
}

/// The open group that gains most by its partner; None if there is one at most.
size_t Greedy::best() const {
  size_t Best = Group::None;
  for (size_t G = 0; G != Groups.size(); ++G)
    if (Groups[G].IsOpen && Groups[G].Partner != Group::None &&
        (Best == Group::None || Groups[G].Most > Groups[Best].Most))
      Best = G;
  return Best;
}

/// What stays open of both together; no threads if they just fill a group.
Group Greedy::merge(const Group &A, const Group &B) {
  Group Both = A;
  llvm::append_range(Both.Threads, B.Threads);
  llvm::append_range(Both.Classes, B.Classes);
  Both.Of.add(B.Of);
  if (Both.Threads.size() < GroupSize)
    return Both;
  const auto Cut = [&](std::vector<uint32_t> &List) {
    List.erase(List.begin(), List.begin() + GroupSize);
  };
  Full.push_back({Both.Threads.begin(), Both.Threads.begin() + GroupSize});
  Cut(Both.Threads);
  Cut(Both.Classes);
  for (auto [I, Class] : llvm::enumerate(Both.Classes)) {
    const Envelope One(V.Classes[Class]);
    if (I == 0)
      Both.Of = One;
    else
      Both.Of.add(One);
  }
  return Both;
}

void Greedy::open(Group G) {
  G.IsOpen = true;
  G.Partner = Group::None;
  Groups.push_back(std::move(G));
  const size_t New = Groups.size() - 1;
  for (size_t I = 0; I != New; ++I)
    if (Groups[I].IsOpen)
      consider(Groups[I], New);
}

std::vector<uint32_t> Greedy::order() {
  for (size_t A = best(); A != Group::None; A = best()) {
    const size_t B = Groups[A].Partner;
    Groups[A].IsOpen = Groups[B].IsOpen = false;
    const bool Later = timeOf(Groups[B].Of) > timeOf(Groups[A].Of);
    Group Left = merge(Groups[Later ? B : A], Groups[Later ? A : B]);
    for (size_t I = 0; I != Groups.size(); ++I)
      if (Groups[I].IsOpen &&
          (Groups[I].Partner == A || Groups[I].Partner == B))
        findPartner(I);
    if (!Left.Threads.empty())
      open(std::move(Left));
  }
  llvm::sort(Full, [](const auto &A, const auto &B) {
    return *std::ranges::min_element(A) < *std::ranges::min_element(B);
  });
  std::vector<uint32_t> Order;
  for (const std::vector<uint32_t> &Threads : Full)
    llvm::append_range(Order, Threads);
  for (const Group &G : Groups) // the last one
    if (G.IsOpen)
      llvm::append_range(Order, G.Threads);
  return Order;
}

std::vector<uint32_t> greedy(const ThreadVectors &V, ArrayRef<double> Latency,
                             unsigned GroupSize) {
  assert(GroupSize && "a group has threads");
  return Greedy(V, Latency, GroupSize).order();
}

//===----------------------------------------------------------------------===//
// Greedy-Max
//===----------------------------------------------------------------------===//

std::vector<uint32_t> greedyMax(const ThreadVectors &V,
                                ArrayRef<double> Latency, unsigned GroupSize) {
  assert(GroupSize && "a group has threads");
  const Members Of = membersOf(V);
  std::vector<Envelope> Each;
  std::vector<double> Time; // Lat_t (11)
  std::vector<ArrayRef<uint32_t>> Left(Of.begin(), Of.end());
  for (const std::vector<uint32_t> &Vector : V.Classes) {
    Each.emplace_back(Vector);
    Time.push_back(
        std::inner_product(Vector.begin(), Vector.end(), Latency.begin(), 0.0));
  }
  /// The class with threads left of which \p Value is greatest; of several that
  /// with the first thread. (All vectors between a group's Min and Max gain the
  /// same.)
  auto Greatest = [&](auto Value) {
    std::optional<size_t> Best;
    double Most = 0;
    for (size_t C = 0; C != Left.size(); ++C) {
      if (Left[C].empty())
        continue;
      const double This = Value(C);
      if (!Best || This > Most ||
          (This == Most && Left[C].front() < Left[*Best].front())) {
        Best = C;
        Most = This;
      }
    }
    return Best;
  };
  std::vector<uint32_t> Order;
  while (auto First = Greatest([&](size_t C) { return Time[C]; })) {
    Envelope G = Each[*First];
    size_t Room = GroupSize;
    auto Join = [&](size_t C) {
      ArrayRef<uint32_t> Joining =
          Left[C].take_front(std::min(Room, Left[C].size()));
      llvm::append_range(Order, Joining);
      Left[C] = Left[C].drop_front(Joining.size());
      Room -= Joining.size();
      G.add(Each[C]);
    };
    Join(*First);
    while (Room) {
      auto Next = Greatest([&](size_t C) { return gain(G, Each[C], Latency); });
      if (!Next)
        break;
      Join(*Next);
    }
  }
  return Order;
}

} // namespace reconverge::model
