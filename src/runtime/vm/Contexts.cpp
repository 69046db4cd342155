//===- runtime/vm/Contexts.cpp - What CUDA's driver calls a context -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is one device, with one memory, and every stream is empty when a call
// returns; so contexts keep nothing apart. What programs can see of them is kept
// as CUDA has it: which one is a thread's current one, that calls which need one
// fail without, and that the runtime's calls use the current one or, where there
// is none, make the device's own ("primary") one current.
//
// Limitation: what was allocated in a context outlives it, if the program does
// not free it.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Contexts.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Driver.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

namespace reconverge::runtime {

namespace {
struct Context {
  unsigned Flags = CU_CTX_MAP_HOST;
  unsigned long long Id = 1;
};

struct Contexts {
  std::mutex Mutex;
  Context Primary;
  unsigned Retained = 0; ///< how often Primary is retained
  bool Used = false;     ///< whether the runtime uses Primary
  std::set<Context *> Created;
  unsigned long long NextId = 2;
};

/// Plain storage: calls are made by static destructors too, when a vector of
/// this thread would be gone.
struct Stack {
  static constexpr unsigned Most = 64;
  Context *Entries[Most];
  unsigned Depth;
};
} // namespace

static Contexts &contexts() {
  static Contexts &Only = *new Contexts;
  return Only;
}

static thread_local Stack Current;

static CUcontext handleOf(Context *C) { return reinterpret_cast<CUcontext>(C); }

static std::atomic<bool> Initialized{false};

void initializeDriver() { Initialized.store(true, std::memory_order_relaxed); }

bool isDriverInitialized() {
  return Initialized.load(std::memory_order_relaxed);
}

void usePrimaryContext() {
  if (Current.Depth)
    return;
  initializeDriver();
  Contexts &All = contexts();
  std::lock_guard<std::mutex> Lock(All.Mutex);
  All.Used = true;
  Current.Entries[Current.Depth++] = &All.Primary;
}

CUcontext currentContext() {
  return Current.Depth ? handleOf(Current.Entries[Current.Depth - 1]) : nullptr;
}

/// The context that \p Handle stands for, or null.
static Context *find(CUcontext Handle) {
  auto *C = reinterpret_cast<Context *>(Handle);
  Contexts &All = contexts();
  std::lock_guard<std::mutex> Lock(All.Mutex);
  return C == &All.Primary || All.Created.count(C) ? C : nullptr;
}

static Context &current() {
  return *reinterpret_cast<Context *>(currentContext());
}

static bool areFlags(unsigned Flags) {
  const unsigned Schedule = Flags & CU_CTX_SCHED_MASK;
  return !(Flags & ~unsigned(CU_CTX_FLAGS_MASK)) &&
         !(Schedule & (Schedule - 1));
}

//===----------------------------------------------------------------------===//
// The device's own
//===----------------------------------------------------------------------===//

CUresult api::cuDevicePrimaryCtxRetain(CUcontext *Out, CUdevice Device) {
  return driverCall([&] {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!Out)
      return CUDA_ERROR_INVALID_VALUE;
    Contexts &All = contexts();
    std::lock_guard<std::mutex> Lock(All.Mutex);
    ++All.Retained;
    *Out = handleOf(&All.Primary);
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDevicePrimaryCtxRelease(CUdevice Device) {
  return driverCall([&] {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    Contexts &All = contexts();
    std::lock_guard<std::mutex> Lock(All.Mutex);
    if (!All.Retained)
      return CUDA_ERROR_INVALID_CONTEXT;
    --All.Retained;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDevicePrimaryCtxSetFlags(CUdevice Device, unsigned Flags) {
  return driverCall([&] {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!areFlags(Flags))
      return CUDA_ERROR_INVALID_VALUE;
    Contexts &All = contexts();
    std::lock_guard<std::mutex> Lock(All.Mutex);
    All.Primary.Flags = Flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDevicePrimaryCtxGetState(CUdevice Device, unsigned *Flags,
                                         int *Active) {
  return driverCall([&] {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!Flags || !Active)
      return CUDA_ERROR_INVALID_VALUE;
    Contexts &All = contexts();
    std::lock_guard<std::mutex> Lock(All.Mutex);
    *Active = All.Retained || All.Used;
    *Flags = All.Primary.Flags & ~unsigned(CU_CTX_MAP_HOST);
    return CUDA_SUCCESS;
  });
}

CUresult api::cuDevicePrimaryCtxReset(CUdevice Device) {
  return driverCall([&]() -> CUresult {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    return driverCode(api::cudaDeviceReset());
  });
}

//===----------------------------------------------------------------------===//
// Further ones
//===----------------------------------------------------------------------===//

static CUresult push(Context *C) {
  if (!C)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (Current.Depth == Stack::Most)
    return CUDA_ERROR_OUT_OF_MEMORY;
  Current.Entries[Current.Depth++] = C;
  return CUDA_SUCCESS;
}

CUresult api::cuCtxCreate_v2(CUcontext *Out, unsigned Flags, CUdevice Device) {
  return driverCall([&] {
    if (Device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!Out || !areFlags(Flags))
      return CUDA_ERROR_INVALID_VALUE;
    Contexts &All = contexts();
    auto New = std::make_unique<Context>();
    New->Flags = Flags | CU_CTX_MAP_HOST;
    {
      std::lock_guard<std::mutex> Lock(All.Mutex);
      New->Id = All.NextId++;
      All.Created.insert(New.get());
    }
    *Out = handleOf(New.get());
    return push(New.release());
  });
}

#if CUDA_VERSION >= 13000
CUresult api::cuCtxCreate(CUcontext *Out, CUctxCreateParams *Parameters,
                          unsigned Flags, CUdevice Device) {
  if (Parameters &&
      (Parameters->numExecAffinityParams || Parameters->cigParams))
    return driverCall(
        [] { return unsupported("a context with parameters of its own"); });
  return api::cuCtxCreate_v2(Out, Flags, Device);
}
#endif

CUresult api::cuCtxDestroy(CUcontext Handle) {
  return driverCall([&] {
    Contexts &All = contexts();
    auto *C = reinterpret_cast<Context *>(Handle);
    {
      std::lock_guard<std::mutex> Lock(All.Mutex);
      if (!All.Created.erase(C))
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (Current.Depth && Current.Entries[Current.Depth - 1] == C)
      --Current.Depth;
    // Another thread may still have it: as long as it stands in a stack, its
    // address must be no other's.
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// The current one
//===----------------------------------------------------------------------===//

CUresult api::cuCtxPushCurrent(CUcontext Handle) {
  return driverCall([&] { return push(find(Handle)); });
}

CUresult api::cuCtxPopCurrent(CUcontext *Out) {
  return contextCall([&] {
    if (Out)
      *Out = currentContext();
    --Current.Depth;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuCtxSetCurrent(CUcontext Handle) {
  return driverCall([&] {
    Context *C = Handle ? find(Handle) : nullptr;
    if (Handle && !C)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (Current.Depth)
      --Current.Depth;
    return C ? push(C) : CUDA_SUCCESS;
  });
}

CUresult api::cuCtxGetCurrent(CUcontext *Out) {
  return driverCall([&] {
    if (!Out)
      return CUDA_ERROR_INVALID_VALUE;
    *Out = currentContext();
    return CUDA_SUCCESS;
  });
}

CUresult api::cuCtxGetDevice(CUdevice *Device) {
  return contextCall([&] {
    if (!Device)
      return CUDA_ERROR_INVALID_VALUE;
    *Device = 0;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuCtxGetFlags(unsigned *Flags) {
  return contextCall([&] {
    if (!Flags)
      return CUDA_ERROR_INVALID_VALUE;
    *Flags = current().Flags;
    return CUDA_SUCCESS;
  });
}

/// What \p Handle stands for; null: the current one.
static Context *findOrCurrent(CUcontext Handle) {
  return Handle          ? find(Handle)
         : Current.Depth ? Current.Entries[Current.Depth - 1]
                         : nullptr;
}

CUresult api::cuCtxGetId(CUcontext Handle, unsigned long long *Id) {
  return driverCall([&] {
    Context *C = findOrCurrent(Handle);
    if (!C)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!Id)
      return CUDA_ERROR_INVALID_VALUE;
    *Id = C->Id;
    return CUDA_SUCCESS;
  });
}

CUresult api::cuCtxGetApiVersion(CUcontext Handle, unsigned *Version) {
  return driverCall([&] {
    if (!findOrCurrent(Handle))
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!Version)
      return CUDA_ERROR_INVALID_VALUE;
    *Version = 3020; // of all contexts since CUDA 3.2
    return CUDA_SUCCESS;
  });
}

CUresult api::cuCtxSynchronize() {
  return contextCall([] { return api::cudaDeviceSynchronize(); });
}

CUresult api::cuCtxGetLimit(size_t *Value, CUlimit Limit) {
  return contextCall(
      [&] { return api::cudaDeviceGetLimit(Value, cudaLimit(Limit)); });
}

CUresult api::cuCtxSetLimit(CUlimit Limit, size_t Value) {
  return contextCall(
      [&] { return api::cudaDeviceSetLimit(cudaLimit(Limit), Value); });
}

CUresult api::cuCtxGetCacheConfig(CUfunc_cache *Preference) {
  return contextCall([&] {
    return api::cudaDeviceGetCacheConfig(
        reinterpret_cast<cudaFuncCache *>(Preference));
  });
}

CUresult api::cuCtxSetCacheConfig(CUfunc_cache Preference) {
  return contextCall(
      [&] { return api::cudaDeviceSetCacheConfig(cudaFuncCache(Preference)); });
}

CUresult api::cuCtxGetStreamPriorityRange(int *Least, int *Greatest) {
  return contextCall(
      [&] { return api::cudaDeviceGetStreamPriorityRange(Least, Greatest); });
}

} // namespace reconverge::runtime
