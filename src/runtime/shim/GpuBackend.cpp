//===- runtime/shim/GpuBackend.cpp - Hand over to the real cudart ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU every call goes to the toolkit's own libcudart, found at run time:
// CUDA_PATH, /usr/local/cuda, then wherever ldconfig knows one. It has the
// shim's own soname, so it is never opened by name (the loader would answer
// with the shim) but by absolute path, and a library that turns out to be a
// shim as well is passed over.
//
// Without a profile or trials, one call is changed on its way: what a host
// object of ours registers is a container (core/Container.h) where cudart
// expects a fat binary, so cudart is given a copy of the wrapper that points at
// the fat binary inside. Objects built by nvcc or stock clang pass as they are.
//
// With one of them, libReconvergeGPU.so takes over registration and launches:
// it builds code that counts, or candidates, from the bitcode inside, and calls
// what stands here. Where outputs of the program are device buffers,
// libReconvergeOutputs.so takes over launches and memory in the same way, on
// the CPU as well.
//
//===----------------------------------------------------------------------===//

#include "core/Container.h"
#include "runtime/shim/Backend.h"
#include "runtime/shim/Shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reconverge::shim {

static const char CudartName[] = "/libcudart.so." RECONVERGE_CUDART_MAJOR;

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static void **(*RealRegister)(void *);

/// Copies the header at \p Data if it is a container of ours.
static bool readContainer(const void *Data, ContainerHeader &Header) {
  uint64_t Magic = 0;
  if (Data)
    memcpy(&Magic, Data, sizeof(Magic));
  if (Magic != ContainerMagic)
    return false;
  memcpy(&Header, Data, sizeof(Header));
  return true;
}

bool lacksGpuCode(const void *Wrapper) {
  ContainerHeader Header;
  return Wrapper &&
         readContainer(static_cast<const FatbinWrapper *>(Wrapper)->Data,
                       Header) &&
         Header.FatbinBytes == 0;
}

static void **registerFatBinary(void *Argument) {
  const auto *Wrapper = static_cast<const FatbinWrapper *>(Argument);
  ContainerHeader Header;
  if (!readContainer(Wrapper->Data, Header))
    return RealRegister(Argument);
  // The offset is compared before the sum, which could wrap.
  if (Header.Version != ContainerVersion ||
      Header.FatbinOffset > Header.TotalBytes ||
      Header.FatbinBytes > Header.TotalBytes - Header.FatbinOffset)
    fail(ExitUserError,
         "the program's device code is damaged or of another version of "
         "Reconverge\n  Build the program again.");
  if (Header.FatbinBytes == 0)
    fail(ExitUserError,
         "the program carries no code for a GPU\n  Build it with -arch=sm_NN, "
         "or run it with RECONVERGE_DEVICE=cpu.");
  // cudart keeps the pointer, so the copy lives as long as the process.
  auto *Copy = static_cast<FatbinWrapper *>(malloc(sizeof(*Wrapper)));
  if (!Copy)
    fail(ExitUserError, "out of memory");
  *Copy = *Wrapper;
  Copy->Data = static_cast<const char *>(Wrapper->Data) + Header.FatbinOffset;
  return RealRegister(Copy);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Opens \p Path if it is a cudart and not a shim.
static void *openCudart(const char *Path) {
  if (access(Path, R_OK) != 0)
    return nullptr;
  void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    return nullptr;
  if (!dlsym(Library, "reconverge_shim_version") &&
      dlsym(Library, "__cudaRegisterFatBinary"))
    return Library;
  dlclose(Library);
  return nullptr;
}

static void *openIn(const char *Folder, char (&Path)[PATH_MAX]) {
  for (const char *Sub : {"/lib64", "/targets/x86_64-linux/lib", "/lib"}) {
    int Length =
        snprintf(Path, sizeof(Path), "%s%s%s", Folder, Sub, CudartName);
    if (Length > 0 && size_t(Length) < sizeof(Path))
      if (void *Library = openCudart(Path))
        return Library;
  }
  return nullptr;
}

/// Tries the absolute paths in ldconfig's cache. Its format is the loader's
/// own; all that is used of it is that paths stand in it as C strings.
static void *openFromLdCache(char (&Path)[PATH_MAX]) {
  int File = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return nullptr;
  void *Library = nullptr;
  struct stat Status;
  if (fstat(File, &Status) == 0 && Status.st_size > 0) {
    size_t Size = Status.st_size;
    void *Map = mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, File, 0);
    if (Map != MAP_FAILED) {
      const char *Text = static_cast<const char *>(Map), *End = Text + Size;
      for (const char *At = Text; !Library; ++At) {
        // sizeof: with its terminating zero, so that longer names do not match.
        At = static_cast<const char *>(
            memmem(At, End - At, CudartName, sizeof(CudartName)));
        if (!At)
          break;
        const char *Start = At;
        while (Start > Text && Start[-1] != '\0')
          --Start;
        if (*Start != '/' || At - Start > PATH_MAX - 64)
          continue;
        snprintf(Path, sizeof(Path), "%s", Start);
        Library = openCudart(Path);
      }
      munmap(Map, Size);
    }
  }
  close(File);
  return Library;
}

bool isCounting() {
  for (const char *Name : {"RECONVERGE_PROFILE", "RECONVERGE_TRIALS"})
    if (const char *File = getenv(Name); File && *File)
      return true;
  return false;
}

bool isWatching() {
  const char *File = getenv("RECONVERGE_OUTPUTS");
  return File && *File;
}

static void *Below[NameCount]; ///< the backend's, before one stands before it

static void *functionBelow(const char *Name) {
  size_t Index = indexOf(Name);
  return Index == NameCount ? nullptr : Below[Index];
}

/// Lets the library at \p Path take over what it wants of \p Functions, which
/// are those of a backend. There is one such library at most.
static void standBefore(void **Functions, const char *Path) {
  void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  if (!Library)
    fail(ExitUserError,
         "cannot load what stands before CUDA's runtime: %s\n  It belongs "
         "beside libcudart.so in Reconverge's lib/reconverge folder; build or "
         "install it again.",
         dlerror());
  memcpy(Below, Functions, sizeof(Below));
  auto *Entry = reinterpret_cast<reconverge_counting_function *>(
      dlsym(Library, RECONVERGE_COUNTING_ENTRY));
  size_t Count = 0;
  const reconverge_backend_symbol *Table =
      Entry ? Entry(&Count, functionBelow) : nullptr;
  if (!Table)
    fail(ExitUserError, "%s cannot work here", Path);
  for (size_t I = 0; I != Count; ++I) {
    size_t Index = indexOf(Table[I].name);
    // What the backend lacks stays missing.
    if (Index != NameCount && Below[Index])
      Functions[Index] = Table[I].function;
  }
}

void watchOutputs(void **Functions) {
  char Path[PATH_MAX];
  siblingPath("libReconvergeOutputs.so", Path);
  standBefore(Functions, Path);
}

Backend loadGpuBackend(bool Required) {
  static void *Functions[NameCount];
  static char Absence[PATH_MAX + 8];
  char Path[PATH_MAX];
  const char *CudaPath = getenv("CUDA_PATH");
  void *Library = CudaPath && *CudaPath ? openIn(CudaPath, Path) : nullptr;
  if (!Library)
    Library = openIn("/usr/local/cuda", Path);
  if (!Library)
    Library = openFromLdCache(Path);
  if (!Library) {
    if (Required)
      fail(ExitUserError,
           "no libcudart.so.%s in CUDA_PATH (%s), /usr/local/cuda or "
           "ldconfig's cache\n  Set CUDA_PATH to a CUDA %s toolkit.",
           RECONVERGE_CUDART_MAJOR,
           CudaPath && *CudaPath ? CudaPath : "not set",
           RECONVERGE_CUDART_MAJOR);
    return {nullptr, nullptr, false, nullptr};
  }
  for (size_t I = 0; I != NameCount; ++I)
    Functions[I] = dlsym(Library, Names[I]);
  void *&Register = Functions[indexOf("__cudaRegisterFatBinary")];
  RealRegister = reinterpret_cast<void **(*)(void *)>(Register);
  Register = reinterpret_cast<void *>(registerFatBinary);
  if (isCounting()) {
    char Counting[PATH_MAX];
    backendPath("libReconvergeGPU.so", Counting);
    standBefore(Functions, Counting);
  }
  snprintf(Absence, sizeof(Absence), "in %s", Path);
  return {Functions, Absence, true, nullptr};
}

} // namespace reconverge::shim
