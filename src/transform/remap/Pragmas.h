//===- transform/remap/Pragmas.h - What the source asks for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_TRANSFORM_REMAP_PRAGMAS_H
#define RECONVERGE_TRANSFORM_REMAP_PRAGMAS_H

#include "transform/remap/PragmaFormat.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace reconverge::transform {

/// What the source says of a branch, by a pragma or by its function's
/// attribute.
struct Wish {
  bool On = true;        ///< remap it; else never
  bool AtAnyCost = true; ///< a pragma; an attribute: where it pays
  std::string Algorithm; ///< empty: as the parameters have it
  const void *Id;        ///< the same for all branches of one pragma
};

/// Of the branch or switch that ends \p BB.
std::optional<Wish> wishOf(const llvm::BasicBlock &BB);

struct SettledPragmas {
  unsigned Asked = 0; ///< branches to remap, or to look at
  /// Pragmas that no branch came of: "app.cu:12: ...".
  std::vector<std::string> Unmatched;
};
inline constexpr const char *UnmatchedRemedy =
    "Take it away if its code is unused, if the compiler has made the choice "
    "without a branch, or if there are no line numbers (-gline-tables-only).";

/// Hangs what the pragmas of \p M say on their branches, found by file and line
/// of the debug locations, and removes the variable that has them; then what
/// attributes say, likewise. Fails if another version of our plugin for clang
/// has written the variable, or if an attribute is wrong.
llvm::Expected<SettledPragmas> settlePragmas(llvm::Module &M);

/// The same, for passes: errors, and pragmas without a branch, go to the
/// context. Whether a branch is to be remapped.
bool settlePragmasHere(llvm::Module &M);

/// `reconverge-remap-pragmas`
class RemapPragmasPass : public llvm::PassInfoMixin<RemapPragmasPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
};

} // namespace reconverge::transform

#endif
