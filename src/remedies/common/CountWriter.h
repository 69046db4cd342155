//===- remedies/common/CountWriter.h - For the host to compute --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_COUNTWRITER_H
#define RECONVERGE_REMEDIES_COMMON_COUNTWRITER_H

#include "core/TripCount.h"

#include <optional>
#include <utility>

namespace llvm {
class Argument;
class DataLayout;
class LoadInst;
class SCEV;
class Value;
} // namespace llvm

namespace reconverge::remedies {

/// The argument, passed by value, that \p Load reads a part of as the launch has
/// given it, and at which byte; null: it reads something else, or what the
/// kernel may have written there.
std::pair<const llvm::Argument *, uint64_t>
memberOf(const llvm::LoadInst &Load, const llvm::DataLayout &Layout);

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
  bool fail() { return Good = false; }

  const llvm::DataLayout &Layout;
  TripCount Count;
  bool Good = true;
};

} // namespace reconverge::remedies

#endif
