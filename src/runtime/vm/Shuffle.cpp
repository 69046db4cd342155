//===- runtime/vm/Shuffle.cpp - The same launch in other orders -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   before := memory
//   run in the natural order; result := memory
//   for each seed 1..N:  memory := before
//                        run in the seed's order (warpvm/Order.h)
//                        compare every byte of memory with the result
//   memory := result
//
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
#include "runtime/trial/Values.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Snapshot.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Demangle/Demangle.h"

#include <bit>

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;

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

  /// A page after order \p Seed, and as the natural order left it.
  void add(uint64_t Seed, const Allocation &In, uint64_t Offset,
           ArrayRef<uint8_t> Natural, ArrayRef<uint8_t> Other) {
    BitVector &Seen = Pages[In.Base + Offset];
    Seen.resize(Natural.size());
    for (size_t I = 0; I != Natural.size(); ++I) {
      if (Natural[I] == Other[I])
        continue;
      if (!First)
        describe(Seed, In, Offset, Natural, Other, I);
      Bytes += !Seen.test(I);
      Seen.set(I);
    }
  }

  uint64_t bytes() const { return Bytes; }
  const std::optional<OrderDifference> &first() const { return First; }

private:
  void describe(uint64_t Seed, const Allocation &In, uint64_t Offset,
                ArrayRef<uint8_t> Natural, ArrayRef<uint8_t> Other, size_t At);

  const Function &Kernel;
  DenseMap<uint64_t, BitVector> Pages; ///< by address
  uint64_t Bytes = 0;
  std::optional<OrderDifference> First;
};
} // namespace

/// The value around byte \p At, of the first type that fits both.
void Differences::describe(uint64_t Seed, const Allocation &In, uint64_t Offset,
                           ArrayRef<uint8_t> Natural, ArrayRef<uint8_t> Other,
                           size_t At) {
  First.emplace();
  First->Order = Seed;
  First->Memory = nameOf(In);
  if (auto Value = valueAt(writtenTypes(Kernel), In.Base + Offset + At, Natural,
                           Other, At)) {
    First->Offset = Offset + Value->Begin;
    First->Type = Value->TypeName;
    First->Natural = textOf(Value->Type, &Natural[Value->Begin]);
    First->Other = textOf(Value->Type, &Other[Value->Begin]);
    return;
  }
  First->Offset = Offset + At;
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

static uint64_t budgetOf(const ShuffleOptions &Options) {
  return Options.Budget ? Options.Budget : DeviceMemory::defaultCapacity() / 3;
}

/// Runs the other orders. False if one of them could not be run at all.
static bool tryOrders(const ShuffledLaunch &L, uint32_t Orders,
                      const MemorySnapshot &Before, const MemorySnapshot &After,
                      function_ref<void(const Twine &)> Refuse,
                      Differences &Seen, OrderTrials &Found) {
  for (uint64_t Seed = 1; Seed <= Orders; ++Seed) {
    Before.restore();
    Error Failed = L.On.launchInOrder(Seed, L.Kernel, L.Shape, L.Args);
    if (!Failed) {
      After.differences([&](const Allocation &In, uint64_t Offset,
                            ArrayRef<uint8_t> Natural,
                            ArrayRef<uint8_t> Other) {
        Seen.add(Seed, In, Offset, Natural, Other);
      });
      continue;
    }
    bool WasRun = true;
    handleAllErrors(
        std::move(Failed),
        [&](const warpvm::FaultError &E) {
          if (Found.Faults.size() < MostFaults)
            Found.Faults.push_back({L.Number, Seed, E.message()});
          ++Found.FaultyRuns;
        },
        [&](const ErrorInfoBase &E) {
          Refuse("the order of " + demangle(L.Kernel.name()) +
                 " is not tried: " + E.message());
          WasRun = false;
        });
    if (!WasRun)
      return false;
  }
  return true;
}

Error launchInAllOrders(const ShuffledLaunch &L, const ShuffleOptions &Options,
                        function_ref<Error()> Natural,
                        function_ref<void(const Twine &)> Refuse,
                        OrderTrials &Found) {
  if (usesHeap(*L.Kernel.function().getParent())) {
    Refuse("the order of " + demangle(L.Kernel.name()) +
           " is not tried: kernels of its file call malloc() or free()");
    Found.Untried = 1;
    return Natural();
  }
  const DeviceMemory &Memory = DeviceMemory::instance();
  const uint64_t Budget = budgetOf(Options);
  auto TooLarge = [&] {
    Refuse("the order of " + demangle(L.Kernel.name()) +
           " is not tried: snapshots of device memory would take more than " +
           Twine(Budget >> 20) +
           " MiB (RECONVERGE_VM=snapshots=... allows "
           "more)");
    Found.Untried = 1;
  };
  // Whoever measures times with events sees none of this.
  std::optional<StoppedClock> Still(std::in_place);
  std::optional<MemorySnapshot> Before = MemorySnapshot::take(Memory, Budget);
  Still.reset();
  if (Error Failed = Natural())
    return Failed;
  Still.emplace();
  if (!Before) {
    TooLarge();
    return Error::success();
  }
  std::optional<MemorySnapshot> After =
      MemorySnapshot::take(Memory, Budget - Before->bytes(), &*Before);
  if (!After) {
    TooLarge();
    return Error::success();
  }
  Differences Seen(L.Kernel.function());
  OrderTrials Here;
  if (tryOrders(L, Options.Orders, *Before, *After, Refuse, Seen, Here)) {
    Found = std::move(Here);
    Found.Orders = Options.Orders;
    Found.Launches = 1;
    Found.Differing = Seen.bytes() != 0;
    Found.Bytes = Seen.bytes();
    Found.First = Seen.first();
    if (Found.First)
      Found.First->Launch = L.Number;
  } else {
    Found.Untried = 1;
  }
  After->restore();
  return Error::success();
}

} // namespace reconverge::runtime
