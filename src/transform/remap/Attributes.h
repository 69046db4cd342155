//===- transform/remap/Attributes.h - Of kernels and functions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_REMAP_ATTRIBUTES_H
#define RECONVERGE_TRANSFORM_REMAP_ATTRIBUTES_H

#include "llvm/Support/Error.h"

namespace llvm {
class Instruction;
class Module;
class Twine;
} // namespace llvm

namespace reconverge::transform::remap {

/// On a branch of which the source says something: "on" (a pragma), "all" (an
/// attribute), each perhaps with ":<algorithm>", or "off"; and who says so.
inline constexpr const char *WishKind = "rc.pragma";
void hangWish(llvm::Instruction &Branch, llvm::StringRef What,
              const llvm::Twine &Place);

/// Hangs what attributes of functions of \p M say on the branches on which no
/// pragma says something, and removes these attributes. Returns how many
/// branches are to be looked at. The UserError names a wrong attribute's place.
llvm::Expected<unsigned> settleAttributes(llvm::Module &M);

} // namespace reconverge::transform::remap

#endif
