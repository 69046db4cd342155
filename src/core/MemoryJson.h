//===- core/MemoryJson.h - Accesses in a profile's file ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_MEMORYJSON_H
#define RECONVERGE_CORE_MEMORYJSON_H

#include "core/KernelTime.h"
#include "core/Profile.h"

#include "llvm/Support/JSON.h"

namespace reconverge {

class Fields;
class JsonWriter;

/// As "touched" of the object that is open.
void writeTouched(JsonWriter &W, const Footprint &F);
bool readTouched(const llvm::json::Value &V, llvm::json::Path P,
                 Footprint &Out);

/// Members of the object that is open, for people: no file is read with them.
void writeTime(JsonWriter &W, const KernelTime &T);

/// The kernel's "accesses" and "touched"; written where they were counted.
void writeMemory(JsonWriter &Kernel, const KernelProfile &K);
/// Of a kernel with \p Blocks blocks. False: a fault was reported.
bool readMemory(const Fields &Kernel, KernelProfile &K, size_t Blocks);

} // namespace reconverge

#endif
