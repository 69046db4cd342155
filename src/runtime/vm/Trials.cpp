//===- runtime/vm/Trials.cpp - Candidates on a program's launches ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   before := memory
//   run the original; result := memory
//   run it in other orders, each from before: bytes that come out otherwise
//                                             depend on the order
//   each candidate:  memory := before
//                    run it; compare every byte with the result
//   memory := result
//
// So the program goes on as if nothing had been tried. A candidate's fault
// comes back as an error here and not as a signal, and its loops have a limit:
// what all warps of the original did together. Each trial is logged before it
// begins all the same, in case it ends the process.
//
// Costs are issue slots by the machine file, from exact block counts; CPU time
// says nothing about a GPU's.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Trials.h"

#include "model/Slots.h"
#include "runtime/trial/Comparison.h"
#include "runtime/vm/Snapshot.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::FaultError;
using reconverge::warpvm::FaultKind;

namespace reconverge::runtime {

namespace {

/// Other code for one kernel.
struct CandidateCode {
  Candidate What;
  enum { Unbuilt, Ready, StruckOff } State = Unbuilt;
  std::string Hash; ///< of the bitcode: equal for equal code
  std::unique_ptr<warpvm::Program> Code;
  warpvm::Kernel *Kernel = nullptr; ///< of Code
  KernelInfo Info;
};

/// A kernel that the plan names.
struct TriedKernel {
  std::vector<CandidateCode> Candidates;
  LaunchChoice Choice;
  std::optional<KernelInfo> Info;
};

class TrialsImpl : public Trials {
public:
  TrialsImpl(TrialPlan Plan, analysis::MachineModel Costs, Remedies Apply,
             std::unique_ptr<TrialLog> Log)
      : Plan(std::move(Plan)), Costs(std::move(Costs)), Apply(std::move(Apply)),
        Log(std::move(Log)) {
    for (const TrialRequest &R : this->Plan.Kernels) {
      TriedKernel &K = Kernels[R.Module + "/" + R.Kernel];
      K.Choice = LaunchChoice(R.Launches);
      for (const Candidate &C : R.Candidates) {
        K.Candidates.emplace_back();
        K.Candidates.back().What = C;
      }
    }
  }

  Error launch(const TrialLaunch &L, function_ref<Error()> Natural,
               const LaunchCounts &Counts) override;

private:
  /// One launch while it is tried.
  struct Trial {
    const TrialLaunch &L;
    TriedKernel &K;
    const MemorySnapshot &Before, &After;
    OrderSpread Spread;
    uint64_t StepLimit;
    TrialEvent Event;    ///< what all events of the launch have in common
    std::string Unknown; ///< why no verdict can be given; empty: one can
  };

  void tryAll(Trial &T);
  void tryOrders(Trial &T);
  Error build(CandidateCode &C, const TriedKernel &K, const TrialLaunch &L);
  void tryOne(Trial &T, CandidateCode &C);

  TrialPlan Plan;
  analysis::MachineModel Costs;
  Remedies Apply;
  std::unique_ptr<TrialLog> Log;
  std::map<std::string, TriedKernel> Kernels; ///< module, '/', name
};

} // namespace

Expected<std::unique_ptr<Trials>> Trials::create(StringRef PlanFile,
                                                 analysis::MachineModel Costs,
                                                 Remedies Apply) {
  auto Plan = readTrialPlan(PlanFile);
  if (!Plan)
    return Plan.takeError();
  auto Log = TrialLog::open(Plan->Log);
  if (!Log)
    return Log.takeError();
  return std::make_unique<TrialsImpl>(std::move(*Plan), std::move(Costs),
                                      std::move(Apply), std::move(*Log));
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

/// Runs the original in other orders, and says in T.Unknown why nothing can be
/// told of its result if that is so.
void TrialsImpl::tryOrders(Trial &T) {
  for (uint64_t Seed = 1; Seed <= Plan.Orders; ++Seed) {
    T.Before.restore();
    if (Error Failed =
            T.L.On.launchInOrder(Seed, T.L.Kernel, T.L.Shape, T.L.Args)) {
      T.Unknown = "the original fails in another order of its threads: " +
                  toString(std::move(Failed));
      return;
    }
    T.After.differences([&](const Allocation &In, uint64_t Offset,
                            ArrayRef<uint8_t> Natural,
                            ArrayRef<uint8_t> Other) {
      T.Spread.add({In.Base, Offset, [&] { return warpvm::nameOf(In); }},
                   Natural, Other);
    });
  }
  T.Unknown = whyUnstable(T.Spread, T.After.extent());
}

Error TrialsImpl::build(CandidateCode &C, const TriedKernel &K,
                        const TrialLaunch &L) {
  auto V = makeVariant(L.Home.module(), L.Kernel.name(), C.What, Apply);
  if (!V)
    return V.takeError();
  for (const CandidateCode &Other : K.Candidates)
    if (Other.Code && Other.Hash == V->Hash)
      return createStringError("the same code as " + Other.What.text());
  C.Hash = V->Hash;
  auto Code = L.On.loadVariant(
      MemoryBufferRef({V->Bitcode.data(), V->Bitcode.size()}, "variant"),
      L.Home);
  if (!Code)
    return Code.takeError();
  C.Code = std::move(*Code);
  auto Kernel = C.Code->kernel(L.Kernel.name());
  if (!Kernel)
    return Kernel.takeError();
  C.Kernel = *Kernel;
  C.Info =
      analysis::describeKernel(C.Kernel->function(), Costs, C.Code->hash());
  return Error::success();
}

void TrialsImpl::tryOne(Trial &T, CandidateCode &C) {
  if (C.State == CandidateCode::StruckOff)
    return;
  TrialEvent E = T.Event;
  E.Tried = C.What;
  auto End = [&](TrialEvent::Kind What, std::string Why) {
    C.State = CandidateCode::StruckOff;
    E.What = What;
    E.Why = std::move(Why);
    Log->add(E);
  };
  if (C.State == CandidateCode::Unbuilt) {
    if (Error Failed = build(C, T.K, T.L))
      return End(TrialEvent::Refused, toString(std::move(Failed)));
    C.State = CandidateCode::Ready;
  }
  E.What = TrialEvent::Begin;
  Log->add(E);
  T.Before.restore();
  LaunchCounts Counts;
  if (Error Failed = T.L.On.launchTrial(*C.Kernel, T.L.Shape, T.L.Args,
                                        T.StepLimit, &Counts)) {
    TrialEvent::Kind What = TrialEvent::Refused;
    std::string Why;
    handleAllErrors(
        std::move(Failed),
        [&](const FaultError &F) {
          What = F.kind() == FaultKind::StepLimit ||
                         F.kind() == FaultKind::Deadlock
                     ? TrialEvent::Hang
                     : TrialEvent::Fault;
          Why = F.message();
        },
        [&](const ErrorInfoBase &Other) { Why = Other.message(); });
    return End(What, std::move(Why));
  }
  Comparison Compared(T.L.Kernel.function(), T.Spread);
  T.After.differences([&](const Allocation &In, uint64_t Offset,
                          ArrayRef<uint8_t> Original,
                          ArrayRef<uint8_t> Variant) {
    Compared.add({In.Base, Offset, [&] { return warpvm::nameOf(In); }},
                 Original, Variant);
  });
  E.What = TrialEvent::End;
  E.VariantSlots = model::slotsOf(C.Info, Counts.Blocks);
  E.Compared = Compared.verdict(T.After.extent(), T.Unknown);
  Log->add(E);
}

void TrialsImpl::tryAll(Trial &T) {
  tryOrders(T);
  for (CandidateCode &C : T.K.Candidates)
    tryOne(T, C);
}

Error TrialsImpl::launch(const TrialLaunch &L, function_ref<Error()> Natural,
                         const LaunchCounts &Counts) {
  auto Found = Kernels.find((L.Home.hash() + "/" + L.Kernel.name()).str());
  if (Found == Kernels.end() ||
      !Found->second.Choice.wants(L.Shape, Plan.Launches))
    return Natural();
  TriedKernel &K = Found->second;
  TrialEvent Event;
  Event.Kernel = L.Kernel.name().str();
  Event.Module = L.Home.hash().str();
  Event.Launch = K.Choice.launches();
  Event.Shape = L.Shape;
  auto LeaveUntried = [&](const Twine &Why) {
    Event.What = TrialEvent::Untried;
    Event.Why = Why.str();
    for (const CandidateCode &C : K.Candidates) {
      Event.Tried = C.What;
      Log->add(Event);
    }
  };
  if (L.Shape.Cooperative) {
    LeaveUntried(CooperativeHindrance);
    return Natural();
  }
  if (std::string Why = hindrance(L.Kernel.function()); !Why.empty()) {
    LeaveUntried("the kernel cannot be run again: " + Why);
    return Natural();
  }
  const DeviceMemory &Memory = DeviceMemory::instance();
  const uint64_t Budget =
      Plan.Budget ? Plan.Budget : DeviceMemory::defaultCapacity() / 3;
  auto Before = MemorySnapshot::take(Memory, Budget);
  if (Error Failed = Natural())
    return Failed;
  std::optional<MemorySnapshot> After;
  if (Before)
    After = MemorySnapshot::take(Memory, Budget - Before->bytes(), &*Before);
  if (!After) {
    LeaveUntried("copies of device memory would take more than " +
                 Twine(Budget >> 20) + " MiB");
    return Error::success();
  }
  if (!K.Info)
    K.Info =
        analysis::describeKernel(L.Kernel.function(), Costs, L.Home.hash());
  uint64_t Steps = 0;
  for (const BlockCounts &B : Counts.Blocks)
    Steps += B.Warps;
  Event.OriginalSlots = model::slotsOf(*K.Info, Counts.Blocks);
  Trial T{L, K, *Before, *After, {}, 2 * Steps + 1000, Event, ""};
  tryAll(T);
  After->restore();
  return Error::success();
}

} // namespace reconverge::runtime
