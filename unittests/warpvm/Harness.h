//===- unittests/warpvm/Harness.h - Kernels from text, run and counted ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test states a kernel as IR, runs it under several set-ups of the machine
// and reads its counts by the names of its blocks.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_WARPVM_HARNESS_H
#define RECONVERGE_UNITTESTS_WARPVM_HARNESS_H

#include "warpvm/Machine.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace reconverge::warpvm {

/// A tier, a policy and a warp size, with a name for messages. One CPU thread
/// and a step limit, so that a kernel that hangs fails its test.
MachineOptions optionsFor(unsigned WarpSize, Tier Code, PolicyKind Policy);
std::string describe(const MachineOptions &O);

/// fused and blocks under the frontier policy, then blocks under ipdom.
std::vector<MachineOptions> setups(unsigned WarpSize);
/// The same for warps of 32 and of 64.
std::vector<MachineOptions> allSetups();

/// A machine of these options; one is kept for each in the whole process.
Machine &machineFor(const MachineOptions &Options);

/// Bytes of \p M, numbered first.
llvm::SmallVector<char, 0> numberedBitcode(llvm::Module &M);

/// \p Text parsed as an NVPTX module; a parse error fails the test.
std::unique_ptr<llvm::Module> parseKernel(llvm::LLVMContext &C,
                                          const std::string &Text);

/// A program loaded on a machine, and the counts of its last launch.
class TestProgram {
public:
  TestProgram(const std::string &Text, const MachineOptions &Options)
      : TestProgram(Text, machineFor(Options)) {}
  TestProgram(const std::string &Text, Machine &M);
  TestProgram(llvm::Module &M, Machine &On);

  /// Makes what was loaded unreadable.
  void overwriteBitcode() { std::fill(Bytes.begin(), Bytes.end(), '\xff'); }

  /// Launches kernel \p Name; each argument is passed as its bytes.
  template <typename... Args>
  llvm::Error launch(llvm::StringRef Name, const LaunchShape &Shape,
                     Args... Values) {
    void *Pointers[] = {static_cast<void *>(&Values)..., nullptr};
    return launchWith(Name, Shape, Pointers);
  }
  llvm::Error launchWith(llvm::StringRef Name, const LaunchShape &Shape,
                         void **Args);

  /// Launches and expects success.
  template <typename... Args>
  void run(const LaunchShape &Shape, Args... Values) {
    llvm::Error E = launch("k", Shape, Values...);
    if (E)
      ADD_FAILURE() << llvm::toString(std::move(E));
  }

  const LaunchCounts &counts() const { return Counts; }
  /// Of the block of that name in the kernel that ran last.
  const BlockCounts &block(llvm::StringRef Name) const;
  /// Of the branch that ends the block of that name.
  const BranchCounts &branch(llvm::StringRef Name) const;
  Program &program() { return *P; }

  VectorObserver *Observer = nullptr;

private:
  void load(llvm::Module &M);
  Machine &On;
  std::unique_ptr<Program> P;
  std::list<std::vector<uint64_t>> Memory; ///< of module variables
  llvm::SmallVector<char, 0> Bytes;        ///< of the module
  Kernel *Last = nullptr;
  LaunchCounts Counts;
};

/// What a launch with one bad deed gives: its fault, or nothing.
struct Fault {
  bool Happened = false;
  FaultKind Kind = FaultKind::Trap;
  std::string Message;
};
Fault faultOf(llvm::Error E);

LaunchShape shape(unsigned Blocks, unsigned Threads, uint64_t Shared = 0);

/// 64-lane patterns: full, none but one, alternating, prefix, suffix, random.
struct MaskShape {
  const char *Name;
  uint64_t Bits;
};
llvm::ArrayRef<MaskShape> maskShapes();

/// Counts that must be the same; the text of the first difference, or "".
std::string differenceOf(const LaunchCounts &A, const LaunchCounts &B);

/// xorshift64*: the tests' own generator, the same everywhere.
class Random {
public:
  explicit Random(uint64_t Seed) : State(Seed * 0x9e3779b97f4a7c15 + 1) {
    for (int I = 0; I < 4; ++I)
      next();
  }
  uint64_t next() {
    State ^= State >> 12;
    State ^= State << 25;
    State ^= State >> 27;
    return State * 0x2545f4914f6cdd1d;
  }
  /// In [0, N).
  unsigned below(unsigned N) { return unsigned((next() >> 33) % N); }
  bool chance(unsigned Percent) { return below(100) < Percent; }

private:
  uint64_t State;
};

} // namespace reconverge::warpvm

#endif
