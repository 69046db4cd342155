//===- warpvm/emit/Compile.h - From a kernel to code in memory --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_COMPILE_H
#define RECONVERGE_WARPVM_EMIT_COMPILE_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"
#include "warpvm/emit/EmitOptions.h"
#include "warpvm/emit/LateRegions.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <mutex>

namespace reconverge::warpvm {

/// A kernel's code in memory.
struct Compiled {
  const KernelPlan *Plan = nullptr;
  uint64_t Bytes = 0; ///< of its object file, roughly where there are more
  std::shared_ptr<LateRegions> Late; ///< to be kept as long as code may run
};

/// A kernel to compile, and how.
struct CompileJob {
  llvm::StringRef Kernel, ModuleHash;
  EmitOptions Emit;
  Tier Code;
  /// Gives its code. Called only if the cache lacks something, perhaps by code
  /// that runs, so what it needs has to stay.
  std::function<llvm::Expected<llvm::Function *>()> Read;
  LateRegions::Ending End; ///< of a launch whose code cannot be completed
};

/// Compiles kernels for the host and links them into the process.
class Compiler {
public:
  /// Of \p Options: Isa and CacheDir. \p How: Well or Fast. \p Library: the
  /// functions that code calls, by name; only to build() it takes none.
  static llvm::Expected<std::unique_ptr<Compiler>>
  create(const MachineOptions &Options, Effort How,
         llvm::ArrayRef<std::pair<const char *, void *>> Library);

  /// A kernel, taken from the cache on disk or compiled now and kept there. Its
  /// code stays as long as the compiler lives. One at a time: the caller has
  /// \p Lock, and code that compiles more of itself takes it.
  llvm::Expected<Compiled> compile(const CompileJob &J, std::mutex &Lock);
  /// The same for a kernel that the cache has; else no plan. Without a lock, for
  /// code without pieces, that is to say by Effort::Well; then it may be called
  /// while another thread compiles.
  llvm::Expected<Compiled> cached(const CompileJob &J,
                                  std::mutex *Lock = nullptr);
  /// Takes \p Object, which build() made for the same elsewhere.
  llvm::Expected<Compiled> adopt(std::unique_ptr<llvm::MemoryBuffer> Object,
                                 const CompileJob &J);
  /// The object file of \p Kernel alone: it is not linked, and not kept.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  build(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code);

  /// Seconds that were spent on code by code that runs.
  double secondsLate() const { return Late.load(); }

  /// CPU and vector extensions that code is made for, in words.
  std::string target() const;

private:
  Compiler() = default;
  struct Pieces;
  llvm::Expected<EmittedKernel>
  emit(llvm::Function &Kernel, const EmitOptions &Emit, Tier Code, bool Late);
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> objectOf(llvm::Module &M);
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object(Pieces &Of,
                                                             unsigned N);
  llvm::Expected<const LateEntry *> piece(Pieces &Of, unsigned N);
  llvm::Expected<Compiled> link(std::unique_ptr<llvm::MemoryBuffer> Object,
                                const CompileJob &J, std::mutex *Lock,
                                EmittedKernel Emitted = {});
  std::string cachePath(const CompileJob &J, llvm::StringRef Part = "") const;

  std::unique_ptr<llvm::TargetMachine> Target;
  std::unique_ptr<llvm::orc::LLJIT> Jit;
  std::string CacheDir;
  Effort How = Effort::Well;
  std::atomic<unsigned> Linked{0};
  std::atomic<double> Late{0};
};

/// How code is to be emitted, in a line of text, and back; false: it is none.
std::string describe(const EmitOptions &Emit, Tier Code);
bool parseDescription(llvm::StringRef Text, EmitOptions &Emit, Tier &Code);

/// Emits all regions of \p Kernel and its KernelPlan (symbol PlanSymbol) for
/// \p Target, unoptimised. \p Late: in pieces, if it is large.
llvm::Expected<EmittedKernel> emitKernel(llvm::Function &Kernel,
                                         const EmitOptions &Emit, Tier Code,
                                         const llvm::TargetMachine &Target,
                                         bool Late);

inline constexpr llvm::StringLiteral PlanSymbol = "rcvm_plan";

} // namespace reconverge::warpvm

#endif
