//===- runtime/gpu/Allocations.h - Memory that kernels can write -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_ALLOCATIONS_H
#define RECONVERGE_RUNTIME_GPU_ALLOCATIONS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace reconverge::gpu {

/// A stretch of memory that a kernel may write.
struct Area {
  uint64_t Base, Bytes;
  std::string Name; ///< in words
  bool OnHost = false;
};

/// What the program holds, by the calls that it has made.
class Allocations {
public:
  enum Kind { Device, Managed, Host, Registered };

  /// \p Call made the block; of size 0 it is none.
  void add(Kind K, llvm::StringRef Call, const void *Base, uint64_t Bytes,
           int Device);
  void remove(const void *Base);
  void clear(); ///< the device was reset

  /// In order of addresses.
  std::vector<Area> areas() const;
  /// Whether all device memory is one device's.
  bool isOnOneDevice() const;
  /// Device memory that CUDA takes for all this: it gives out large pieces.
  uint64_t deviceBytes() const;

private:
  struct Block {
    Kind What;
    std::string Call;
    uint64_t Number; ///< of the call, from 1
    uint64_t Bytes;
    int Device;
  };
  mutable std::mutex Lock;
  std::map<uint64_t, Block> Blocks; ///< by address
  std::map<std::string, uint64_t, std::less<>> Calls;
};

/// Of device memory in use, what neither the books nor CUDA's own needs
/// explain; 0 if that is within the tolerance (docs/gpu.md).
uint64_t unexplainedBytes(uint64_t Used, uint64_t UsedAtFirst, uint64_t Books,
                          uint64_t LocalMemory);

} // namespace reconverge::gpu

#endif
