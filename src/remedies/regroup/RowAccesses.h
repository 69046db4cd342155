//===- remedies/regroup/RowAccesses.h - Columns of arrays -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_ROWACCESSES_H
#define RECONVERGE_REMEDIES_REGROUP_ROWACCESSES_H

#include "analysis/AnalysisManagers.h"
#include "core/Recipe.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Argument;
class DominatorTree;
class Function;
class Instruction;
class LoopInfo;
class SCEV;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// The address of an access less that of its array, in bytes.
struct Distance {
  int64_t Bytes = 0;                          ///< of it all that is constant
  llvm::SmallVector<const llvm::SCEV *> Rows; ///< terms and steps that are rows
  uint64_t Cell = 0;                          ///< from one thread to the next
  bool HasBlock = false, HasThread = false;   ///< parts of the thread's number
  bool Good = true;
};

struct RowAccess {
  llvm::Instruction *I;      ///< a load or store
  const llvm::SCEV *Address; ///< less the array's
  Distance At;
};

/// An array of which each thread accesses its column alone.
struct RowArray {
  llvm::Argument *Pointer;
  llvm::SmallVector<RowAccess> Accesses;        ///< all that there are
  llvm::SmallVector<const llvm::SCEV *> Stride; ///< factors
};

/// Finds such arrays in a kernel.
class RowFinder {
public:
  explicit RowFinder(llvm::Function &F);
  /// Those that a loop comes back to.
  std::vector<RowArray> find();
  RecipeRows describe(const RowArray &A);
  /// The number of the row that \p At accesses, an expression of 64 bits.
  const llvm::SCEV *rowOf(const RowAccess &At, const RowArray &Of);
  llvm::ScalarEvolution &numbers() { return Numbers; }

private:
  bool findAccesses(RowArray &A);
  bool findStride(RowArray &A);
  bool isUsedAgain(const RowArray &A);
  bool isBelow(llvm::Value *Condition, bool Holds, const llvm::SCEV *Limit,
               bool IsSigned);
  bool isGuarded(const RowArray &A);
  const llvm::SCEV *times(const llvm::SCEV *S, int64_t Times);
  void addTerms(const llvm::SCEV *S, int64_t Times, Distance &To);
  bool addNumber(const llvm::SCEV *Term, Distance &To);
  bool isLaunch(const llvm::SCEV *S);
  const llvm::SCEV *divide(const llvm::SCEV *S, const RowArray &By,
                           uint64_t Cell);

  llvm::Function &F;
  analysis::AnalysisManagers Analyses;
  llvm::DominatorTree &Dominance;
  llvm::LoopInfo &Loops;
  llvm::ScalarEvolution &Numbers;
};

} // namespace reconverge::remedies::regroup

#endif
