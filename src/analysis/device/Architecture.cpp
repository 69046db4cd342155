//===- analysis/device/Architecture.cpp - What code is for ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/device/Architecture.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::analysis {

std::optional<unsigned> architectureOf(const Function &F) {
  StringRef Target = F.getFnAttribute("target-cpu").getValueAsString();
  unsigned Number = 0;
  if (!Target.consume_front("sm_") || Target.consumeInteger(10, Number))
    return std::nullopt;
  return Number;
}

unsigned newestArchitecture(const Module &M) {
  unsigned Newest = 0;
  for (const Function &F : M)
    Newest = std::max(Newest, architectureOf(F).value_or(0));
  return Newest;
}

} // namespace reconverge::analysis
