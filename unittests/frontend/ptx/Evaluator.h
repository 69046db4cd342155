//===- unittests/frontend/ptx/Evaluator.h - Runs lowered PTX ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_FRONTEND_PTX_EVALUATOR_H
#define RECONVERGE_UNITTESTS_FRONTEND_PTX_EVALUATOR_H

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

#include <optional>
#include <string>

/// Computes the function on constants, as bits, one APInt an argument; the
/// elements of a struct come back in order. Branches are followed; memory is
/// not there. Nothing if an instruction cannot be computed; \p Why names it.
std::optional<std::vector<llvm::APInt>>
evaluate(llvm::Function &F, llvm::ArrayRef<llvm::APInt> Args, std::string &Why);

#endif
