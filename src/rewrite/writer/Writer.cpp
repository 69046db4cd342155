//===- rewrite/writer/Writer.cpp - Writes ordered rounds, in clang --------===//
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
// Of several orders of a kernel, the first that can be written is. A template's
// text is edited once: each instance that has orders gives its edits, and they
// must be equal.
//
//===----------------------------------------------------------------------===//

#include "rewrite/writer/Collector.h"
#include "rewrite/writer/Launches.h"
#include "rewrite/writer/Layout.h"
#include "rewrite/writer/Round.h"

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
    const bool IsAll = File.ends_with("reconverge/reconverge.cuh");
    Into.HasRemap |= IsAll || File.ends_with("block_remap.cuh");
    Into.HasCollect |= IsAll || File.ends_with("block_collect.cuh");
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

/// What has become of a kernel's text, which instances share.
struct Written {
  std::vector<Edit> Edits;
  bool Is = false; ///< it has a round
  unsigned At = 0; ///< offset of the statement behind it
  std::vector<Outcome> Outcomes;
};

class Writer : public ASTConsumer {
public:
  Writer(CompilerInstance &Clang, std::string Path)
      : Clang(Clang), Path(std::move(Path)) {
    Clang.getPreprocessor().addPPCallbacks(
        std::make_unique<Watcher>(Clang.getSourceManager(), Seen));
  }
  void HandleTranslationUnit(ASTContext &C) override;

private:
  bool readOrders();
  void follow(ASTContext &C);
  Outcome outcome(const Order &O, const Refused &Why);
  void fail(const llvm::Twine &Message) {
    DiagnosticsEngine &D = Clang.getDiagnostics();
    D.Report(D.getCustomDiagID(DiagnosticsEngine::Error, "%0"))
        << Message.str();
  }
  bool writeFile(StringRef Suffix, StringRef Bytes);
  void write(const FunctionDecl &Kernel, ArrayRef<const Order *> Of,
             Written &Here);
  std::string apply(ArrayRef<Edit> All);
  int64_t linesBefore(unsigned At, ArrayRef<Edit> All);

  CompilerInstance &Clang;
  std::string Path;
  Directives Seen;
  std::vector<Order> Orders;
};

} // namespace

bool Writer::readOrders() {
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

bool Writer::writeFile(StringRef Suffix, StringRef Bytes) {
  std::error_code EC;
  llvm::raw_fd_ostream OS((Path + Suffix).str(), EC);
  if (!EC)
    OS << Bytes;
  if (EC)
    fail("cannot write " + Path + Suffix.str() + ": " + EC.message());
  return !EC;
}

Outcome Writer::outcome(const Order &O, const Refused &Why) {
  const SourceManager &SM = Clang.getSourceManager();
  const SourceLocation At = SM.getExpansionLoc(Why.At);
  return {O.Kernel,
          Why.Kind->Number,
          SM.getFilename(At).str(),
          SM.getSpellingLineNumber(At),
          SM.getSpellingColumnNumber(At),
          Why.Detail};
}

/// The first of the orders \p Of one kernel that can be written is; \p Here is
/// what other instances have made of its text.
void Writer::write(const FunctionDecl &Kernel, ArrayRef<const Order *> Of,
                   Written &Here) {
  const bool IsFirst = Here.Outcomes.empty();
  std::vector<Outcome> Refusals;
  const auto Refuse = [&](const Order &O, const Refused &Why) {
    Refusals.push_back(outcome(O, Why));
  };
  const Order *Done = nullptr;
  std::vector<Edit> Edits;
  RoundPlace Place;
  uint64_t Exact = 0;
  const BlockSizes Sizes = launchedThreads(Kernel, Kernel.getASTContext());
  uint64_t Launched = Of.front()->IsSized ? 0 : Sizes.Most;
  for (const Order *O : Of) {
    if (Done) {
      if (O->IsAsked)
        Refuse(*O, {&refuse::Second, Kernel.getLocation()});
      continue;
    }
    Text T(Kernel.getASTContext(), Clang.getPreprocessor(), Kernel);
    Edits.clear();
    if (!globalIn(T, Kernel))
      Launched = 0; // nothing would keep others from larger blocks
    Order Sized = *O;
    if (Launched)
      Sized.Threads = std::min(Sized.Threads, Launched);
    Sized.IsExact = (O->IsSized || Launched) &&
                    (!Sizes.Least || Sizes.Least == Sized.Threads) &&
                    threadsAsTaken(Kernel) == Sized.Threads;
    if (const Trouble Why =
            O->Items ? writeCollector(Kernel, Sized, Seen, T, Edits)
                     : writeRound(Kernel, Sized, Seen, T, Edits, Place))
      Refuse(*O, *Why);
    else {
      Done = O;
      Exact = !O->Items && Place.IsExact ? Sized.Threads : 0;
    }
  }
  if (!IsFirst && (bool(Done) != Here.Is || (Done && Edits != Here.Edits))) {
    // Nothing of what others have made.
    const Refused Why = {&refuse::Instances, Kernel.getLocation()};
    for (Outcome &O : Here.Outcomes)
      if (!O.Code)
        O = outcome(*Of.front(), Why);
    if (Done)
      Refuse(*Done, Why);
    Done = nullptr;
    Here.Is = false;
    Here.Edits.clear();
  }
  if (Done) {
    Here.Is = true;
    Here.Edits = std::move(Edits);
    Outcome &Good = Here.Outcomes.emplace_back();
    Good.Kernel = Done->Kernel;
    Good.Items = Done->Items;
    Good.Number = llvm::find(Of, Done) - Of.begin();
    Good.Behind = Place.Behind;
    Here.At = Place.At;
    Good.Launched = Launched;
    Good.Exact = Exact;
    llvm::erase_if(Refusals, [&](const Outcome &O) {
      return O.Code != refuse::Second.Number;
    });
  }
  llvm::append_range(Here.Outcomes, Refusals);
}

/// The main file with \p All, as bytes.
std::string Writer::apply(ArrayRef<Edit> All) {
  SourceManager &SM = Clang.getSourceManager();
  Rewriter Rewrite(SM, Clang.getLangOpts());
  const SourceLocation Begin = SM.getLocForStartOfFile(SM.getMainFileID());
  const StringRef Newline = newlineOf(SM.getBufferData(SM.getMainFileID()));
  for (const Edit &E : All) {
    std::string Words;
    for (char Byte : E.Text) // what was copied ends its lines already
      Words += Byte == '\n' && !StringRef(Words).ends_with("\r")
                   ? Newline.str()
                   : std::string(1, Byte);
    const SourceLocation At = Begin.getLocWithOffset(E.Offset);
    if (E.Length)
      Rewrite.RemoveText(At, E.Length);
    Rewrite.InsertText(At, Words, /*InsertAfter=*/true);
  }
  std::string Bytes;
  llvm::raw_string_ostream OS(Bytes);
  Rewrite.getEditBuffer(SM.getMainFileID()).write(OS);
  return Bytes;
}

/// The lines that \p All adds before \p At.
int64_t Writer::linesBefore(unsigned At, ArrayRef<Edit> All) {
  SourceManager &SM = Clang.getSourceManager();
  const StringRef Bytes = SM.getBufferData(SM.getMainFileID());
  int64_t Lines = 0;
  for (const Edit &E : All)
    if (E.Offset <= At)
      Lines += int64_t(StringRef(E.Text).count('\n')) -
               int64_t(Bytes.substr(E.Offset, E.Length).count('\n'));
  return Lines;
}

void Writer::follow(ASTContext &C) {
  Kernels All(C);
  All.TraverseDecl(C.getTranslationUnitDecl());
  llvm::MapVector<SourceLocation, Written> ByText;
  std::vector<Outcome> Outcomes;
  for (size_t I = 0; I < Orders.size();) {
    std::vector<const Order *> Of;
    for (const std::string &Name = Orders[I].Kernel;
         I < Orders.size() && Orders[I].Kernel == Name; ++I)
      Of.push_back(&Orders[I]);
    if (const FunctionDecl *Kernel = All.ByName.lookup(Of.front()->Kernel)) {
      write(*Kernel, Of, ByText[Kernel->getLocation()]);
      continue;
    }
    Outcome &O = Outcomes.emplace_back();
    O.Kernel = Of.front()->Kernel;
    O.Code = refuse::Lost.Number;
  }
  std::vector<Edit> Edits;
  for (const auto &[At, Here] : ByText)
    for (const Edit &E : Here.Edits)
      if (!llvm::is_contained(Edits, E)) // the #include, of several kernels
        Edits.push_back(E);
  for (auto &[At, Here] : ByText) {
    for (Outcome &O : Here.Outcomes)
      O.Lines = O.Code ? 0 : linesBefore(Here.At, Edits);
    llvm::append_range(Outcomes, Here.Outcomes);
  }
  if (!Edits.empty() && !writeFile(".text", apply(Edits)))
    return;
  std::string Said;
  llvm::raw_string_ostream OS(Said);
  OS << llvm::json::Value(Outcomes);
  writeFile(".outcomes", Said);
}

void Writer::HandleTranslationUnit(ASTContext &C) {
  if (!C.getDiagnostics().hasErrorOccurred() && readOrders())
    follow(C);
}

namespace {
class Action : public PluginASTAction {
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Clang,
                                                 StringRef) override {
    return std::make_unique<Writer>(Clang, Path);
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
