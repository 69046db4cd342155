//===- warpvm/Machine.cpp - Programs, kernels and launches ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled on their first launch, twice if block vectors are
// wanted: the variant without them runs all thread blocks that the observer
// passes over.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Machine.h"
#include "core/Error.h"
#include "warpvm/Compile.h"
#include "warpvm/Initializers.h"
#include "warpvm/Launch.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/xxhash.h"

#include <thread>

using namespace llvm;

namespace reconverge::warpvm {

char FaultError::ID = 0;
void FaultError::log(raw_ostream &OS) const { OS << Message; }
std::error_code FaultError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

namespace {

class KernelImpl : public Kernel {
public:
  KernelImpl(Function &F, std::string Hash)
      : F(F), Hash(std::move(Hash)), Layout(parameterLayout(F)),
        Shared(sharedLayout(F).Bytes) {}

  StringRef name() const override { return F.getName(); }
  Function &function() const override { return F; }
  uint64_t staticShared() const override { return Shared; }
  uint64_t localBytes() const override { return Plan ? Plan->LocalBytes : 0; }
  ArrayRef<std::pair<uint64_t, uint64_t>> parameters() const override {
    return Layout;
  }

  Function &F;
  std::string Hash;
  SmallVector<std::pair<uint64_t, uint64_t>, 8> Layout;
  uint64_t Shared;
  const KernelPlan *Plan = nullptr, *VectorPlan = nullptr;
  void *const *Globals = nullptr;
};

class ProgramImpl : public Program {
public:
  StringRef hash() const override { return Hash; }
  llvm::Module &module() const override { return *M; }

  Expected<Kernel *> kernel(StringRef Name) override {
    auto &Slot = Kernels[Name];
    if (!Slot) {
      Function *F = M->getFunction(Name);
      if (!F || F->isDeclaration())
        return nullptr;
      Slot = std::make_unique<KernelImpl>(*F, Hash);
      Slot->Globals = Addresses.data();
    }
    return Slot.get();
  }

  Expected<std::pair<void *, uint64_t>> variable(StringRef Name) override {
    for (auto [GV, Address] : zip(Variables, Addresses))
      if (GV->getName() == Name)
        return std::pair(Address, M->getDataLayout()
                                      .getTypeAllocSize(GV->getValueType())
                                      .getFixedValue());
    return std::pair<void *, uint64_t>(nullptr, 0);
  }

  LLVMContext Context;
  std::unique_ptr<llvm::Module> M;
  std::string Hash;
  SmallVector<GlobalVariable *, 8> Variables;
  std::vector<void *> Addresses;
  StringMap<std::unique_ptr<KernelImpl>> Kernels;
};

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
    auto C = Compiler::create(Options.Isa, Options.CacheDir);
    if (!C)
      return C.takeError();
    Code = std::move(*C);
    installSignalHandlers();
    return Error::success();
  }

  std::string describe() const override {
    return Code->target() + ", " + std::to_string(Options.Threads) +
           (Options.Threads == 1 ? " thread" : " threads");
  }

  Expected<std::unique_ptr<Program>>
  load(MemoryBufferRef Bitcode, const VariableAllocator &Allocate) override;
  Error launch(Kernel &K, const LaunchShape &Shape, void **Args,
               LaunchCounts *Counts, VectorObserver *Observer) override;

private:
  Error compile(KernelImpl &K, bool Vectors);

  MachineOptions Options;
  std::unique_ptr<Compiler> Code;
};

Expected<std::unique_ptr<Program>>
MachineImpl::load(MemoryBufferRef Bitcode, const VariableAllocator &Allocate) {
  auto P = std::make_unique<ProgramImpl>();
  auto M = parseBitcodeFile(Bitcode, P->Context);
  if (!M)
    return userError("device bitcode cannot be read: " +
                         toString(M.takeError()),
                     "Build the program again with this version.");
  P->M = std::move(*M);
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (verifyModule(*P->M, &OS))
    return userError("device bitcode is invalid: " + Problem,
                     "Build the program again with this version.");
  P->Hash = utohexstr(xxh3_64bits(Bitcode.getBuffer()), true, 16);
  P->Variables = deviceVariables(*P->M);
  const DataLayout &DL = P->M->getDataLayout();
  for (GlobalVariable *GV : P->Variables) {
    auto Address = Allocate(
        DL.getTypeAllocSize(GV->getValueType()),
        GV->getAlign().value_or(DL.getABITypeAlign(GV->getValueType())).value(),
        GV->getName());
    if (!Address)
      return Address.takeError();
    P->Addresses.push_back(*Address);
  }
  // Initial values may hold addresses of other variables.
  for (auto [GV, Address] : zip(P->Variables, P->Addresses))
    if (GV->hasInitializer())
      if (Error E = writeInitializer(
              *GV->getInitializer(), static_cast<uint8_t *>(Address), DL,
              [&](const GlobalVariable &Other) -> void * {
                auto It = llvm::find(P->Variables, &Other);
                return It == P->Variables.end()
                           ? nullptr
                           : P->Addresses[It - P->Variables.begin()];
              }))
        return std::move(E);
  return P;
}

Error MachineImpl::compile(KernelImpl &K, bool Vectors) {
  const KernelPlan *&Plan = Vectors ? K.VectorPlan : K.Plan;
  if (Plan)
    return Error::success();
  EmitOptions Emit;
  Emit.WarpSize = Options.WarpSize;
  Emit.Counters = Options.Counters;
  Emit.Vectors = Vectors;
  Emit.Budget = Options.StepLimit != 0;
  auto Compiled = Code->compile(K.F, K.Hash, Emit, Options.Code);
  if (!Compiled)
    return Compiled.takeError();
  Plan = *Compiled;
  return Error::success();
}

Error MachineImpl::launch(Kernel &K, const LaunchShape &Shape, void **Args,
                          LaunchCounts *Counts, VectorObserver *Observer) {
  auto &Impl = static_cast<KernelImpl &>(K);
  if (Error E = compile(Impl, false))
    return E;
  if (Observer)
    if (Error E = compile(Impl, true))
      return E;
  std::vector<uint8_t> Params;
  for (auto [I, Slot] : enumerate(Impl.Layout)) {
    Params.resize(std::max<size_t>(Params.size(), Slot.first + Slot.second));
    std::memcpy(Params.data() + Slot.first, Args[I], Slot.second);
  }
  LaunchContext L;
  L.Plan = Impl.Plan;
  L.VectorPlan = Impl.VectorPlan;
  L.Shape = Shape;
  L.Params = Params.data();
  L.Globals = Impl.Globals;
  L.Seed = Options.Seed;
  L.StepLimit = Options.StepLimit;
  L.Kernel = demangle(K.name());
  return runLaunch(L, Options.Policy, Options.Threads, Counts, Observer);
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
