//===- runtime/shim/Shim.cpp - CUDA's ABI, decided at run time ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that Reconverge builds is linked against this library in the place
// of libcudart; and against another, made of the same parts, in that of libcuda
// (RuntimeChoice.cpp and DriverChoice.cpp are what differs). Where its CUDA
// calls go is decided by the first of them:
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
// cudaErrorNotSupported, which is CUDA_ERROR_NOT_SUPPORTED as well, so it is
// named once. That answer would be a wild pointer for the few functions that
// return something else, so a backend without those is refused when it is
// loaded.
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

static void fillSlots(const Backend &B) {
  for (size_t I = 0; I != NameCount; ++I)
    if (B.Functions[I])
      __atomic_store_n(&reconverge_shim_slots[I], B.Functions[I],
                       __ATOMIC_RELEASE);
}

/// cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED.
static int notSupported() { return 801; }

} // namespace reconverge::shim

using namespace reconverge::shim;

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
    if (void *Function = answeredHere(Names[Index])) {
      pthread_mutex_unlock(&Mutex);
      return Function;
    }
    State = Loading;
    Chosen = chooseBackend(Index, FirstArgument);
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
