//===- reconverge/detail/config.cuh - What every header needs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With RECONVERGE_CHECK defined, what a caller must keep to is asserted on the
// device (and costs what assertions cost).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_CONFIG_CUH
#define RECONVERGE_DETAIL_CONFIG_CUH

#ifndef __CUDACC__
#error                                                                         \
    "reconverge's device library is CUDA: compile with nvcc, or clang -x cuda"
#endif
#if __cplusplus < 201703L
#error "reconverge's device library needs C++17: -std=c++17"
#endif

#define RECONVERGE_DEVICE __device__ __forceinline__

#ifdef RECONVERGE_CHECK
#include <cassert>
#define RECONVERGE_ASSERT(Condition) assert(Condition)
#else
#define RECONVERGE_ASSERT(Condition) static_cast<void>(0)
#endif

#endif
