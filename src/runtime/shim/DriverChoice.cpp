//===- runtime/shim/DriverChoice.cpp - Where calls of CUDA's driver go ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shim of libcuda, of which there are two:
//
//   libreconverge-cuda.so   what reconverge cc links for -lcuda
//   driver/libcuda.so.1     for those who ask for this name where the loader
//                           knows no other (RuntimeChoice.cpp, `test`)
//
// Both pass calls to CUDA's own driver where the program's runtime is on a GPU,
// and to the warp VM where that is on the CPU: memory of the one is of no use to
// the other.
//
// On the CPU a few functions need no VM and are answered here, for the sake of
// NVIDIA's own runtime. It may be in the same process, in a library that was
// linked to it statically, and it opens libcuda.so.1 to see whether there is a
// device. It asks for the driver's version, for cuInit, and then for tables of
// functions that no header describes: it gets none, says that there is no
// device, and neither the VM nor a test hears of it.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Shim.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern "C" {
extern void *const reconverge_shim_entries[];

/// The version of Reconverge that this library belongs to: by this name it is
/// told from CUDA's driver.
__attribute__((visibility("default"))) const char *reconverge_driver_version() {
  return RECONVERGE_VERSION;
}
}

namespace reconverge::shim {

//===----------------------------------------------------------------------===//
// What is answered here
//===----------------------------------------------------------------------===//

static bool Initialized;

static int isReady() { return __atomic_load_n(&Initialized, __ATOMIC_ACQUIRE); }

static CUresult init(unsigned Flags) {
  if (Flags)
    return CUDA_ERROR_INVALID_VALUE;
  __atomic_store_n(&Initialized, true, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

static CUresult getVersion(int *Version) {
  if (!Version)
    return CUDA_ERROR_INVALID_VALUE;
  *Version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

static CUresult getExportTable(const void **Table, const CUuuid *) {
  if (Table)
    *Table = nullptr;
  return CUDA_ERROR_NO_DEVICE;
}

/// From which version of CUDA on a name of Names is what cuGetProcAddress gives
/// for the name without _v2 and the like.
static constexpr int Since[] = {
#include "Since.inc"
};
static_assert(sizeof(Since) / sizeof(*Since) == NameCount);

/// The newest form of \p Symbol that \p Version has, with \p Suffix; NameCount:
/// there is none. \p Later becomes true if there is a form of later versions.
static size_t formOf(const char *Symbol, const char *Suffix, int Version,
                     bool &Later) {
  size_t Best = NameCount;
  for (int Form = 1; Form != 10; ++Form) {
    char Name[256];
    if (Form == 1)
      snprintf(Name, sizeof(Name), "%s%s", Symbol, Suffix);
    else
      snprintf(Name, sizeof(Name), "%s_v%d%s", Symbol, Form, Suffix);
    size_t Index = indexOf(Name);
    if (Index == NameCount)
      continue;
    if (Since[Index] > Version)
      Later = true;
    else
      Best = Index;
  }
  return Best;
}

/// cuGetProcAddress: an entry point of this library, also of what the warp VM
/// lacks, which is then named when it is called.
static CUresult getProcAddress(const char *Symbol, void **Function, int Version,
                               cuuint64_t Flags,
                               CUdriverProcAddressQueryResult *Status) {
  if (!Symbol || !Function)
    return CUDA_ERROR_INVALID_VALUE;
  bool Later = false;
  size_t Index = NameCount;
  if (Flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    for (const char *Suffix : {"_ptsz", "_ptds"})
      if (Index == NameCount)
        Index = formOf(Symbol, Suffix, Version, Later);
  if (Index == NameCount)
    Index = formOf(Symbol, "", Version, Later);
  const bool Has = Index != NameCount;
  *Function = Has ? reconverge_shim_entries[Index] : nullptr;
  if (Status)
    *Status = Has     ? CU_GET_PROC_ADDRESS_SUCCESS
              : Later ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return Has ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult getProcAddressV1(const char *Symbol, void **Function,
                                 int Version, cuuint64_t Flags) {
  return getProcAddress(Symbol, Function, Version, Flags, nullptr);
}

static const struct {
  const char *Name;
  void *Function;
} Own[] = {
    {"cuInit", reinterpret_cast<void *>(init)},
    {"cuDriverGetVersion", reinterpret_cast<void *>(getVersion)},
    {"cuGetExportTable", reinterpret_cast<void *>(getExportTable)},
    {"cuGetProcAddress", reinterpret_cast<void *>(getProcAddressV1)},
    {"cuGetProcAddress_v2", reinterpret_cast<void *>(getProcAddress)},
};

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Whether the runtime of this process has chosen the CPU: then the VM is here.
static bool hasVm() {
  char Path[PATH_MAX];
  backendPath("libReconvergeVM.so", Path);
  void *Vm = dlopen(Path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (Vm)
    dlclose(Vm);
  return Vm;
}

/// As the runtime's (RuntimeChoice.cpp), which says what there is to say.
static bool isOnGpu() {
  static enum { Unknown, Cpu, Gpu } Choice = Unknown;
  if (Choice == Unknown) {
    AskedDevice Asked = askedDevice();
    bool OnGpu =
        Asked == AskedDevice::Gpu || (Asked == AskedDevice::Auto && !hasVm() &&
                                      findGpu() == GpuState::Usable);
    Choice = OnGpu ? Gpu : Cpu;
  }
  return Choice == Gpu;
}

void *answeredHere(const char *Name) {
  if (!isOnGpu())
    for (auto &O : Own)
      if (strcmp(O.Name, Name) == 0)
        return O.Function;
  return nullptr;
}

Backend chooseBackend(uint32_t, const void *) {
  if (!isOnGpu()) {
    Backend Vm = loadCpuDriver(isReady);
    for (auto &O : Own)
      if (size_t Index = indexOf(O.Name); Index != NameCount)
        Vm.Functions[Index] = O.Function;
    return Vm;
  }
  static void *Functions[NameCount];
  void *Driver = openDriver();
  for (size_t I = 0; I != NameCount; ++I)
    Functions[I] = dlsym(Driver, Names[I]);
  return {Functions, "in CUDA's driver, which is older than the toolkit", true,
          nullptr};
}

} // namespace reconverge::shim
