//===- runtime/shim/FindGpu.cpp - Which device is asked for ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RECONVERGE_DEVICE, and what CUDA's driver says there is. The driver itself is
// asked, not /dev/nvidia0: that node is missing under WSL, and stands where a
// container was given no driver or no GPU. A libcuda.so.1 of ours is no driver.
//
//===----------------------------------------------------------------------===//

#include "runtime/shim/Backend.h"
#include "runtime/shim/Shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace reconverge::shim {

AskedDevice askedDevice() {
  const char *Device = getenv("RECONVERGE_DEVICE");
  if (!Device || !*Device || strcmp(Device, "auto") == 0)
    return AskedDevice::Auto;
  if (strcmp(Device, "cpu") == 0)
    return AskedDevice::Cpu;
  if (strcmp(Device, "gpu") != 0)
    fail(ExitUserError,
         "RECONVERGE_DEVICE is \"%s\"\n  Set it to auto, cpu or gpu.", Device);
  if (GpuState State = findGpu(); State != GpuState::Usable)
    fail(ExitUserError, "RECONVERGE_DEVICE is gpu, but %s", describe(State));
  return AskedDevice::Gpu;
}

/// What cuDriverGetVersion answers: 13000 for CUDA 13.0.
static int DriverVersion;
static int GpuArchitecture; ///< NN of sm_NN, of the newest GPU
static constexpr int OldestArchitecture = 75;

template <typename... Args>
static bool ask(void *Driver, const char *Name, Args... Values) {
  auto *F = reinterpret_cast<int (*)(Args...)>(dlsym(Driver, Name));
  return F && F(Values...) == 0;
}

void *openDriver() {
  void *Driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Driver || !dlsym(Driver, RECONVERGE_DRIVER_MARK))
    return Driver;
  dlclose(Driver);
  return nullptr;
}

GpuState findGpu() {
  void *Driver = openDriver();
  int Count = 0;
  if (!Driver || !ask(Driver, "cuInit", 0u) ||
      !ask(Driver, "cuDeviceGetCount", &Count) || Count < 1)
    return GpuState::None;
  if (ask(Driver, "cuDriverGetVersion", &DriverVersion) &&
      DriverVersion / 1000 < atoi(RECONVERGE_CUDART_MAJOR))
    return GpuState::OldDriver;
  for (int Device = 0; Device != Count; ++Device) {
    int Major = 0, Minor = 0; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
    if (!ask(Driver, "cuDeviceGetAttribute", &Major, 75, Device) ||
        !ask(Driver, "cuDeviceGetAttribute", &Minor, 76, Device))
      return GpuState::Usable;
    if (GpuArchitecture < 10 * Major + Minor)
      GpuArchitecture = 10 * Major + Minor;
  }
  return GpuArchitecture < OldestArchitecture ? GpuState::OldGpu
                                              : GpuState::Usable;
}

const char *describe(GpuState State) {
  static char Text[256];
  switch (State) {
  case GpuState::Usable:
    break;
  case GpuState::None:
    return "there is no CUDA driver or it shows no GPU\n  Set "
           "RECONVERGE_DEVICE to cpu or auto, or check CUDA_VISIBLE_DEVICES "
           "and nvidia-smi.";
  case GpuState::OldDriver:
    snprintf(Text, sizeof(Text),
             "its driver is for CUDA %d.%d, older than CUDA " //
             RECONVERGE_CUDART_MAJOR
             ", which this Reconverge was built with\n  Update the driver, or "
             "set RECONVERGE_DEVICE to cpu.",
             DriverVersion / 1000, DriverVersion % 1000 / 10);
    return Text;
  case GpuState::OldGpu:
    snprintf(Text, sizeof(Text),
             "the GPU is an sm_%d, older than sm_%d\n  Set RECONVERGE_DEVICE "
             "to cpu.",
             GpuArchitecture, OldestArchitecture);
    return Text;
  }
  return "";
}

} // namespace reconverge::shim
