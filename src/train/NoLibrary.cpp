//===- train/NoLibrary.cpp - A build that cannot train --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "train/Learn.h"

namespace reconverge::train {

bool canTrain() { return false; }

llvm::Expected<Learned> learn(const Lesson &, const NetShape &) {
  return userError(
      "this build of reconverge cannot train nets",
      "Build it with cmake -DRECONVERGE_TRAIN=ON, which needs dlib "
      "(libdlib-dev). A net that is trained works without.");
}

} // namespace reconverge::train
