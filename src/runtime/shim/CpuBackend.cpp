//===- runtime/shim/CpuBackend.cpp - Load the warp VM ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The VM is a shared library of its own, so that LLVM is in a user's process
// only when it is used. It lies beside the shim, wherever that was installed.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Backend.h"
#include "runtime/shim/Shim.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" const char *reconverge_shim_version();

namespace reconverge::shim {

void backendPath(const char *Library, char *Path, size_t Size) {
  const char *Override = getenv("RECONVERGE_BACKEND_PATH");
  if (Override && *Override) {
    snprintf(Path, Size, "%s", Override);
    return;
  }
  Dl_info Self;
  char Real[PATH_MAX];
  if (!dladdr(reinterpret_cast<void *>(reconverge_shim_version), &Self) ||
      !realpath(Self.dli_fname, Real))
    fail(ExitInternal,
         "the shim cannot find out where it lies\n  Set "
         "RECONVERGE_BACKEND_PATH to %s.",
         Library);
  *strrchr(Real, '/') = '\0';
  snprintf(Path, Size, "%.*s/%s", PATH_MAX - 32, Real, Library);
}

Backend loadCpuBackend() {
  static void *Functions[NameCount];
  char Path[PATH_MAX];
  backendPath("libReconvergeVM.so", Path, sizeof(Path));
  void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    fail(ExitUserError,
         "cannot load the warp VM: %s\n  It belongs beside libcudart.so in "
         "Reconverge's lib/reconverge folder; build or install it again.",
         dlerror());
  auto *Entry = reinterpret_cast<reconverge_backend_function *>(
      dlsym(Library, RECONVERGE_BACKEND_ENTRY));
  if (!Entry)
    fail(ExitUserError,
         "%s is not a backend of Reconverge: it has no %s\n  Unset "
         "RECONVERGE_BACKEND_PATH, or build it again.",
         Path, RECONVERGE_BACKEND_ENTRY);
  size_t Count = 0;
  const reconverge_backend_symbol *Table = Entry(&Count);
  if (!Table)
    fail(ExitUserError, "%s cannot work here", Path);
  for (size_t I = 0; I != Count; ++I) {
    // A backend may know functions that this toolkit does not have: it serves
    // more than one version of cudart.
    size_t Index = indexOf(Table[I].name);
    if (Index != NameCount)
      Functions[Index] = Table[I].function;
  }
  auto *HasClock = reinterpret_cast<reconverge_backend_has_clock_function *>(
      dlsym(Library, RECONVERGE_BACKEND_HAS_CLOCK));
  auto *Lacks = reinterpret_cast<reconverge_backend_lacks_function *>(
      dlsym(Library, RECONVERGE_BACKEND_LACKS));
  return {Functions, "supported on the CPU", HasClock && HasClock(), Lacks};
}

} // namespace reconverge::shim
