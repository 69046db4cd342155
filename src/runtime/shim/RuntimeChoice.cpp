//===- runtime/shim/RuntimeChoice.cpp - Where calls of cudart go ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the CPU, programs that open libcuda.so.1 by its name get ours, which lies
// in a folder of its own where no linker and no loader looks; a driver that the
// loader finds is left to them. A name that a library calls itself is what the
// loader goes by, so it is enough to have ours in the process.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Shim.h"

#include <dlfcn.h>
#include <string.h>

extern "C" {
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

/// Of the backend that was loaded; written before any slot is.
static bool HasClock = false;

static void offerDriver() {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
    return;
  char Path[PATH_MAX];
  siblingPath("driver/libcuda.so.1", Path);
  // Where it is missing, a program that opens it is told so by the loader.
  (void)dlopen(Path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

static Backend onCpu() {
  offerDriver();
  return loadCpuBackend();
}

static Backend choose(uint32_t Index, const void *FirstArgument) {
  switch (askedDevice()) {
  case AskedDevice::Cpu:
    return onCpu();
  case AskedDevice::Gpu:
    return loadGpuBackend(/*Required=*/true);
  case AskedDevice::Auto:
    break;
  }
  // A program built without code for a GPU can only run on the CPU. Its first
  // CUDA call is the registration of that code, so this is known in time. To
  // count and to try, code is built from the bitcode.
  bool OnlyCpu = strcmp(Names[Index], "__cudaRegisterFatBinary") == 0 &&
                 lacksGpuCode(FirstArgument) && !isCounting();
  if (OnlyCpu)
    return onCpu();
  GpuState State = findGpu();
  if (State == GpuState::None)
    return onCpu();
  if (State != GpuState::Usable) {
    // The first line; the second is advice for those who asked for the GPU.
    const char *Why = describe(State);
    note("there is a GPU, but %.*s; running on the CPU",
         int(strcspn(Why, "\n")), Why);
    return onCpu();
  }
  Backend Gpu = loadGpuBackend(/*Required=*/false);
  if (Gpu.Functions)
    return Gpu;
  note("there is a GPU, but no libcudart.so.%s was found; running on the CPU "
       "(CUDA_PATH points to the toolkit)",
       RECONVERGE_CUDART_MAJOR);
  return onCpu();
}

Backend chooseBackend(uint32_t Index, const void *FirstArgument) {
  if (isWatching() && isCounting())
    fail(ExitUserError,
         "RECONVERGE_OUTPUTS together with a profile or trials\n  Unset it, or "
         "RECONVERGE_PROFILE and RECONVERGE_TRIALS.");
  Backend Chosen = choose(Index, FirstArgument);
  // cudart's functions that do not return a cudaError_t or nothing.
  for (const char *Name : {"__cudaRegisterFatBinary", "cudaGetErrorName",
                           "cudaGetErrorString", "cudaCreateChannelDesc"})
    if (!Chosen.Functions[indexOf(Name)])
      fail(ExitInternal,
           "%s is not %s\n  This is a fault of Reconverge; please report it.",
           Name, Chosen.Absence);
  HasClock = Chosen.HasClock;
  if (isWatching())
    watchOutputs(Chosen.Functions);
  return Chosen;
}

void *answeredHere(const char *) { return nullptr; }

} // namespace reconverge::shim

int reconverge_shim_has_clock() { return reconverge::shim::HasClock; }
