//===- remedies/common/Features.h - What foretells a thread -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A feature of a thread is a number that is known before its kernel runs and on
// which its ways depend: what a load outside of loops reads, or in the first round
// of a loop over items; or, where the source names some (analysis/Marks.h), those
// and no others. Unlike the slice of a branch (Slice.h) features do not say
// which way a thread takes; what is fitted to them may (model/Regression.h).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REMEDIES_COMMON_FEATURES_H
#define RECONVERGE_REMEDIES_COMMON_FEATURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class AllocaInst;
class Function;
class Instruction;
} // namespace llvm

namespace reconverge::remedies {

/// Features that a thread has at most.
inline constexpr unsigned MostFeatures = 16;

/// The features of \p Kernel, whose accesses are numbered: those of its marks, if
/// it has a twin, or else the numbers
/// (!rc.access) of its loads, outside of loops but for those over items
/// (goesOverItems()), of one integer or floating-point value that differs by
/// thread and that the same thread has not written, from which by data flow
/// conditions follow that part a warp. In program order, the first MostFeatures.
llvm::SmallVector<uint32_t, MostFeatures> featuresOf(llvm::Function &Kernel);

/// The code that has the features of \p Kernel: itself, or its twin.
llvm::Function &withFeatures(llvm::Function &Kernel);

/// Has a kernel note, in stack memory, features. \p Marked: those that the source
/// names.
class FeatureNotes {
public:
  FeatureNotes(llvm::Function &F, llvm::ArrayRef<uint32_t> Loads, bool Marked)
      : F(F), Loads(Loads), Marked(Marked) {}
  /// Puts the notes in, of what is read in an outermost loop those of its first
  /// round, behind which a thread then ends; returns a number that is of no such load, if there is
  /// one, and then leaves the rest.
  std::optional<uint32_t> note();
  /// Of the load \p I in the list: float, 0 where it was not executed.
  llvm::Value *valueOf(llvm::IRBuilderBase &B, size_t I) const;
  llvm::ArrayRef<llvm::Instruction *> stores() const { return Stores; }

private:
  llvm::Function &F;
  const llvm::ArrayRef<uint32_t> Loads;
  const bool Marked;
  llvm::SmallVector<llvm::AllocaInst *, MostFeatures> Slots;
  llvm::SmallVector<llvm::Instruction *> Stores;
};

/// A kernel that reads features.
struct FeatureKernel {
  llvm::Function *Kernel;
  std::vector<uint32_t> Loads; ///< the features, by number
};

/// Adds to the module of \p Kernel, which is left alone, a kernel of the name
/// featureKernelName() with its parameters and `float *rows`, for launches of the
/// same shape: thread i writes its features to rows[Loads.size() i] and behind. It
/// writes nothing else. None where there are no features, or where they are not to
/// be known before the kernel.
std::optional<FeatureKernel> addFeatureKernel(llvm::Function &Kernel);
std::string featureKernelName(llvm::StringRef Kernel);

} // namespace reconverge::remedies

#endif
