//===- frontend/Options.h - How to build a program --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_OPTIONS_H
#define RECONVERGE_FRONTEND_OPTIONS_H

#include <string>
#include <vector>

namespace reconverge::frontend {

/// Arithmetic of device code. The defaults are nvcc's.
struct Numerics {
  bool FlushDenormals = false;      ///< -ftz=true
  bool PreciseDivision = true;      ///< -prec-div=true
  bool PreciseSqrt = true;          ///< -prec-sqrt=true
  bool Contract = true;             ///< -fmad=true
  bool FastTranscendentals = false; ///< sinf is __sinf, ...

  static Numerics fast() { return {true, false, false, true, true}; }
};

struct CompileOptions {
  unsigned Arch = 90;    ///< the one architecture that device code is built for
  unsigned OptLevel = 3; ///< 0..3, of host and device code
  bool DebugInfo = false; ///< -g; line tables are always on
  bool Fatbin = false;    ///< also PTX and machine code for a GPU
  Numerics Math;
  std::vector<std::string> ClangArguments; ///< passed on to every compilation
  std::vector<std::string> HostArguments;  ///< ... of host code only
  std::vector<std::string> PtxasArguments; ///< -Xptxas
};

struct LinkOptions {
  std::vector<std::string> Arguments; ///< -l, -L, -Wl, and the like, in order
  bool Shared = false;
};

/// The newest architecture that clang 19 knows. Its PTX runs on later GPUs.
inline constexpr unsigned NewestArch = 90;
/// The oldest one that CUDA 12 still builds for.
inline constexpr unsigned OldestArch = 50;

} // namespace reconverge::frontend

#endif
