//===- plugin/DeferredErrors.h - Of code of the other side ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_PLUGIN_DEFERREDERRORS_H
#define RECONVERGE_PLUGIN_DEFERREDERRORS_H

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/TemplateInstCallback.h"

namespace reconverge::plugin {

/// Each half of a unit has all of its functions, and emits only some. nvcc does
/// not check calls in the others: a host function may call in the device's half
/// what that half has for the device alone (`#ifdef __CUDA_ARCH__`), and a
/// kernel's template is not even instantiated in the host's half.
///
/// clang can leave an error of overload resolution until its function is emitted
/// (-fgpu-defer-diag), but only one whose candidates are all of the other side,
/// and outside of functions it loses the error. So that is on in functions
/// alone; and while the host's half instantiates device code, errors with other
/// candidates are left, too. The device's half has these.
class DeferredErrors : public clang::TemplateInstantiationCallback {
  using Context = clang::Sema::CodeSynthesisContext;

public:
  DeferredErrors(clang::Sema &S, clang::LangOptions &Language)
      : S(S), Language(Language) {}

  /// The parser has the next token.
  void see() { Language.GPUDeferDiag = S.getCurFunctionDecl(true) != nullptr; }

  void initialize(const clang::Sema &) override {}
  void finalize(const clang::Sema &) override {}
  void atTemplateBegin(const clang::Sema &, const Context &What) override {
    if (What.Kind != Context::TemplateInstantiation)
      return;
    Outer.push_back({bool(Language.GPUDeferDiag), S.DeferDiags});
    const auto *F = llvm::dyn_cast_or_null<clang::FunctionDecl>(What.Entity);
    Language.GPUDeferDiag = F != nullptr;
    S.DeferDiags = F && !Language.CUDAIsDevice && isOfDeviceAlone(*F);
  }
  void atTemplateEnd(const clang::Sema &, const Context &What) override {
    if (What.Kind != Context::TemplateInstantiation)
      return;
    Language.GPUDeferDiag = Outer.back().first;
    S.DeferDiags = Outer.back().second;
    Outer.pop_back();
  }

private:
  static bool isOfDeviceAlone(const clang::FunctionDecl &F) {
    return !F.hasAttr<clang::CUDAHostAttr>() &&
           (F.hasAttr<clang::CUDAGlobalAttr>() ||
            F.hasAttr<clang::CUDADeviceAttr>());
  }

  clang::Sema &S;
  clang::LangOptions &Language;
  llvm::SmallVector<std::pair<bool, bool>> Outer; ///< of each instantiation
};

} // namespace reconverge::plugin

#endif
