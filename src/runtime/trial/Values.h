//===- runtime/trial/Values.h - What bytes in memory mean -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory has no types. What a kernel stores has, and so a byte that two
// results differ in can most often be told as the number that it is part of.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_TRIAL_VALUES_H
#define RECONVERGE_RUNTIME_TRIAL_VALUES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::runtime {

enum class ValueType { Double, Float, Int, Long, Short, Char };

/// The types of what \p Kernel, or what it can call, writes to memory; in the
/// order in which bytes are tried on them.
std::vector<ValueType> writtenTypes(const llvm::Function &Kernel);

/// The value around one byte of two copies of memory.
struct ValuePair {
  ValueType Type;
  size_t Begin;   ///< where its first byte is
  unsigned Bytes; ///< that it takes
  const char *TypeName;
};

/// As the first of \p Types that fits both; nothing if none does. \p Address is
/// that of byte \p At.
std::optional<ValuePair> valueAt(llvm::ArrayRef<ValueType> Types,
                                 uint64_t Address, llvm::ArrayRef<uint8_t> A,
                                 llvm::ArrayRef<uint8_t> B, size_t At);

/// The value at \p At in digits, all that there are.
std::string textOf(ValueType T, const uint8_t *At);

/// How far two floating-point numbers of type \p T lie apart, in units in the
/// last place; nothing for other types.
std::optional<uint64_t> ulpsBetween(ValueType T, const uint8_t *A,
                                    const uint8_t *B);

/// Its value, rounded to a double where it has more digits.
double numberAt(ValueType T, const uint8_t *At);

} // namespace reconverge::runtime

#endif
