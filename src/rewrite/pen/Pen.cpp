//===- rewrite/pen/Pen.cpp - Writes ordered rounds, in clang --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin of clang, beside the one that reads pragmas (plugin/Pragmas.cpp):
//
//   -Xclang -add-plugin -Xclang reconverge-rewrite
//   -Xclang -plugin-arg-reconverge-rewrite -Xclang <orders.json>
//
// reads Order values from the file, writes the main file with all rounds that can
// be written to <orders.json>.text, if there are any, and what became of each
// order to <orders.json>.outcomes. In clang, and not in the tool, because it
// needs clang's AST: the tool starts as fast without, and clang is there anyway.
//
// A template's text is edited once: each instance that has an order gives its
// edits, and they must be equal.
//
//===----------------------------------------------------------------------===//

#include "rewrite/pen/Round.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Rewrite/Core/Rewriter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace reconverge::rewrite {

namespace {

/// Where the main file has directives.
class Watcher : public PPCallbacks {
public:
  Watcher(SourceManager &SM, Directives &Into) : SM(SM), Into(Into) {}
  void InclusionDirective(SourceLocation At, const Token &, StringRef File,
                          bool, CharSourceRange, OptionalFileEntryRef,
                          StringRef, StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    Into.HasLibrary |= File.ends_with("block_remap.cuh") ||
                       File.ends_with("reconverge/reconverge.cuh");
    if (SM.isWrittenInMainFile(At) && !Depth)
      Into.Includes.push_back(SM.getFileOffset(At));
  }
  void If(SourceLocation At, SourceRange, ConditionValueKind) override {
    note(At, 1);
  }
  void Ifdef(SourceLocation At, const Token &,
             const MacroDefinition &) override {
    note(At, 1);
  }
  void Ifndef(SourceLocation At, const Token &,
              const MacroDefinition &) override {
    note(At, 1);
  }
  void Endif(SourceLocation At, SourceLocation) override { note(At, -1); }

private:
  void note(SourceLocation At, int By) {
    if (!SM.isWrittenInMainFile(At))
      return;
    Depth += By;
    Into.Conditionals.push_back(SM.getFileOffset(At));
  }
  SourceManager &SM;
  Directives &Into;
  int Depth = 0; ///< of #if, in the main file
};

/// All kernels with a body, templates' instances among them, by mangled name.
class Kernels : public RecursiveASTVisitor<Kernels> {
public:
  explicit Kernels(ASTContext &C) : Names(C.createMangleContext()) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(FunctionDecl *F) {
    if (!F->hasAttr<CUDAGlobalAttr>() || !F->isThisDeclarationADefinition() ||
        F->isDependentContext())
      return true;
    std::string Name;
    llvm::raw_string_ostream OS(Name);
    const GlobalDecl Kernel(F, KernelReferenceKind::Kernel);
    if (Names->shouldMangleDeclName(F))
      Names->mangleName(Kernel, OS);
    else
      OS << F->getName();
    ByName.insert({Name, F});
    return true;
  }
  llvm::StringMap<FunctionDecl *> ByName;

private:
  std::unique_ptr<MangleContext> Names;
};

class Pen : public ASTConsumer {
public:
  Pen(CompilerInstance &Clang, std::string Path)
      : Clang(Clang), Path(std::move(Path)) {
    Clang.getPreprocessor().addPPCallbacks(
        std::make_unique<Watcher>(Clang.getSourceManager(), Seen));
  }
  void HandleTranslationUnit(ASTContext &C) override;

private:
  bool readOrders();
  void follow(ASTContext &C);
  Outcome outcome(const Order &O, const Refused &Why, const SourceManager &SM);
  void fail(const llvm::Twine &Message) {
    DiagnosticsEngine &D = Clang.getDiagnostics();
    D.Report(D.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
        << Message.str();
  }
  bool write(StringRef Suffix, StringRef Bytes);

  CompilerInstance &Clang;
  std::string Path;
  Directives Seen;
  std::vector<Order> Orders;
};

/// What has become of a kernel's text, which instances share.
struct Written {
  std::vector<Edit> Edits;
  std::vector<size_t> Orders; ///< indices
  std::optional<Refused> Why;
};

} // namespace

bool Pen::readOrders() {
  auto File = llvm::MemoryBuffer::getFile(Path);
  if (!File)
    return false;
  auto Read = llvm::json::parse<std::vector<Order>>((*File)->getBuffer());
  if (!Read) {
    fail("orders: " + toString(Read.takeError()));
    return false;
  }
  Orders = std::move(*Read);
  return true;
}

bool Pen::write(StringRef Suffix, StringRef Bytes) {
  std::error_code EC;
  llvm::raw_fd_ostream OS((Path + Suffix).str(), EC);
  if (!EC)
    OS << Bytes;
  if (EC)
    fail("cannot write " + Path + Suffix.str() + ": " + EC.message());
  return !EC;
}

Outcome Pen::outcome(const Order &O, const Refused &Why,
                     const SourceManager &SM) {
  const SourceLocation At = SM.getExpansionLoc(Why.At);
  return {O.Kernel,
          Why.Kind->Number,
          SM.getFilename(At).str(),
          SM.getSpellingLineNumber(At),
          SM.getSpellingColumnNumber(At),
          Why.Detail};
}

void Pen::follow(ASTContext &C) {
  const SourceManager &SM = C.getSourceManager();
  Kernels All(C);
  All.TraverseDecl(C.getTranslationUnitDecl());
  llvm::MapVector<SourceLocation, Written> ByText;
  std::vector<Outcome> Outcomes;
  for (auto [I, O] : llvm::enumerate(Orders)) {
    Outcomes.emplace_back().Kernel = O.Kernel;
    const FunctionDecl *Kernel = All.ByName.lookup(O.Kernel);
    if (!Kernel) {
      Outcomes.back().Code = refuse::Lost.Number;
      continue;
    }
    Written &Here = ByText[Kernel->getLocation()];
    const bool IsFirst = Here.Orders.empty();
    Here.Orders.push_back(I);
    if (Here.Why)
      continue;
    std::vector<Edit> Edits;
    Text T(C, Clang.getPreprocessor(), *Kernel);
    if (Trouble Why = writeRound(*Kernel, O, Seen, T, Edits))
      Here.Why = Why;
    else if (!IsFirst && Edits != Here.Edits)
      Here.Why = Refused{&refuse::Instances, Kernel->getLocation()};
    else
      Here.Edits = std::move(Edits);
  }
  Rewriter Rewrite(Clang.getSourceManager(), Clang.getLangOpts());
  const SourceLocation Begin = SM.getLocForStartOfFile(SM.getMainFileID());
  std::vector<Edit> Done;
  bool Any = false;
  for (auto &[At, Here] : ByText) {
    for (size_t I : Here.Orders)
      if (Here.Why)
        Outcomes[I] = outcome(Orders[I], *Here.Why, SM);
    if (Here.Why)
      continue;
    const StringRef Newline = newlineOf(SM.getBufferData(SM.getMainFileID()));
    for (const Edit &E : Here.Edits) {
      if (llvm::is_contained(Done, E)) // the #include, of several kernels
        continue;
      Done.push_back(E);
      std::string Words;
      for (char Byte : E.Text) // what was copied ends its lines already
        Words += Byte == '\n' && !StringRef(Words).ends_with("\r")
                     ? Newline.str()
                     : std::string(1, Byte);
      const SourceLocation Place = Begin.getLocWithOffset(E.Offset);
      if (E.Length)
        Rewrite.RemoveText(Place, E.Length);
      Rewrite.InsertText(Place, Words, /*InsertAfter=*/true);
      Any = true;
    }
  }
  if (Any) {
    std::string Bytes;
    llvm::raw_string_ostream OS(Bytes);
    Rewrite.getEditBuffer(SM.getMainFileID()).write(OS);
    if (!write(".text", Bytes))
      return;
  }
  std::string Said;
  llvm::raw_string_ostream OS(Said);
  OS << llvm::json::Value(Outcomes);
  write(".outcomes", Said);
}

void Pen::HandleTranslationUnit(ASTContext &C) {
  if (!C.getDiagnostics().hasErrorOccurred() && readOrders())
    follow(C);
}

namespace {
class Action : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Clang,
                                                 StringRef) override {
    return std::make_unique<Pen>(Clang, Path);
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &Words) override {
    if (Words.size() == 1)
      Path = Words.front();
    return Words.size() == 1;
  }
  std::string Path;
};
} // namespace

} // namespace reconverge::rewrite

static clang::FrontendPluginRegistry::Add<reconverge::rewrite::Action>
    RegisteredPen("reconverge-rewrite", "writes rounds into the source");
