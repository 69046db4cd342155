//===- warpvm/Machine.cpp - Which code a launch runs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled on their first launch, twice if block vectors are
// wanted: the variant without them runs all thread blocks that the observer
// passes over. Checked code is made when a fault is to be explained, or when
// a launch is given a pointer to host memory that the kernel may follow: whether
// it does only checked code sees.
//
// Effort::Auto. The first code of a kernel is compiled fast, and only with
// block vectors if these are wanted: then thread blocks that the observer
// passes over run it too, for nothing. Once the kernel has run for about as
// long as it would take to compile it well, another process does that, and
// blocks run the result that begin later, or whose barriers open (CodeSlot). What the cache on disk has
// compiled well is taken at once. What has run and has no good code at the program's
// end is left for later (LeftWork.cpp), be it ever so short: a list also takes
// longer to load, and which kernels the next run finds does not hang on times.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Machine.h"
#include "analysis/Names.h"
#include "core/Error.h"
#include "warpvm/Program.h"
#include "warpvm/emit/Compile.h"
#include "warpvm/emit/CompilerProcess.h"
#include "warpvm/run/Launch.h"
#include "warpvm/run/Library.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <mutex>
#include <thread>

using namespace llvm;

namespace reconverge::warpvm {

char FaultError::ID = 0;
void FaultError::log(raw_ostream &OS) const { OS << Message; }
std::error_code FaultError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

namespace {

class MachineImpl : public Machine {
public:
  explicit MachineImpl(const MachineOptions &O) : Options(O) {}

  Error init() {
    if (Options.WarpSize != 32 && Options.WarpSize != 64)
      return userError("a warp of " + Twine(Options.WarpSize) + " lanes",
                       "Warps have 32 or 64 lanes.");
    if (Options.Policy == PolicyKind::PostDominator)
      Options.Code = Tier::Blocks; // its stack works on single blocks
    if (!Options.Threads)
      Options.Threads = std::max(1u, std::thread::hardware_concurrency());
    if (Options.Compile == Effort::Auto &&
        !sys::fs::can_execute(Options.CompilerProgram))
      Options.Compile = Effort::Well;
    for (auto [How, Into] :
         {std::pair(Effort::Fast, &Fast), std::pair(Effort::Well, &Well)})
      if (Options.Compile == How || Options.Compile == Effort::Auto)
        if (Error E = Compiler::create(Options, How, librarySymbols())
                          .moveInto(*Into))
          return E;
    if (Well && Fast)
      Beside.emplace(Options.CompilerProgram, Options.Isa, Options.Say);
    installSignalHandlers();
    return Error::success();
  }

  std::string describe() const override {
    return (Well ? Well : Fast)->hostInWords() + ", " +
           std::to_string(Options.Threads) +
           (Options.Threads == 1 ? " thread" : " threads");
  }

  void finishCompiling() override {
    if (Beside)
      Beside->wait();
  }

  void leave(Program &P) override;

  Expected<std::unique_ptr<Program>>
  load(DeviceCode Code, const VariableAllocator &Allocate) override {
    return loadProgram(std::move(Code), Allocate, Options);
  }
  Expected<std::unique_ptr<Program>> loadVariant(MemoryBufferRef Bitcode,
                                                 Program &Original) override {
    return loadVariantOf(static_cast<LoadedProgram &>(Original), Bitcode);
  }
  Error launch(Kernel &K, const LaunchShape &Shape, void **Args,
               const LaunchOptions &How) override;

private:
  /// Whether the seed also picks which split runs next.
  bool freeSplits() const {
    return Options.Seed != NaturalOrder && !Options.Counters &&
           Options.Policy == PolicyKind::Frontier;
  }
  /// Rounds for a warp whose lanes part and meet less often than in the natural
  /// order: it goes round its loops more often.
  uint64_t generousLimit() const {
    constexpr uint64_t Generous = uint64_t(1) << 32;
    return Options.StepLimit
               ? std::min(Options.StepLimit, Generous) * Options.WarpSize
               : Generous;
  }
  bool checksFor(LoadedKernel &K, ArrayRef<uint8_t> Params) const;
  EmitOptions emission(const LoadedKernel &K, Variant V) const;
  Tier tier(Variant V) const { return V.Free ? Tier::Blocks : Options.Code; }
  Error compile(LoadedKernel &K, Variant V, bool OnlyIfCached = false);
  Expected<Compiled> code(Compiler &By, LoadedKernel &K, Variant V) const;
  void improve(const LoadedKernel &K, Variant V);
  const KernelPlan *explaining(LoadedKernel &K, Variant V);
  Expected<LaunchContext> contextFor(LoadedKernel &K, Variant V,
                                     const LaunchShape &Shape,
                                     ArrayRef<uint8_t> Params,
                                     bool Observed = false);
  Error run(LoadedKernel &K, const LaunchContext &L, PolicyKind Policy,
            LaunchCounts *Counts, VectorObserver *Observer = nullptr);

  MachineOptions Options;
  std::unique_ptr<Compiler> Well, Fast; ///< as Options.Compile asks
  std::mutex Compiling; ///< a launch's threads may find faults at once
  std::optional<CompilerProcess> Beside; ///< if there are both
};

/// Splits that may run in any order need a region a block, or what is fused
/// would run in its own order.
EmitOptions MachineImpl::emission(const LoadedKernel &K, Variant V) const {
  EmitOptions Emit;
  Emit.WarpSize = Options.WarpSize;
  Emit.Counters = Options.Counters && !V.Free;
  Emit.Vectors = V.Vectors;
  Emit.Budget = (Options.StepLimit != 0 && !V.Free) || V.Checked || V.Limited;
  Emit.Shuffled = Options.Seed != NaturalOrder || V.Free;
  Emit.Check = V.Checked;
  Emit.Races = V.Watched;
  Emit.Sync = V.Noted && Options.Sync;
  Emit.Init = V.Noted && Options.Init;
  Emit.Accesses = Options.Accesses && Emit.Counters;
  if (K.Herd)
    Emit.Herd = *K.Herd;
  return Emit;
}

/// Seconds that it takes to compile well what compiled fast is an object file
/// of \p Bytes, roughly: sooner is too soon, and half as much is too late.
static double secondsToImprove(uint64_t Bytes) { return 0.02 + Bytes * 2.2e-6; }

/// Code for \p V: what the cache has, else \p By compiles the kernel, which is
/// read for that.
Expected<Compiled> MachineImpl::code(Compiler &By, LoadedKernel &K,
                                     Variant V) const {
  const EmitOptions Emit = emission(K, V);
  auto Found = By.cached(K.name(), K.Home.Bytes, Emit, tier(V));
  if (!Found || Found->Plan)
    return Found;
  auto F = K.Home.read(K.name());
  if (!F)
    return F.takeError();
  return By.compile(**F, K.Home.Bytes, Emit, tier(V));
}

/// Sees to it that \p V has code.
Error MachineImpl::compile(LoadedKernel &K, Variant V, bool OnlyIfCached) {
  std::lock_guard<std::mutex> Lock(Compiling);
  auto &Slot = K.Slots[V.index()];
  if (Slot)
    return Error::success();
  auto New = std::make_shared<CodeSlot>();
  auto Take = [&](Compiled From, Effort By) {
    New->First = {From.Plan, By, V.Vectors};
    New->Now = &New->First;
    Slot = std::move(New);
  };
  if (Well) {
    auto Done =
        Fast ? Well->cached(K.name(), K.Home.Bytes, emission(K, V), tier(V))
             : code(*Well, K, V);
    if (!Done)
      return Done.takeError();
    if (Done->Plan)
      Take(*Done, Effort::Well);
  }
  if (Slot || OnlyIfCached)
    return Error::success();
  auto Done = code(*Fast, K, V);
  if (!Done)
    return Done.takeError();
  New->Worth = secondsToImprove(Done->Bytes);
  Take(*Done, Effort::Fast);
  return Error::success();
}

/// Has \p V compiled well, beside the program.
void MachineImpl::improve(const LoadedKernel &K, Variant V) {
  auto Bitcode = K.Home.bitcode();
  if (!Bitcode)
    return; // what there is will do
  const EmitOptions Emit = emission(K, V);
  const Tier Cut = tier(V);
  auto Take = [this, Name = K.name().str(), Hash = K.Home.Bytes, Emit, Cut, V,
               Slot =
                   K.Slots[V.index()]](std::unique_ptr<MemoryBuffer> Object) {
    auto Done = Well->adopt(std::move(Object), Name, Hash, Emit, Cut);
    if (!Done)
      return consumeError(Done.takeError()); // what there is will do
    Slot->Better = {Done->Plan, Effort::Well, V.Vectors};
    Slot->Now = &Slot->Better;
  };
  Beside->add({std::move(Bitcode), K.name().str(), Emit, Cut, std::move(Take)});
}

void MachineImpl::leave(Program &Of) {
  auto &P = static_cast<LoadedProgram &>(Of);
  if (!Options.Later || !Beside || Options.CacheDir.empty())
    return;
  std::lock_guard<std::mutex> Lock(Compiling);
  std::vector<std::pair<double, LeftKernel>> Found; // seconds, and of what
  for (const auto &Entry : P.Kernels) {
    const LoadedKernel &K = *Entry.second;
    for (unsigned I = 0; I < Variant::Count; ++I) {
      const Variant V = Variant::at(I);
      const CodeSlot *Slot = K.Slots[I].get();
      const Code *Now = Slot ? Slot->Now.load() : nullptr;
      // Orders of its own, and limits, are for runs beside the program's.
      if (Now && Now->By == Effort::Fast && V.Free == freeSplits() &&
          !V.Limited)
        Found.push_back(
            {K.Ran, {K.Name, warpvm::describe(emission(K, V), tier(V))}});
    }
  }
  auto Bitcode = Found.empty() ? nullptr : P.bitcode();
  if (!Bitcode)
    return;
  // What takes most time comes first.
  llvm::sort(Found, [](const auto &A, const auto &B) {
    return std::tie(B.first, A.second.Name, A.second.Words) <
           std::tie(A.first, B.second.Name, B.second.Words);
  });
  Beside->leave(Options.CacheDir, P.Bytes, *Bitcode,
                to_vector(make_second_range(Found)));
}

/// Checked code; null if it cannot be made.
const KernelPlan *MachineImpl::explaining(LoadedKernel &K, Variant V) {
  std::lock_guard<std::mutex> Lock(Compiling);
  const KernelPlan *&Plan = K.Explaining[V.index()];
  if (Plan)
    return Plan;
  auto Done = code(Fast ? *Fast : *Well, K, V);
  if (Done)
    return Plan = Done->Plan;
  consumeError(Done.takeError()); // the fault is said without it
  return nullptr;
}

/// Whether a launch runs code that tests its accesses.
bool MachineImpl::checksFor(LoadedKernel &K, ArrayRef<uint8_t> Params) const {
  return Options.Check || (Options.OwnMemory && K.takesHostPointer(Params));
}

/// What a launch of \p K in variant \p V needs. \p Observed: block vectors of
/// some thread blocks are to be recorded as well.
Expected<LaunchContext> MachineImpl::contextFor(LoadedKernel &K, Variant V,
                                                const LaunchShape &Shape,
                                                ArrayRef<uint8_t> Params,
                                                bool Observed) {
  const Variant Recording = V.with(true);
  if (Observed)
    if (Error E = compile(K, Recording))
      return std::move(E);
  // Code that records vectors does for what need not be recorded.
  const bool Does = Fast && Well && K.Slots[Recording.index()];
  if (Error E = compile(K, V, /*OnlyIfCached=*/Does))
    return std::move(E);
  LaunchContext L;
  auto &Plain = K.Slots[V.index()];
  if (!Plain)
    Plain = std::make_shared<CodeSlot>();
  L.Plain = Plain.get();
  L.Vectors = K.Slots[Recording.index()].get();
  L.Shape = Shape;
  L.Clusters = ClusterShape(Shape);
  L.Params = Params.data();
  L.ParamBytes = Params.size();
  L.Globals = K.Globals;
  L.FreeSplits = V.Free;
  L.Kernel = K.name();
  L.OwnMemory = Options.OwnMemory;
  if (Shape.Cooperative)
    L.Grid = std::make_unique<GridWorkspace>();
  L.Tolerant = Options.Tolerant && !Options.Check;
  L.ComparesBarriers = Options.Sync;
  L.TracksWrites = V.Noted && Options.Init;
  L.Checked = [this, &K, V] {
    Variant Checked = V.with(false);
    Checked.Checked = true;
    Checked.Watched = false;
    Checked.Noted = false;
    return explaining(K, Checked);
  };
  if (Fast && Well)
    L.Running = [this, &K, V, Plain = L.Plain, Vectors = L.Vectors, Observed,
                 Begin = std::chrono::steady_clock::now()] {
      const double Worth =
          std::min(Plain->Worth, Vectors ? Vectors->Worth : Plain->Worth);
      const std::chrono::duration<double> Now =
          std::chrono::steady_clock::now() - Begin;
      if (K.Ran + Now.count() < Worth)
        return;
      for (bool Recorded : {false, true}) {
        CodeSlot *Slot = K.Slots[V.with(Recorded).index()].get();
        const Code *Now = Slot ? Slot->Now.load() : nullptr;
        const bool Done = !Slot || (Now && Now->By == Effort::Well);
        if (!Done && (Observed || !Recorded) && !Slot->Asked.exchange(true))
          improve(K, V.with(Recorded));
      }
      Beside->poll();
    };
  return L;
}

Error MachineImpl::run(LoadedKernel &K, const LaunchContext &L,
                       PolicyKind Policy, LaunchCounts *Counts,
                       VectorObserver *Observer) {
  const auto Begin = std::chrono::steady_clock::now();
  Error E =
      runLaunch(L, Policy, Options.Threads, K.BlockSeconds, Counts, Observer);
  K.Ran +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
          .count();
  return E;
}

Error MachineImpl::launch(Kernel &Kernel, const LaunchShape &Shape, void **Args,
                          const LaunchOptions &How) {
  auto &K = static_cast<LoadedKernel &>(Kernel);
  if (Options.Herd && !K.Herd)
    K.Herd = Options.Herd(K.function());
  const std::vector<uint8_t> Params = K.packed(Args);
  const bool Shuffled = How.Seed && *How.Seed != NaturalOrder;
  assert(!(Shuffled && (How.Counts || How.Observer || How.Races)) &&
         "an order of its own is not the one that is counted");
  Variant V;
  V.Free =
      Shuffled || (freeSplits() && !How.Seed && !How.Observer && !How.Races);
  V.Limited = How.StepLimit && !V.Free; // free splits all count rounds
  V.Watched = How.Races;
  V.Noted = !How.Seed && (Options.Sync || Options.Init);
  V.Checked = !How.Seed && checksFor(K, Params);
  auto L = contextFor(K, V, Shape, Params, /*Observed=*/How.Observer);
  if (!L)
    return L.takeError();
  L->Seed = How.Seed.value_or(Options.Seed);
  L->Quiet = How.Quiet;
  L->StepLimit = How.StepLimit ? *How.StepLimit
                 : Shuffled    ? generousLimit()
                               : Options.StepLimit;
  std::optional<RaceChecker> Races;
  if (How.Races)
    L->Races = &Races.emplace(Shape);
  std::optional<LaunchNotes> Notes;
  if (How.Notes && V.Noted)
    L->Notes = &Notes.emplace(analysis::displayName(K.name()));
  Error E = run(K, *L, Shuffled ? PolicyKind::Frontier : Options.Policy,
                How.Counts, How.Observer);
  if (Races)
    *How.Races = Races->take();
  if (Notes)
    *How.Notes = Notes->take();
  return E;
}

} // namespace

Expected<std::unique_ptr<Machine>>
Machine::create(const MachineOptions &Options) {
  auto M = std::make_unique<MachineImpl>(Options);
  if (Error E = M->init())
    return std::move(E);
  return M;
}

} // namespace reconverge::warpvm
