//===- CountingOnVm.cpp - What counts on a GPU, over the warp VM ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A backend for the CPU (RECONVERGE_BACKEND_PATH): libReconvergeGPU.so as it
// stands before a GPU's runtime, here before the VM's. With RECONVERGE_GPU=
// code=bitcode it registers bitcode with probes, and the VM runs them: so what
// the probes count can be held against what the VM counts itself; and with a
// plan of trials, bitcode with candidates.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Backend.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

static std::vector<reconverge_backend_symbol> &table() {
  static auto &Table = *new std::vector<reconverge_backend_symbol>;
  return Table;
}

static std::vector<reconverge_backend_symbol> &below() {
  static auto &Table = *new std::vector<reconverge_backend_symbol>;
  return Table;
}

static void *next(const char *Name) {
  for (const reconverge_backend_symbol &S : below())
    if (!std::strcmp(S.name, Name))
      return S.function;
  return nullptr;
}

template <typename Function>
static Function *entry(const char *Path, const char *Name) {
  void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  auto *Found =
      reinterpret_cast<Function *>(Library ? dlsym(Library, Name) : nullptr);
  if (!Found)
    std::fprintf(stderr, "CountingOnVm: %s\n", dlerror());
  return Found;
}

extern "C" const reconverge_backend_symbol *reconverge_backend(size_t *Count) {
  auto *Vm = entry<reconverge_backend_function>(VM, RECONVERGE_BACKEND_ENTRY);
  auto *Counting =
      entry<reconverge_counting_function>(COUNTING, RECONVERGE_COUNTING_ENTRY);
  size_t VmCount = 0, Overrides = 0;
  if (!Vm || !Counting)
    return nullptr;
  const reconverge_backend_symbol *Before = Counting(&Overrides, next);
  // Profile and trials are the counting library's.
  unsetenv("RECONVERGE_PROFILE");
  unsetenv("RECONVERGE_TRIALS");
  const reconverge_backend_symbol *Base = Vm(&VmCount);
  if (!Before || !Base)
    return nullptr;
  below().assign(Base, Base + VmCount);
  table() = below();
  for (size_t I = 0; I != Overrides; ++I)
    for (reconverge_backend_symbol &S : table())
      if (!std::strcmp(S.name, Before[I].name))
        S.function = Before[I].function;
  *Count = table().size();
  return table().data();
}
