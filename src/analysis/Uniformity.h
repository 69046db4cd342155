//===- analysis/Uniformity.h - Which values differ across lanes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_UNIFORMITY_H
#define RECONVERGE_ANALYSIS_UNIFORMITY_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/PassManager.h"

#include <cstdint>
#include <optional>

namespace llvm {
class BasicBlock;
class Function;
class Use;
class Value;
class raw_ostream;
} // namespace llvm

namespace reconverge::analysis {

/// How widely a value is the same, from strongest to weakest.
enum class Level : uint8_t {
  Grid,   ///< same for every thread of the launch
  Block,  ///< same within a thread block
  Warp,   ///< same for the lanes of a warp that compute it together
  Affine, ///< base + stride * threadIdx.x, base and stride warp-uniform
  Divergent
};

/// Why a value is Affine or Divergent: the first cause met in program order.
enum class Cause : uint8_t {
  None,
  ThreadId, ///< made from the thread's or lane's own number
  Load,     ///< read from memory
  Atomic,   ///< returned by an atomic
  Sync,     ///< chosen by a divergent branch, or by when a lane left a loop
  Call,     ///< returned by a function that is not known to be pure
  Local,    ///< address of, or read from, the thread's own memory
  Argument, ///< argument of a device function
  Shuffle,  ///< exchanged between lanes
  Clock,    ///< read from a clock or performance counter
  Asm       ///< computed by inline assembly
};

/// The cause in words, as a report says it: "thread id", "load", ...
llvm::StringRef describe(Cause Why);

struct UniformityOptions {
  /// A load from a uniform address counts as uniform even if the memory may be
  /// written while the kernel runs. True where lanes read it together in
  /// lockstep; an executor that may run lanes apart must say false, and then
  /// only parameters, constants and invariant loads stay uniform.
  bool UniformLoads = true;

  /// Lanes that run a block together are in the same iteration of every loop
  /// around it. An executor that may let some lanes of a warp run ahead, and
  /// joins lanes by the block they are at and nothing else, must say false (and
  /// false above): what a loop carries then counts as divergent wherever a
  /// divergent branch may have parted the lanes before.
  bool SameIteration = true;
};

struct Uniformity {
  Level L = Level::Grid;
  Cause Why = Cause::None;
  std::optional<int64_t> Stride; ///< of an Affine value, if a known constant;
                                 ///< bytes for a pointer
  bool operator==(const Uniformity &) const = default;
};

class UniformityResult {
public:
  /// Values not known to the function (constants, arguments of a kernel) are
  /// Grid.
  Uniformity of(const llvm::Value &V) const;
  bool isUniform(const llvm::Value &V) const { return of(V).L <= Level::Warp; }

  /// As \p U sees its value: a value that is uniform inside a loop with a
  /// divergent exit is divergent to a use outside that loop.
  bool isUniformUse(const llvm::Use &U) const;

  /// The branch or switch that ends \p BB can send lanes to different sides.
  bool isDivergentBranch(const llvm::BasicBlock &BB) const;

  void print(llvm::raw_ostream &OS, const llvm::Function &F) const;

private:
  friend class UniformitySolver;
  llvm::DenseMap<const llvm::Value *, Uniformity> Values;
  llvm::DenseSet<const llvm::BasicBlock *> DivergentBranches;
  llvm::DenseSet<const llvm::Use *> TemporalUses;
};

/// Of kernel \p F (or a device function: its arguments are then Divergent).
UniformityResult computeUniformity(llvm::Function &F,
                                   const UniformityOptions &Options = {});

class UniformityPrinterPass
    : public llvm::PassInfoMixin<UniformityPrinterPass> {
public:
  explicit UniformityPrinterPass(llvm::raw_ostream &OS) : OS(OS) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &AM);

private:
  llvm::raw_ostream &OS;
};

} // namespace reconverge::analysis

#endif
