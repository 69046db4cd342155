//===- driver/Predict.h - What remedies should gain -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_PREDICT_H
#define RECONVERGE_DRIVER_PREDICT_H

#include "driver/CommandLine.h"

#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Counts a run of the program of \p Request and writes a table to \p OS: for
/// each kernel what every remedy should gain, and if that was asked for what
/// groupings of its threads should, and how long threads are estimated to
/// take. Builds none. Returns what the program
/// returned.
llvm::Expected<int> predict(const PredictRequest &Request,
                            llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
