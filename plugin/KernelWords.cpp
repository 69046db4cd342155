//===- plugin/KernelWords.cpp - __cluster_dims__, __maxnreg__ in clang ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of libReconvergeClang.so. clang 19 ignores both attributes, with a
// warning. Here they become annotations of the device's kernel, which clang
// passes on, a template's arguments in them as well; frontend/KernelWords.cpp
// reads them. In the host's code they say nothing.
//
//===----------------------------------------------------------------------===//

#include "frontend/KernelWords.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/Sema/DeclSpec.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

#include <optional>

using namespace clang;

namespace {

/// An attribute of kernels with up to \p Most positive numbers.
struct KernelWord : ParsedAttrInfo {
  KernelWord(const char *Annotation, unsigned Most) : Annotation(Annotation) {
    NumArgs = 1;
    OptArgs = Most - 1;
  }
  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &A) const override;

private:
  const char *Annotation;
};

struct ClusterWord : KernelWord {
  ClusterWord() : KernelWord(reconverge::frontend::ClusterAnnotation, 3) {
    static constexpr Spelling S[] = {{ParsedAttr::AS_GNU, "cluster_dims"}};
    Spellings = S;
  }
};

struct RegistersWord : KernelWord {
  RegistersWord() : KernelWord(reconverge::frontend::RegistersAnnotation, 1) {
    static constexpr Spelling S[] = {{ParsedAttr::AS_GNU, "maxnreg"}};
    Spellings = S;
  }
};

} // namespace

/// Argument \p I; null if it is none. Of an attribute that is not its own, clang
/// keeps a first argument of one word as that word.
static Expr *argumentOf(Sema &S, const ParsedAttr &A, unsigned I) {
  if (A.isArgExpr(I))
    return A.getArgAsExpr(I);
  const IdentifierLoc *Word = A.getArgAsIdent(I);
  LookupResult Found(S, Word->Ident, Word->Loc, Sema::LookupOrdinaryName);
  if (!S.LookupName(Found, S.getCurScope()))
    return nullptr;
  return S.BuildDeclarationNameExpr(CXXScopeSpec(), Found, /*NeedsADL=*/false)
      .get();
}

ParsedAttrInfo::AttrHandling
KernelWord::handleDeclAttribute(Sema &S, Decl *D, const ParsedAttr &A) const {
  llvm::SmallVector<Expr *, 3> Numbers;
  for (unsigned I = 0; I != A.getNumArgs(); ++I) {
    Expr *E = argumentOf(S, A, I);
    std::optional<llvm::APSInt> Value;
    if (E && !E->isValueDependent())
      Value = E->getIntegerConstantExpr(S.Context);
    if (!E || (!E->isValueDependent() && (!Value || *Value < 1))) {
      S.Diag(A.getLoc(), S.Diags.getCustomDiagID(DiagnosticsEngine::Error,
                                                 "%0 needs positive constants"))
          << A.getAttrName();
      return AttributeNotApplied;
    }
    Numbers.push_back(E);
  }
  if (!S.getLangOpts().CUDAIsDevice)
    return AttributeApplied;
  if (S.ConstantFoldAttrArgs(A, Numbers))
    D->addAttr(AnnotateAttr::Create(S.Context, Annotation, Numbers.data(),
                                    unsigned(Numbers.size()), A));
  return AttributeApplied;
}

static ParsedAttrInfoRegistry::Add<ClusterWord>
    RegisteredCluster("cluster_dims", "blocks of a cluster");
static ParsedAttrInfoRegistry::Add<RegistersWord>
    RegisteredRegisters("maxnreg", "registers of a thread, at most");
