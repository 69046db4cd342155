/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands for libcuda.so.1 with FAKE_GPUS GPUs; without the variable, for a
 * driver that does not start.
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
