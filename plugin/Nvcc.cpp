//===- plugin/Nvcc.cpp - What nvcc accepts and clang does not -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of libReconvergeClang.so.
//
// Redeclarations. nvcc gives a function the sides (__host__, __device__) of all
// its declarations together, and a declaration that names none is one of
// whatever there is. To clang, functions of other sides are overloads, or an
// error if one of them has both. So each function of the user's gets an
// attribute of ours, as by `#pragma clang attribute`, whose handler runs while
// a declaration is being made, when its own attributes are there and clang has
// not yet looked for earlier ones: the handler finds these and gives both
// declarations the sides of both. A template's specialisation that names one
// side, or none, has both if the template has. Overloads that clang takes, a
// function of the host and one of the device, stay as they are; and so does what
// is declared in system headers.
//
// Attributes in another order. EDG takes `alignas` and [[...]] behind
// __shared__, __device__ and so on, clang only before them, or, at the start of
// a declaration, not at all. As the parser gets its tokens, `alignas` there is
// turned into the keyword _Alignas, which may stand among specifiers, and an
// attribute of one word, like [[nodiscard]], into __attribute__(()). What else
// becomes of tokens is in TemplateWords.cpp and LaunchSizes.h, what of macros in
// MacroPragmas.h, and what of errors in functions that the half of the unit does
// not emit in DeferredErrors.h.
//
// Registration. A static object's constructor may launch kernels: nvcc
// registers the device code of a unit before it makes the unit's objects, clang
// after. The constructor that registers gets a higher priority.
//
// Constants of the host. clang makes every constant of a file a __constant__
// for the device's sake, and has to keep those that other units may see; nvcc
// has them on the host alone. They get a section's name by which the device
// pipeline knows them, so that it keeps only those that device code uses.
//
// Shared variables of a class with a constructor or destructor. nvcc warns,
// runs neither, and programs make such a variable by init(), like
// cuda::barrier; clang has an error. Code generation ignores what initialises a
// __shared__ variable, so Sema alone has to be kept from it: an attribute of
// ours on every variable marks these, as they are being made, by an attribute
// for which Sema leaves a variable uninitialised (AliasAttr: the variable is
// defined elsewhere; nothing else looks at it inside a function).
//
// {} for a pair. To EDG a function that takes an rvalue's reference is better
// for {} than any that takes another type's const reference; to clang a
// half2 = {} could as well be the assignment from __half2_raw. An attribute of
// ours on the toolkit's move assignments gives them an enable_if that holds:
// among functions that are alike otherwise clang prefers one that has such a
// condition. Mangled names tell of it, so users' classes stay as they are.
//
// Limitation: where the class hangs on a template's parameter, clang's error
// stays.
//
// Limitation: [[nodiscard("why")]] behind __device__ in a class or function is
// refused; write it first.
//
//===----------------------------------------------------------------------===//

#include "DeferredErrors.h"
#include "LaunchSizes.h"
#include "MacroPragmas.h"
#include "TemplateWords.h"
#include "frontend/HostConstants.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaCUDA.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/SaveAndRestore.h"

#include <memory>
#include <optional>

using namespace clang;
using namespace reconverge::plugin;

namespace {

//===----------------------------------------------------------------------===//
// Redeclarations
//===----------------------------------------------------------------------===//

constexpr const char *SidesAttribute = "reconverge_sides";

enum Sides : unsigned { None = 0, Host = 1, Device = 2, Both = 3 };

unsigned sidesOf(const FunctionDecl &F) {
  return (F.hasAttr<CUDAHostAttr>() ? Host : None) |
         (F.hasAttr<CUDADeviceAttr>() ? Device : None);
}

/// As if written: implicit ones don't count for a specialisation.
void addSides(FunctionDecl &F, unsigned Wanted) {
  ASTContext &C = F.getASTContext();
  if (Wanted & Host && !F.hasAttr<CUDAHostAttr>())
    F.addAttr(CUDAHostAttr::Create(C));
  if (Wanted & Device && !F.hasAttr<CUDADeviceAttr>())
    F.addAttr(CUDADeviceAttr::Create(C));
}

/// What nvcc would give both declarations; nothing if they are two functions,
/// or already one.
std::optional<unsigned> sidesOfBoth(const FunctionDecl &Old, unsigned New) {
  const unsigned Before = sidesOf(Old);
  if (Before == New || Before + New == Host) // naming none is the host's
    return std::nullopt;
  if (Before == Both || New == Both)
    return Both;
  // A host's function and a device's: two, where each has a body.
  if (Before == None || Old.isDefined())
    return std::nullopt;
  return New == None ? Before : unsigned(Both);
}

bool isSameFunction(Sema &S, const FunctionDecl &Old, const FunctionDecl &New) {
  const FunctionTemplateDecl *OldTemplate = Old.getDescribedFunctionTemplate(),
                             *NewTemplate = New.getDescribedFunctionTemplate();
  if (!OldTemplate != !NewTemplate ||
      (OldTemplate && !S.TemplateParameterListsAreEqual(
                          NewTemplate->getTemplateParameters(),
                          OldTemplate->getTemplateParameters(),
                          /*Complain=*/false, Sema::TPL_TemplateMatch)))
    return false;
  return S.Context.hasSameFunctionTypeIgnoringExceptionSpec(Old.getType(),
                                                            New.getType());
}

/// Of `template <> float f(float)`, and not yet of which template.
bool isSpecialization(const FunctionDecl &F) {
  const unsigned Lists = F.getNumTemplateParameterLists();
  return Lists && F.getTemplateParameterList(Lists - 1)->size() == 0;
}

struct SidesInfo : ParsedAttrInfo {
  SidesInfo() {
    IsSupportedByPragmaAttribute = true;
    static constexpr Spelling S[] = {{ParsedAttr::AS_GNU, SidesAttribute}};
    Spellings = S;
  }
  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &) const override {
    auto *New = dyn_cast<FunctionDecl>(D);
    const SourceManager &SM = S.getSourceManager();
    if (!New || New->hasAttr<CUDAGlobalAttr>() || New->isConstexpr() ||
        SM.isInSystemHeader(New->getLocation()))
      return AttributeApplied;
    for (NamedDecl *Found :
         New->getDeclContext()->getRedeclContext()->lookup(New->getDeclName()))
      if (FunctionDecl *Old = Found->getUnderlyingDecl()->getAsFunction();
          Old && Old != New && !Old->hasAttr<CUDAGlobalAttr>() &&
          !SM.isInSystemHeader(Old->getLocation())) {
        if (isSpecialization(*New)) {
          if (Old->getDescribedFunctionTemplate() && sidesOf(*Old) == Both)
            addSides(*New, Both);
        } else if (isSameFunction(S, *Old, *New)) {
          if (auto Wanted = sidesOfBoth(*Old, sidesOf(*New))) {
            addSides(*Old, *Wanted);
            addSides(*New, *Wanted);
          }
        }
      }
    return AttributeApplied;
  }
};

//===----------------------------------------------------------------------===//
// Shared variables
//===----------------------------------------------------------------------===//

constexpr const char *SharedAttribute = "reconverge_shared";

struct SharedInfo : ParsedAttrInfo {
  SharedInfo() {
    IsSupportedByPragmaAttribute = true;
    static constexpr Spelling S[] = {{ParsedAttr::AS_GNU, SharedAttribute}};
    Spellings = S;
  }
  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &) const override {
    auto *V = dyn_cast<VarDecl>(D);
    if (!V || !V->hasAttr<CUDASharedAttr>() || V->hasExternalStorage() ||
        !V->getDeclContext()->isFunctionOrMethod() ||
        V->getType()->isDependentType())
      return AttributeApplied;
    const QualType Element = S.Context.getBaseElementType(V->getType());
    CXXRecordDecl *Class = Element->getAsCXXRecordDecl();
    if (!Class || !S.isCompleteType(V->getLocation(), Element) ||
        (Class->hasTrivialDefaultConstructor() &&
         Class->hasTrivialDestructor()))
      return AttributeApplied;
    CXXConstructorDecl *Constructor = S.LookupDefaultConstructor(Class);
    if (!Constructor || Constructor->isDeleted())
      return AttributeApplied; // clang's to say
    V->addAttr(AliasAttr::CreateImplicit(S.Context, ""));
    // Users know that the libraries' own, cuda::barrier, are made by init().
    if (S.getLangOpts().CUDAIsDevice && Constructor->isUserProvided() &&
        !S.getSourceManager().isInSystemHeader(Class->getLocation()) &&
        !S.CUDA().isEmptyConstructor(V->getLocation(), Constructor)) {
      // Without a note that an attribute was applied.
      llvm::SaveAndRestore<const Decl *> Unsaid(
          S.PragmaAttributeCurrentTargetDecl, nullptr);
      S.Diag(V->getLocation(),
             S.Diags.getCustomDiagID(
                 DiagnosticsEngine::Warning,
                 "the constructor of a '__shared__' variable is not run"));
    }
    return AttributeApplied;
  }
};

//===----------------------------------------------------------------------===//
// {} for a pair
//===----------------------------------------------------------------------===//

constexpr const char *MoveAttribute = "reconverge_move";

struct MoveInfo : ParsedAttrInfo {
  MoveInfo() {
    IsSupportedByPragmaAttribute = true;
    static constexpr Spelling S[] = {{ParsedAttr::AS_GNU, MoveAttribute}};
    Spellings = S;
  }
  AttrHandling handleDeclAttribute(Sema &S, Decl *D,
                                   const ParsedAttr &) const override {
    auto *M = dyn_cast<CXXMethodDecl>(D);
    if (!M || M->getOverloadedOperator() != OO_Equal ||
        !M->isMoveAssignmentOperator() ||
        !S.getSourceManager().isInSystemHeader(M->getLocation()))
      return AttributeApplied;
    const IdentifierInfo *Class = M->getParent()->getIdentifier();
    if (Class && (Class->isStr("__half2") || Class->isStr("__nv_bfloat162")))
      M->addAttr(EnableIfAttr::CreateImplicit(
          S.Context,
          CXXBoolLiteralExpr::Create(S.Context, true, S.Context.BoolTy,
                                     M->getLocation()),
          ""));
    return AttributeApplied;
  }
};

//===----------------------------------------------------------------------===//
// Attributes in another order
//===----------------------------------------------------------------------===//

/// Sees each token on its way to the parser, which owns it.
class AttributeOrder {
public:
  explicit AttributeOrder(Preprocessor &PP) : PP(PP) {}
  void see(Token &Tok);

private:
  /// How much of __attribute__((<word>)) has been seen.
  unsigned Seen = 0;
  /// Behind such an attribute; inside an _Alignas's parentheses; how much of
  /// [[<word>]] has been seen.
  bool Behind = false;
  unsigned Depth = 0, Brackets = 0;
  Preprocessor &PP;
};

bool isSpecifier(const Token &Tok) {
  const IdentifierInfo *Name = Tok.getIdentifierInfo();
  return Name && (Name->isStr("shared") || Name->isStr("device") ||
                  Name->isStr("constant") || Name->isStr("managed") ||
                  Name->isStr("host") || Name->isStr("global"));
}

void AttributeOrder::see(Token &Tok) {
  if (Depth) {
    Depth += Tok.is(tok::l_paren);
    Depth -= Tok.is(tok::r_paren);
    return;
  }
  if (Behind) {
    // [ [ word ] ] to __attribute__ ( ( ) )
    static constexpr tok::TokenKind From[] = {tok::l_square, tok::l_square,
                                              tok::identifier, tok::r_square,
                                              tok::r_square};
    static constexpr tok::TokenKind To[] = {tok::kw___attribute, tok::l_paren,
                                            tok::l_paren, tok::r_paren,
                                            tok::r_paren};
    if (Tok.is(From[Brackets])) {
      Tok.setKind(To[Brackets]);
      if (Brackets == 0 || Brackets == 2)
        Tok.setIdentifierInfo(Brackets ? nullptr
                                       : PP.getIdentifierInfo("__attribute__"));
      Brackets = (Brackets + 1) % std::size(From);
      return;
    }
    Brackets = 0;
    if (Tok.is(tok::kw_alignas)) {
      Tok.setKind(tok::kw__Alignas);
      Tok.setIdentifierInfo(PP.getIdentifierInfo("_Alignas"));
      return;
    }
    if (Tok.is(tok::l_paren)) {
      ++Depth;
      return;
    }
    Behind = false;
  }
  static constexpr tok::TokenKind Attribute[] = {
      tok::kw___attribute, tok::l_paren, tok::l_paren,
      tok::identifier,     tok::r_paren, tok::r_paren};
  if (Tok.isNot(Attribute[Seen]) || (Seen == 3 && !isSpecifier(Tok))) {
    Seen = Tok.is(tok::kw___attribute);
    return;
  }
  Seen = (Seen + 1) % std::size(Attribute);
  Behind = !Seen;
}

//===----------------------------------------------------------------------===//
// Constants of the host
//===----------------------------------------------------------------------===//

void markConstants(Decl *D) {
  if (isa<NamespaceDecl, LinkageSpecDecl, ExportDecl>(D)) {
    for (Decl *Inner : cast<DeclContext>(D)->decls())
      markConstants(Inner);
    return;
  }
  auto *V = dyn_cast<VarDecl>(D);
  const auto *Constant = V ? V->getAttr<CUDAConstantAttr>() : nullptr;
  if (Constant && Constant->isImplicit() && !V->hasAttr<SectionAttr>())
    V->addAttr(SectionAttr::CreateImplicit(
        V->getASTContext(), reconverge::frontend::HostConstantSection));
}

//===----------------------------------------------------------------------===//
// In clang
//===----------------------------------------------------------------------===//

class Nvcc : public SemaConsumer {
public:
  explicit Nvcc(CompilerInstance &Clang)
      : Language(Clang.getLangOpts()), PP(Clang.getPreprocessor()), Order(PP),
        Sizes(PP), All(Factory) {}

  void InitializeSema(Sema &S) override {
    if (!S.getLangOpts().CUDA)
      return;
    auto OnAll = [&](const char *Name, attr::SubjectMatchRule Which) {
      ParsedAttr *A =
          All.addNew(PP.getIdentifierInfo(Name), SourceRange(), nullptr,
                     SourceLocation(), nullptr, 0, ParsedAttr::Form::GNU());
      A->setIsPragmaClangAttribute();
      return Sema::PragmaAttributeEntry{
          SourceLocation(), A, {Which}, /*IsUsed=*/true};
    };
    S.PragmaAttributeStack.push_back(
        {SourceLocation(),
         nullptr,
         {OnAll(SidesAttribute, attr::SubjectMatchRule_function),
          OnAll(MoveAttribute, attr::SubjectMatchRule_function),
          OnAll(SharedAttribute, attr::SubjectMatchRule_variable)}});
    PP.addPPCallbacks(std::make_unique<MacroPragmas>(PP));
    Words.emplace(S);
    auto Errors = std::make_unique<DeferredErrors>(S, Language);
    PP.setTokenWatcher([this, &S, &Errors = *Errors](const Token &Tok) {
      Errors.see();
      // Nobody takes ours from the stack, and its end wants it empty.
      if (Tok.is(tok::eof) && !S.PragmaAttributeStack.empty())
        S.PragmaAttributeStack.erase(S.PragmaAttributeStack.begin());
      // The parser's own, not yet read.
      Sizes.join(const_cast<Token &>(Tok));
      Order.see(const_cast<Token &>(Tok));
      Words->see(const_cast<Token &>(Tok));
      Sizes.see(const_cast<Token &>(Tok));
    });
    S.TemplateInstCallbacks.push_back(std::move(Errors));
  }

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    if (PP.getLangOpts().CUDAIsDevice)
      for (Decl *D : Group)
        markConstants(D);
    return true;
  }

private:
  LangOptions &Language;
  Preprocessor &PP;
  AttributeOrder Order;
  LaunchSizes Sizes;
  std::optional<TemplateWords> Words;
  AttributeFactory Factory;
  ParsedAttributes All;
};

class Action : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Clang,
                                                 StringRef) override {
    return std::make_unique<Nvcc>(Clang);
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// After what the C library and the compiler themselves keep for them.
constexpr unsigned RegisterPriority = 101;

struct RegisterFirst : llvm::PassInfoMixin<RegisterFirst> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &) {
    llvm::GlobalVariable *Ctors = M.getGlobalVariable("llvm.global_ctors");
    auto *List = Ctors && Ctors->hasInitializer()
                     ? dyn_cast<llvm::ConstantArray>(Ctors->getInitializer())
                     : nullptr;
    if (!List)
      return llvm::PreservedAnalyses::all();
    llvm::SmallVector<llvm::Constant *> Entries;
    for (const llvm::Use &Entry : List->operands()) {
      auto *Ctor = cast<llvm::ConstantStruct>(Entry);
      auto *Function = Ctor->getOperand(1)->stripPointerCasts();
      if (Function->getName() == "__cuda_module_ctor")
        Ctor = cast<llvm::ConstantStruct>(llvm::ConstantStruct::get(
            Ctor->getType(),
            {llvm::ConstantInt::get(Ctor->getOperand(0)->getType(),
                                    RegisterPriority),
             Ctor->getOperand(1), Ctor->getOperand(2)}));
      Entries.push_back(Ctor);
    }
    Ctors->setInitializer(llvm::ConstantArray::get(List->getType(), Entries));
    return llvm::PreservedAnalyses::all();
  }
};

} // namespace

static ParsedAttrInfoRegistry::Add<SidesInfo>
    RegisteredSides(SidesAttribute, "sides of redeclarations as nvcc has them");
static ParsedAttrInfoRegistry::Add<SharedInfo>
    RegisteredShared(SharedAttribute, "shared variables as nvcc has them");
static ParsedAttrInfoRegistry::Add<MoveInfo>
    RegisteredMove(MoveAttribute, "assignments of {} as nvcc has them");
static FrontendPluginRegistry::Add<Action> Registered("reconverge-nvcc",
                                                      "takes what nvcc takes");

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "ReconvergeClang", "", [](auto &Builder) {
            Builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager &MPM, llvm::OptimizationLevel) {
                  MPM.addPass(RegisterFirst());
                });
          }};
}
