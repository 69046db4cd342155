//===- driver/QualitySearch.h - What outputs allow --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_QUALITYSEARCH_H
#define RECONVERGE_DRIVER_QUALITYSEARCH_H

#include "driver/Decide.h"
#include "driver/Plan.h"
#include "driver/QualityRuns.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace reconverge::driver {

/// What the search needs of the rest of `optimize`.
struct SearchServices {
  /// Trials of a plan on input number \p Input.
  llvm::function_ref<llvm::Expected<std::vector<TrialEvent>>(TrialPlan Plan,
                                                             size_t Input)>
      Try;
  /// Builds set number \p Set of the search by decisions; the program's path.
  llvm::function_ref<llvm::Expected<std::string>(const DecisionFile &By,
                                                 size_t Set)>
      Build;
};

/// Looks for the set of candidates that change results with which the program's
/// outputs stay within their bounds: adds them one at a time, that first which
/// should save most, and keeps each that is faster on all inputs and within the
/// bounds on all (paper 4, Fig. 11; there, faster on any). What is found is run
/// on the inputs held out, and kept if it is within the bounds there as well, and
/// slower on none.
/// \p Plan and \p Decisions are of the first input; \p Decisions gets what is
/// kept, and Search.
llvm::Error searchByQuality(llvm::ArrayRef<HotKernel> Kernels,
                            const TrialPlan &Plan, const QualityRuns &Runs,
                            llvm::ArrayRef<QualityRequest> Asked,
                            const DecideOptions &Options,
                            const SearchServices &Services,
                            DecisionFile &Decisions);

} // namespace reconverge::driver

#endif
