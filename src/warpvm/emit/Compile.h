//===- warpvm/emit/Compile.h - From a kernel to code in memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_COMPILE_H
#define RECONVERGE_WARPVM_EMIT_COMPILE_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"
#include "warpvm/emit/EmitOptions.h"
#include "warpvm/emit/OperationLibrary.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace reconverge::warpvm {

/// A kernel's code in memory.
struct Compiled {
  const KernelPlan *Plan = nullptr;
  uint64_t Bytes = 0; ///< of its object file
};

/// Compiles kernels for the host and links them into the process.
class Compiler {
public:
  /// Of \p Options: Isa and CacheDir. \p How: Well or Fast. \p Library: the
  /// functions that code calls, by name; only to build() it takes none.
  static llvm::Expected<std::unique_ptr<Compiler>>
  create(const MachineOptions &Options, Effort How,
         llvm::ArrayRef<std::pair<const char *, void *>> Library);

  /// \p Kernel, compiled now and kept in the cache on disk. Stays valid as long
  /// as the compiler lives. One at a time.
  llvm::Expected<Compiled> compile(llvm::Function &Kernel,
                                   llvm::StringRef ModuleHash,
                                   const EmitOptions &Emit, Tier Code);
  /// The same for a kernel that the cache has; else no plan. Reads nothing of
  /// its body. May be called while another thread compiles.
  llvm::Expected<Compiled> cached(llvm::StringRef Kernel,
                                  llvm::StringRef ModuleHash,
                                  const EmitOptions &Emit, Tier Code);
  /// Takes \p Object, which build() made for the same elsewhere.
  llvm::Expected<Compiled> adopt(std::unique_ptr<llvm::MemoryBuffer> Object,
                                 llvm::StringRef Kernel,
                                 llvm::StringRef ModuleHash,
                                 const EmitOptions &Emit, Tier Code);
  /// The object file of \p Kernel alone: it is not linked, and not kept.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  build(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code);

  /// Where the cache on disk has that object file, or would have it.
  std::string cachePath(llvm::StringRef ModuleHash, llvm::StringRef Name,
                        const EmitOptions &Emit, Tier Code) const;

  /// CPU and vector extensions that code is made for, in words.
  std::string hostInWords() const;

private:
  Compiler() = default;
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> builder() const;
  llvm::Expected<Compiled> link(const llvm::MemoryBuffer &Object);
  llvm::Expected<void *> find(llvm::StringRef Name);
  llvm::Expected<llvm::TargetMachine *> target();
  OperationLibrary &operations();
  llvm::Error makeLists(llvm::Module &M, llvm::TargetMachine &Target);

  std::string Isa;     ///< MachineOptions
  std::string CpuName; ///< of what code is made for, among keys of the cache
  std::unique_ptr<llvm::TargetMachine> Target; ///< once something is compiled
  llvm::StringMap<void *> Library;
  Linker Code;
  std::optional<OperationLibrary> Operations; ///< of Effort::Fast, once used
  std::string CacheDir;
  Effort How = Effort::Well;
};

/// How code is to be emitted, in a line of text, and back; false: it is none.
std::string describe(const EmitOptions &Emit, Tier Code);
bool parseDescription(llvm::StringRef Text, EmitOptions &Emit, Tier &Code);

/// Emits all regions of \p Kernel and its KernelPlan (symbol PlanSymbol) for
/// \p Target, unoptimised.
llvm::Expected<std::unique_ptr<llvm::Module>>
emitKernel(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code,
           const llvm::TargetMachine &Target);

inline constexpr llvm::StringLiteral PlanSymbol = "rcvm_plan";

} // namespace reconverge::warpvm

#endif
