//===- runtime/vm/Functions.h - What is known of a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_FUNCTIONS_H
#define RECONVERGE_RUNTIME_VM_FUNCTIONS_H

#include <cstdint>

namespace reconverge::runtime {

struct DeviceFunction;

/// Blocks of \p Threads > 0 threads and \p Dynamic bytes of dynamic shared
/// memory that a multiprocessor holds at once; 0: it cannot run one.
unsigned blocksAtOnce(const DeviceFunction &F, unsigned Threads,
                      uint64_t Dynamic);

} // namespace reconverge::runtime

#endif
