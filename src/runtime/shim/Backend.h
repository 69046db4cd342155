//===- runtime/shim/Backend.h - What the shim loads ---------------*- C -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract between the shim (our libcudart.so) and a backend, a shared
// library that it loads at the program's first CUDA call. Plain C, so that
// neither side shares a C++ runtime with the other.
//
// A backend exports one function, reconverge_backend, which returns a table
// of the runtime functions that it has, by their names in cudart's ABI
// ("cudaMalloc", "__cudaRegisterFatBinary", "cudaLaunchKernel_ptsz", ...).
// The shim calls it once a process, before any function of the table, from
// whichever thread made the first CUDA call: often a global constructor, so
// a backend must not rely on the program's own constructors having run. It
// must not call cudart functions from within reconverge_backend.
//
// A name that the table lacks returns cudaErrorNotSupported and is named
// once on stderr (but see reconverge_backend_lacks), except for the four that do
// not return an error code and that every backend must have:
// __cudaRegisterFatBinary, cudaGetErrorName, cudaGetErrorString,
// cudaCreateChannelDesc.
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_SHIM_BACKEND_H
#define RECONVERGE_RUNTIME_SHIM_BACKEND_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One runtime function of a backend, with cudart's calling convention. */
typedef struct reconverge_backend_symbol {
  const char *name;
  void *function;
} reconverge_backend_symbol;

/** The table and, in *count, its length. The table stays valid until the
 *  process ends. Null means that the backend cannot work here; it has then said
 *  why on stderr, and the program ends with exit code 2. */
typedef const reconverge_backend_symbol *
reconverge_backend_function(size_t *count);

/** What a backend exports under this very name. */
extern reconverge_backend_function reconverge_backend;

#define RECONVERGE_BACKEND_ENTRY "reconverge_backend"

/** What a backend may export under this very name, to be called after the
 *  above: whether the times of its device events are a device's, so that a
 *  program may choose between two ways of launching by them. Without it: no. */
typedef int reconverge_backend_has_clock_function(void);
extern reconverge_backend_has_clock_function reconverge_backend_has_clock;

#define RECONVERGE_BACKEND_HAS_CLOCK "reconverge_backend_has_clock"

/** What a backend may export under this very name: told of a function that it
 *  lacks, by its name, when the program first calls that. Not 0: it has seen to
 *  it that the user learns of it. Without it: the shim says it on stderr. */
typedef int reconverge_backend_lacks_function(const char *name);
extern reconverge_backend_lacks_function reconverge_backend_lacks;

#define RECONVERGE_BACKEND_LACKS "reconverge_backend_lacks"

/** The table of CUDA's driver's functions that a backend has, by their names in
 *  libcuda's ABI ("cuMemAlloc_v2"): for the shim of libcuda, which calls this
 *  once a process, whether reconverge_backend was called or not. ready() says
 *  whether the program has initialized the driver (cuInit is the shim's). Null
 *  as above. */
typedef const reconverge_backend_symbol *
reconverge_driver_function(size_t *count, int (*ready)(void));

/** What a backend exports under this very name. */
extern reconverge_driver_function reconverge_driver_backend;

#define RECONVERGE_DRIVER_ENTRY "reconverge_driver_backend"

/** What the shim of libcuda exports and CUDA's driver does not: whoever wants
 *  to know of a GPU must not take the one for the other. */
#define RECONVERGE_DRIVER_MARK "reconverge_driver_version"

/** The table of a library that stands before another backend and counts what
 *  goes through it: the functions that it takes over. Each of them calls the
 *  one below, which next() gives by its name (null: there is none); next() may
 *  be called once a function of the table is. Null as above. */
typedef const reconverge_backend_symbol *
reconverge_counting_function(size_t *count, void *(*next)(const char *name));

/** What it exports under this very name. */
extern reconverge_counting_function reconverge_counting_backend;

#define RECONVERGE_COUNTING_ENTRY "reconverge_counting_backend"

#ifdef __cplusplus
}
#endif

#endif
