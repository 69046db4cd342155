//===- warpvm/run/Notes.h - What is wrong and ends no launch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_NOTES_H
#define RECONVERGE_WARPVM_RUN_NOTES_H

#include "core/Findings.h"
#include "warpvm/Layout.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace reconverge::warpvm {

/// Of a launch: what its threads did that no GPU would stop. May be added to
/// from any CPU thread.
class LaunchNotes {
public:
  explicit LaunchNotes(std::string Kernel) : Kernel(std::move(Kernel)) {}
  /// Keeps the first of each kind at each site.
  void add(FindingKind Kind, const FaultSite &Site, std::string Text,
           const std::array<uint32_t, 3> &Block,
           const std::array<uint32_t, 3> &Thread);
  /// Whether there is something of that kind at \p Site already.
  bool has(FindingKind Kind, const FaultSite &Site) const;
  std::vector<Finding> take();

private:
  using Key = std::pair<const FaultSite *, FindingKind>;
  const std::string Kernel;
  mutable std::mutex Mutex;
  std::map<Key, size_t> Index;
  std::vector<Finding> All;
};

/// Which bytes of its own memory the threads of a block have written: shared
/// memory, and local memory of its kernel and of calls.
class BlockWrites {
public:
  /// Nothing is written yet.
  void start(const uint8_t *Shared, uint64_t SharedBytes, const uint8_t *Local,
             uint64_t LocalBytes);
  /// A call has \p Bytes of local memory at \p Local, to the block's end and in
  /// all blocks that follow in its place.
  void addCall(const uint8_t *Local, uint64_t Bytes);
  /// The shadow of \p Bytes at \p Address; null: it is not the block's.
  uint8_t *of(uint64_t Address, uint64_t Bytes);

private:
  struct Part {
    uint64_t Base = 0;
    std::vector<uint8_t> Written;
    uint8_t *of(uint64_t Address, uint64_t Bytes);
  };
  Part Shared, Local;
  std::map<uint64_t, Part> Calls; ///< by Base
};

/// \p Lane accesses \p Bytes at \p Address; where writes are followed.
void laneTouches(const WarpContext *Context, unsigned Lane, AccessKind Kind,
                 uint64_t Address, uint64_t Bytes, const FaultSite &Site);

/// Functions that compiled code calls: name and address (NoteCalls.cpp).
llvm::ArrayRef<std::pair<const char *, void *>> noteSymbols();

} // namespace reconverge::warpvm

#endif
