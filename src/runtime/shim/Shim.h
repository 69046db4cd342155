//===- runtime/shim/Shim.h - Parts of the shim ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to the shim. It is C++ without a C++ runtime: no exceptions, nothing
// of libstdc++ that needs linking, no state that needs static initialisation,
// because it is first called from the global constructors of a program's CUDA
// objects.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_SHIM_SHIM_H
#define RECONVERGE_RUNTIME_SHIM_SHIM_H

#include <initializer_list>
#include <stddef.h>

namespace reconverge::shim {

inline constexpr int ExitUserError = 2, ExitInternal = 70;

/// The runtime's functions, sorted by name, in the slots' order.
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

/// Loads libReconvergeVM.so, which lies beside the shim, or what
/// RECONVERGE_BACKEND_PATH names. Ends the process with a message if it cannot.
Backend loadCpuBackend();

/// Loads the toolkit's own libcudart and, if a profile or trials are asked for,
/// before it libReconvergeGPU.so. Where there is no libcudart: ends the
/// process with a message if \p Required, otherwise returns no functions.
Backend loadGpuBackend(bool Required);

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

/// The path of \p Library, which lies beside the shim; or what
/// RECONVERGE_BACKEND_PATH says.
void backendPath(const char *Library, char *Path, size_t Size);

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
