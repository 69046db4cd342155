/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands for libcuda.so.1 with FAKE_GPUS GPUs; without the variable, for a
 * driver that does not start. FAKE_VERSION is what it says of itself, 99000 if
 * it is not set, and FAKE_ARCH the GPUs' architecture, 90.
 */
#include <stdlib.h>

int cuInit(unsigned Flags) {
  (void)Flags;
  return getenv("FAKE_GPUS") ? 0 : 100;
}

int cuDeviceGetCount(int *Count) {
  *Count = atoi(getenv("FAKE_GPUS"));
  return 0;
}

static int number(const char *Name, int Default) {
  return getenv(Name) ? atoi(getenv(Name)) : Default;
}

int cuDriverGetVersion(int *Version) {
  *Version = number("FAKE_VERSION", 99000);
  return 0;
}

int cuDeviceGetAttribute(int *Value, int Attribute, int Device) {
  int Arch = number("FAKE_ARCH", 90);
  (void)Device;
  *Value = Attribute == 75 ? Arch / 10 : Arch % 10;
  return 0;
}
