//===- runtime/shim/Shim.cpp - The CUDA runtime's ABI, decided at run time ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that Reconverge builds is linked against this library in the place
// of libcudart. Where its CUDA calls go is decided by the first of them:
//
//   program ──▶ cudaFoo:  jmp *slot[foo]          (Trampolines.S, generated)
//                            │ first call
//                            ▼
//               reconverge_shim_lazy              (LazyCall.S: saves arguments)
//                            ▼
//               reconverge_shim_resolve ── RECONVERGE_DEVICE ──┬─▶ CpuBackend
//                            │                                 └─▶ GpuBackend
//                            ▼
//               every slot that the backend can fill is filled; jmp to cudaFoo
//
// After that a call costs one indirect jump, and the shim keeps no state.
//
// A function that the backend lacks keeps its lazy stub. Its first call prints
// its name and fills the slot with a function that returns
// cudaErrorNotSupported, so it is named once. That answer would be a wild
// pointer for the few functions that return something else, so a backend
// without those is refused when it is loaded.
//
// Threads: the first call may come from several at once. One loads, under a
// mutex; the others wait. Slots change from a stub to a function once and are
// single words, so a caller that still reads the old value only resolves again.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Shim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {
extern void *reconverge_shim_slots[];
__attribute__((visibility("hidden"))) void *
reconverge_shim_resolve(uint32_t Index, const void *FirstArgument);

/// The version of Reconverge that this shim belongs to, for those who find a
/// libcudart in a process and wonder whose it is.
__attribute__((visibility("default"))) const char *reconverge_shim_version() {
  return RECONVERGE_VERSION;
}

/// Whether a program may choose by the times of device events how it launches a
/// kernel (Backend.h). Of use after the first CUDA call.
__attribute__((visibility("default"))) int reconverge_shim_has_clock();
}

namespace reconverge::shim {

size_t indexOf(const char *Name) {
  size_t Low = 0, High = NameCount;
  while (Low < High) {
    size_t Middle = Low + (High - Low) / 2;
    int Order = strcmp(Names[Middle], Name);
    if (Order == 0)
      return Middle;
    (Order < 0 ? Low : High) = Order < 0 ? Middle + 1 : Middle;
  }
  return NameCount;
}

static void printLine(const char *Prefix, const char *Format, va_list Args) {
  char Text[4096];
  vsnprintf(Text, sizeof(Text), Format, Args);
  dprintf(STDERR_FILENO, "%s%s\n", Prefix, Text); // one write: lines stay whole
}

void note(const char *Format, ...) {
  va_list Args;
  va_start(Args, Format);
  printLine("reconverge: ", Format, Args);
  va_end(Args);
}

void fail(int Code, const char *Format, ...) {
  va_list Args;
  va_start(Args, Format);
  printLine("reconverge: error: ", Format, Args);
  va_end(Args);
  fflush(stdout);
  _exit(Code);
}

static Backend chooseBackend(uint32_t Index, const void *FirstArgument) {
  const char *Device = getenv("RECONVERGE_DEVICE");
  if (!Device || !*Device)
    Device = "auto";
  if (strcmp(Device, "cpu") == 0)
    return loadCpuBackend();
  if (strcmp(Device, "gpu") == 0) {
    if (GpuState State = findGpu(); State != GpuState::Usable)
      fail(ExitUserError, "RECONVERGE_DEVICE is gpu, but %s", describe(State));
    return loadGpuBackend(/*Required=*/true);
  }
  if (strcmp(Device, "auto") != 0)
    fail(ExitUserError,
         "RECONVERGE_DEVICE is \"%s\"\n  Set it to auto, cpu or gpu.", Device);

  // A program built without code for a GPU can only run on the CPU. Its first
  // CUDA call is the registration of that code, so this is known in time. To
  // count and to try, code is built from the bitcode.
  bool OnlyCpu = strcmp(Names[Index], "__cudaRegisterFatBinary") == 0 &&
                 lacksGpuCode(FirstArgument) && !isCounting();
  if (OnlyCpu)
    return loadCpuBackend();
  GpuState State = findGpu();
  if (State == GpuState::None)
    return loadCpuBackend();
  if (State != GpuState::Usable) {
    // The first line; the second is advice for those who asked for the GPU.
    const char *Why = describe(State);
    note("there is a GPU, but %.*s; running on the CPU",
         int(strcspn(Why, "\n")), Why);
    return loadCpuBackend();
  }
  Backend Gpu = loadGpuBackend(/*Required=*/false);
  if (Gpu.Functions)
    return Gpu;
  note("there is a GPU, but no libcudart.so.%s was found; running on the CPU "
       "(CUDA_PATH points to the toolkit)",
       RECONVERGE_CUDART_MAJOR);
  return loadCpuBackend();
}

static void fillSlots(const Backend &B) {
  // cudart's functions that do not return a cudaError_t or nothing.
  for (const char *Name : {"__cudaRegisterFatBinary", "cudaGetErrorName",
                           "cudaGetErrorString", "cudaCreateChannelDesc"})
    if (!B.Functions[indexOf(Name)])
      fail(ExitInternal,
           "%s is not %s\n  This is a fault of Reconverge; please report it.",
           Name, B.Absence);
  for (size_t I = 0; I != NameCount; ++I)
    if (B.Functions[I])
      __atomic_store_n(&reconverge_shim_slots[I], B.Functions[I],
                       __ATOMIC_RELEASE);
}

/// Of the backend that was loaded; written before any slot is.
static bool HasClock = false;

static int notSupported() { return 801; } // cudaErrorNotSupported

} // namespace reconverge::shim

using namespace reconverge::shim;

int reconverge_shim_has_clock() { return HasClock; }

/// Loads the backend if nobody has, and returns the function for slot
/// \p Index. \p FirstArgument is the call's own, if it is a pointer.
void *reconverge_shim_resolve(uint32_t Index, const void *FirstArgument) {
  // Recursive, so that a backend that calls CUDA while it is being loaded is
  // told so instead of hanging.
  static pthread_mutex_t Mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static enum { Unloaded, Loading, Loaded } State = Unloaded;
  static Backend Chosen;

  pthread_mutex_lock(&Mutex);
  if (State == Loading)
    fail(ExitInternal,
         "a backend called %s while it was being loaded\n  This is a fault of "
         "Reconverge; please report it.",
         Names[Index]);
  if (State == Unloaded) {
    State = Loading;
    Chosen = chooseBackend(Index, FirstArgument);
    HasClock = Chosen.HasClock;
    fillSlots(Chosen);
    State = Loaded;
  }
  void *Function = Chosen.Functions[Index];
  if (!Function) {
    Function = reinterpret_cast<void *>(notSupported);
    if (reconverge_shim_slots[Index] != Function) {
      if (!Chosen.Lacks || !Chosen.Lacks(Names[Index]))
        note("%s is not %s", Names[Index], Chosen.Absence);
      __atomic_store_n(&reconverge_shim_slots[Index], Function,
                       __ATOMIC_RELEASE);
    }
  }
  pthread_mutex_unlock(&Mutex);
  return Function;
}
