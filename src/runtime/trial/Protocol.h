//===- runtime/trial/Protocol.h - The order of a trial ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_TRIAL_PROTOCOL_H
#define RECONVERGE_RUNTIME_TRIAL_PROTOCOL_H

#include "runtime/trial/Bench.h"

namespace reconverge::runtime {

/// Makes the launch of \p On and tries the candidates of \p Plan on it. Memory
/// is then as the launch alone would have left it.
void tryLaunch(Bench &On, LaunchLog &Log, const TrialPlan &Plan);

/// Logs why \p On's launch is not tried.
void leaveUntried(Bench &On, LaunchLog &Log, const llvm::Twine &Why);

// Parts of it.

/// before := memory; the launch; after := memory. Whether it can be repeated,
/// with what its own run told in \p Natural. If not, \p LeaveUntried was told
/// why, unless the launch failed by itself.
bool runNatural(OriginalBench &On, RunEnd &Natural,
                llvm::function_ref<void(const llvm::Twine &)> LeaveUntried);

/// The original again, from before. If it ended well, \p See is shown what came
/// out otherwise.
RunEnd runAgain(OriginalBench &On, const RunOptions &How, PageVisitor See);

/// Whether \p C ran to its end; strikes it off if it did not.
bool endedWell(Bench &On, LaunchLog &Log, TriedCandidate &C, const RunEnd &End);

} // namespace reconverge::runtime

#endif
