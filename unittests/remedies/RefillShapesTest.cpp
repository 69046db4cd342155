//===- unittests/remedies/RefillShapesTest.cpp - Loops of all shapes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RefillKernels.h"
