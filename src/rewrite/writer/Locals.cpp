//===- rewrite/writer/Locals.cpp - A thread's own variables ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The address of a thread's own variable means nothing to another thread. Which
// variables may hold one is found by statements: one that changes a pointer, and
// takes the address of a variable or names a pointer of that kind, makes it one.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Locals.h"

#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace reconverge::rewrite {

static constexpr int64_t MaxBytes = 16;

/// A pointer, or an object with one in it.
static bool holdsPointer(QualType Type) {
  if (Type->isPointerType() || Type->isReferenceType())
    return true;
  if (const ArrayType *Array = Type->getAsArrayTypeUnsafe())
    return holdsPointer(Array->getElementType());
  const auto *Record = Type->getAsCXXRecordDecl();
  if (!Record || !Record->hasDefinition())
    return false;
  return llvm::any_of(Record->bases(),
                      [](const CXXBaseSpecifier &Base) {
                        return holdsPointer(Base.getType());
                      }) ||
         llvm::any_of(Record->fields(), [](const FieldDecl *F) {
           return holdsPointer(F->getType());
         });
}

/// A variable of the thread's own whose address is its own as well.
static bool isOwn(const VarDecl &V) {
  return V.hasLocalStorage() && !isa<ParmVarDecl>(V) &&
         !V.getType()->isReferenceType() && !V.getType()->isPointerType();
}

/// \p F, a member function, gives out the address of its object.
static bool givesItself(const FunctionDecl *F) {
  bool Found = false;
  const Stmt *Body = F ? F->getBody(F) : nullptr;
  if (!Body) // it is not known
    return F && holdsPointer(F->getReturnType());
  walk(Body, [&](const Stmt &At) {
    const auto *Of = dyn_cast<UnaryOperator>(&At);
    const auto *Decay = dyn_cast<ImplicitCastExpr>(&At);
    const auto *Return = dyn_cast<ReturnStmt>(&At);
    const Expr *Place =
        Of && Of->getOpcode() == UO_AddrOf ? Of->getSubExpr()
        : Decay && Decay->getCastKind() == CK_ArrayToPointerDecay
            ? Decay->getSubExpr()
        : Return && F->getReturnType()->isReferenceType()
            ? Return->getRetValue()
            : nullptr;
    if (Place)
      walk(Place, [&](const Stmt &Part) {
        Found |= isa<CXXThisExpr>(Part);
        return !Found;
      });
    Found |= Return && Return->getRetValue() &&
             isa<CXXThisExpr>(Return->getRetValue()->IgnoreParenImpCasts());
    return !Found;
  });
  return Found && holdsPointer(F->getReturnType());
}

/// \p S takes the address of a local variable, or asks an object that is one for
/// it.
static bool namesLocal(const Stmt *S) {
  bool Found = false;
  const auto Look = [&](const Stmt *Place) {
    walk(Place, [&](const Stmt &Part) {
      const VarDecl *V = variableOf(Part);
      Found |= V && isOwn(*V);
      return !Found && !isa<ArraySubscriptExpr>(Part);
    });
  };
  walk(S, [&](const Stmt &At) {
    if (const auto *Of = dyn_cast<UnaryOperator>(&At);
        Of && Of->getOpcode() == UO_AddrOf)
      Look(Of->getSubExpr());
    if (const auto *Decay = dyn_cast<ImplicitCastExpr>(&At);
        Decay && Decay->getCastKind() == CK_ArrayToPointerDecay)
      Look(Decay->getSubExpr());
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(&At);
        Call && givesItself(Call->getMethodDecl()))
      Look(Call->getImplicitObjectArgument());
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(&At);
        Op && Op->getNumArgs() &&
        isa_and_nonnull<CXXMethodDecl>(Op->getDirectCallee()) &&
        givesItself(Op->getDirectCallee()))
      Look(Op->getArg(0));
    return !Found;
  });
  return Found;
}

Locals pointersToLocals(ArrayRef<const Stmt *> All) {
  // Each with the smallest statement in which it may change.
  std::vector<std::pair<const VarDecl *, const Stmt *>> Made;
  for (const Stmt *S : All)
    walk(S, [&](const Stmt &At) {
      if (const auto *Decls = dyn_cast<DeclStmt>(&At)) {
        for (const Decl *D : Decls->decls())
          if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit())
            Made.push_back({V, V->getInit()});
        return true;
      }
      const auto *E = dyn_cast<Expr>(&At);
      const auto *Op = dyn_cast<BinaryOperator>(&At);
      if (!E ||
          !((Op && Op->isAssignmentOp()) || isa<CallExpr, UnaryOperator>(E)))
        return true;
      walk(E, [&](const Stmt &Part) {
        if (const VarDecl *V = variableOf(Part);
            V && V->hasLocalStorage() && mayChange(E, *V))
          Made.push_back({V, E});
        return true;
      });
      return true;
    });
  Locals Found;
  for (size_t Before = SIZE_MAX; Before != Found.size();) {
    Before = Found.size();
    for (const auto &[V, By] : Made)
      if (holdsPointer(V->getType()) && !V->getType()->isReferenceType() &&
          (namesLocal(By) ||
           llvm::any_of(Found, [&, By = By](const VarDecl *P) {
             return names(By, *P);
           })))
        Found.insert(V);
  }
  return Found;
}

bool hasNoValue(const VarDecl &V) {
  if (!V.getInit())
    return true;
  const auto *Made = dyn_cast<CXXConstructExpr>(V.getInit());
  return Made && Made->getNumArgs() == 0 &&
         Made->getConstructor()->isTrivial() && !Made->isListInitialization() &&
         !Made->requiresZeroInitialization();
}

bool isPlain(QualType Type, const ASTContext &C) {
  if (Type->isDependentType() || Type->isArrayType() || Type->isReferenceType())
    return false;
  return Type.isTriviallyCopyableType(C) &&
         C.getTypeSizeInChars(Type).getQuantity() <= MaxBytes;
}

bool isAssignable(QualType Type) {
  const auto *Record = Type->getAsCXXRecordDecl();
  if (!Record)
    return true;
  const bool IsMade =
      llvm::any_of(Record->ctors(), [](const CXXConstructorDecl *C) {
        return C->isDefaultConstructor() && !C->isDeleted() &&
               C->getAccess() == AS_public;
      });
  const bool IsAssigned =
      llvm::none_of(Record->methods(), [](const CXXMethodDecl *M) {
        return M->isCopyAssignmentOperator() &&
               (M->isDeleted() || M->getAccess() != AS_public);
      });
  return (IsMade || (Record->needsImplicitDefaultConstructor() &&
                     !Record->hasUninitializedReferenceMember())) &&
         IsAssigned && !Record->defaultedCopyConstructorIsDeleted() &&
         llvm::none_of(Record->fields(), [](const FieldDecl *F) {
           return F->getType().isConstQualified() ||
                  F->getType()->isReferenceType() ||
                  !isAssignable(F->getType());
         });
}

const LambdaExpr *closureOf(const VarDecl &V) {
  return V.getInit() ? dyn_cast<LambdaExpr>(V.getInit()->IgnoreImplicit())
                     : nullptr;
}

/// The same variable in the text of the template that \p Kernel is an instance of.
static const VarDecl *inTemplate(const VarDecl &V, const FunctionDecl &Kernel) {
  const FunctionDecl *Pattern = Kernel.isTemplateInstantiation()
                                    ? Kernel.getTemplateInstantiationPattern()
                                    : nullptr;
  const VarDecl *Found = nullptr;
  walk(Pattern ? Pattern->getBody() : nullptr, [&](const Stmt &At) {
    if (const auto *Decls = dyn_cast<DeclStmt>(&At))
      for (const Decl *D : Decls->decls())
        if (D->getLocation() == V.getLocation())
          Found = dyn_cast<VarDecl>(D);
    return !Found;
  });
  return Found;
}

bool isDependent(const Expr &E, const FunctionDecl &Kernel) {
  const FunctionDecl *Pattern = Kernel.getTemplateInstantiationPattern();
  if (!Kernel.isTemplateInstantiation() || !Pattern)
    return false;
  const Expr *Found = nullptr;
  walk(Pattern->getBody(), [&](const Stmt &At) {
    const auto *Here = dyn_cast<Expr>(&At);
    if (!Found && Here && Here->getSourceRange() == E.getSourceRange())
      Found = Here;
    return !Found;
  });
  return !Found || Found->isTypeDependent();
}

bool hasDependentType(const VarDecl &V, const FunctionDecl &Kernel) {
  const VarDecl *Written = inTemplate(V, Kernel);
  return Written && (Written->getType()->isDependentType() ||
                     Written->getType()->isUndeducedType());
}

bool isDependentAuto(const VarDecl &V, const FunctionDecl &Kernel) {
  return V.getType()->getContainedAutoType() && hasDependentType(V, Kernel);
}

std::string typeText(const VarDecl &V, const FunctionDecl &Kernel,
                     const Text &T) {
  if (isDependentAuto(V, Kernel))
    return "std::decay_t<decltype(" +
           T.textOf(*T.spanOf(V.getInit()->getSourceRange())) + ")>";
  const VarDecl *Written = inTemplate(V, Kernel);
  return (Written && !V.getType()->getContainedAutoType() ? *Written : V)
      .getType()
      .getUnqualifiedType()
      .getAsString(T.Context.getPrintingPolicy());
}

} // namespace reconverge::rewrite
