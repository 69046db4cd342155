//===- warpvm/memory/Arena.h - Guarded memory of a block --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_ARENA_H
#define RECONVERGE_WARPVM_MEMORY_ARENA_H

#include <cstddef>
#include <cstdint>

namespace reconverge::warpvm {

/// Memory of a thread block in flight: shared memory that ends at a guard, and
/// private memory (frames, locals) between guards of its own. Taken from a pool
/// that the process keeps, because a mapping costs more than a small launch.
class Arena {
public:
  /// Room for \p Shared and \p Private bytes.
  Arena(uint64_t Shared, uint64_t Private);
  /// False if the system has not that much.
  explicit operator bool() const { return M.Base; }
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  uint8_t *shared() const;   ///< 64-aligned; its end, so aligned, is a guard
  uint8_t *privates() const; ///< page-aligned

  struct Mapping {
    uint8_t *Base = nullptr;
    uint64_t SharedRoom = 0, PrivateRoom = 0;
  };

private:
  Mapping M;
  uint64_t Shared;
};

} // namespace reconverge::warpvm

#endif
