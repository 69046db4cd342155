//===- reconverge/device/feature.cuh - What foretells a thread --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DEVICE_FEATURE_CUH
#define RECONVERGE_DEVICE_FEATURE_CUH

namespace reconverge {

/// Says of a number that it foretells how long this thread of a kernel will take:
/// how many weak places its read has, how long its list is. It must follow from
/// what is known before the launch, and may take loops of its own. Reconverge then
/// learns from such numbers, and from no others, what threads of this kernel take
/// (`reconverge train`, `predict --estimate`), and computes them before a launch to
/// sort its threads by: docs/predict-paths.md. At most 16 are taken of a kernel;
/// one that is called several times, as in a loop, counts with the last value.
///
/// The kernel itself does nothing of this: neither the call nor what is computed
/// for it alone is in its code. So it costs nothing where nobody sorts. Built by nvcc
/// or stock clang it is an empty function. Loops that need one another, or an array
/// of their own, belong into a function that returns nothing: it goes as a whole,
/// where of loops in the kernel's own body a compiler may leave some.
///
/// \code
///   __global__ void walk(const int *first, const int *next, int *ends, int n) {
///     const int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i >= n)
///       return;
///     int steps = 0;
///     for (int at = first[i]; at >= 0 && steps < 4; at = next[at])
///       ++steps;
///     reconverge::feature(steps);
///     int at = first[i];
///     while (next[at] >= 0)
///       at = next[at];
///     ends[i] = at;
///   }
/// \endcode
#if defined(__clang__) && defined(__CUDA__)
__attribute__((annotate("reconverge.feature"), noinline)) __device__ inline void
feature(float) {}
#else
__device__ __forceinline__ void feature(float) {}
#endif

} // namespace reconverge

#endif
