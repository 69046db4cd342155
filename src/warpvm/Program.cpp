//===- warpvm/Program.cpp - Programs and kernels as loaded ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is a module of bitcode, an address for each of its variables, in
// memory that its user allocates, and one for each function that a pointer may
// name. A variant of a program has other code for the same variables and
// functions, and shares their addresses.
//
// What the cache has an outline of (Outline.cpp) is not read at all until a
// kernel is compiled, and then function by function.
//
//===----------------------------------------------------------------------===//

#include "warpvm/Program.h"
#include "analysis/CodeHash.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Initializers.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Function &LoadedKernel::function() const {
  Function *F = Home.module().getFunction(Name);
  assert(F && "a kernel is of its module");
  return *F;
}

uint64_t LoadedKernel::localBytes() const {
  for (const auto &Slot : Slots)
    if (const Code *C = Slot ? Slot->Now.load() : nullptr)
      return C->Plan->LocalBytes;
  return 0;
}

bool LoadedKernel::compiledWell() const {
  return all_of(Slots, [](const auto &Slot) {
    const Code *C = Slot ? Slot->Now.load() : nullptr;
    return !C || C->By == Effort::Well;
  });
}

std::vector<uint8_t> LoadedKernel::packed(void **Args) const {
  std::vector<uint8_t> Params;
  for (auto [I, Slot] : enumerate(Known.Parameters)) {
    Params.resize(std::max<size_t>(Params.size(), Slot.first + Slot.second));
    std::memcpy(Params.data() + Slot.first, Args[I], Slot.second);
  }
  return Params;
}

/// Of a union that holds a pointer or a short value, what lies unwritten behind the
/// value often looks like an address. Who makes the mistake makes it at once.
static constexpr unsigned DoubtfulLaunches = 4;

bool LoadedKernel::takesHostPointer(ArrayRef<uint8_t> Params) {
  const DeviceMemory &Memory = DeviceMemory::instance();
  const auto IsHosts = [&](uint64_t Offset) {
    uint64_t Address;
    std::memcpy(&Address, Params.data() + Offset, sizeof(Address));
    // Where nothing is, the hardware sees the access.
    return !Memory.inRange(Address) && isMapped(Address) &&
           !Memory.lookup(Address);
  };
  const auto IsWhole = [&](uint64_t Offset) {
    return is_contained(Known.Parameters,
                        std::pair<uint64_t, uint64_t>(Offset, 8));
  };
  bool Doubt = false;
  for (uint64_t Offset : Known.Pointers)
    if (const bool Whole = IsWhole(Offset);
        (Whole || Doubted < DoubtfulLaunches) && IsHosts(Offset)) {
      if (Whole)
        return true;
      Doubt = true;
    }
  Doubted += Doubt;
  return Doubt;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static Error unreadable(Error Why) {
  return userError("device bitcode cannot be read: " + toString(std::move(Why)),
                   "Build the program again with this version.");
}

Expected<Kernel *> LoadedProgram::kernel(StringRef Name) {
  auto &Slot = Kernels[Name];
  if (Slot)
    return Slot.get();
  const KernelOutline *Of = Known ? Known->kernel(Name) : nullptr;
  if (!Of) {
    if (Error E = readModule(Given))
      return std::move(E);
    Function *F = M->getFunction(Name);
    if (!F || F->isDeclaration())
      return nullptr;
    if (Error E = readFunction(*F))
      return std::move(E);
    Slot = std::make_unique<LoadedKernel>(Name, *this, KernelOutline(*F));
  } else {
    Slot = std::make_unique<LoadedKernel>(Name, *this, *Of);
  }
  Slot->Globals = Addresses.data();
  return Slot.get();
}

Error LoadedProgram::check() {
  if (Check)
    if (Error E = Check())
      return E;
  Check = nullptr;
  return Error::success();
}

Error LoadedProgram::readModule(MemoryBufferRef From) {
  if (M)
    return Error::success();
  if (Error E = check())
    return E;
  Context.emplace();
  auto Read = Known ? getLazyBitcodeModule(From, *Context)
                    : parseBitcodeFile(From, *Context);
  if (!Read)
    return unreadable(Read.takeError());
  M = std::move(*Read);
  // LLVM's reader verifies a module that has debug information of its version
  // itself; to do so again is a sixth of the time in which a large one loads.
  const bool Verified =
      getDebugMetadataVersionFromModule(*M) == DEBUG_METADATA_VERSION;
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (!Known && !Verified && verifyModule(*M, &OS))
    return userError("device bitcode is invalid: " + Problem,
                     "Build the program again with this version.");
  return Error::success();
}

/// A round for each level of calls, which are all by name.
Error LoadedProgram::readFunction(Function &F) {
  for (bool More = Known.has_value(); More;) {
    More = false;
    for (const GlobalValue *GV : reachableFrom(F))
      if (GV->isMaterializable()) {
        More = true;
        if (Error E = const_cast<GlobalValue *>(GV)->materialize())
          return unreadable(std::move(E));
      }
  }
  return Error::success();
}

Expected<Function *> LoadedProgram::read(StringRef Kernel) {
  // Also functions of a module that is there are read from what was given.
  std::lock_guard<std::mutex> Lock(Keeping);
  if (IsGone)
    return userError("kernel " + demangle(Kernel) +
                         " is of a library that was unloaded",
                     "Unload it when nothing is launched any more.");
  if (Error E = readModule(Given))
    return std::move(E);
  Function *F = M->getFunction(Kernel);
  if (!F)
    return internalError("the device code holds no kernel '" + Kernel + "'");
  if (Error E = readFunction(*F))
    return std::move(E);
  return F;
}

std::shared_ptr<const std::string> LoadedProgram::bitcode() {
  std::lock_guard<std::mutex> Lock(Keeping);
  if (!Kept && !IsGone && !errorToBool(check()))
    Kept = std::make_shared<const std::string>(Given.getBuffer());
  return Kept;
}

void LoadedProgram::forgetBitcode() {
  std::lock_guard<std::mutex> Lock(Keeping);
  IsGone = !Kept || Given.getBufferStart() != Kept->data();
}

Expected<std::pair<void *, uint64_t>> LoadedProgram::variable(StringRef Name) {
  for (auto [V, Address] : zip(Variables, Addresses))
    if (V.Name == Name)
      return std::pair(Address, V.Size);
  return std::pair<void *, uint64_t>(nullptr, 0);
}

Error LoadedProgram::resetVariables() {
  if (const auto *Initial = Known ? Known->initialValues() : nullptr) {
    for (auto [Address, Value] : zip(Addresses, *Initial))
      if (Value)
        std::memcpy(Address, Value->data(), Value->size());
    return Error::success();
  }
  // Initial values may hold addresses of variables and functions.
  const auto Globals = deviceVariables(*M);
  DenseMap<const GlobalValue *, void *> AddressOf;
  for (auto [GV, Address] : zip(Globals, Addresses))
    AddressOf[GV] = Address;
  for (auto [F, Address] :
       zip(Functions, ArrayRef(Addresses).drop_front(Variables.size())))
    AddressOf[F] = Address;
  for (auto [GV, Address] : zip(Globals, Addresses))
    if (GV->hasInitializer())
      if (Error E = writeInitializer(
              *GV->getInitializer(), static_cast<uint8_t *>(Address),
              M->getDataLayout(), [&](const GlobalValue &Other) {
                return AddressOf.lookup(&Other);
              }))
        return E;
  return Error::success();
}

/// What is known of \p Code without memory for its variables. Read as a whole,
/// from a copy, if there is no \p CacheDir or nothing of it there.
static Expected<std::unique_ptr<LoadedProgram>> parse(DeviceCode Code,
                                                      StringRef CacheDir) {
  auto P = std::make_unique<LoadedProgram>();
  P->Bytes = Code.Name.empty() ? bitcodeHash(Code.Bitcode.getBuffer())
                               : std::move(Code.Name);
  P->Given = Code.Bitcode;
  P->Check = std::move(Code.Check);
  P->Known = Outline::kept(CacheDir, P->Bytes);
  if (P->Known && P->Known->initialValues()) {
    P->Hash = P->Known->codeHash();
    P->Variables = P->Known->variables();
    return P;
  }
  if (Error E = P->check())
    return std::move(E);
  P->Given = MemoryBufferRef(*P->bitcode(), Code.Bitcode.getBufferIdentifier());
  if (Error E = P->readModule(P->Given))
    return std::move(E);
  if (!P->Known)
    Outline::keep(*P->M, CacheDir, P->Bytes);
  P->Hash = P->Known ? P->Known->codeHash() : analysis::codeHash(*P->M);
  for (const GlobalVariable *GV : deviceVariables(*P->M))
    P->Variables.emplace_back(*GV);
  P->Functions = addressedFunctions(*P->M);
  return P;
}

Expected<std::unique_ptr<Program>>
loadProgram(DeviceCode Code, const VariableAllocator &Allocate,
            const MachineOptions &Options) {
  auto Parsed =
      parse(std::move(Code), Options.ReadLate ? Options.CacheDir : "");
  if (!Parsed)
    return Parsed.takeError();
  std::unique_ptr<LoadedProgram> P = std::move(*Parsed);
  for (const VariableOutline &V : P->Variables) {
    auto Address = Allocate(V.Size, V.Align, V.Name);
    if (!Address)
      return Address.takeError();
    P->Addresses.push_back(*Address);
  }
  P->Places.emplace(P->Functions.size());
  for (size_t I = 0; I < P->Functions.size(); ++I)
    P->Addresses.push_back((*P->Places)[I]);
  if (Error E = P->resetVariables())
    return std::move(E);
  if (Options.OwnMemory)
    for (auto [V, Address] : zip(P->Variables, P->Addresses))
      if (V.Constant)
        DeviceMemory::instance().markConstant(Address);
  return P;
}

Expected<std::unique_ptr<Program>> loadVariantOf(LoadedProgram &Home,
                                                 MemoryBufferRef Bitcode) {
  auto P = parse(Bitcode, /*CacheDir=*/"");
  if (!P)
    return P.takeError();
  auto SameNames = [](const auto &A, const auto &B, auto NameOf) {
    return A.size() == B.size() && all_of(zip(A, B), [&](const auto &Pair) {
             return NameOf(std::get<0>(Pair)) == NameOf(std::get<1>(Pair));
           });
  };
  if (!SameNames((*P)->Variables, Home.Variables,
                 [](const VariableOutline &V) { return StringRef(V.Name); }) ||
      !SameNames((*P)->Functions, Home.Functions,
                 [](const Function *F) { return F->getName(); }))
    return internalError("a variant has other variables or functions than the "
                         "program that it is of");
  (*P)->Addresses = Home.Addresses;
  return std::move(*P);
}

} // namespace reconverge::warpvm
