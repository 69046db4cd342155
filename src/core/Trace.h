//===- core/Trace.h - The launches of a run in order ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_TRACE_H
#define RECONVERGE_CORE_TRACE_H

#include "core/LaunchShape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge {

/// The first launches of a program, in the order in which they ran.
struct LaunchTrace {
  struct Kernel {
    std::string Name;   ///< mangled
    std::string Module; ///< hash of the bitcode, 16 hex digits
    bool operator==(const Kernel &) const = default;
  };
  struct Launch {
    uint32_t Kernel = 0, Shape = 0; ///< positions in the lists below
    uint32_t Stream = 0; ///< 0: the default one; others from 1 in order of use
    bool operator==(const Launch &) const = default;
  };
  std::vector<Kernel> Kernels;     ///< first launched first
  std::vector<LaunchShape> Shapes; ///< distinct ones, likewise
  std::vector<Launch> Launches;    ///< at most MaxLaunches
  uint64_t More = 0;               ///< launches that came after these

  static constexpr size_t MaxLaunches = 4096;
};

} // namespace reconverge

#endif
