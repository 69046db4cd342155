//===- runtime/vm/Snapshot.h - Device memory as it was ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_SNAPSHOT_H
#define RECONVERGE_RUNTIME_VM_SNAPSHOT_H

#include "warpvm/memory/DeviceMemory.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <optional>
#include <vector>

namespace reconverge::runtime {

/// What every live allocation that a kernel may write held at one moment. No
/// allocation may come or go between take() and the last use of what it gave.
class MemorySnapshot {
public:
  /// Copies \p Memory. Pages that are as they were in \p Earlier, which has to
  /// outlive the result, are not copied again. Nothing if the copies would take
  /// more than \p Budget bytes.
  static std::optional<MemorySnapshot>
  take(const warpvm::DeviceMemory &Memory, uint64_t Budget,
       const MemorySnapshot *Earlier = nullptr);

  uint64_t bytes() const { return Bytes; } ///< that its own copies take

  uint64_t extent() const; ///< bytes that it is of

  /// Writes back what has changed since.
  void restore() const;

  /// A page, or the part of one that an allocation has, which is not now as it
  /// was \p Then. \p Offset: bytes from the allocation's beginning.
  using Visitor = llvm::function_ref<void(
      const warpvm::Allocation &In, uint64_t Offset,
      llvm::ArrayRef<uint8_t> Then, llvm::ArrayRef<uint8_t> Now)>;
  void differences(Visitor Visit) const;

private:
  struct Area {
    warpvm::Allocation What;
    std::vector<const uint8_t *> Pages; ///< null: all zero
  };
  using Storage =
      llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, (1 << 20), (1 << 20)>;
  using PageVisitor = llvm::function_ref<bool(
      const Area &, size_t Page, uint8_t *At, uint64_t Bytes, bool HoldsData)>;

  static bool forEachPage(const Area &A, PageVisitor Visit);

  std::vector<Area> Areas;
  std::unique_ptr<Storage> Copies = std::make_unique<Storage>();
  uint64_t Bytes = 0;
};

} // namespace reconverge::runtime

#endif
