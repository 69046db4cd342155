//===- warpvm/Compile.h - From a kernel to code in memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_COMPILE_H
#define RECONVERGE_WARPVM_COMPILE_H

#include "warpvm/Emitter.h"
#include "warpvm/Machine.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Target/TargetMachine.h"

namespace reconverge::warpvm {

/// Compiles kernels for the host and links them into the process.
class Compiler {
public:
  /// Of \p Options: Isa, CompileFast and CacheDir.
  static llvm::Expected<std::unique_ptr<Compiler>>
  create(const MachineOptions &Options);

  /// The plan of \p Kernel, compiled now or taken from the cache on disk. Stays
  /// valid as long as the compiler lives.
  llvm::Expected<const KernelPlan *> compile(llvm::Function &Kernel,
                                             llvm::StringRef ModuleHash,
                                             const EmitOptions &Emit,
                                             Tier Code);

  /// CPU and vector extensions that code is made for, in words.
  std::string target() const;

private:
  Compiler() = default;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  build(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code);
  std::string cachePath(llvm::StringRef ModuleHash, llvm::StringRef Name,
                        const EmitOptions &Emit, Tier Code) const;

  std::unique_ptr<llvm::TargetMachine> Target;
  std::unique_ptr<llvm::orc::LLJIT> Jit;
  std::string CacheDir;
  bool Fast = false;
  unsigned Linked = 0;
};

/// Emits all regions of \p Kernel and its KernelPlan (symbol PlanSymbol) for
/// \p Target, unoptimised.
llvm::Expected<std::unique_ptr<llvm::Module>>
emitKernel(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code,
           const llvm::TargetMachine &Target);

inline constexpr llvm::StringLiteral PlanSymbol = "rcvm_plan";

/// Functions that compiled code calls: name and address (Library.cpp).
llvm::ArrayRef<std::pair<const char *, void *>> librarySymbols();

} // namespace reconverge::warpvm

#endif
