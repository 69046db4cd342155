/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands for the toolkit's libcudart, with its soname: says what it was given.
 */
#include <stdio.h>

struct Wrapper {
  int Magic, Version;
  const char *Data;
  void *Unused;
};

void **__cudaRegisterFatBinary(struct Wrapper *Wrapper) {
  printf("gpu registers %x %d %.8s\n", Wrapper->Magic, Wrapper->Version,
         Wrapper->Data);
  return (void **)Wrapper;
}

int cudaDriverGetVersion(void) { return 77; }
const char *cudaGetErrorName(int Error) { return Error ? "?" : "fake"; }
const char *cudaGetErrorString(int Error) { return cudaGetErrorName(Error); }
int cudaCreateChannelDesc(void) { return 0; }
