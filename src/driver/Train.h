//===- driver/Train.h - From rows of threads to a net -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_TRAIN_H
#define RECONVERGE_DRIVER_TRAIN_H

#include "driver/CommandLine.h"

#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// Trains a net as \p Request says, writes it, and says on \p OS how good it is.
llvm::Error train(const TrainRequest &Request, llvm::raw_ostream &OS);

} // namespace reconverge::driver

#endif
