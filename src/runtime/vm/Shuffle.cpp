//===- runtime/vm/Shuffle.cpp - The same launch in other orders -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run in the natural order: memory before and after is kept
//   for each seed 1..N:  from the memory before, run in the seed's order
//                        (warpvm/run/Order.h); compare every byte with the result
//   memory := result
//
// This is the first half of a trial (trial/Protocol.cpp), without candidates.
// So each launch is judged by itself, from the same state as in a plain run,
// and what it passes on is what a plain run would have passed on. A fault in
// one of the other orders is a finding like a differing byte: it is the order's
// doing, as the natural one went through.
//
// What this shows is sound in one direction only: bytes that differ do depend
// on the order (or on a clock that the kernel reads); bytes that never differed
// may still do so in an order that was not tried.
//
// Limitation: only what DeviceMemory knows is compared. Host threads that write
// managed or pinned memory while a launch is tried are taken for the kernel.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Shuffle.h"

#include "analysis/device/LibraryCalls.h"
#include "runtime/trial/Protocol.h"
#include "runtime/trial/Values.h"
#include "runtime/vm/Engine.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Demangle/Demangle.h"

#include <bit>

using namespace llvm;

namespace reconverge::runtime {

/// Launches of a kernel that are all repeated; after these, each whose number
/// is a power of two.
static constexpr uint64_t FirstLaunches = 16;
/// Faults that are kept of a launch; the others are most likely the same.
static constexpr size_t MostFaults = 4;

bool isShuffledLaunch(uint64_t Number) {
  return Number <= FirstLaunches || std::has_single_bit(Number);
}

//===----------------------------------------------------------------------===//
// What differs
//===----------------------------------------------------------------------===//

namespace {
/// The bytes of one launch's result that came out differently in some order.
class Differences {
public:
  Differences(const Function &Kernel) : Kernel(Kernel) {}

  /// A page as the natural order left it, and after order \p Seed.
  void add(uint64_t Seed, const MemoryPage &In, ArrayRef<uint8_t> Natural,
           ArrayRef<uint8_t> Other) {
    BitVector &Seen = Pages[In.Base + In.Offset];
    Seen.resize(Natural.size());
    for (size_t I = 0; I != Natural.size(); ++I) {
      if (Natural[I] == Other[I])
        continue;
      if (!First)
        describe(Seed, In, Natural, Other, I);
      Bytes += !Seen.test(I);
      Seen.set(I);
    }
  }

  uint64_t bytes() const { return Bytes; }
  const std::optional<OrderDifference> &first() const { return First; }

private:
  void describe(uint64_t Seed, const MemoryPage &In, ArrayRef<uint8_t> Natural,
                ArrayRef<uint8_t> Other, size_t At);

  const Function &Kernel;
  DenseMap<uint64_t, BitVector> Pages; ///< by address
  uint64_t Bytes = 0;
  std::optional<OrderDifference> First;
};
} // namespace

/// The value around byte \p At, of the first type that fits both.
void Differences::describe(uint64_t Seed, const MemoryPage &In,
                           ArrayRef<uint8_t> Natural, ArrayRef<uint8_t> Other,
                           size_t At) {
  First.emplace();
  First->Order = Seed;
  First->Memory = In.Name();
  if (auto Value = valueAt(writtenTypes(Kernel), In.Base + In.Offset + At,
                           Natural, Other, At)) {
    First->Offset = In.Offset + Value->Begin;
    First->Type = Value->TypeName;
    First->Natural = textOf(Value->Type, &Natural[Value->Begin]);
    First->Other = textOf(Value->Type, &Other[Value->Begin]);
    return;
  }
  First->Offset = In.Offset + At;
  First->Type = "byte";
  First->Natural = std::to_string(Natural[At]);
  First->Other = std::to_string(Other[At]);
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

/// Whether kernels of this program may take or free memory themselves. What a
/// repeated launch freed could not be given back.
static bool usesHeap(const Module &M) {
  return any_of(M, [](const Function &F) {
    const analysis::LibraryCall Call = analysis::libraryCall(&F);
    return !F.use_empty() && (Call == analysis::LibraryCall::Allocate ||
                              Call == analysis::LibraryCall::Free);
  });
}

namespace {
/// The launch while its orders are tried. Whoever measures times with events
/// sees none of that: the clock runs in the natural run alone.
class ShuffleBench : public OnVm<OriginalBench> {
public:
  using OnVm::OnVm;

  Error takeBefore() override {
    StoppedClock Briefly;
    return OnVm::takeBefore();
  }
  Error takeAfter() override {
    Still.emplace();
    return OnVm::takeAfter();
  }
  uint64_t budget() const { return Memory.budget(); }

private:
  std::optional<StoppedClock> Still; ///< to the end
};
} // namespace

/// Runs the other orders of launch \p Number of its kernel. False if one of
/// them could not be run at all.
static bool tryOrders(ShuffleBench &On, uint32_t Orders, uint64_t Number,
                      function_ref<void(const Twine &)> Refuse,
                      Differences &Seen, OrderTrials &Found) {
  for (uint64_t Seed = 1; Seed <= Orders; ++Seed) {
    RunOptions How;
    How.Order = Seed;
    const RunEnd End =
        runAgain(On, How,
                 [&](const MemoryPage &In, ArrayRef<uint8_t> Natural,
                     ArrayRef<uint8_t> Other) {
                   Seen.add(Seed, In, Natural, Other);
                   return NextPage::Page;
                 });
    if (End.How == RunEnd::Refused) {
      Refuse(End.Why);
      return false;
    }
    if (End.isWell())
      continue;
    if (Found.Faults.size() < MostFaults)
      Found.Faults.push_back({Number, Seed, End.Why});
    ++Found.FaultyRuns;
  }
  return true;
}

Error launchInAllOrders(const RepeatedLaunch &L, uint64_t Number,
                        const ShuffleOptions &Options,
                        function_ref<Error()> Natural,
                        function_ref<void(const Twine &)> Refuse,
                        OrderTrials &Found) {
  auto LeaveUntried = [&](const Twine &Why) {
    Refuse("the order of " + demangle(L.Kernel.name()) +
           " is not tried: " + Why);
    Found.Untried = 1;
  };
  if (usesHeap(*L.Kernel.function().getParent())) {
    LeaveUntried("kernels of its file call malloc() or free()");
    return Natural();
  }
  ShuffleBench Bench(L, Natural, Options.Budget);
  RunEnd Ran;
  if (!runNatural(Bench, Ran, [&](const Twine &) {
        LeaveUntried("snapshots of device memory would take more than " +
                     Twine(Bench.budget() >> 20) +
                     " MiB (RECONVERGE_VM=snapshots=... allows "
                     "more)");
      }))
    return Bench.takeResult();
  Differences Seen(L.Kernel.function());
  OrderTrials Here;
  if (tryOrders(Bench, Options.Orders, Number, LeaveUntried, Seen, Here)) {
    Found = std::move(Here);
    Found.Orders = Options.Orders;
    Found.Launches = 1;
    Found.Differing = Seen.bytes() != 0;
    Found.Bytes = Seen.bytes();
    Found.First = Seen.first();
    if (Found.First)
      Found.First->Launch = Number;
  }
  Bench.restoreAfter();
  return Bench.takeResult();
}

} // namespace reconverge::runtime
