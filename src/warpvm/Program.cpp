//===- warpvm/Program.cpp - Programs and kernels as loaded ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is a module of bitcode, an address for each of its variables, in
// memory that its user allocates, and one for each function that a pointer may
// name. A variant of a program has other code for the same variables and
// functions, and shares their addresses.
//
// Code that the cache has an outline of is read function by function, when it
// is compiled (Outline.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/Program.h"
#include "analysis/CodeHash.h"
#include "analysis/device/AddressSpace.h"
#include "core/ContainerIO.h"
#include "core/Error.h"
#include "warpvm/memory/DeviceMemory.h"
#include "warpvm/prepare/Callees.h"
#include "warpvm/prepare/Initializers.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LoadedKernel::LoadedKernel(Function &F, LoadedProgram &Home,
                           KernelOutline Known)
    : F(F), Home(Home), Layout(parameterLayout(F)), Known(std::move(Known)) {}

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
  for (auto [I, Slot] : enumerate(Layout)) {
    Params.resize(std::max<size_t>(Params.size(), Slot.first + Slot.second));
    std::memcpy(Params.data() + Slot.first, Args[I], Slot.second);
  }
  return Params;
}

bool LoadedKernel::takesHostPointer(ArrayRef<uint8_t> Params) const {
  const DeviceMemory &Memory = DeviceMemory::instance();
  return any_of(Known.Pointers, [&](uint64_t Offset) {
    uint64_t Address;
    std::memcpy(&Address, Params.data() + Offset, sizeof(Address));
    // Where nothing is, the hardware sees the access.
    return !Memory.inRange(Address) && isMapped(Address) &&
           !Memory.lookup(Address);
  });
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Expected<Kernel *> LoadedProgram::kernel(StringRef Name) {
  auto &Slot = Kernels[Name];
  if (!Slot) {
    Function *F = M->getFunction(Name);
    if (!F || F->isDeclaration())
      return nullptr;
    const KernelOutline *Of = Known ? Known->kernel(Name) : nullptr;
    if (!Of)
      if (Error E = read(*F))
        return std::move(E);
    Slot =
        std::make_unique<LoadedKernel>(*F, *this, Of ? *Of : KernelOutline(*F));
    Slot->Globals = Addresses.data();
  }
  return Slot.get();
}

/// A round for each level of calls, which are all by name.
Error LoadedProgram::read(Function &F) {
  for (bool More = Known.has_value(); More;) {
    More = false;
    for (const GlobalValue *GV : reachableFrom(F))
      if (GV->isMaterializable()) {
        More = true;
        if (Error E = const_cast<GlobalValue *>(GV)->materialize())
          return userError("device bitcode cannot be read: " +
                               toString(std::move(E)),
                           "Build the program again with this version.");
      }
  }
  return Error::success();
}

Expected<std::pair<void *, uint64_t>> LoadedProgram::variable(StringRef Name) {
  for (auto [GV, Address] : zip(Variables, Addresses))
    if (GV->getName() == Name)
      return std::pair(Address, M->getDataLayout()
                                    .getTypeAllocSize(GV->getValueType())
                                    .getFixedValue());
  return std::pair<void *, uint64_t>(nullptr, 0);
}

Error LoadedProgram::resetVariables() {
  // Initial values may hold addresses of variables and functions.
  DenseMap<const GlobalValue *, void *> AddressOf;
  for (auto [GV, Address] : zip(Variables, Addresses))
    AddressOf[GV] = Address;
  for (auto [F, Address] :
       zip(Functions, ArrayRef(Addresses).drop_front(Variables.size())))
    AddressOf[F] = Address;
  for (auto [GV, Address] : zip(Variables, Addresses))
    if (GV->hasInitializer())
      if (Error E = writeInitializer(
              *GV->getInitializer(), static_cast<uint8_t *>(Address),
              M->getDataLayout(), [&](const GlobalValue &Other) {
                return AddressOf.lookup(&Other);
              }))
        return E;
  return Error::success();
}

/// The module, and what is known of it without memory for its variables. Read
/// as a whole if there is no \p CacheDir.
static Expected<std::unique_ptr<LoadedProgram>> parse(MemoryBufferRef Bitcode,
                                                      StringRef CacheDir) {
  auto P = std::make_unique<LoadedProgram>();
  P->Bytes = bitcodeHash(Bitcode.getBuffer());
  P->Bitcode = std::make_shared<const std::string>(Bitcode.getBuffer());
  P->Known = Outline::kept(CacheDir, P->Bytes);
  const MemoryBufferRef Kept(*P->Bitcode, Bitcode.getBufferIdentifier());
  auto M = P->Known ? getLazyBitcodeModule(Kept, P->Context)
                    : parseBitcodeFile(Kept, P->Context);
  if (!M)
    return userError("device bitcode cannot be read: " +
                         toString(M.takeError()),
                     "Build the program again with this version.");
  P->M = std::move(*M);
  // LLVM's reader verifies a module that has debug information of its version
  // itself; to do so again is a sixth of the time in which a large one loads.
  const bool Verified =
      getDebugMetadataVersionFromModule(*P->M) == DEBUG_METADATA_VERSION;
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (!P->Known && !Verified && verifyModule(*P->M, &OS))
    return userError("device bitcode is invalid: " + Problem,
                     "Build the program again with this version.");
  if (!P->Known)
    Outline::keep(*P->M, CacheDir, P->Bytes);
  P->Hash = P->Known ? P->Known->codeHash() : analysis::codeHash(*P->M);
  P->Variables = deviceVariables(*P->M);
  P->Functions = addressedFunctions(*P->M);
  return P;
}

Expected<std::unique_ptr<Program>>
loadProgram(MemoryBufferRef Bitcode, const VariableAllocator &Allocate,
            const MachineOptions &Options) {
  auto Parsed = parse(Bitcode, Options.ReadLate ? Options.CacheDir : "");
  if (!Parsed)
    return Parsed.takeError();
  std::unique_ptr<LoadedProgram> P = std::move(*Parsed);
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
  P->Places.emplace(P->Functions.size());
  for (size_t I = 0; I < P->Functions.size(); ++I)
    P->Addresses.push_back((*P->Places)[I]);
  if (Error E = P->resetVariables())
    return std::move(E);
  if (Options.OwnMemory)
    for (auto [GV, Address] : zip(P->Variables, P->Addresses))
      if (GV->getAddressSpace() == analysis::ConstantSpace)
        DeviceMemory::instance().markConstant(Address);
  return P;
}

Expected<std::unique_ptr<Program>> loadVariantOf(LoadedProgram &Home,
                                                 MemoryBufferRef Bitcode) {
  auto P = parse(Bitcode, /*CacheDir=*/"");
  if (!P)
    return P.takeError();
  auto SameNames = [](const auto &A, const auto &B) {
    return A.size() == B.size() && all_of(zip(A, B), [](const auto &Pair) {
             return std::get<0>(Pair)->getName() ==
                    std::get<1>(Pair)->getName();
           });
  };
  if (!SameNames((*P)->Variables, Home.Variables) ||
      !SameNames((*P)->Functions, Home.Functions))
    return internalError("a variant has other variables or functions than the "
                         "program that it is of");
  (*P)->Addresses = Home.Addresses;
  return std::move(*P);
}

} // namespace reconverge::warpvm
