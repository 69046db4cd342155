//===- runtime/gpu/TrialImages.cpp - Device code with candidates ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   bitcode of the container --+-- each kernel of the plan, unchanged
//                              +-- for each candidate: a clone under another
//                              |   name, changed
//                              +-- of all these a copy that counts its blocks
//                              v
//                        one fat binary, registered in the container's place
//
//   other compilers' fat binaries of the same source, registered beside it
//
// Clones share the module with what they are clones of: device variables are
// the same, at the same addresses, and so is all code that is not the kernel's
// own. A clone is launched by a stub address of ours, with the arguments of the
// program's launch.
//
// What a remedy is predicted to gain is counted: what the kernel and the
// candidate ask of the GPU, on the launches on which it is tried. A copy of each
// has probes for that and is never timed; what its blocks cost is that of the
// code without probes.
//
// Another compiler's code has variables of its own. They are registered under
// addresses of ours, and a trial copies what ours hold there and back
// (GpuBench.cpp).
//
// Whether a remedy applies, and whether two candidates come to the same code,
// is found on copies of the module, as the warp VM finds it.
//
// Limitation: a variable that the host code does not register (it is static,
// or in a function, and no host code names it) cannot be copied; kernels that
// use one are left untried.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/TrialImages.h"

#include "analysis/CodeHash.h"
#include "analysis/Numbering.h"
#include "analysis/device/AddressSpace.h"
#include "analysis/device/Annotations.h"
#include "core/Container.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/GpuTurn.h"
#include "core/Remedied.h"
#include "frontend/PtxShape.h"
#include "launch/RecipeText.h"
#include "runtime/gpu/Build.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/MachinePrices.h"
#include "runtime/gpu/Registers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cstring>

using namespace llvm;

namespace reconverge::gpu {

//===----------------------------------------------------------------------===//
// What a kernel uses
//===----------------------------------------------------------------------===//

/// Variables in global or constant memory that \p F or what it calls names,
/// directly or from another variable.
static std::vector<const GlobalVariable *> variablesOf(const Function &F) {
  SmallSetVector<const Constant *, 32> Reached;
  auto Note = [&](const Value *V) {
    if (const auto *C = dyn_cast<Constant>(V);
        C && (isa<GlobalVariable>(C) || C->getNumOperands()))
      Reached.insert(C);
  };
  for (const Function *Part : analysis::functionsOf(F))
    for (const Instruction &I : instructions(*Part))
      for (const Use &U : I.operands())
        if (!isa<Function>(U.get()))
          Note(U.get());
  for (size_t I = 0; I < Reached.size(); ++I)
    for (const Use &U : Reached[I]->operands())
      if (!isa<Function>(U.get()))
        Note(U.get());
  std::vector<const GlobalVariable *> Used;
  for (const GlobalVariable &G : F.getParent()->globals())
    if (Reached.contains(&G) &&
        is_contained({analysis::GenericSpace, analysis::GlobalSpace,
                      analysis::ConstantSpace},
                     G.getAddressSpace()))
      Used.push_back(&G);
  return Used;
}

static GpuTriedKernel describe(TrialImage &I, Function &F) {
  GpuTriedKernel K;
  K.Home = &I;
  K.Code = &F;
  K.MayPrint = runtime::mayPrint(F);
  if (std::string Why = runtime::hindrance(F); !Why.empty())
    K.Untried = "the kernel cannot be run again: " + Why;
  for (const GlobalVariable *G : variablesOf(F)) {
    if (G->isExternallyInitialized())
      K.Variables.push_back(G->getName().str());
    else if (!G->isConstant())
      K.Untried = "it uses the variable '" + demangle(G->getName()) +
                  "', which the host code does not know: what it holds cannot "
                  "be kept";
  }
  return K;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Finds what is launched for \p C, whose code is \p F.
static void findLaunch(GpuCandidate &C, const Function &F) {
  C.Launch = launch::parseRecipe(
      F.getFnAttribute(RecipeAttribute).getValueAsString().str());
  if (!C.Launch)
    return;
  for (const RecipeStep &Step : C.Launch->Steps) {
    const bool IsCode = Step.Kernel == C.Name;
    C.Handles.push_back(IsCode ? &C.Stub
                               : &C.Others.emplace_back(Step.Kernel).Stub);
  }
}

/// Finds why there is no code of \p C to try on \p K, or adds it to \p Whole.
static void addCandidate(GpuTriedKernel &K, GpuCandidate &C, unsigned Number,
                         Module &Whole, const runtime::Remedies &Apply) {
  const StringRef Name = K.Code->getName();
  auto V = runtime::makeVariant(*K.Home->Code, Name, C.What, Apply);
  if (!V) {
    C.Refuse = toString(V.takeError());
    return;
  }
  for (const GpuCandidate &Other : K.Candidates)
    if (Other.Hash == V->Hash) {
      C.Refuse = "the same code as " + Other.What.text();
      return;
    }
  C.Hash = V->Hash;
  Function *Clone =
      cloneKernel(*Whole.getFunction(Name), Name + "__rc" + Twine(Number));
  C.Name = Clone->getName().str();
  auto Result = Apply(C.What, *Clone); // it may be gone
  if (!Result)
    C.Refuse = toString(Result.takeError());
  else
    findLaunch(C, *Whole.getFunction(C.Name));
}

/// Adds to \p Whole a copy of each tried kernel and of each candidate that
/// counts, and of the functions that they call. What calls through pointers is
/// left out, as they lead to the code that is timed. So is what a recipe launches.
/// The copies get the form for ptxas first: probes in both arms of a branch would
/// keep it from sharing what these end with, and what is counted would not be what
/// is timed.
Error TrialImages::addCounting(TrialImage &I, Module &Whole) {
  SmallVector<CountingCode *> All;
  DenseMap<Function *, Function *> Copies;
  auto Add = [&](CountingCode &Code, StringRef Of) {
    Function &F = *Whole.getFunction(Of);
    if (!namesCallees(F))
      return;
    Code.Name = cloneWithCallees(F, "__rcn", Copies)->getName().str();
    All.push_back(&Code);
  };
  for (auto &[Name, K] : I.Kernels) {
    if (none_of(K.Candidates, [](const GpuCandidate &C) {
          return C.What.changesCode() && C.Refuse.empty();
        }))
      continue;
    Add(K.Counting, Name);
    for (GpuCandidate &C : K.Candidates)
      if (C.What.changesCode() && C.Refuse.empty() && !C.Launch)
        Add(C.Counting, C.Name);
  }
  if (All.empty())
    return Error::success();
  StringSet<> Names;
  for (auto [_, Copy] : Copies) {
    frontend::shapeForPtxas(*Copy);
    Names.insert(Copy->getName());
  }
  analysis::renumberBlocks(Whole);
  I.Counting.Code = CloneModule(Whole);
  const auto Counts = [&](const Function &F) {
    return Names.contains(F.getName());
  };
  I.Counting.Probes =
      std::make_unique<instrument::ModuleProbes>(*I.Counting.Code, Counts);
  for (CountingCode *Code : All) {
    Function &F = *I.Counting.Code->getFunction(Code->Name);
    Code->Kernel = describeCounted(I.Counting, F);
    Code->Info = analysis::describeKernel(F, *Costs, I.Hash);
  }
  std::vector<ToPrice> Prices;
  for (CountingCode *Code : All)
    Prices.push_back({Code->Name, &Code->Info});
  priceByMachineCode(Whole, Prices, Settings, *Costs);
  // Nobody times them, so they may spill; and blocks of 1024 threads launch.
  frontend::RegisterCounts Fits;
  for (const CountingCode *Code : All)
    Fits[Code->Name] = 64;
  limitRegisters(Whole, Fits);
  return addProbes(Whole, Settings, Counts);
}

/// \p By's code for \p I, unless it is there.
Error TrialImages::loadTheirs(TrialImage &I, ForeignCompiler By) {
  TheirCode &Code = I.Theirs[By];
  if (Code.Image)
    return Error::success();
  auto Found = find_if(Plan->Images, [&](const ForeignImage &Image) {
    return Image.By == By && Image.Module == I.Hash;
  });
  if (Found == Plan->Images.end())
    return createStringError(Twine("there is no code of ") + nameOf(By) +
                             "'s for it");
  return readFile(Found->Path).moveInto(Code.Image);
}

Error TrialImages::load(TrialImage &I, StringRef Bitcode) {
  const GpuBreak Meanwhile;
  auto Code = parseBitcodeFile({Bitcode, "device code"}, I.Context);
  if (!Code)
    return Code.takeError();
  I.Code = std::move(*Code);
  std::unique_ptr<Module> Whole = CloneModule(*I.Code);
  for (const TrialRequest &R : Plan->Kernels) {
    Function *F = I.Code->getFunction(R.Kernel);
    if (R.Module != I.Hash || !F || F->isDeclaration())
      continue;
    GpuTriedKernel &K = I.Kernels[R.Kernel] = describe(I, *F);
    K.Choice = runtime::LaunchChoice(R.Launches);
    for (const Candidate &What : R.Candidates) {
      if (What.Remedy == "none")
        continue; // it is what all others are held against
      GpuCandidate &C = K.Candidates.emplace_back();
      C.What = What;
      if (What.changesCode()) {
        addCandidate(K, C, unsigned(K.Candidates.size()), *Whole, Apply);
        continue;
      }
      C.Name = R.Kernel;
      if (Error E = loadTheirs(I, *What.foreign()))
        C.Refuse = toString(std::move(E));
    }
  }
  // With a limit of time launches are timed, not predicted: ptxas takes longer for
  // the copies that count than for all else.
  if (!Plan->IsHurried)
    if (Error E = addCounting(I, *Whole))
      return E;
  return buildPlainImage(*Whole, Settings).moveInto(I.Built);
}

//===----------------------------------------------------------------------===//
// Registering
//===----------------------------------------------------------------------===//

void TrialImages::configure(const TrialPlan *NewPlan, const Options &O,
                            analysis::MachineModel NewCosts,
                            runtime::Remedies NewApply) {
  Plan = NewPlan;
  Settings = O;
  Costs = std::move(NewCosts);
  Apply = std::move(NewApply);
}

void **TrialImages::registerFatBinary(
    void *Argument, function_ref<void(StringRef, const Twine &)> Failed) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  auto AsItIs = [&] { return cudart().RegisterFatBinary(Argument); };
  const auto *Wrapper = static_cast<const FatbinWrapper *>(Argument);
  if (!isContainer(Wrapper))
    return AsItIs();
  Expected<ContainerView> View = openContainer(Wrapper->Data, SIZE_MAX);
  if (!View || View->Foreign) {
    consumeError(View.takeError()); // who runs it says so
    return AsItIs();
  }
  auto New = std::make_unique<TrialImage>();
  Expected<std::string> Hash = analysis::codeHashOf(View->Bitcode);
  if (!Hash) {
    consumeError(Hash.takeError()); // who runs it says so
    return AsItIs();
  }
  New->Hash = std::move(*Hash);
  const bool IsTried = any_of(Plan->Kernels, [&](const TrialRequest &R) {
    return R.Module == New->Hash && !R.Candidates.empty();
  });
  if (!IsTried && (Settings.Bitcode || !View->Fatbin.empty()))
    return AsItIs();
  if (Error E = load(*New, View->Bitcode)) {
    Failed(New->Hash, toString(std::move(E)));
    return AsItIs();
  }
  New->Wrapper = *Wrapper;
  New->Wrapper.Data = New->Built->getBufferStart();
  void **Handle = cudart().RegisterFatBinary(&New->Wrapper);
  if (New->Counting.Code)
    registerProbes(Handle, New->Counting);
  Images[Handle].Image = std::move(New);
  return Handle;
}

void TrialImages::registerFunction(void **Handle, const char *Stub,
                                   char *DeviceFun, const char *Name,
                                   int ThreadLimit, uint3 *Tid, uint3 *Bid,
                                   dim3 *BlockDim, dim3 *GridDim,
                                   int *WarpSize) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  cudart().RegisterFunction(Handle, Stub, DeviceFun, Name, ThreadLimit, Tid,
                            Bid, BlockDim, GridDim, WarpSize);
  auto Found = Images.find(Handle);
  if (Found == Images.end() || !Found->second.Image)
    return;
  auto Named = Found->second.Image->Kernels.find(StringRef(Name));
  if (Named == Found->second.Image->Kernels.end())
    return;
  GpuTriedKernel &K = Named->second;
  K.Stub = Stub;
  Kernels[Stub] = &K;
  auto Also = [&](char &Own, std::string &Code) {
    cudart().RegisterFunction(Handle, &Own, Code.data(), Code.data(),
                              ThreadLimit, Tid, Bid, BlockDim, GridDim,
                              WarpSize);
  };
  if (K.Counting.Kernel)
    Also(K.Counting.Stub, K.Counting.Name);
  for (GpuCandidate &C : K.Candidates) {
    if (C.Refuse.empty() && C.What.changesCode())
      Also(C.Stub, C.Name);
    for (StepCode &Other : C.Others)
      Also(Other.Stub, Other.Name);
    if (C.Counting.Kernel)
      Also(C.Counting.Stub, C.Counting.Name);
  }
}

void TrialImages::registerVariable(void **Handle, DeviceVariable V) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  Images[Handle].Variables.push_back(std::move(V));
}

/// \p By's code, when all that the program registers of ours is known.
void TrialImages::registerTheirs(ForeignCompiler By, Registered &R) {
  const Cudart &C = cudart();
  TrialImage &I = *R.Image;
  TheirCode &Theirs = I.Theirs[By];
  Theirs.Wrapper = I.Wrapper;
  Theirs.Wrapper.Data = Theirs.Image->getBufferStart();
  void **Handle = C.RegisterFatBinary(&Theirs.Wrapper);
  for (auto &[Name, K] : I.Kernels)
    for (GpuCandidate &Code : K.Candidates)
      if (Code.What.foreign() == By && Code.Refuse.empty())
        C.RegisterFunction(Handle, &Code.Stub, Code.Name.data(),
                           Code.Name.data(), -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
  for (DeviceVariable &V : R.Variables)
    if (!V.Managed)
      C.RegisterVar(Handle, &V.Twins[By], V.Name.data(), V.Name.data(),
                    /*Extern=*/0, V.Bytes, V.Constant, /*Global=*/0);
  if (C.RegisterFatBinaryEnd)
    C.RegisterFatBinaryEnd(Handle);
}

void TrialImages::registerEnd(void **Handle) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  cudart().RegisterFatBinaryEnd(Handle);
  auto Found = Images.find(Handle);
  if (Found == Images.end() || !Found->second.Image)
    return;
  for (ForeignCompiler By : ForeignCompilers)
    if (Found->second.Image->Theirs[By].Image)
      registerTheirs(By, Found->second);
}

void TrialImages::unregister(void **Handle) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (auto Found = Images.find(Handle); Found != Images.end()) {
    if (std::unique_ptr<TrialImage> &I = Found->second.Image) {
      std::erase_if(Kernels, [&](const auto &Entry) {
        return Entry.second->Home == I.get();
      });
      Unloaded.push_back(std::move(I));
    }
    Images.erase(Found);
  }
  cudart().UnregisterFatBinary(Handle);
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

GpuTriedKernel *TrialImages::kernel(const void *Stub) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  Launched.insert(Stub);
  auto Found = Kernels.find(Stub);
  return Found == Kernels.end() ? nullptr : Found->second;
}

uint64_t TrialImages::localBytes() {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  uint64_t Most = 0;
  for (const void *Stub : Launched) {
    cudaFuncAttributes A;
    if (!cudart().FuncGetAttributes(&A, Stub))
      Most = std::max<uint64_t>(Most, A.localSizeBytes);
    else
      (void)cudart().GetLastError(); // it was no kernel
  }
  return Most;
}

const std::deque<DeviceVariable> &TrialImages::variables(const TrialImage &I) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  auto Found = find_if(Images, [&](const auto &Entry) {
    return Entry.second.Image.get() == &I;
  });
  assert(Found != Images.end() && "code that was unloaded is not launched");
  return Found->second.Variables;
}

uint64_t TrialImages::variableBytes() {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  uint64_t Sum = 0;
  for (const auto &[Handle, R] : Images) {
    uint64_t Copies = 1;
    if (R.Image)
      Copies += count_if(R.Image->Theirs.Values,
                         [](const TheirCode &C) { return C.Image != nullptr; });
    for (const DeviceVariable &V : R.Variables)
      Sum += Copies * V.Bytes;
  }
  return Sum;
}

std::vector<Area> TrialImages::areas() {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  std::vector<Area> All;
  for (auto &[Handle, R] : Images)
    for (const DeviceVariable &V : R.Variables) {
      void *Address = nullptr;
      if (V.Constant)
        continue;
      if (V.Managed && !*V.Managed) // the host has not used it yet
        (void)cudart().InitModule(Handle);
      if (V.Managed)
        Address = *V.Managed;
      else if (cudart().GetSymbolAddress(&Address, V.Symbol)) {
        // Code that cannot be loaded here; nor can a kernel of it have run.
        (void)cudart().GetLastError();
        continue;
      }
      All.push_back({uint64_t(Address), V.Bytes,
                     "the __device__ variable '" + demangle(V.Name) + "' of " +
                         std::to_string(V.Bytes) + " bytes"});
    }
  sort(All, [](const Area &A, const Area &B) { return A.Base < B.Base; });
  return All;
}

} // namespace reconverge::gpu
