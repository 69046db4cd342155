//===- runtime/vm/VmBench.cpp - One launch on the warp VM, tried ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate's fault comes back as an error here and not as a signal, and its
// loops have a limit: what all warps of the original did together. So no trial
// ends the process.
//
// A candidate that has a recipe is launched by it. Its scratch is memory that no
// copy of the program's has, for it comes and goes within a run.
//
// Costs are issue slots by the machine file, from exact block counts of the
// runs themselves; CPU time says nothing about a GPU's, and none is taken.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/VmBench.h"

#include "core/Recipe.h"
#include "core/Remedied.h"
#include "launch/Execute.h"
#include "launch/RecipeText.h"
#include "model/Demand.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Functions.h"

using namespace llvm;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

SmallVector<TriedCandidate *> VmBench::candidates() {
  SmallVector<TriedCandidate *> All;
  for (VmCandidate &C : K.Candidates)
    All.push_back(&C);
  return All;
}

Expected<RunEnd> VmBench::runNatural() {
  Expected<RunEnd> End = OnVm::runNatural();
  if (!End || !End->isWell())
    return End;
  if (!K.Info)
    K.Info = analysis::describeKernel(L.Kernel.function(), Settings.Costs,
                                      L.Home.hash());
  uint64_t Steps = 0;
  for (const BlockCounts &B : Counts.Blocks)
    Steps += B.Warps;
  StepLimit = 2 * Steps + 1000;
  End->Asks = {model::demandOf(*K.Info, Counts, L.Shape)};
  End->Prints = Counts.Prints;
  return End;
}

Error VmBench::build(TriedCandidate &Tried) {
  auto &C = static_cast<VmCandidate &>(Tried);
  if (C.Code)
    return Error::success();
  auto V =
      makeVariant(L.Home.module(), L.Kernel.name(), C.What, Settings.Apply);
  if (!V)
    return V.takeError();
  for (const VmCandidate &Other : K.Candidates)
    if (Other.Code && Other.Hash == V->Hash)
      return createStringError("the same code as " + Other.What.text());
  C.Hash = V->Hash;
  auto Code = L.On.loadVariant(
      MemoryBufferRef({V->Bitcode.data(), V->Bitcode.size()}, "variant"),
      L.Home);
  if (!Code)
    return Code.takeError();
  C.Code = std::move(*Code);
  const Function &F = *C.Code->module().getFunction(L.Kernel.name());
  C.Launch = launch::parseRecipe(
      F.getFnAttribute(RecipeAttribute).getValueAsString().str());
  if (!C.Launch)
    return addStep(C, L.Kernel.name());
  for (const RecipeStep &Step : C.Launch->Steps)
    if (Error E = addStep(C, Step.Kernel))
      return E;
  return Error::success();
}

Error VmBench::addStep(VmCandidate &C, StringRef Name) {
  auto Kernel = C.Code->kernel(Name);
  if (!Kernel)
    return Kernel.takeError();
  C.Steps.push_back(
      {*Kernel, analysis::describeKernel((*Kernel)->function(), Settings.Costs,
                                         C.Code->hash())});
  return Error::success();
}

/// A launch in the natural order whose loops have a limit.
static warpvm::LaunchOptions ofCandidate(uint64_t StepLimit,
                                         LaunchCounts &Counted) {
  warpvm::LaunchOptions How;
  How.Counts = &Counted;
  How.Quiet = true;
  How.Seed = 0;
  How.StepLimit = StepLimit;
  return How;
}

namespace {
/// Launches by a recipe on the warp VM.
class VmPlace : public launch::Place {
public:
  VmPlace(const RepeatedLaunch &L, const VmCandidate &C, uint64_t StepLimit)
      : L(L), C(C), StepLimit(StepLimit) {}

  void *allocate(uint64_t Bytes, bool) override {
    auto New = DeviceMemory::instance().allocate(Bytes, MemoryKind::Scratch);
    if (New)
      return *New;                 // zeroed
    consumeError(New.takeError()); // the original is launched, then
    return nullptr;
  }
  void release(void *Scratch) override {
    DeviceMemory::instance().release(Scratch);
  }
  uint64_t resident(const RecipeStep &Step, uint64_t BlockThreads,
                    uint64_t DynamicShared) override {
    const uint64_t Room = uint64_t(limits::Multiprocessors) *
                          blocksAtOnce(*stepOf(Step).Kernel,
                                       unsigned(BlockThreads), DynamicShared);
    if (L.Shape.threads() >= Room * BlockThreads)
      return Room;
    // A small example, of a launch that fills the GPU many times.
    return divideCeil(L.Shape.threads(), ItemsOfExample * BlockThreads);
  }
  std::optional<launch::MemoryRange> rangeOf(uint64_t Address) override {
    const auto Found = DeviceMemory::instance().lookup(Address);
    if (!Found || !Found->Live)
      return std::nullopt;
    return launch::MemoryRange{Found->Base, Found->Base + Found->Size};
  }
  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override {
    const VmStep &Code = stepOf(Step);
    LaunchCounts Counted;
    warpvm::LaunchOptions How = ofCandidate(StepLimit, Counted);
    if (!Step.Helper)
      How.Races = Watched;
    RunEnd Now = endOf(L.On.launch(*Code.Kernel, Shape, Args, How));
    Now.Prints = End.Prints || Counted.Prints;
    Now.Asks = std::move(End.Asks);
    Now.Asks.push_back(model::demandOf(Code.Info, Counted, Shape));
    Now.Asks.back().Share = C.Launch->shareOf(Step);
    End = std::move(Now);
    return End.isWell();
  }
  // One after the other: what is counted is the same.
  bool fork() override { return true; }
  void beside() override {}
  void join() override {}

  RunEnd End;                      ///< of all steps together
  RaceFindings *Watched = nullptr; ///< of what does the kernel's work

private:
  const VmStep &stepOf(const RecipeStep &Step) const {
    return C.Steps[size_t(&Step - C.Launch->Steps.data())];
  }

  const RepeatedLaunch &L;
  const VmCandidate &C;
  const uint64_t StepLimit;
};
} // namespace

std::optional<RaceFindings> VmBench::findRaces() {
  RaceFindings Found;
  warpvm::LaunchOptions Options;
  Options.Races = &Found;
  Options.Quiet = true;
  const RunEnd End = endOf(L.On.launch(L.Kernel, L.Shape, L.Args, Options));
  Found.Incomplete |= !End.isWell();
  return Found;
}

std::optional<RaceFindings> VmBench::findRacesOf(TriedCandidate &Proof) {
  auto &C = static_cast<VmCandidate &>(Proof);
  if (!C.Launch || !C.Launch->Trips)
    return std::nullopt;
  RaceFindings Found;
  VmPlace On(L, C, StepLimit + L.Shape.threads());
  On.Watched = &Found;
  const launch::Ended End = launch::execute(*C.Launch, L.Shape, L.Args, On);
  if (End == launch::Ended::Original)
    return std::nullopt; // whose threads are watched by themselves
  Found.Incomplete |= End != launch::Ended::Done;
  return Found;
}

RunEnd VmBench::launchAsItIs(warpvm::Kernel &Kernel, const KernelInfo &Info) {
  LaunchCounts Counted;
  RunEnd End = endOf(
      L.On.launch(Kernel, L.Shape, L.Args, ofCandidate(StepLimit, Counted)));
  End.Prints = Counted.Prints;
  End.Asks = {model::demandOf(Info, Counted, L.Shape)};
  return End;
}

RunEnd VmBench::run(TriedCandidate &Tried, const RunOptions &) {
  auto &C = static_cast<VmCandidate &>(Tried);
  if (!C.Launch)
    return launchAsItIs(*C.Steps.front().Kernel, C.Steps.front().Info);
  // A thread of a persistent grid may do all the work of the original's.
  VmPlace On(L, C, StepLimit + L.Shape.threads());
  launch::MadeBefore Made;
  if (launch::MadeBefore::make(Made, *C.Launch, L.Shape, L.Args, On)) {
    if (!On.End.isWell())
      return std::move(On.End);
    restoreBefore();
    On.End = {};
  }
  const launch::Ended End =
      launch::execute(*C.Launch, L.Shape, L.Args, On, Made.steps());
  Made.release(On);
  if (End == launch::Ended::Original && On.End.isWell())
    return launchAsItIs(L.Kernel, *K.Info);
  return std::move(On.End);
}

} // namespace reconverge::runtime
