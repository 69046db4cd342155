//===- runtime/shim/Shim.h - Parts of the shim ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the shim, that of cudart and that of CUDA's driver: they share all
// but what chooseBackend() and answeredHere() do. It is C++ without a C++
// runtime: no exceptions, nothing of libstdc++ that needs linking, no state that
// needs static initialisation, because it is first called from the global
// constructors of a program's CUDA objects.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_SHIM_SHIM_H
#define RECONVERGE_RUNTIME_SHIM_SHIM_H

#include <initializer_list>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
/// What a slot's lazy stub asks for: the function for slot \p Index, once a
/// backend is loaded. \p FirstArgument is the call's own, if it is a pointer.
__attribute__((visibility("hidden"))) void *
reconverge_shim_resolve(uint32_t Index, const void *FirstArgument);
}

namespace reconverge::shim {

inline constexpr int ExitUserError = 2, ExitInternal = 70;

/// The library's functions, sorted by name, in the slots' order.
inline constexpr const char *Names[] = {
#include "Names.inc"
};
inline constexpr size_t NameCount = sizeof(Names) / sizeof(*Names);

/// Position of \p Name in Names, or NameCount.
size_t indexOf(const char *Name);

/// What the first CUDA call chose.
struct Backend {
  /// One function a name, null where the backend lacks it; NameCount of them.
  void **Functions;
  /// What follows "cudaFoo is not " in the message for a missing function.
  const char *Absence;
  /// Backend.h: reconverge_backend_has_clock.
  bool HasClock;
  /// Backend.h: reconverge_backend_lacks; null: the backend has none.
  int (*Lacks)(const char *Name);
};

/// Chooses and loads the backend, for a first call of Names[\p Index]. Ends the
/// process with a message where it cannot.
Backend chooseBackend(uint32_t Index, const void *FirstArgument);

/// The function \p Name if it needs no backend and none is loaded; else null.
void *answeredHere(const char *Name);

/// Loads libReconvergeVM.so, which lies beside the shim, or what
/// RECONVERGE_BACKEND_PATH names. Ends the process with a message if it cannot.
Backend loadCpuBackend();

/// The same for CUDA's driver; \p IsReady says whether it was initialized.
Backend loadCpuDriver(int (*IsReady)());

/// Loads the toolkit's own libcudart and, if a profile or trials are asked for,
/// before it libReconvergeGPU.so. Where there is no libcudart: ends the
/// process with a message if \p Required, otherwise returns no functions.
Backend loadGpuBackend(bool Required);

/// What RECONVERGE_DEVICE says. Ends the process with a message where that is
/// nonsense, or a GPU that there is not.
enum class AskedDevice { Auto, Cpu, Gpu };
AskedDevice askedDevice();

/// CUDA's own driver, opened; null: there is none.
void *openDriver();

/// Whether a GPU can be used.
enum class GpuState {
  Usable,
  None,      ///< no driver, or it shows this process no GPU
  OldDriver, ///< older than the toolkit's major version
  OldGpu     ///< older than sm_75
};
GpuState findGpu();
/// \p State (not Usable), after "RECONVERGE_DEVICE is gpu, but": what is wrong,
/// and in a second line what to do.
const char *describe(GpuState State);

/// A profile or trials are asked for.
bool isCounting();

/// What device buffers hold in the end is asked for.
bool isWatching();

/// Has libReconvergeOutputs.so stand before \p Functions, a backend's. Ends the
/// process with a message where that cannot be.
void watchOutputs(void **Functions);

/// The path of \p File in Reconverge's lib/reconverge, where this lies.
void siblingPath(const char *File, char (&Path)[PATH_MAX]);

/// The same of a backend; or what RECONVERGE_BACKEND_PATH says.
void backendPath(const char *Library, char (&Path)[PATH_MAX]);

/// Whether the wrapper that __cudaRegisterFatBinary is given holds a container
/// of ours without code for a GPU.
bool lacksGpuCode(const void *Wrapper);

/// Prints "reconverge: <Format>" to stderr, a line.
[[gnu::format(printf, 1, 2)]] void note(const char *Format, ...);

/// The same with "error: " before it; ends the process without running its
/// destructors, which may wait for the very call that failed.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(int Code, const char *Format,
                                                  ...);

} // namespace reconverge::shim

#endif
