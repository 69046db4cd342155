//===- remedies/common/Attributes.h - Of kernels and functions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_ATTRIBUTES_H
#define RECONVERGE_REMEDIES_COMMON_ATTRIBUTES_H

#include "llvm/Support/Error.h"

#include <set>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace reconverge::remedies {

/// Hangs what attributes of functions of \p M say on the branches on which no
/// pragma says something of the same remedy, and removes these attributes. Adds
/// the remedies for which branches are to be looked at to \p Asked. The
/// UserError names a wrong attribute's place.
llvm::Error settleAttributes(llvm::Module &M, std::set<std::string> &Asked);

} // namespace reconverge::remedies

#endif
