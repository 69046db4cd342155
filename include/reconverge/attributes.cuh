//===- reconverge/attributes.cuh - Ask for remedies, or forbid --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For clang with our plugins, and `reconverge cc`; to nvcc all are nothing.
// docs/remap.md, docs/refill.md, docs/flatten.md, docs/share.md,
// docs/herd.md, docs/collect.md, docs/regroup.md and docs/reorder-blocks.md say
// what becomes of it, and what is left.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_ATTRIBUTES_CUH
#define RECONVERGE_ATTRIBUTES_CUH

/// On a kernel, or on a device function for what is inlined from it: has each
/// divergent branch remapped for which that is legal and worth it
/// (RECONVERGE_REMAP), or none (RECONVERGE_NO_REMAP).
///
/// \code
/// RECONVERGE_REMAP __global__ void step(float *p) {
///   const float x = p[threadIdx.x];
///   if (x > 0)
///     p[threadIdx.x] = sinf(x) / x;
/// }
/// \endcode
///
/// Likewise for refilling: has one loop refilled by which lanes wait for each
/// other (RECONVERGE_REFILL), or none (RECONVERGE_NO_REFILL). For flattening: has
/// an inner loop flattened by which they do (RECONVERGE_FLATTEN), or none
/// (RECONVERGE_NO_FLATTEN). For sharing: has the lanes of a warp run one another's
/// iterations of a loop (RECONVERGE_SHARE), or not (RECONVERGE_NO_SHARE). For
/// herding: has lanes that are few give way at branches, which changes results
/// (RECONVERGE_HERD), or not (RECONVERGE_NO_HERD). For collecting: has threads
/// sorted by the way that they will go (RECONVERGE_COLLECT), or not
/// (RECONVERGE_NO_COLLECT). And for regrouping: has the threads of a launch
/// sorted so (RECONVERGE_REGROUP), or not (RECONVERGE_NO_REGROUP). On a kernel
/// alone: has its thread blocks start in another order
/// (RECONVERGE_REORDER_BLOCKS), or not
/// (RECONVERGE_NO_REORDER_BLOCKS).
#if defined(__clang__) && defined(__CUDA__) // nvcc has the first at most
#define RECONVERGE_REMAP __attribute__((annotate("reconverge remap")))
#define RECONVERGE_NO_REMAP __attribute__((annotate("reconverge remap off")))
#define RECONVERGE_REFILL __attribute__((annotate("reconverge refill")))
#define RECONVERGE_NO_REFILL __attribute__((annotate("reconverge refill off")))
#define RECONVERGE_FLATTEN __attribute__((annotate("reconverge flatten")))
#define RECONVERGE_NO_FLATTEN                                                  \
  __attribute__((annotate("reconverge flatten off")))
#define RECONVERGE_SHARE __attribute__((annotate("reconverge share")))
#define RECONVERGE_NO_SHARE __attribute__((annotate("reconverge share off")))
#define RECONVERGE_HERD __attribute__((annotate("reconverge herd")))
#define RECONVERGE_NO_HERD __attribute__((annotate("reconverge herd off")))
#define RECONVERGE_COLLECT __attribute__((annotate("reconverge collect")))
#define RECONVERGE_NO_COLLECT                                                  \
  __attribute__((annotate("reconverge collect off")))
#define RECONVERGE_REGROUP __attribute__((annotate("reconverge regroup")))
#define RECONVERGE_NO_REGROUP                                                  \
  __attribute__((annotate("reconverge regroup off")))
#define RECONVERGE_REORDER_BLOCKS                                              \
  __attribute__((annotate("reconverge reorder-blocks")))
#define RECONVERGE_NO_REORDER_BLOCKS                                           \
  __attribute__((annotate("reconverge reorder-blocks off")))
#else
#define RECONVERGE_REMAP
#define RECONVERGE_NO_REMAP
#define RECONVERGE_REFILL
#define RECONVERGE_NO_REFILL
#define RECONVERGE_FLATTEN
#define RECONVERGE_NO_FLATTEN
#define RECONVERGE_SHARE
#define RECONVERGE_NO_SHARE
#define RECONVERGE_HERD
#define RECONVERGE_NO_HERD
#define RECONVERGE_COLLECT
#define RECONVERGE_NO_COLLECT
#define RECONVERGE_REGROUP
#define RECONVERGE_NO_REGROUP
#define RECONVERGE_REORDER_BLOCKS
#define RECONVERGE_NO_REORDER_BLOCKS
#endif

#endif
