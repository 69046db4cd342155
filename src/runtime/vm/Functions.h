//===- runtime/vm/Functions.h - What is known of a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_FUNCTIONS_H
#define RECONVERGE_RUNTIME_VM_FUNCTIONS_H

#include <cstdint>

namespace reconverge::warpvm {
class Kernel;
} // namespace reconverge::warpvm

namespace reconverge::runtime {

struct DeviceFunction;

/// Blocks of \p Threads > 0 threads and \p Dynamic bytes of dynamic shared
/// memory that a multiprocessor holds at once; 0: it cannot run one.
unsigned blocksAtOnce(const DeviceFunction &F, unsigned Threads,
                      uint64_t Dynamic);
/// The same of a kernel that no program has set anything for.
unsigned blocksAtOnce(const warpvm::Kernel &K, unsigned Threads,
                      uint64_t Dynamic);

} // namespace reconverge::runtime

#endif
