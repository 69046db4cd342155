//===- runtime/outputs/Watch.h - What buffers hold in the end ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_OUTPUTS_WATCH_H
#define RECONVERGE_RUNTIME_OUTPUTS_WATCH_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace reconverge::outputs {

/// Finds a function of the runtime below by its name; null if it lacks it.
using Lookup = void *(*)(const char *Name);

/// The buffers that core/OutputBuffers.h asks this process for. Any thread may
/// call any member.
class Watch {
public:
  static Watch &get(); ///< made at first use, never destroyed

  /// Reads what is asked for. False if that cannot be read.
  bool configure(const char *RequestFile, Lookup Next);
  void *below(const char *Name) const { return Next(Name); }

  /// \p Stub launches the kernel \p Name.
  void addKernel(const void *Stub, const char *Name);
  /// The kernel of \p Stub was launched. \p Args as cudaLaunchKernel has them.
  void launched(const void *Stub, void **Args);

  /// A block of memory came.
  void add(const void *Base, uint64_t Bytes);
  /// The block at \p Base will go: what is asked of it is read before.
  void beforeFree(const void *Base);
  /// All blocks will go.
  void beforeReset();
  /// The process ends. What comes later is not looked at.
  void finish();

private:
  struct Buffer {
    std::string Kernel; ///< mangled, without what a remedy adds
    unsigned Argument;  ///< from 1
    std::string File;
    bool WasLaunched = false;
    const void *Pointer = nullptr; ///< that the last launch had
    int Device = 0;                ///< of that launch
    bool IsTaken = false;          ///< it was read since
  };
  void take(Buffer &B, const void *Base, uint64_t Bytes);
  /// The base of the block that holds \p Pointer; null: none does.
  const void *blockOf(const void *Pointer) const;

  std::mutex Lock;
  Lookup Next = nullptr;
  std::vector<Buffer> Buffers;
  std::map<const void *, std::string> Kernels;          ///< asked for, by stub
  std::map<const void *, uint64_t, std::less<>> Blocks; ///< bytes, by base
  bool IsLast = false, IsOver = false;
};

} // namespace reconverge::outputs

#endif
