//===- runtime/gpu/OutputCapture.h - What goes to stdout --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_GPU_OUTPUTCAPTURE_H
#define RECONVERGE_RUNTIME_GPU_OUTPUTCAPTURE_H

#include <string>

namespace reconverge::gpu {

/// While it lives, what the process writes to stdout is kept from it. CUDA
/// writes there, when the host waits for the device, what kernels have printed,
/// and tells no one whether they have.
class OutputCapture {
public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture &) = delete;
  OutputCapture &operator=(const OutputCapture &) = delete;

  /// Ends it. The text so far, which is nowhere else; empty if nothing could be
  /// kept, as where no file can be made.
  std::string take();

private:
  int Stdout = -1, File = -1; ///< -1: not captured
};

} // namespace reconverge::gpu

#endif
