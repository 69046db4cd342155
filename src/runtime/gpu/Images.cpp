//===- runtime/gpu/Images.cpp - The program's device code -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global constructors of the program register each translation unit's device
// code. Where that is a container of ours, its bitcode is read, code with
// probes is built from it, and that is registered in its place, with one
// variable more: the one that tells kernels where their counters are. Kernels
// keep their names, so all else that the program registers fits.
//
// What is not ours (nvcc's fat binaries, a container of another version) goes
// on as it is; its kernels run and are not counted.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Images.h"

#include "analysis/CodeHash.h"
#include "analysis/Numbering.h"
#include "core/Container.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "core/GpuTurn.h"
#include "runtime/gpu/Build.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/gpu/StackLimit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cstring>
#include <map>
#include <mutex>

using namespace llvm;

namespace reconverge::gpu {

namespace {
struct Registry {
  std::mutex Lock;
  std::map<void **, std::unique_ptr<Image>> Images;               ///< by handle
  std::map<const void *, std::unique_ptr<CountedKernel>> Kernels; ///< by stub
  /// Of libraries that were unloaded; the profile still speaks of them.
  std::vector<std::unique_ptr<Image>> Unloaded;
};
} // namespace

/// Made at first use and never destroyed: constructors and destructors of the
/// program come here.
static Registry &registry() {
  static Registry &R = *new Registry;
  return R;
}

bool isContainer(const FatbinWrapper *Wrapper) {
  uint64_t Magic = 0;
  if (Wrapper && Wrapper->Magic == FatbinWrapper::ItsMagic && Wrapper->Data)
    std::memcpy(&Magic, Wrapper->Data, sizeof(Magic));
  return Magic == ContainerMagic;
}

static Error load(Image &I, const ContainerView &View, const Options &O) {
  if (View.Foreign)
    return userError("it was built by another version of reconverge",
                     "Build the program again.");
  const GpuBreak Meanwhile;
  auto Code = parseBitcodeFile({View.Bitcode, "device code"}, I.Context);
  if (!Code)
    return Code.takeError();
  I.Code = std::move(*Code);
  I.Probes = std::make_unique<instrument::ModuleProbes>(*I.Code);
  I.Hash = analysis::codeHash(*I.Code);
  if (O.Features)
    for (const auto &Reads : addFeatureKernels(*CloneModule(*I.Code), O))
      I.Features[Reads.first()] = Reads.second.Loads;
  return buildImage(*I.Code, View.Hash, O).moveInto(I.Built);
}

void registerProbes(void **Handle, Image &I) {
  cudart().RegisterVar(Handle, &I.Config,
                       const_cast<char *>(instrument::ProbeConfigName),
                       instrument::ProbeConfigName, /*Extern=*/0,
                       sizeof(instrument::ProbeConfig), /*Constant=*/1,
                       /*Global=*/0);
}

void **registerImage(void *Argument, const Options &O,
                     function_ref<void(const Twine &)> Say) {
  const auto *Wrapper = static_cast<const FatbinWrapper *>(Argument);
  if (!isContainer(Wrapper))
    return cudart().RegisterFatBinary(Argument);

  auto New = std::make_unique<Image>();
  Error Failure = Error::success();
  if (Expected<ContainerView> View = openContainer(Wrapper->Data, SIZE_MAX))
    Failure = joinErrors(std::move(Failure), load(*New, *View, O));
  else
    Failure = joinErrors(std::move(Failure), View.takeError());
  if (Failure) {
    Say("device code cannot be counted: " + toString(std::move(Failure)));
    return cudart().RegisterFatBinary(Argument);
  }
  New->Wrapper = *Wrapper;
  New->Wrapper.Data = New->Built->getBufferStart();
  void **Handle = cudart().RegisterFatBinary(&New->Wrapper);
  if (O.Counters)
    registerProbes(Handle, *New);
  Registry &R = registry();
  std::lock_guard<std::mutex> Guard(R.Lock);
  R.Images[Handle] = std::move(New);
  return Handle;
}

void unregisterImage(void **Handle) {
  Registry &R = registry();
  {
    std::lock_guard<std::mutex> Guard(R.Lock);
    auto Found = R.Images.find(Handle);
    if (Found != R.Images.end()) {
      std::erase_if(R.Kernels, [&](const auto &Entry) {
        return Entry.second->Home == Found->second.get();
      });
      R.Unloaded.push_back(std::move(Found->second));
      R.Images.erase(Found);
    }
  }
  cudart().UnregisterFatBinary(Handle);
}

std::unique_ptr<CountedKernel> describeCounted(Image &I, Function &F) {
  auto K = std::make_unique<CountedKernel>();
  K->Home = &I;
  K->Code = &F;
  K->Functions = analysis::functionsOf(F);
  K->AddedToFrames = addedToFrames(K->Functions);
  auto Numbers = analysis::numbersOf(F);
  K->Blocks = Numbers.Blocks.size();
  K->Branches = Numbers.Branches.size();
  K->Accesses = Numbers.Accesses.size();
  DenseMap<uint32_t, unsigned> Block, Branch, Access;
  for (auto [Position, Id] : enumerate(Numbers.Blocks))
    Block[Id] = Position;
  for (auto [Position, Id] : enumerate(Numbers.Branches))
    Branch[Id] = Position;
  for (auto [Position, Id] : enumerate(Numbers.Accesses))
    Access[Id] = Position;
  auto Find = [](const DenseMap<uint32_t, unsigned> &Map,
                 std::optional<uint32_t> Id) {
    auto At = Id ? Map.find(*Id) : Map.end();
    return At == Map.end() ? CountedKernel::NoPosition : At->second;
  };
  for (const Function *G : K->Functions) {
    auto &Blocks = K->BlockAt.emplace_back();
    auto &Branches = K->BranchAt.emplace_back();
    for (const BasicBlock *BB : I.Probes->plan(*G).Code) {
      Blocks.push_back(Find(Block, analysis::blockNumber(*BB)));
      Branches.push_back(Find(Branch, analysis::branchNumber(*BB)));
    }
    auto &Accesses = K->AccessAt.emplace_back();
    for (uint32_t Id : I.Probes->accesses(*G))
      Accesses.push_back(Find(Access, Id));
  }
  return K;
}

void registerKernel(void **Handle, const void *Stub, StringRef Name,
                    const Options &O) {
  Registry &R = registry();
  std::lock_guard<std::mutex> Guard(R.Lock);
  auto Found = R.Images.find(Handle);
  if (Found == R.Images.end())
    return;
  Image &I = *Found->second;
  Function *F = I.Code->getFunction(Name);
  if (!F || F->isDeclaration())
    return;
  std::unique_ptr<CountedKernel> &K = R.Kernels[Stub] = describeCounted(I, *F);
  const auto Register = [&](std::string &As, char &Stub, std::string Name) {
    As = std::move(Name);
    cudart().RegisterFunction(Handle, &Stub, As.data(), As.data(), -1, nullptr,
                              nullptr, nullptr, nullptr, nullptr);
  };
  if (hasPlainCode(*F, O))
    Register(K->PlainName, K->PlainStub, (Name + PlainSuffix).str());
  if (const auto Reads = I.Features.find(Name); Reads != I.Features.end()) {
    K->FeatureLoads = Reads->second;
    Register(K->FeatureName, K->FeatureStub, remedies::featureKernelName(Name));
  }
}

const CountedKernel *findKernel(const void *Stub) {
  Registry &R = registry();
  std::lock_guard<std::mutex> Guard(R.Lock);
  auto Found = R.Kernels.find(Stub);
  return Found == R.Kernels.end() ? nullptr : Found->second.get();
}

} // namespace reconverge::gpu
