//===- reconverge/warp/warp_herd.cuh - Loads that stay together -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// warp_herd_load: for programs that tolerate errors. Lanes that want other memory
// than their warp's first lane are given what has their place in its block, so
// that a warp's load is one block's. After Sartori and Kumar (2013), where
// hardware looks for the block that most lanes want; that takes far more
// instructions than it saves, so here it is the first lane's. docs/herd.md says
// when even that pays, which is seldom, and `reconverge optimize --quality`
// forecasts it.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARP_WARP_HERD_CUH
#define RECONVERGE_WARP_WARP_HERD_CUH

#include "../detail/threads.cuh"

namespace reconverge {

/// *pointer where that lies in the block of the first of `members`, and otherwise
/// what lies as far into that block as *pointer does into its own. A block is 32
/// values, at a multiple of its size: a warp that reads side by side from a
/// multiple of 32 reads what it asked for.
///
/// Values   of 1, 2, 4 or 8 bytes, each lane's at a multiple of their size
/// Memory   global, of cudaMalloc's family, which lies at a multiple of 256 bytes.
///          The array's length is a multiple of 32, or what follows it up to the
///          next one may be read and its values be had
///
/// Who takes part: the lanes in `members`, all of them and together.
/// Cost: two shuffles and about six instructions, 60 cycles before the load.
///
/// \code
///   __global__ void gather(const int *index, const float *table, float *out) {
///     const int i = blockIdx.x * blockDim.x + threadIdx.x; // whole warps
///     out[i] = reconverge::warp_herd_load(table + index[i]);
///   }
/// \endcode
template <typename T>
RECONVERGE_DEVICE T warp_herd_load(const T *pointer,
                                   unsigned members = detail::whole_warp) {
  static_assert(sizeof(T) <= 8 && !(sizeof(T) & (sizeof(T) - 1)),
                "a value has 1, 2, 4 or 8 bytes");
  constexpr unsigned long long inside = 32 * sizeof(T) - 1;
  const auto block = reinterpret_cast<unsigned long long>(pointer) & ~inside;
  const auto first = __shfl_sync(members, block, __ffs(int(members)) - 1);
  // By a distance, so that the compiler still knows the memory for global.
  return *reinterpret_cast<const T *>(reinterpret_cast<const char *>(pointer) +
                                      static_cast<long long>(first - block));
}

} // namespace reconverge

#endif
