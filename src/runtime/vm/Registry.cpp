//===- runtime/vm/Registry.cpp - The program's device code ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global constructors of the program register each translation unit's device
// code, kernels and variables, before main and before our own statics could be
// relied upon: all state is made at first use and never destroyed.
//
// Registering only notes pointers. The code is looked at when a kernel of it is
// first launched or a variable first asked for:
//
//   wrapper -> container: its header checked by magic, version and sizes
//           -> Machine::load, which has the rest checked, by a hash, before LLVM
//              sees a byte of it; bitcode that is foreign is first read in a child
//              process (Vet.cpp)
//
// Where the cache has all that is asked for, only the header is looked at.
//
// A wrapper that holds something else (a fat binary from nvcc, in a library
// that was not built by us) or a damaged container is no error until then: a
// program may carry kernels that it never runs. When it matters, it is said
// once, with what to do, and CUDA's code for it is returned each time.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Registry.h"

#include "core/ContainerIO.h"
#include "core/Error.h"
#include "runtime/vm/Api.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Engine.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Vet.h"
#include "warpvm/memory/DeviceMemory.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <cstring>
#include <link.h>
#include <map>

using namespace llvm;

namespace reconverge::runtime {

std::recursive_mutex &deviceLock() {
  static std::recursive_mutex &Mutex = *new std::recursive_mutex;
  return Mutex;
}

namespace {
using Guard = std::lock_guard<std::recursive_mutex>;

struct Registry {
  std::map<const void *, DeviceFunction *> Functions; ///< by stub
  std::map<const void *, DeviceVariable *> Variables; ///< by symbol
  /// Images of libraries that were unloaded; profiles still speak of them.
  std::vector<std::unique_ptr<Image>> Images, Unloaded;
};
} // namespace

static Registry &registry() {
  static Registry &R = *new Registry;
  return R;
}

template <typename Value>
static Value *lookUp(const std::map<const void *, Value *> &Map,
                     const void *Key) {
  auto Found = Map.find(Key);
  return Found == Map.end() ? nullptr : Found->second;
}

//===----------------------------------------------------------------------===//
// Registering
//===----------------------------------------------------------------------===//

Image *registerImage(const void *Wrapper) {
  Guard Lock(deviceLock());
  auto New = std::make_unique<Image>();
  const auto *W = static_cast<const FatbinWrapper *>(Wrapper);
  if (W && W->Magic == FatbinWrapper::ItsMagic)
    New->Data = W->Data;
  registry().Images.push_back(std::move(New));
  return registry().Images.back().get();
}

void unregisterImage(Image *I) {
  Guard Lock(deviceLock());
  Registry &R = registry();
  auto Found = find_if(R.Images, [&](auto &Known) { return Known.get() == I; });
  if (Found == R.Images.end())
    return;
  for (auto &F : I->Functions)
    if (lookUp(R.Functions, F->Stub) == F.get())
      R.Functions.erase(F->Stub);
  for (auto &V : I->Variables)
    if (lookUp(R.Variables, V->Symbol) == V.get())
      R.Variables.erase(V->Symbol);
  I->Data = nullptr; // its memory goes with the library
  if (I->Code) {
    Engine::get().leave(*I->Code);
    I->Code->forgetBitcode();
  }
  R.Unloaded.push_back(std::move(*Found));
  R.Images.erase(Found);
}

void registerFunction(Image *I, const void *Stub, StringRef Name) {
  Guard Lock(deviceLock());
  auto New = std::make_unique<DeviceFunction>();
  New->Home = I;
  New->Stub = Stub;
  New->Name = Name.str();
  registry().Functions[Stub] = New.get();
  I->Functions.push_back(std::move(New));
}

void registerVariable(Image *I, DeviceVariable V) {
  Guard Lock(deviceLock());
  auto New = std::make_unique<DeviceVariable>(std::move(V));
  New->Home = I;
  registry().Variables[New->Symbol] = New.get();
  I->Variables.push_back(std::move(New));
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The image is of no use: says why, once, and remembers what to return.
/// \p Why goes on from "the device code of 'name' " and ends with a remedy.
static cudaError_t broken(Image &I, StringRef Wanted, cudaError_t Code,
                          const Twine &Why) {
  I.State = Image::Broken;
  I.WhyBroken = Code;
  Engine::get().refuse("the device code of '" + demangle(Wanted) + "' " + Why);
  return Code;
}

/// How many bytes may be read from \p Data: to the end of the loaded segment
/// that holds it. A damaged size in a container must not lead beyond.
static size_t readableBytes(const void *Data) {
  struct Search {
    uint64_t Address;
    size_t Bytes;
  } Found = {uint64_t(Data), SIZE_MAX};
  dl_iterate_phdr(
      [](dl_phdr_info *Object, size_t, void *Closure) {
        auto &S = *static_cast<Search *>(Closure);
        for (unsigned I = 0; I < Object->dlpi_phnum; ++I) {
          const auto &Header = Object->dlpi_phdr[I];
          const uint64_t Begin = Object->dlpi_addr + Header.p_vaddr;
          if (Header.p_type != PT_LOAD || S.Address - Begin >= Header.p_memsz)
            continue;
          S.Bytes = size_t(Begin + Header.p_memsz - S.Address);
          return 1;
        }
        return 0;
      },
      &Found);
  return Found.Bytes;
}

static Expected<void *> allocateVariable(uint64_t Size, uint64_t Align,
                                         StringRef Name) {
  return warpvm::DeviceMemory::instance().allocate(std::max<uint64_t>(Size, 1),
                                                   warpvm::MemoryKind::Variable,
                                                   Align, demangle(Name));
}

/// Loads \p I if it is not. \p Wanted names the function or variable for which
/// it is needed, for the message.
static cudaError_t load(Image &I, StringRef Wanted) {
  if (I.State == Image::Loaded)
    return cudaSuccess;
  if (I.State == Image::Broken)
    return I.WhyBroken;
  const size_t Readable = I.Data ? readableBytes(I.Data) : 0;
  uint64_t Magic = 0;
  if (Readable >= sizeof(Magic))
    std::memcpy(&Magic, I.Data, sizeof(Magic));
  if (Magic != ContainerMagic)
    return broken(I, Wanted, cudaErrorNoKernelImageForDevice,
                  "was not built by reconverge: it holds code for GPUs only\n"
                  "  Build all of the program, its libraries included, with "
                  "'reconverge cc', or run it with --device gpu.");
  auto Unusable = [&](Error Why) {
    return broken(I, Wanted, cudaErrorInvalidKernelImage,
                  "cannot be used: " + toString(std::move(Why)));
  };
  Expected<ContainerView> View = openHeader(I.Data, Readable);
  if (!View)
    return Unusable(View.takeError());
  warpvm::DeviceCode Given(MemoryBufferRef(View->Bitcode, "device code"));
  Given.Name = hashText(View->Hash);
  Given.Check = [&I, View = *View]() -> Error {
    Error Failure = checkRest(View);
    if (!Failure && View.Foreign)
      Failure = vetBitcode(MemoryBufferRef(View.Bitcode, "device code"));
    I.IsDamaged = bool(Failure);
    return Failure;
  };
  Expected<warpvm::Machine *> Machine = Engine::get().machine();
  if (!Machine)
    return broken(I, Wanted, cudaErrorInitializationError,
                  "cannot be run: " + toString(Machine.takeError()));
  Expected<std::unique_ptr<warpvm::Program>> Code =
      (*Machine)->load(std::move(Given), allocateVariable);
  if (Code) {
    I.Code = std::move(*Code);
    I.State = Image::Loaded;
    return cudaSuccess;
  }
  Error Failure = Code.takeError();
  if (I.IsDamaged)
    return Unusable(std::move(Failure));
  if (Failure.isA<warpvm::OutOfDeviceMemory>())
    return broken(
        I, Wanted, cudaErrorMemoryAllocation,
        "has variables that do not fit: " + toString(std::move(Failure)) +
            "\n  RECONVERGE_VM=memory=8G sets the size of device "
            "memory.");
  // A construct that the VM refuses; the error says which, and what to do.
  I.State = Image::Broken;
  I.WhyBroken = cudaErrorNotSupported;
  Engine::get().refuse(toString(std::move(Failure)));
  return I.WhyBroken;
}

static cudaError_t resolve(DeviceFunction &F) {
  if (F.Code)
    return cudaSuccess;
  StoppedClock Compiling;
  if (cudaError_t Failed = load(*F.Home, F.Name))
    return Failed;
  Expected<warpvm::Kernel *> Code = F.Home->Code->kernel(F.Name);
  if (!Code) {
    Engine::get().refuse(toString(Code.takeError()));
    return cudaErrorNotSupported;
  }
  if (!*Code) {
    Engine::get().refuse("the device code holds no kernel '" +
                         demangle(F.Name) + "'");
    return cudaErrorInvalidDeviceFunction;
  }
  F.Code = *Code;
  const uint64_t Static = F.Code->staticShared();
  F.MaxDynamicShared = limits::SharedPerBlock -
                       std::min<uint64_t>(Static, limits::SharedPerBlock);
  const unsigned Bound = F.Code->launchBound();
  F.MaxThreads = Bound ? Bound : limits::ThreadsPerBlock;
  const unsigned Architecture = F.Code->architecture();
  F.Architecture =
      Architecture ? int(Architecture) : limits::Major * 10 + limits::Minor;
  return cudaSuccess;
}

static cudaError_t resolve(DeviceVariable &V) {
  if (V.Address)
    return cudaSuccess;
  StoppedClock Compiling;
  if (cudaError_t Failed = load(*V.Home, V.Name))
    return Failed;
  Expected<std::pair<void *, uint64_t>> Place = V.Home->Code->variable(V.Name);
  if (!Place) {
    Engine::get().refuse(toString(Place.takeError()));
    return cudaErrorInvalidSymbol;
  }
  V.Address = Place->first;
  V.Size = Place->second;
  if (V.ManagedPointer)
    warpvm::DeviceMemory::instance().markManaged(V.Address);
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

DeviceFunction *knownFunction(const void *Stub) {
  Guard Lock(deviceLock());
  if (DeviceFunction *F = lookUp(registry().Functions, Stub))
    return F;
  // A cudaKernel_t, as cudaGetKernel gave it: an object of ours.
  for (auto &I : registry().Images)
    for (auto &F : I->Functions)
      if (F.get() == Stub)
        return F.get();
  return nullptr;
}

cudaError_t findFunction(const void *Stub, DeviceFunction *&F,
                         cudaError_t Unknown) {
  Guard Lock(deviceLock());
  DeviceFunction *Found = knownFunction(Stub);
  if (!Found)
    return Unknown;
  if (cudaError_t Failed = resolve(*Found))
    return Failed;
  F = Found;
  return cudaSuccess;
}

/// The managed variable whose memory begins at \p Address: what the host has in
/// the place of a symbol.
static DeviceVariable *managedAt(const void *Address) {
  for (auto &[Symbol, V] : registry().Variables)
    if (V->ManagedPointer && Address && V->Address == Address)
      return V;
  return nullptr;
}

cudaError_t findVariable(const void *Symbol, DeviceVariable *&V) {
  Guard Lock(deviceLock());
  DeviceVariable *Found = lookUp(registry().Variables, Symbol);
  if (!Found)
    Found = managedAt(Symbol);
  if (!Found)
    return cudaErrorInvalidSymbol;
  if (cudaError_t Failed = resolve(*Found))
    return Failed;
  V = Found;
  return cudaSuccess;
}

void resetVariables() {
  Guard Lock(deviceLock());
  for (auto &I : registry().Images)
    if (I->Code)
      if (Error E = I->Code->resetVariables())
        Engine::get().refuse(toString(std::move(E)));
}

bool initializeManaged(Image *I) {
  Guard Lock(deviceLock());
  for (auto &V : I->Variables)
    if (V->ManagedPointer) {
      if (resolve(*V) != cudaSuccess)
        return false;
      *V->ManagedPointer = V->Address;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

static Image *imageOf(void **Handle) {
  return reinterpret_cast<Image *>(Handle);
}

void **api::__cudaRegisterFatBinary(void *Wrapper) {
  return reinterpret_cast<void **>(registerImage(Wrapper));
}

void api::__cudaRegisterFatBinaryEnd(void **) {}

void api::__cudaUnregisterFatBinary(void **Handle) {
  unregisterImage(imageOf(Handle));
}

char api::__cudaInitModule(void **Handle) {
  return initializeManaged(imageOf(Handle));
}

void api::__cudaRegisterFunction(void **Handle, const char *Stub, char *,
                                 const char *DeviceName, int, uint3 *, uint3 *,
                                 dim3 *, dim3 *, int *) {
  registerFunction(imageOf(Handle), Stub, DeviceName);
}

void api::__cudaRegisterVar(void **Handle, char *HostVar, char *,
                            const char *DeviceName, int, size_t Size,
                            int Constant, int) {
  DeviceVariable V;
  V.Symbol = HostVar;
  V.Name = DeviceName;
  V.Size = Size;
  V.Constant = Constant;
  registerVariable(imageOf(Handle), std::move(V));
}

void api::__cudaRegisterManagedVar(void **Handle, void **HostVar, char *,
                                   const char *DeviceName, int, size_t Size,
                                   int, int) {
  DeviceVariable V;
  V.Symbol = HostVar;
  V.Name = DeviceName;
  V.Size = Size;
  V.ManagedPointer = HostVar;
  registerVariable(imageOf(Handle), std::move(V));
}

static cudaError_t symbolOf(const void *Stub, void **Handle) {
  if (!Handle)
    return cudaErrorInvalidValue;
  DeviceFunction *F = knownFunction(Stub);
  *Handle = F;
  return F ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t api::cudaGetFuncBySymbol(cudaFunction_t *Function,
                                     const void *Stub) {
  return deviceCall(
      [&] { return symbolOf(Stub, reinterpret_cast<void **>(Function)); });
}

#if CUDART_VERSION >= 13000
cudaError_t api::cudaGetKernel(cudaKernel_t *Kernel, const void *Stub) {
  return deviceCall(
      [&] { return symbolOf(Stub, reinterpret_cast<void **>(Kernel)); });
}

cudaError_t api::__cudaGetKernel(cudaKernel_t *Kernel, const void *Stub) {
  return call(
      [&] { return symbolOf(Stub, reinterpret_cast<void **>(Kernel)); });
}
#endif

} // namespace reconverge::runtime
