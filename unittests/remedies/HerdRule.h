//===- unittests/remedies/HerdRule.h - Votes by the rule -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_REMEDIES_HERDRULE_H
#define RECONVERGE_UNITTESTS_REMEDIES_HERDRULE_H

#include "remedies/herd/Options.h"

#include "llvm/IR/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace reconverge::remedies {

/// Runs kernel `k` of \p Original, as RandomKernel.h describes it, as scalar code
/// of the host in which lanes are dropped by the rule of docs/herd.md, at the
/// branches that are herded by \p Options: the kernel is the original, and who
/// votes follows from where threads are, not from masks. Returns what went
/// wrong; \p Dropped: threads that were dropped somewhere.
std::string runByRule(const llvm::Module &Original, const HerdOptions &Options,
                      uint64_t Seed, unsigned Blocks, unsigned Threads,
                      const std::vector<uint32_t> &In,
                      std::vector<uint32_t> &Out, std::vector<uint32_t> &Sums,
                      uint32_t N, unsigned &Dropped);

} // namespace reconverge::remedies

#endif
