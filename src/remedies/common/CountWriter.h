//===- remedies/common/CountWriter.h - For the host to compute --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTWRITER_H
#define RECONVERGE_REMEDIES_COMMON_COUNTWRITER_H

#include "core/TripCount.h"

#include <optional>

namespace llvm {
class DataLayout;
class SCEV;
class Value;
} // namespace llvm

namespace reconverge::remedies {

/// Writes down a number of a kernel's that its launch's arguments and sizes make,
/// operands first.
class CountWriter {
public:
  explicit CountWriter(const llvm::DataLayout &Layout) : Layout(Layout) {}
  /// Whether \p V is such a number; if not, there is no count.
  bool add(const llvm::Value &V);
  bool add(const llvm::SCEV &S);
  void add(TripCount::Term T);
  /// None: something was no such number, or it is too long.
  std::optional<TripCount> count() const;

private:
  bool addArgument(const llvm::Value *Of, uint32_t Bits, uint64_t At);
  bool fail() { return Good = false; }

  const llvm::DataLayout &Layout;
  TripCount Count;
  bool Good = true;
};

} // namespace reconverge::remedies

#endif
