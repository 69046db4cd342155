//===- remedies/refill/Machine.h - What a GPU holds -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REFILL_MACHINE_H
#define RECONVERGE_REMEDIES_REFILL_MACHINE_H

namespace reconverge::remedies::refill {

inline constexpr unsigned WarpSize = 32;
// Of an H200.
inline constexpr double Multiprocessors = 132, Schedulers = 4 * Multiprocessors;
/// Warps of a scheduler that hide latencies: at least, and at most.
inline constexpr double FewWarps = 2, ManyWarps = 16;

} // namespace reconverge::remedies::refill

#endif
