//===- warpvm/memory/Arena.h - Guarded memory of a block --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_ARENA_H
#define RECONVERGE_WARPVM_MEMORY_ARENA_H

#include <cstddef>
#include <cstdint>

namespace reconverge::warpvm {

/// Memory of thread blocks in flight: shared memory of each, which ends at a
/// guard, and private memory (frames, locals) between guards of its own. Taken
/// from a pool that the process keeps, because a mapping costs more than a small
/// launch.
class Arena {
public:
  /// Room for \p Shared bytes of each of \p Blocks, and \p Private bytes.
  Arena(uint64_t Shared, uint64_t Private, unsigned Blocks = 1);
  /// False if the system has not that much.
  explicit operator bool() const { return M.Base; }
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// The first block's. 64-aligned; its end, so aligned, is a guard.
  uint8_t *shared() const;
  /// From one block's to the next one's, bytes.
  uint64_t stride() const;
  uint8_t *privates() const; ///< page-aligned
  /// Nobody had this memory before.
  bool isZero() const { return New; }

  struct Mapping {
    uint8_t *Base = nullptr;
    uint64_t SharedRoom = 0, PrivateRoom = 0;
    unsigned Blocks = 0;
  };

private:
  Mapping M;
  uint64_t Shared;
  bool New = false;
};

} // namespace reconverge::warpvm

#endif
