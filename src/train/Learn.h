//===- train/Learn.h - What a library of nets has to do ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRAIN_LEARN_H
#define RECONVERGE_TRAIN_LEARN_H

#include "train/Train.h"

#include <string>

namespace reconverge::train {

/// Rows, normalised, in the order in which they are to be shown.
struct Lesson {
  size_t Inputs = 0, Classes = 0;
  std::vector<float> Values;     ///< Inputs of each row
  std::vector<uint32_t> ClassOf; ///< of each row
};

struct Learned {
  PathNet::Layer Hidden, Output;
  std::string Library;
};

/// Of a net of one hidden layer (core/PathNet.h), weights by which it takes rows
/// for their classes.
llvm::Expected<Learned> learn(const Lesson &What, const NetShape &Shape);

} // namespace reconverge::train

#endif
