//===- reconverge/reconverge.cuh - The whole device library -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header-only, for nvcc 12 and 13 and clang 19, C++17. Threads of one warp, of
// one block or of one cluster exchange their identities before a divergent
// branch, so that warps take one side of it: docs/remap.md. Or a block takes
// more items than threads, and its warps work on them by path: docs/collect.md.
//
// device/regroup.cuh, an order over the whole grid, is included by itself,
// because it needs CUB's device-wide headers: docs/regroup.md.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RECONVERGE_CUH
#define RECONVERGE_RECONVERGE_CUH

#include "attributes.cuh"
#include "block/block_collect.cuh"
#include "block/block_remap.cuh"
#include "device/cluster_remap.cuh"
#include "device/feature.cuh"
#include "version.cuh"
#include "warp/warp_herd.cuh"
#include "warp/warp_net.cuh"
#include "warp/warp_remap.cuh"

#endif
