//===- core/MemoryJson.h - Accesses in a profile's file ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_MEMORYJSON_H
#define RECONVERGE_CORE_MEMORYJSON_H

#include "core/Profile.h"

namespace reconverge {

class Fields;
class JsonWriter;

/// The kernel's "accesses" and "touched"; written where they were counted.
void writeMemory(JsonWriter &Kernel, const KernelProfile &K);
/// Of a kernel with \p Blocks blocks. False: a fault was reported.
bool readMemory(const Fields &Kernel, KernelProfile &K, size_t Blocks);

} // namespace reconverge

#endif
