//===- runtime/gpu/MemoryCopy.h - Memory as it was --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_MEMORYCOPY_H
#define RECONVERGE_RUNTIME_GPU_MEMORYCOPY_H

#include "runtime/gpu/Allocations.h"
#include "runtime/gpu/Images.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace reconverge::gpu {

/// Finds which parts of two stretches of device memory differ, on the device.
class PageComparer {
public:
  static constexpr uint64_t PageBytes = 4096;

  /// Builds and registers its kernel, once.
  llvm::Error load(const Options &O);

  /// Sets \p Flags[n], in device memory, to 1 if page n of \p A and \p B, which
  /// have \p Words eight-byte words, differs.
  cudaError_t launch(const void *A, const void *B, uint64_t Words,
                     void *Flags) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> Image;
  FatbinWrapper Wrapper;
  char Stub = 0;
};

/// What areas of memory held at one moment, in device memory.
class MemoryCopy {
public:
  /// Of areas that do not come or go while the copy is used. What it takes:
  static uint64_t bytesFor(llvm::ArrayRef<Area> Areas);
  explicit MemoryCopy(llvm::ArrayRef<Area> Areas) : Areas(Areas) {}
  ~MemoryCopy();
  MemoryCopy(const MemoryCopy &) = delete;
  MemoryCopy &operator=(const MemoryCopy &) = delete;

  cudaError_t reserve(); ///< the memory that it takes
  cudaError_t take();
  /// Writes back the areas in \p Which; the copies are queued in \p Stream.
  cudaError_t restore(const llvm::BitVector &Which, cudaStream_t Stream) const;

  /// Page \p Offset bytes into area \p Number is not now as it was \p Then.
  enum class Next { Page, Area }; ///< to look at
  using Visitor = llvm::function_ref<Next(size_t Number, uint64_t Offset,
                                          llvm::ArrayRef<uint8_t> Then,
                                          llvm::ArrayRef<uint8_t> Now)>;
  cudaError_t differences(const PageComparer &Compare, Visitor Visit) const;

private:
  llvm::ArrayRef<Area> Areas;
  std::vector<uint64_t> Places; ///< of each area's copy
  void *Memory = nullptr;
};

} // namespace reconverge::gpu

#endif
