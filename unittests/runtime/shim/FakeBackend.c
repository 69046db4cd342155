/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A backend whose functions show what reached them. The names are cudart's, the
 * types are not: the shim passes on any call. Environment: FAKE_BACKEND is
 * "null", "incomplete" or "reenter" for a backend that misbehaves.
 */
#include "runtime/shim/Backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int Loads;

/* More integers and doubles than registers carry, each with its own weight. */
static double sum(long a, long b, long c, long d, long e, long f, long g,
                  double s, double t, double u, double v, double w, double x,
                  double y, double z, double zz, long h) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * s + 9 * t +
         10 * u + 11 * v + 12 * w + 13 * x + 14 * y + 15 * z + 16 * zz + 17 * h;
}

static int loads(void) { return Loads; }
static const char *text(int Error) { return Error == 0 ? "fake" : "?"; }

struct Format {
  int v[5];
};
static struct Format format(int x, int y, int z, int w, int f) {
  struct Format Result = {{x, y, z, w, f}};
  return Result;
}

static void **registerFatBinary(void *Wrapper) {
  printf("cpu registers\n");
  return Wrapper;
}

/* Of CUDA's driver: what the shim of libcuda is told of cuInit. */
static int (*Ready)(void);
static int deviceCount(int *Count) {
  *Count = 40 + Ready();
  return 0;
}

const reconverge_backend_symbol *
reconverge_driver_backend(size_t *Count, int (*IsReady)(void)) {
  static const reconverge_backend_symbol Table[] = {
      {"cuDeviceGetCount", (void *)deviceCount},
      {"cuOfAnotherToolkit", (void *)deviceCount},
  };
  Ready = IsReady;
  printf("cpu driver\n");
  fflush(stdout);
  *Count = sizeof(Table) / sizeof(*Table);
  return Table;
}

extern int cudaDeviceSynchronize(void) __attribute__((weak));

const reconverge_backend_symbol *reconverge_backend(size_t *Count) {
  static reconverge_backend_symbol Table[] = {
      {"cudaMemcpy3DPeer", (void *)sum},
      {"cudaDriverGetVersion", (void *)loads},
      {"cudaOfAnotherToolkit", (void *)loads},
      {"cudaGetErrorString", (void *)text},
      {"cudaGetErrorName", (void *)text},
      {"cudaCreateChannelDesc", (void *)format},
      {"__cudaRegisterFatBinary", (void *)registerFatBinary},
  };
  const char *Fault = getenv("FAKE_BACKEND");
  ++Loads;
  *Count = sizeof(Table) / sizeof(*Table);
  if (Fault && strcmp(Fault, "null") == 0)
    return NULL;
  if (Fault && strcmp(Fault, "incomplete") == 0)
    --*Count;
  if (Fault && strcmp(Fault, "reenter") == 0)
    cudaDeviceSynchronize();
  return Table;
}
