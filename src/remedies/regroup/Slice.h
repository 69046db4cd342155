//===- remedies/regroup/Slice.h - What threads will do ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_SLICE_H
#define RECONVERGE_REMEDIES_REGROUP_SLICE_H

#include "remedies/common/Refusal.h"
#include "remedies/regroup/Options.h"

#include <string>
#include <vector>

namespace llvm {
class Function;
class Twine;
} // namespace llvm

namespace reconverge::remedies::regroup {

/// Bits that the ways at all branches may take.
inline constexpr unsigned MostClassBits = 8;

/// What is sorted by.
struct Key {
  std::vector<uint32_t> Branches; ///< numbers, the highest bits first
  std::optional<uint32_t> Gather; ///< number of a load
  llvm::SmallVector<EstimateTerm, 4> Estimate = {}; ///< in place of a gather
  PathTree Tree = {}; ///< its leaves are the lowest bits of the class
  std::shared_ptr<const PathNet> Net = {}; ///< the same: its classes
  bool OnTensorCores = false; ///< compute those by whole warps (TensorNet)
  bool hasPrediction() const { return Net || !Tree.Nodes.empty(); }
  bool hasFeatures() const { return hasPrediction() || !Estimate.empty(); }
  bool hasPlace() const { return Gather || !Estimate.empty(); }
};

/// A kernel that computes keys.
struct KeyKernel {
  llvm::Function *Kernel;
  unsigned ClassBits;
};

/// Adds to the module of \p Kernel, which is left alone, a kernel \p Name with
/// its parameters, for launches of the same shape:
///
///   (..., u32 *classes, u32 *lines, u32 *range)
///
/// Thread i sets classes[i] to the ways that the thread of \p Kernel with the
/// same number will take, and, of a gather, lines[i] to the number of the sector
/// that it reads, modulo 2^32, at the load's first execution, or its last if a
/// branch comes behind; 0, if it reads none. Of an estimate lines[i] is
/// 2^32 - 1 less its whole part, an estimate below 0 or not a number being 0; it
/// is also the class, coarsely, if no branch is.
/// Of zeroed range[2 c], of class c, it makes
/// the complement of the least line, of range[2 c + 1] the greatest. It writes
/// nothing else.
PlanOr<KeyKernel> makeKeyKernel(llvm::Function &Kernel, const llvm::Twine &Name,
                                const Key &Of);

/// Whether a kernel named \p Copy is \p Kernel, or a copy of it that stands beside
/// it (core/Remedied.h) or is a candidate in a trial.
bool isOf(llvm::StringRef Copy, llvm::StringRef Kernel);

struct ChosenKey {
  Key By;
  std::vector<Refusal> Others; ///< why not what the source names besides
};

/// What to sort \p Kernel by: what the source and \p Options name, and what is
/// found for what they do not.
PlanOr<ChosenKey> chooseKey(llvm::Function &Kernel,
                            const RegroupOptions &Options);

} // namespace reconverge::remedies::regroup

#endif
