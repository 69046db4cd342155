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
// A byte in which the candidate differs is a difference, unless it is one that
// the original itself varies: then the value that it belongs to must lie
// between the least and the greatest that the original gave.
//
// Costs are issue slots by the machine file, from exact block counts; CPU time
// says nothing about a GPU's.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Trials.h"

#include "core/ContainerIO.h"
#include "runtime/vm/Snapshot.h"
#include "runtime/vm/Values.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <bit>
#include <map>

using namespace llvm;
using reconverge::warpvm::Allocation;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::FaultError;
using reconverge::warpvm::FaultKind;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// What the original varies
//===----------------------------------------------------------------------===//

namespace {

/// Pages that came out otherwise when the original ran in another order.
class OrderSpread {
public:
  void add(const Allocation &In, uint64_t Offset, ArrayRef<uint8_t> Natural,
           ArrayRef<uint8_t> Other) {
    Page &P = Pages[In.Base + Offset];
    P.Varies.resize(Natural.size());
    for (size_t I = 0; I != Natural.size(); ++I)
      if (Natural[I] != Other[I] && !P.Varies.test(I)) {
        P.Varies.set(I);
        ++Bytes;
      }
    P.Others.emplace_back(Other.begin(), Other.end());
  }

  uint64_t bytes() const { return Bytes; } ///< that vary

  struct Page {
    std::vector<std::vector<uint8_t>> Others; ///< its other results
    BitVector Varies;
  };
  /// Null if no byte of the page at \p Address varies.
  const Page *page(uint64_t Address) const {
    auto Found = Pages.find(Address);
    return Found == Pages.end() ? nullptr : &Found->second;
  }

private:
  DenseMap<uint64_t, Page> Pages; ///< by address
  uint64_t Bytes = 0;
};

/// Compares a candidate's memory with the original's.
class Comparison {
public:
  Comparison(const Function &Kernel, const OrderSpread &Spread)
      : Types(writtenTypes(Kernel)), Spread(Spread) {}

  /// A page as the original and as the candidate left it.
  void add(const Allocation &In, uint64_t Offset, ArrayRef<uint8_t> Original,
           ArrayRef<uint8_t> Variant);

  std::optional<Difference> First; ///< beyond what the original varies

private:
  bool isWithinSpread(const OrderSpread::Page *Page, uint64_t Address,
                      ArrayRef<uint8_t> Original, ArrayRef<uint8_t> Variant,
                      size_t At) const;

  std::vector<ValueType> Types;
  const OrderSpread &Spread;
};

} // namespace

bool Comparison::isWithinSpread(const OrderSpread::Page *Page, uint64_t Address,
                                ArrayRef<uint8_t> Original,
                                ArrayRef<uint8_t> Variant, size_t At) const {
  if (!Page || !Page->Varies.test(At))
    return false;
  auto Value = valueAt(Types, Address + At, Original, Variant, At);
  if (!Value) // of no type that is known: one of the bytes seen
    return any_of(Page->Others, [&](const std::vector<uint8_t> &Other) {
      return Other[At] == Variant[At];
    });
  const double Now = numberAt(Value->Type, &Variant[Value->Begin]);
  double Least = numberAt(Value->Type, &Original[Value->Begin]), Most = Least;
  for (const std::vector<uint8_t> &Other : Page->Others) {
    const double X = numberAt(Value->Type, &Other[Value->Begin]);
    Least = std::min(Least, X);
    Most = std::max(Most, X);
  }
  return Least <= Now && Now <= Most;
}

void Comparison::add(const Allocation &In, uint64_t Offset,
                     ArrayRef<uint8_t> Original, ArrayRef<uint8_t> Variant) {
  if (First)
    return;
  const uint64_t Address = In.Base + Offset;
  const OrderSpread::Page *Page = Spread.page(Address);
  for (size_t I = 0; I != Original.size(); ++I) {
    if (Original[I] == Variant[I] ||
        isWithinSpread(Page, Address, Original, Variant, I))
      continue;
    First.emplace();
    First->Where = warpvm::nameOf(In);
    if (auto Value = valueAt(Types, Address + I, Original, Variant, I)) {
      First->Offset = Offset + Value->Begin;
      First->Original = Value->TextA;
      First->Variant = Value->TextB;
    } else {
      First->Offset = Offset + I;
      First->Original = "byte " + std::to_string(Original[I]);
      First->Variant = "byte " + std::to_string(Variant[I]);
    }
    return;
  }
}

//===----------------------------------------------------------------------===//
// Kernels and their variants
//===----------------------------------------------------------------------===//

/// Why launches of \p Kernel cannot be run again; empty if they can.
static std::string hindrance(const Function &Kernel) {
  SmallSetVector<const Function *, 8> Reached;
  Reached.insert(&Kernel);
  for (size_t I = 0; I < Reached.size(); ++I)
    for (const Instruction &In : instructions(*Reached[I])) {
      const auto *Call = dyn_cast<CallBase>(&In);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      StringRef Name = Callee->getName();
      if (Name == "vprintf")
        return "it prints";
      if (Name == "malloc" || Name == "free")
        return "it takes or frees memory itself";
      if (!Callee->isDeclaration())
        Reached.insert(Callee);
    }
  return "";
}

namespace {

/// Other code for one kernel.
struct CandidateCode {
  Candidate What;
  enum { Unbuilt, Ready, StruckOff } State = Unbuilt;
  std::unique_ptr<warpvm::Program> Code;
  warpvm::Kernel *Kernel = nullptr; ///< of Code
  KernelInfo Info;
};

/// A kernel that the plan names.
struct TriedKernel {
  std::vector<CandidateCode> Candidates;
  uint64_t Launches = 0, Tried = 0;
  std::vector<LaunchShape> Shapes; ///< tried
  std::optional<KernelInfo> Info;
};

class TrialsImpl : public Trials {
public:
  TrialsImpl(TrialPlan Plan, analysis::MachineModel Costs, Remedies Apply,
             std::unique_ptr<raw_fd_ostream> Log)
      : Plan(std::move(Plan)), Costs(std::move(Costs)), Apply(std::move(Apply)),
        Log(std::move(Log)) {
    for (const TrialRequest &R : this->Plan.Kernels) {
      TriedKernel &K = Kernels[R.Module + "/" + R.Kernel];
      for (const Candidate &C : R.Candidates) {
        K.Candidates.emplace_back();
        K.Candidates.back().What = C;
      }
    }
  }

  Error launch(const TrialLaunch &L, function_ref<Error()> Natural,
               const warpvm::LaunchCounts &Counts) override;

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

  bool wants(TriedKernel &K, const LaunchShape &Shape) const;
  void tryAll(Trial &T);
  void tryOrders(Trial &T);
  Error build(CandidateCode &C, const TriedKernel &K, const TrialLaunch &L);
  void tryOne(Trial &T, CandidateCode &C);
  void log(const TrialEvent &E);
  double slotsOf(const KernelInfo &Info,
                 const warpvm::LaunchCounts &Counts) const;

  TrialPlan Plan;
  analysis::MachineModel Costs;
  Remedies Apply;
  std::unique_ptr<raw_fd_ostream> Log;
  std::map<std::string, TriedKernel> Kernels; ///< module, '/', name
};

} // namespace

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Trials>> Trials::create(StringRef PlanFile,
                                                 analysis::MachineModel Costs,
                                                 Remedies Apply) {
  auto Plan = readTrialPlan(PlanFile);
  if (!Plan)
    return Plan.takeError();
  std::error_code EC;
  auto Log =
      std::make_unique<raw_fd_ostream>(Plan->Log, EC, sys::fs::OF_Append);
  if (EC)
    return createStringError(EC,
                             "cannot write " + Plan->Log + ": " + EC.message());
  return std::make_unique<TrialsImpl>(std::move(*Plan), std::move(Costs),
                                      std::move(Apply), std::move(Log));
}

/// A line at a time, out of our hands at once: the process may end in the next
/// moment.
void TrialsImpl::log(const TrialEvent &E) {
  printTrialEvent(E, *Log);
  Log->flush();
}

double TrialsImpl::slotsOf(const KernelInfo &Info,
                           const warpvm::LaunchCounts &Counts) const {
  double Slots = 0;
  for (auto [B, C] : zip(Info.Blocks, Counts.Blocks))
    Slots += B.IssueSlots * double(C.Warps);
  return Slots;
}

//===----------------------------------------------------------------------===//
// Trying
//===----------------------------------------------------------------------===//

/// The first launches, each new shape, and later ones now and then.
bool TrialsImpl::wants(TriedKernel &K, const LaunchShape &Shape) const {
  ++K.Launches;
  if (K.Tried >= Plan.Launches)
    return false;
  const bool Wanted = 2 * K.Launches <= Plan.Launches ||
                      !is_contained(K.Shapes, Shape) ||
                      std::has_single_bit(K.Launches);
  if (!Wanted)
    return false;
  ++K.Tried;
  if (!is_contained(K.Shapes, Shape))
    K.Shapes.push_back(Shape);
  return true;
}

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
      T.Spread.add(In, Offset, Natural, Other);
    });
  }
  constexpr double MostUnstable = 0.01;
  const uint64_t Varying = T.Spread.bytes(), All = T.After.extent();
  if (double(Varying) > MostUnstable * double(All)) {
    T.Unknown = std::to_string(Varying) + " of " + std::to_string(All) +
                " bytes depend on the order of the kernel's threads";
  }
}

Error TrialsImpl::build(CandidateCode &C, const TriedKernel &K,
                        const TrialLaunch &L) {
  // In a context of its own: the original's stays as it is.
  SmallVector<char, 0> Bytes;
  raw_svector_ostream OS(Bytes);
  WriteBitcodeToFile(L.Home.module(), OS);
  LLVMContext Context;
  auto M = parseBitcodeFile(
      MemoryBufferRef({Bytes.data(), Bytes.size()}, "variant"), Context);
  if (!M)
    return M.takeError();
  Function *F = (*M)->getFunction(L.Kernel.name());
  auto Result = Apply(C.What, *F);
  if (!Result)
    return Result.takeError();
  if (!Result->Changed) {
    constexpr size_t Most = 3;
    ArrayRef<std::string> Missed(Result->Missed);
    return createStringError(Missed.empty()
                                 ? "no branch of it diverges"
                                 : join(Missed.take_front(Most), "; "));
  }
  Bytes.clear();
  WriteBitcodeToFile(**M, OS);
  const std::string Hash = bitcodeHash({Bytes.data(), Bytes.size()});
  for (const CandidateCode &Other : K.Candidates)
    if (Other.Code && Other.Code->hash() == Hash)
      return createStringError("the same code as " + Other.What.text());
  auto Code = L.On.loadVariant(
      MemoryBufferRef({Bytes.data(), Bytes.size()}, "variant"), L.Home);
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
    log(E);
  };
  if (C.State == CandidateCode::Unbuilt) {
    if (Error Failed = build(C, T.K, T.L))
      return End(TrialEvent::Refused, toString(std::move(Failed)));
    C.State = CandidateCode::Ready;
  }
  E.What = TrialEvent::Begin;
  log(E);
  T.Before.restore();
  warpvm::LaunchCounts Counts;
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
    Compared.add(In, Offset, Original, Variant);
  });
  E.What = TrialEvent::End;
  E.VariantSlots = slotsOf(C.Info, Counts);
  E.Compared.Bytes = T.After.extent();
  E.Compared.OrderDependent = T.Spread.bytes();
  if (!T.Unknown.empty()) {
    E.Compared.Kind = VerdictKind::Unknown;
    E.Compared.Reason = T.Unknown;
  } else if (Compared.First) {
    E.Compared.Kind = VerdictKind::Differs;
    E.Compared.First = *Compared.First;
  } else {
    E.Compared.Kind =
        T.Spread.bytes() ? VerdictKind::UpToOrder : VerdictKind::Identical;
  }
  log(E);
}

void TrialsImpl::tryAll(Trial &T) {
  tryOrders(T);
  for (CandidateCode &C : T.K.Candidates)
    tryOne(T, C);
}

Error TrialsImpl::launch(const TrialLaunch &L, function_ref<Error()> Natural,
                         const warpvm::LaunchCounts &Counts) {
  auto Found = Kernels.find((L.Home.hash() + "/" + L.Kernel.name()).str());
  if (Found == Kernels.end() || !wants(Found->second, L.Shape))
    return Natural();
  TriedKernel &K = Found->second;
  TrialEvent Event;
  Event.Kernel = L.Kernel.name().str();
  Event.Module = L.Home.hash().str();
  Event.Launch = K.Launches;
  Event.Shape = L.Shape;
  auto LeaveUntried = [&](const Twine &Why) {
    Event.What = TrialEvent::Untried;
    Event.Why = Why.str();
    for (const CandidateCode &C : K.Candidates) {
      Event.Tried = C.What;
      log(Event);
    }
  };
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
  Event.OriginalSlots = slotsOf(*K.Info, Counts);
  Trial T{L, K, *Before, *After, {}, 2 * Steps + 1000, Event, ""};
  tryAll(T);
  After->restore();
  return Error::success();
}

} // namespace reconverge::runtime
