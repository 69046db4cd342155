//===- runtime/gpu/Hardware.cpp - The GPU in words ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware counters. NVIDIA's driver lets administrators alone read them unless
// told otherwise (its module parameter RmProfilingAdminOnly, error
// ERR_NVGPUCTRPERM in tools). We do not read them ourselves: ncu does, and
// docs/validation.md sets its numbers beside ours. The user is told whether
// that will work here.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Hardware.h"

#include "core/Error.h"
#include "runtime/gpu/Cudart.h"
#include "runtime/shim/Backend.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <dlfcn.h>

using namespace llvm;

namespace reconverge::gpu {

namespace {
/// CUDA's driver, for what must be known before the runtime may be called. A
/// CUdevice is its ordinal.
struct Driver {
  template <typename T> static T *find(void *Library, const char *Name) {
    return reinterpret_cast<T *>(dlsym(Library, Name));
  }
  static Error failed(const Twine &Why) {
    return userError("CUDA's driver " + Why, "nvidia-smi shows what there is.");
  }
  static Expected<Driver> open();

  int (*Attribute)(int *, int, int);
  int (*Name)(char *, int, int);
  int Devices = 0;
};
} // namespace

Expected<Driver> Driver::open() {
  void *Library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library || dlsym(Library, RECONVERGE_DRIVER_MARK))
    return failed("is not there");
  auto *Init = find<int(unsigned)>(Library, "cuInit");
  auto *Count = find<int(int *)>(Library, "cuDeviceGetCount");
  Driver D{find<int(int *, int, int)>(Library, "cuDeviceGetAttribute"),
           find<int(char *, int, int)>(Library, "cuDeviceGetName")};
  if (!Init || !Count || !D.Attribute || !D.Name || Init(0) ||
      Count(&D.Devices) || !D.Devices)
    return failed("shows no GPU");
  return D;
}

Expected<unsigned> lowestArchitecture() {
  auto D = Driver::open();
  if (!D)
    return D.takeError();
  unsigned Lowest = ~0u;
  for (int Device = 0; Device != D->Devices; ++Device) {
    int Major = 0, Minor = 0;
    if (D->Attribute(&Major, cudaDevAttrComputeCapabilityMajor, Device) ||
        D->Attribute(&Minor, cudaDevAttrComputeCapabilityMinor, Device))
      return Driver::failed("does not say which architecture GPU " +
                            Twine(Device) + " has");
    Lowest = std::min(Lowest, unsigned(10 * Major + Minor));
  }
  return Lowest;
}

std::string nameOfFirst() {
  auto D = Driver::open();
  char Name[256] = "";
  if (!D)
    consumeError(D.takeError());
  else if (D->Name(Name, sizeof(Name), 0))
    return "";
  return Name;
}

/// The text of a small file, or nothing.
static std::string textOf(const char *Path) {
  auto File = MemoryBuffer::getFileAsStream(Path);
  return File ? (*File)->getBuffer().trim().str() : std::string();
}

std::string describeDevice() {
  const Cudart &C = cudart();
  int Device = 0, Version = 0;
  cudaDeviceProp Properties;
  if (C.GetDevice(&Device) || C.GetDeviceProperties(&Properties, Device))
    return "a GPU";
  std::string Text = (StringRef(Properties.name) + ", sm_" +
                      Twine(10 * Properties.major + Properties.minor))
                         .str();
  std::string Driver = textOf("/sys/module/nvidia/version");
  if (Driver.empty() && !C.DriverGetVersion(&Version))
    Driver = (Twine("for CUDA ") + Twine(Version / 1000) + "." +
              Twine(Version % 1000 / 10))
                 .str();
  return Text + ", driver " + Driver;
}

/// Whether a process may do what administrators may: CAP_SYS_ADMIN, which is
/// what the driver asks for. In a container root may lack it.
static bool isAdministrator(StringRef Status) {
  constexpr unsigned SysAdmin = 21;
  StringRef Rest = Status.split("CapEff:").second.ltrim();
  uint64_t Capabilities = 0;
  return !Rest.consumeInteger(16, Capabilities) &&
         (Capabilities >> SysAdmin & 1);
}

std::string counterAccess(StringRef Driver, StringRef Status) {
  if (Driver.empty())
    return "hardware counters: the driver does not say whether they may be "
           "read here.";
  if (Driver.contains("RmProfilingAdminOnly: 1") && !isAdministrator(Status))
    return "hardware counters: not permitted to this user "
           "(ERR_NVGPUCTRPERM).";
  return "hardware counters: may be read here; ncu shows the hardware's own "
         "efficiency as smsp__average_thread_inst_executed_per_inst_executed.";
}

std::string describeCounterAccess() {
  return counterAccess(textOf("/proc/driver/nvidia/params"),
                       textOf("/proc/self/status"));
}

} // namespace reconverge::gpu
