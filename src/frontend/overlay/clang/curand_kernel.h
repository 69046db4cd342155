//===- curand_kernel.h - curand's device side, for clang ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// curand's header includes the one that redeclares blockDim and threadIdx by
// its own folder, past the mended one beside this file. So that one is read
// first, and does not do it again.
//
//===----------------------------------------------------------------------===//
#include "curand_mtgp32_kernel.h"
#include_next <curand_kernel.h>
