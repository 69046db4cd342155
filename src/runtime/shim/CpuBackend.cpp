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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace reconverge::shim {

void siblingPath(const char *File, char (&Path)[PATH_MAX]) {
  Dl_info Self;
  char Real[PATH_MAX];
  if (!dladdr(reinterpret_cast<void *>(reconverge_shim_resolve), &Self) ||
      !realpath(Self.dli_fname, Real))
    fail(ExitInternal,
         "the shim cannot find out where it lies\n  Set "
         "RECONVERGE_BACKEND_PATH to %s.",
         File);
  *strrchr(Real, '/') = '\0';
  snprintf(Path, sizeof(Path), "%.*s/" RECONVERGE_SHIM_UP "%s", PATH_MAX - 64,
           Real, File);
}

void backendPath(const char *Library, char (&Path)[PATH_MAX]) {
  const char *Override = getenv("RECONVERGE_BACKEND_PATH");
  if (Override && *Override)
    snprintf(Path, sizeof(Path), "%s", Override);
  else
    siblingPath(Library, Path);
}

namespace {
struct VmLibrary {
  char Path[PATH_MAX];
  void *Handle;

  /// Its function \p Name, which every backend has.
  void *entry(const char *Name) const;
};
} // namespace

static void open(VmLibrary &L) {
  backendPath("libReconvergeVM.so", L.Path);
  // Few of the functions that it takes from elsewhere are called in a short run.
  L.Handle = dlopen(L.Path, RTLD_LAZY | RTLD_LOCAL);
  if (!L.Handle)
    fail(ExitUserError,
         "cannot load the warp VM: %s\n  It belongs beside libcudart.so in "
         "Reconverge's lib/reconverge folder; build or install it again.",
         dlerror());
}

void *VmLibrary::entry(const char *Name) const {
  void *Entry = dlsym(Handle, Name);
  if (!Entry)
    fail(ExitUserError,
         "%s is not a backend of Reconverge: it has no %s\n  Unset "
         "RECONVERGE_BACKEND_PATH, or build it again.",
         Path, Name);
  return Entry;
}

/// \p L's backend, whose functions \p Table has.
static Backend backendOf(const VmLibrary &L,
                         const reconverge_backend_symbol *Table, size_t Count) {
  static void *Functions[NameCount];
  if (!Table)
    fail(ExitUserError, "%s cannot work here", L.Path);
  for (size_t I = 0; I != Count; ++I) {
    // A backend may know functions that this toolkit does not have: it serves
    // more than one version of CUDA.
    size_t Index = indexOf(Table[I].name);
    if (Index != NameCount)
      Functions[Index] = Table[I].function;
  }
  auto *HasClock = reinterpret_cast<reconverge_backend_has_clock_function *>(
      dlsym(L.Handle, RECONVERGE_BACKEND_HAS_CLOCK));
  auto *Lacks = reinterpret_cast<reconverge_backend_lacks_function *>(
      dlsym(L.Handle, RECONVERGE_BACKEND_LACKS));
  return {Functions, "supported on the CPU", HasClock && HasClock(), Lacks};
}

Backend loadCpuBackend() {
  VmLibrary L;
  open(L);
  auto *Entry = reinterpret_cast<reconverge_backend_function *>(
      L.entry(RECONVERGE_BACKEND_ENTRY));
  size_t Count = 0;
  const reconverge_backend_symbol *Table = Entry(&Count);
  return backendOf(L, Table, Count);
}

Backend loadCpuDriver(int (*IsReady)()) {
  VmLibrary L;
  open(L);
  auto *Entry = reinterpret_cast<reconverge_driver_function *>(
      L.entry(RECONVERGE_DRIVER_ENTRY));
  size_t Count = 0;
  const reconverge_backend_symbol *Table = Entry(&Count, IsReady);
  return backendOf(L, Table, Count);
}

} // namespace reconverge::shim
