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

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <dlfcn.h>

using namespace llvm;

namespace reconverge::gpu {

Expected<unsigned> lowestArchitecture() {
  auto Failed = [](const Twine &Why) {
    return userError("CUDA's driver " + Why, "nvidia-smi shows what there is.");
  };
  void *Driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Driver)
    return Failed("is not there");
  auto *Init = reinterpret_cast<int (*)(unsigned)>(dlsym(Driver, "cuInit"));
  auto *Count =
      reinterpret_cast<int (*)(int *)>(dlsym(Driver, "cuDeviceGetCount"));
  auto *Attribute = reinterpret_cast<int (*)(int *, int, int)>(
      dlsym(Driver, "cuDeviceGetAttribute"));
  int Devices = 0;
  if (!Init || !Count || !Attribute || Init(0) || Count(&Devices) || !Devices)
    return Failed("shows no GPU");
  unsigned Lowest = ~0u;
  // A CUdevice is its ordinal.
  for (int Device = 0; Device != Devices; ++Device) {
    int Major = 0, Minor = 0;
    if (Attribute(&Major, cudaDevAttrComputeCapabilityMajor, Device) ||
        Attribute(&Minor, cudaDevAttrComputeCapabilityMinor, Device))
      return Failed("does not say which architecture GPU " + Twine(Device) +
                    " has");
    Lowest = std::min(Lowest, unsigned(10 * Major + Minor));
  }
  return Lowest;
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
