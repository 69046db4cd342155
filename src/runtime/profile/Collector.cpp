//===- runtime/profile/Collector.cpp - Launches to a Profile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is static about a kernel is computed at its first launch; each launch
// then adds its counts. The executor counts every numbered branch, KernelInfo
// lists those that analysis calls divergent: they are matched by Id. A branch
// that analysis calls uniform and that split all the same is a fault of ours or
// a race of the program's; it is said in a note, never dropped in silence.
//
// Counts that cannot be (core/ProfileChecks.h) come from hardware whose warps
// run in pieces where a probe expects them whole. They cost what they are of:
// a branch its row; a kernel, if they are a block's, all it has; the sample of
// block vectors itself. A note says so. Whoever reads a profile refuses one
// with such counts.
//
//===----------------------------------------------------------------------===//

#include "runtime/profile/Collector.h"
#include "runtime/profile/OrderMaker.h"
#include "runtime/profile/VectorSample.h"

#include "analysis/Numbering.h"
#include "core/ProfileChecks.h"
#include "model/Slots.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"

#include <algorithm>
#include <cassert>
#include <set>

using namespace llvm;

namespace reconverge::runtime {

/// Launch shapes kept; a program may have as many as launches.
static constexpr size_t MaxShapes = 8;

struct Collector::Entry {
  KernelProfile Profile;
  std::vector<double> Slots;         ///< issue slots a block
  std::vector<int64_t> BranchAt;     ///< executor's position -> ours, or -1
  std::vector<uint8_t> SplitAnyway;  ///< uniform by analysis, yet it split
  std::optional<uint32_t> Traced;    ///< position in the trace's kernels
  std::string Impossible;            ///< why its counts cannot be, or empty
  std::vector<StringRef> OfBranches; ///< the same, parallel to Info.Branches
  std::set<uint64_t> Ordered;        ///< threads of launches that have orders
};

LaunchRecord::LaunchRecord() = default;
LaunchRecord::~LaunchRecord() = default;

VectorObserver *LaunchRecord::observer() const {
  return Maker ? static_cast<VectorObserver *>(Maker.get()) : Sample.get();
}

Collector::Collector(analysis::MachineModel Machine, unsigned WarpSize)
    : Machine(std::move(Machine)), WarpSize(WarpSize) {}
Collector::~Collector() = default;

std::unique_ptr<LaunchRecord> Collector::begin(Function &Kernel,
                                               StringRef ModuleHash,
                                               const LaunchShape &Shape,
                                               const void *Stream) {
  auto [At, IsNew] = Index.try_emplace(
      (ModuleHash + ":" + Kernel.getName()).str(), Kernels.size());
  if (IsNew) {
    auto New = std::make_unique<Entry>();
    KernelProfile &P = New->Profile;
    P.Info = analysis::describeKernel(Kernel, Machine, ModuleHash);
    P.WarpSize = WarpSize;
    P.Blocks.resize(P.Info.Blocks.size());
    DenseMap<uint32_t, size_t> ById;
    for (auto [I, Branch] : enumerate(P.Info.Branches)) {
      P.Branches.emplace_back().LanesTo.resize(Branch.Successors.size());
      ById[Branch.Id] = I;
    }
    for (uint32_t Id : analysis::numbersOf(Kernel).Branches) {
      auto Found = ById.find(Id);
      New->BranchAt.push_back(Found == ById.end() ? -1
                                                  : int64_t(Found->second));
    }
    New->SplitAnyway.resize(New->BranchAt.size());
    New->OfBranches.resize(P.Branches.size());
    New->Slots = model::slotsOf(P.Info);
    Kernels.push_back(std::move(New));
  }

  std::unique_ptr<LaunchRecord> Record(new LaunchRecord);
  Record->Kernel = At->second;
  Record->Shape = Shape;
  Record->Stream = Stream;
  Entry &E = *Kernels[At->second];
  Record->Number = E.Profile.Launches + 1;
  if (isSampledLaunch(Record->Number))
    Record->Sample = std::make_unique<VectorSample>(Shape, E.Slots, WarpSize);
  if (!OrdersTo.empty() && E.Ordered.insert(Shape.threads()).second)
    Record->Maker = std::make_unique<OrderMaker>(Shape, E.Slots.size(),
                                                 Record->Sample.get());
  return Record;
}

void Collector::setNeeds(const LaunchRecord &Record, uint32_t Registers,
                         uint64_t StaticShared) {
  KernelInfo &Info = Kernels[Record.Kernel]->Profile.Info;
  Info.Registers = Registers;
  Info.StaticShared = StaticShared;
}

/// The position of \p What in \p List, to whose end it goes if it is new.
template <typename T>
static uint32_t positionIn(std::vector<T> &List, const T &What) {
  auto Found = find(List, What);
  if (Found == List.end())
    Found = List.insert(Found, What);
  return uint32_t(Found - List.begin());
}

void Collector::trace(Entry &E, const LaunchRecord &Record) {
  if (Trace.Launches.size() >= LaunchTrace::MaxLaunches) {
    ++Trace.More;
    return;
  }
  if (!E.Traced) {
    E.Traced = uint32_t(Trace.Kernels.size());
    Trace.Kernels.push_back({E.Profile.Info.Name, E.Profile.Info.Module});
  }
  uint32_t Stream = 0;
  if (Record.Stream)
    Stream =
        Streams.try_emplace(Record.Stream, Streams.size() + 1).first->second;
  Trace.Launches.push_back(
      {*E.Traced, positionIn(Trace.Shapes, Record.Shape), Stream});
}

/// Faults kept of a kernel.
static constexpr size_t MaxFaults = 4;

static void addTo(OrderTrials &Sum, OrderTrials More) {
  Sum.Orders = std::max(Sum.Orders, More.Orders);
  Sum.Launches += More.Launches;
  Sum.Untried += More.Untried;
  Sum.Differing += More.Differing;
  Sum.Bytes = std::max(Sum.Bytes, More.Bytes);
  Sum.FaultyRuns += More.FaultyRuns;
  if (!Sum.First)
    Sum.First = std::move(More.First);
  for (OrderFault &F : More.Faults)
    if (Sum.Faults.size() < MaxFaults)
      Sum.Faults.push_back(std::move(F));
}

/// Why a launch cannot have these counts, or nothing.
template <typename Counts>
static StringRef impossible(const Counts &C, uint32_t WarpSize) {
  return anyNegative(C) ? StringRef("it has a negative count")
                        : StringRef(faultOf(C, WarpSize));
}

/// Keeps the vectors of the sampled launch that has the most, of those the
/// first.
static void keepVectors(KernelProfile &P, const VectorSample &Sample,
                        uint64_t Launch) {
  const ThreadVectors &Had = P.Vectors;
  if (Had.Launch &&
      Sample.keptThreads() <= Had.Blocks.size() * Had.Shape.blockThreads())
    return;
  ThreadVectors New = Sample.threadVectors();
  if (New.Blocks.size() * New.Shape.blockThreads() <=
      Had.Blocks.size() * Had.Shape.blockThreads())
    return;
  New.Launch = Launch;
  P.Vectors = std::move(New);
}

void Collector::finish(std::unique_ptr<LaunchRecord> Record,
                       const LaunchCounts &Counts) {
  Entry &E = *Kernels[Record->Kernel];
  KernelProfile &P = E.Profile;
  assert(Counts.Blocks.size() == P.Blocks.size() &&
         Counts.Branches.size() == E.BranchAt.size() &&
         "positions are those of numbersOf");

  ++P.Launches;
  P.Threads += Record->Shape.threads();
  P.WarpsRun += Counts.Warps;
  // Pieces of a warp that leave apart may each say that it diverged.
  P.DivergentWarps += std::min(Counts.DivergentWarps, Counts.Warps);
  P.Seconds += Counts.Seconds;
  if (P.Shapes.size() < MaxShapes && !is_contained(P.Shapes, Record->Shape))
    P.Shapes.push_back(Record->Shape);
  for (const BlockCounts &C : Counts.Blocks)
    if (StringRef Fault = impossible(C, P.WarpSize); !Fault.empty())
      E.Impossible = Fault.str();
  for (auto [Sum, More] : zip(P.Blocks, Counts.Blocks)) {
    Sum.Warps += More.Warps;
    Sum.Lanes += More.Lanes;
    Sum.PartialIdle += More.PartialIdle;
    Sum.ExitedIdle += More.ExitedIdle;
  }
  for (auto [At, Anyway, More] :
       zip(E.BranchAt, E.SplitAnyway, Counts.Branches)) {
    if (At < 0) {
      Anyway |= More.Splits != 0;
      continue;
    }
    StringRef Fault = impossible(More, P.WarpSize);
    if (Fault.empty())
      Fault = faultOf(More, Counts.Blocks[P.Info.Branches[At].Block]);
    if (!Fault.empty())
      E.OfBranches[At] = Fault;
    BranchCounts &Sum = P.Branches[At];
    Sum.Warps += More.Warps;
    Sum.Splits += More.Splits;
    for (auto [To, Lanes] : zip(Sum.LanesTo, More.LanesTo))
      To += Lanes;
  }
  assert((Counts.Accesses.empty() ||
          Counts.Accesses.size() == P.Info.Accesses.size()) &&
         "positions are those of numbersOf");
  P.Accesses.resize(std::max(P.Accesses.size(), Counts.Accesses.size()));
  for (auto [Sum, More] : zip(P.Accesses, Counts.Accesses))
    Sum += More;
  P.Touched += Counts.Touched;
  if (Record->Sample) {
    Record->Sample->addTo(P.Regrouped);
    keepVectors(P, *Record->Sample, Record->Number);
  }
  if (Record->Maker)
    if (Error Failed = Record->Maker->write(
            OrdersTo, P.Info, P.WarpSize, Record->Number,
            Machine.limits() ? &*Machine.limits() : nullptr))
      OrderFaults.push_back(toString(std::move(Failed)));
  trace(E, *Record);
  addTo(P.Orders, std::move(Record->Orders));
  addTo(P.Races, std::move(Record->Races), Record->number());
}

/// Takes out of the profile of \p E what cannot be. False if nothing is left.
bool Collector::dropImpossible(Entry &E, std::vector<std::string> &Notes) {
  KernelProfile &P = E.Profile;
  if (!E.Impossible.empty()) {
    Notes.push_back(P.Info.Display +
                    ": not in the table, since its counts "
                    "cannot be: " +
                    E.Impossible);
    return false;
  }
  for (size_t B = P.Branches.size(); B-- > 0;) {
    if (E.OfBranches[B].empty())
      continue;
    std::string Place;
    if (const SourceChain &Where = P.Info.Branches[B].Where; !Where.empty())
      Place = " at " + Where.front().File + ":" +
              std::to_string(Where.front().Line);
    Notes.push_back(P.Info.Display + ": a branch" + Place +
                    " is not in the table, since its counts cannot be: " +
                    E.OfBranches[B].str());
    P.Info.Branches.erase(P.Info.Branches.begin() + B);
    P.Branches.erase(P.Branches.begin() + B);
  }
  if (StringRef Fault = faultOf(P.Regrouped, P.Blocks.size(), P.WarpSize);
      !Fault.empty()) {
    Notes.push_back(P.Info.Display +
                    ": its block vectors are left out, since "
                    "their counts cannot be: " +
                    Fault.str());
    P.Regrouped = {};
    P.Vectors = {};
  }
  return true;
}

Profile Collector::take() {
  Profile Result;
  Result.Machine = Machine.name();
  for (std::unique_ptr<Entry> &E : Kernels) {
    // A kernel whose every launch failed has nothing to say.
    if (E->Profile.Launches == 0)
      continue;
    if (auto Split = llvm::count(E->SplitAnyway, 1))
      Result.Notes.push_back(
          (E->Profile.Info.Display + ": " + Twine(Split) +
           " branch(es) that analysis calls uniform split warps; they are not "
           "in the table")
              .str());
    if (dropImpossible(*E, Result.Notes))
      Result.Kernels.push_back(std::move(E->Profile));
  }
  llvm::append_range(Result.Notes, std::exchange(OrderFaults, {}));
  Result.Trace = std::exchange(Trace, {});
  Kernels.clear();
  Index.clear();
  Streams.clear();
  return Result;
}

} // namespace reconverge::runtime
