//===- runtime/vm/RepeatedLaunch.h - A launch, run again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What benches on the warp VM have in common: device memory is the host's, and
// the order of threads is chosen by a seed. OnVm adds that to either interface
// of runtime/trial/Bench.h.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_VM_REPEATEDLAUNCH_H
#define RECONVERGE_RUNTIME_VM_REPEATEDLAUNCH_H

#include "runtime/trial/Bench.h"
#include "runtime/vm/Snapshot.h"
#include "warpvm/Machine.h"

#include <optional>

namespace reconverge::runtime {

/// A launch as it is to be repeated.
struct RepeatedLaunch {
  warpvm::Machine &On;
  warpvm::Program &Home; ///< of Kernel
  warpvm::Kernel &Kernel;
  const LaunchShape &Shape;
  void **Args;
};

/// How a run ended that \p Failed, if it did.
RunEnd endOf(llvm::Error Failed);

/// The memory of a launch, before it and after.
class LaunchMemory {
public:
  /// \p Budget: bytes that both copies may take; 0: a third of what the device
  /// has.
  explicit LaunchMemory(uint64_t Budget);

  void takeBefore();
  /// An error: both do not fit.
  llvm::Error takeAfter();
  const MemorySnapshot &before() const { return *Before; }
  const MemorySnapshot &after() const { return *After; }
  void differences(PageVisitor Visit) const;
  uint64_t budget() const { return Budget; }

private:
  const uint64_t Budget;
  std::optional<MemorySnapshot> Before, After;
};

/// \p Interface, all but what is done with candidates.
template <typename Interface> class OnVm : public Interface {
public:
  /// \p Natural makes the launch as the program does.
  OnVm(const RepeatedLaunch &L, llvm::function_ref<llvm::Error()> Natural,
       uint64_t Budget)
      : L(L), Memory(Budget), Natural(Natural) {}

  /// What the program is told of its launch, when all is over.
  llvm::Error takeResult() { return std::move(Result); }

  llvm::Error takeBefore() override {
    Memory.takeBefore();
    return llvm::Error::success(); // takeAfter() says if there was no room
  }
  llvm::Expected<RunEnd> runNatural() override {
    runUntried();
    RunEnd End;
    if (Result)
      End.How = RunEnd::Fault;
    return End;
  }
  void runUntried() override {
    llvm::cantFail(std::move(Result)); // none yet
    Result = Natural();
  }
  llvm::Error takeAfter() override { return Memory.takeAfter(); }

  void restoreBefore() override { Memory.before().restore(); }
  RunEnd runOriginal(const RunOptions &How) override {
    warpvm::LaunchOptions Options;
    Options.Quiet = true;
    Options.Seed = How.Order;
    return endOf(L.On.launch(L.Kernel, L.Shape, L.Args, Options));
  }
  void differences(PageVisitor Visit) override { Memory.differences(Visit); }
  uint64_t extent() const override { return Memory.after().extent(); }
  void restoreAfter() override { Memory.after().restore(); }

protected:
  const RepeatedLaunch &L;
  LaunchMemory Memory;

private:
  llvm::function_ref<llvm::Error()> Natural;
  llvm::Error Result = llvm::Error::success();
};

} // namespace reconverge::runtime

#endif
