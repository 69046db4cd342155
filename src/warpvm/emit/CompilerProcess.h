//===- warpvm/emit/CompilerProcess.h - Compile beside us --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_EMIT_COMPILERPROCESS_H
#define RECONVERGE_WARPVM_EMIT_COMPILERPROCESS_H

#include "warpvm/Machine.h"
#include "warpvm/emit/EmitOptions.h"
#include "warpvm/emit/LeftWork.h"

#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <sys/types.h>

namespace reconverge::warpvm {

/// Compiles kernels well in another process, one after the other, while this
/// one goes on. All calls may come from any thread.
class CompilerProcess {
public:
  struct Job {
    std::shared_ptr<const std::string> Bitcode; ///< the kernel's module
    std::string Kernel;
    EmitOptions Emit;
    Tier Code;
    /// Gets the kernel's object file. Not called if there is none: the other
    /// process failed.
    std::function<void(std::unique_ptr<llvm::MemoryBuffer>)> Take;
  };

  /// \p Program: the path of compile-kernel. \p Isa and \p Say as in
  /// MachineOptions.
  CompilerProcess(std::string Program, std::string Isa,
                  std::function<void(llvm::StringRef)> Say = nullptr);
  /// Ends what runs.
  ~CompilerProcess();

  void add(Job J);
  /// Takes what is done and begins what comes next. Does not wait, and costs
  /// next to nothing when called often. Nothing happens in a forked child.
  void poll();
  /// Until all jobs are done.
  void wait();
  /// Leaves \p Kernels of \p Bitcode in \p CacheDir (LeftWork.h), and begins a
  /// process that compiles them, whatever becomes of this one.
  void leave(llvm::StringRef CacheDir, llvm::StringRef ModuleHash,
             llvm::StringRef Bitcode, llvm::ArrayRef<LeftKernel> Kernels);

private:
  struct Run;
  void advance();

  const std::string Program, Isa;
  const std::function<void(llvm::StringRef)> Say;
  const pid_t Home;
  std::mutex Lock; ///< of what follows
  std::deque<Job> Jobs;
  std::unique_ptr<Run> Current; ///< compiles the first of Jobs
  std::chrono::steady_clock::time_point NextLook;
  bool HasLeft = false;
};

/// The other process: compiles one kernel, as \p Arguments and its standard
/// input say, and writes the object file to standard output; or what was left in
/// a cache. The exit code.
int runCompiler(llvm::ArrayRef<const char *> Arguments);

} // namespace reconverge::warpvm

#endif
