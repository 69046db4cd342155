//===- remedies/common/Mixing.h - Accesses of mixed warps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_MIXING_H
#define RECONVERGE_REMEDIES_COMMON_MIXING_H

#include "core/Forecast.h"
#include "core/Profile.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace reconverge::remedies {

/// Which accesses of a kernel go to one address, whatever threads run them.
/// Numbers (AccessInfo::Id).
struct CommonAddresses {
  /// As long as they are in the same round of each loop.
  llvm::DenseSet<uint32_t> InStep;
  /// Of these, in whatever rounds they are of one loop and of those around it.
  llvm::DenseSet<uint32_t> InAnyRound;
};

/// \p Header: of the loop; null: there is none.
CommonAddresses commonAddresses(llvm::Function &Kernel,
                                const llvm::BasicBlock *Header = nullptr);

/// Accesses of \p Kernel whose addresses hang on no round of the innermost \p Depth
/// loops of \p Header. Numbers.
llvm::DenseSet<uint32_t> sameInRounds(llvm::Function &Kernel,
                                      const llvm::BasicBlock &Header,
                                      unsigned Depth);

/// What a lane of an access asks for: sectors, at least and at most.
struct LaneSectors {
  double Now = 0;  ///< as counted
  double Full = 0; ///< the same if no lane of the warps idled
  double Most = 0; ///< alone, or with others that are nowhere near it
};

/// Sectors of a lane of \p Access, in a warp of other threads than now.
using SectorsThen =
    llvm::function_ref<double(const AccessInfo &Access, const LaneSectors &)>;

/// The memory that accesses of \p K in global memory ask for besides, as
/// \p Then says of each, if warps have \p Lanes lanes; never less than now.
AddedWork mixed(const KernelProfile &K, double Lanes, SectorsThen Then);

/// Of \p Drawn numbers below \p Of, drawn at random, how many differ.
double distinct(double Drawn, double Of);

} // namespace reconverge::remedies

#endif
