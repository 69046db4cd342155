//===- unittests/frontend/ptx/Snippet.h - An asm call to lower --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_UNITTESTS_FRONTEND_PTX_SNIPPET_H
#define RECONVERGE_UNITTESTS_FRONTEND_PTX_SNIPPET_H

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <set>
#include <string>

/// A module with one function, "f", that hands its arguments to an asm call and
/// returns what that gives.
struct Snippet {
  /// \p Constraints as LLVM has them; the types follow from them. Null M if
  /// LLVM finds the constraints malformed.
  Snippet(llvm::LLVMContext &C, llvm::StringRef Asm,
          llvm::StringRef Constraints, bool Volatile = false);

  /// Lowers it; the reason if the asm is still there. Aborts the test if the
  /// lowering itself fails or leaves broken IR.
  std::string lower();
  std::string text() const;

  std::unique_ptr<llvm::Module> M;
  llvm::Function *F = nullptr;
};

/// The opcodes and classes of all rows that some test has lowered; each snippet
/// that is lowered without a refusal adds its rows.
std::set<std::string> &rowsSeen();

#endif
