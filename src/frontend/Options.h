//===- frontend/Options.h - How to build a program --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_OPTIONS_H
#define RECONVERGE_FRONTEND_OPTIONS_H

#include "core/ForeignCompiler.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// What a command-line input is.
enum class InputKind { Cuda, Cxx, C, LinkerInput, Other };
/// By its extension.
InputKind inputKind(llvm::StringRef Path);

/// A file to compile: of the kind that its extension says, or that the user
/// has named with -x.
struct SourceFile {
  std::string Path;
  InputKind Kind;

  SourceFile(std::string Path, InputKind Kind)
      : Path(std::move(Path)), Kind(Kind) {}
  SourceFile(llvm::StringRef Path) : SourceFile(Path.str(), inputKind(Path)) {}
  SourceFile(const char *Path) : SourceFile(llvm::StringRef(Path)) {}
};

/// Arithmetic of device code. The defaults are nvcc's.
struct Numerics {
  bool FlushDenormals = false;      ///< -ftz=true
  bool PreciseDivision = true;      ///< -prec-div=true
  bool PreciseSqrt = true;          ///< -prec-sqrt=true
  bool Contract = true;             ///< -fmad=true
  bool FastTranscendentals = false; ///< sinf is __sinf, ...

  static Numerics fast() { return {true, false, false, true, true}; }
};

/// The list of files that a compilation has read, for make or ninja.
struct DependencyOptions {
  bool Write = false;        ///< -MD or -MMD
  bool SystemHeaders = true; ///< those, too: -MD, not -MMD
  bool Phony = false;        ///< -MP: a rule without a recipe for each file
  bool Generated = false;    ///< -MG: a missing header will be generated
  std::string File;          ///< -MF; empty: beside the output
  std::vector<std::string> Names; ///< -MT or -MQ and the target, in turn
};

/// What passes did and could not do, as LLVM's tools for remarks read it.
struct RecordOptions {
  bool Write = false; ///< -fsave-optimization-record
  std::string File;   ///< empty: beside the output
  std::string Passes; ///< a regular expression; empty: all
};

/// What a program runs over.
enum class CudaRuntime {
  Ours,  ///< our shim, which takes a container of bitcode and fat binary
  Nvidia ///< the toolkit's own, which takes the fat binary alone
};

struct CompileOptions {
  unsigned Arch = 90;    ///< the one architecture that device code is built for
  unsigned OptLevel = 3; ///< 0..3, of host and device code
  bool DebugInfo = false; ///< -g; line tables are always on
  bool Gpu = false;       ///< PTX and machine code, beside the bitcode
  std::optional<ForeignCompiler> GpuCompiler; ///< who makes these; none: we do
  /// Kernels that its code lacks are no error: who uses it looks.
  bool MayLackKernels = false;
  CudaRuntime Runtime = CudaRuntime::Ours;
  bool HostOnly = false;    ///< --cuda-host-only: no device code inside
  bool Relocatable = false; ///< -rdc=true: device code is completed at the link
  /// The program has no device code but this: one source, or what is linked.
  bool IsWholeProgram = false;
  /// Our passes come first where clang goes all the way: for what the source
  /// has and clang 19 lacks, or for kernels that the host chooses from.
  bool OwnPasses = false;
  Numerics Math;
  DependencyOptions Dependencies;
  RecordOptions Record;
  std::vector<std::string> ClangArguments;  ///< passed on to every compilation
  std::vector<std::string> HostArguments;   ///< ... of host code only
  std::vector<std::string> DeviceArguments; ///< ... of device code only
  std::vector<std::string> PtxasArguments;  ///< -Xptxas
  /// What is done to device code when it has its common form; null: nothing.
  std::function<llvm::Error(llvm::Module &)> Transform;
};

/// A word of the link line: an option, or the place of the next input.
struct LinkWord {
  std::string Text; ///< empty for an input
  bool IsInput = false;
};

struct LinkOptions {
  /// Their order is kept: what an archive gives depends on what comes before
  /// it, and --whole-archive on what comes after.
  std::vector<LinkWord> Words;
  /// Of the compiler's options, those that say how to link as well.
  std::vector<std::string> Arguments;
  bool Shared = false;
  bool Relocatable = false; ///< -r: objects to one object, without libraries
  CudaRuntime Runtime = CudaRuntime::Ours;
  bool SharedRuntime = false; ///< -cudart shared, of NVIDIA's
};

/// The newest architecture that clang 19 knows. Its PTX runs on later GPUs.
inline constexpr unsigned NewestArch = 90;
/// The oldest one that CUDA 12 still builds for.
inline constexpr unsigned OldestArch = 50;

} // namespace reconverge::frontend

#endif
