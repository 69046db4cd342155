//===- warpvm/memory/DeviceHeap.h - malloc and free in kernels --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_DEVICEHEAP_H
#define RECONVERGE_WARPVM_MEMORY_DEVICEHEAP_H

#include <cstdint>
#include <map>
#include <mutex>

namespace reconverge::warpvm {

/// The heap that kernels' malloc and new take from. Its memory is taken from
/// DeviceMemory at the first call. Any thread may call any member.
class DeviceHeap {
public:
  /// The process's own.
  static DeviceHeap &instance();

  static constexpr uint64_t DefaultBytes = 8 << 20; ///< CUDA's
  static constexpr uint64_t Alignment = 16;         ///< bytes

  /// Bytes that the heap will have. False, and nothing changes, once a kernel
  /// has used it.
  bool setLimit(uint64_t Bytes);

  /// Null if there is no room. The bytes are what they are.
  void *allocate(uint64_t Bytes);
  /// Frees what allocate() gave; false if \p Block is none of that.
  bool release(void *Block);

  /// What is taken and what is free. A copy that is put back undoes what came
  /// between, contents aside: to run a kernel twice from one state.
  struct State {
    std::map<uint64_t, uint64_t> Used, Free; ///< offset -> bytes
  };
  State state() const;
  void restore(const State &Then);

  /// As after the start of the process; memory and blocks are lost.
  void reset();

private:
  mutable std::mutex Mutex;
  uint64_t Limit = DefaultBytes;
  uint8_t *Base = nullptr; ///< null until first used
  State Now;
};

} // namespace reconverge::warpvm

#endif
