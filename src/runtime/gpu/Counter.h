//===- runtime/gpu/Counter.h - Launches that are counted --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_COUNTER_H
#define RECONVERGE_RUNTIME_GPU_COUNTER_H

#include "instrument/BlockSample.h"
#include "runtime/gpu/Images.h"
#include "runtime/gpu/MemoryCount.h"
#include "runtime/gpu/Options.h"
#include "runtime/profile/Collector.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

namespace reconverge::gpu {

/// Counts the launches of this process, one after the other.
struct LaunchCells;

class Counter {
public:
  static Counter &get(); ///< made at first use, never destroyed

  /// Reads the machine file, and sees to it that the profile is written when
  /// the process exits.
  llvm::Error configure(Options O);
  const Options &options() const { return Settings; }

  /// Runs \p Launch, which launches \p K in \p Stream, and waits for it.
  /// Returns what it returned. \p Args as cudaLaunchKernel has them.
  cudaError_t launch(const CountedKernel &K, const LaunchShape &Shape,
                     const void *Stub, void **Args, cudaStream_t Stream,
                     llvm::function_ref<cudaError_t()> Launch);

  /// Says on stderr, once, what could not be counted; the profile notes it.
  void say(const llvm::Twine &What);

  llvm::Error writeProfile();

private:
  /// What a device lends us, grown as needed.
  struct DeviceMemory {
    void *Cells = nullptr, *Rows = nullptr, *Sampled = nullptr,
         *Areas = nullptr, *Features = nullptr;
    size_t CellBytes = 0, RowBytes = 0, SampledBytes = 0, AreaBytes = 0,
           FeatureBytes = 0;
    cudaEvent_t Start = nullptr, Stop = nullptr;
  };
  /// Which thread blocks of a launch write their counters, and where they are.
  struct Sample {
    std::vector<uint32_t> Blocks; ///< as ProbeConfig::Sampled
    uint64_t Stride = 1;
    size_t Words = 0, Threads = 0; ///< a thread's, a block's
    size_t rowBytes() const { return Blocks.size() * Words * Threads * 4; }
  };

  /// What a launch leaves: cells, rows of the sampled blocks, and areas of
  /// those whose accesses to memory are counted.
  struct Left {
    std::vector<uint64_t> Cells, Areas;
    std::vector<uint32_t> Rows;
    bool empty() const { return Cells.empty() && Areas.empty(); }
  };

  Counter() = default;
  cudaError_t grow(void *&Memory, size_t &Has, size_t Bytes);
  cudaError_t prepare(DeviceMemory *&Memory);
  void findNeeds(const CountedKernel &K, const runtime::LaunchRecord &Record);
  Sample sampleOf(const CountedKernel &K, const LaunchShape &Shape,
                  runtime::VectorSample &Vectors);
  cudaError_t sendConfig(const CountedKernel &K, const LaunchCells &Where,
                         const MemoryAreas &Accesses, const Sample &S,
                         DeviceMemory &Memory, cudaStream_t Stream);
  cudaError_t fetch(const CountedKernel &K, const DeviceMemory &Memory,
                    Left &To, cudaStream_t Stream);
  LaunchCounts countsOfLaunch(const CountedKernel &K, const LaunchShape &Shape,
                              const LaunchCells &Where,
                              const MemoryAreas &Accesses, const Left &From,
                              float Milliseconds);
  cudaError_t readFeatures(const CountedKernel &K, const LaunchShape &Shape,
                           void **Args, DeviceMemory &Memory,
                           cudaStream_t Stream, runtime::VectorSample &Vectors);
  void record(const CountedKernel &K, const Sample &S,
              llvm::ArrayRef<uint32_t> Rows, runtime::VectorSample &Vectors);

  Options Settings;
  std::recursive_mutex Lock;
  std::unique_ptr<runtime::Collector> Counted;
  std::map<int, DeviceMemory> Devices;
  std::vector<std::string> Notes; ///< in the order in which they were said
  /// Kernels that were counted in a part of their thread blocks: one of how
  /// many, at most.
  std::map<std::string, uint64_t> Sparse;
  std::string Device; ///< in words; known from the first launch on
  int OwnProcess = 0; ///< a fork's child does not write the parent's profile
};

/// Which cells a launch counts in: [replica][set][cell], and one replica more
/// for the sample's tail.
struct LaunchCells {
  uint64_t SetSize, Replicas;
  instrument::BlockSample Who;

  /// At least \p Least thread blocks count; 0: all.
  static LaunchCells of(const CountedKernel &K, const LaunchShape &Shape,
                        uint64_t Least);
  size_t count() const { return 2 * SetSize * (Replicas + 1); }
  /// For cells at \p Device, of the device's memory.
  instrument::ProbeConfig config(void *Device) const;
};

/// Sums of all replicas' cells to a launch's counts, those of the whole grid.
/// \p Cells as the kernel has left them: [replica][set][cell], counted by \p
/// Who.
LaunchCounts countsOf(const CountedKernel &K, llvm::ArrayRef<uint64_t> Cells,
                      const LaunchShape &Shape,
                      const instrument::BlockSample &Who);

} // namespace reconverge::gpu

#endif
