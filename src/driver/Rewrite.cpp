//===- driver/Rewrite.cpp - Remedies, as a patch to the source ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   app.cu --clang, our pipeline--> device code with variables' names
//          --rewrite/Orders.cpp--> orders.json: where, what moves
//          --clang with our plugin (rewrite/writer)--> the text, and outcomes
//          --clang, our pipeline, ptxas--> does it compile, and into how many
//              registers?
//          --> once more, for a kernel's next round, as long as there is one
//          --> a diff, the file itself, or another file
//
// Clang's AST is looked at in clang, by our plugin, and not in this process: that
// links neither clang's libraries nor starts slower for them.
//
// What asks for them: pragmas and attributes in the source, decisions of
// `optimize`, --remap and --collect. Other remedies are no patch to the source.
//
//===----------------------------------------------------------------------===//

#include "driver/Rewrite.h"

#include "analysis/CodeHash.h"
#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "frontend/Clang.h"
#include "frontend/CompileUnit.h"
#include "frontend/Registers.h"
#include "frontend/TempDir.h"
#include "remedies/common/Requests.h"
#include "remedies/common/WarpCost.h"
#include "rewrite/Orders.h"
#include "rewrite/Refusals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <set>

using namespace llvm;

namespace reconverge::driver {

using Form = RewriteRequest::Form;
using frontend::Stage;

namespace {
/// One source.
class Rewriting {
public:
  Rewriting(const RewriteRequest &Request, const frontend::Toolchain &Tools,
            const frontend::TempDir &Temp, StringRef Source, raw_ostream &OS,
            raw_ostream &Notes)
      : Request(Request), Tools(Tools), Temp(Temp), Source(Source.str()),
        Compile(Request.Build.Compile), OS(OS), Notes(Notes) {}
  Error run();

private:
  Expected<rewrite::Ordered> order();
  Error addDecisions(const Module &M, rewrite::Wishes &Asked);
  struct Patch;
  Error write(const rewrite::Ordered &Found);
  Expected<Patch> patch(const std::string &From,
                        const std::vector<rewrite::Order> &Orders);
  std::vector<rewrite::Order> more(const Patch &Last,
                                   const std::vector<rewrite::Order> &Orders);
  Expected<std::unique_ptr<Module>> compile(const std::string &File,
                                            ArrayRef<std::string> Before = {});
  std::vector<std::string> textWords() const;
  Expected<std::unique_ptr<Module>> compileText(const std::string &Text);
  Error noteOutcome(const rewrite::Outcome &O, const Module *Written);
  void noteCost(StringRef Kernel, const Module &Written);
  Error print(const std::string &Text);
  Error printSame();
  Error runWriter(frontend::CompileOptions Options, const std::string &From);
  void note(StringRef File, uint64_t Line, uint64_t Column,
            const Twine &Message) {
    std::string Words =
        sys::path::filename(File.empty() ? StringRef(Source) : File).str();
    if (Line)
      Words += (":" + Twine(Line) + ":" + Twine(Column)).str();
    Words += (": " + Message + "\n").str();
    if (Said.insert(Words).second) // once of all instances of a template
      Notes << Words;
  }
  void noteLeft(StringRef File, uint64_t Line, uint64_t Column,
                const remedies::RefusalKind &Why, StringRef Detail) {
    note(File, Line, Column,
         "not rewritten: " + Why.Sentence +
             (Detail.empty() ? "" : " (" + Detail + ")") + " [" + Why.code() +
             "]");
  }
  /// A remedy that is no patch to the source: what to use instead.
  void noteOther(const Twine &Whose, StringRef Remedy, const Twine &Option) {
    noteLeft(
        "", 0, 0, rewrite::refuse::Remedy,
        (Whose + rewrite::insteadOf(Remedy, ("reconverge cc" + Option).str()))
            .str());
  }

  const RewriteRequest &Request;
  const frontend::Toolchain &Tools;
  const frontend::TempDir &Temp;
  const std::string Source;
  frontend::CompileOptions Compile;
  raw_ostream &OS, &Notes;
  std::set<std::string> Said;
  LLVMContext Context;
  std::unique_ptr<Module> Device; ///< of the source as it is
  rewrite::Wishes Asked;
  unsigned Texts = 0;
  /// What has been written into a kernel, by its mangled name.
  struct Kernel {
    std::vector<rewrite::Order> Rounds; ///< their chains as in the source
    int64_t Lines = 0;    ///< that have come in front of what is behind them
    unsigned Further = 0; ///< rounds but the first
  };
  std::map<std::string, Kernel> Kernels;
};

/// A text, what it comes to, and what was asked of it. Without Code: nothing is
/// written.
struct Rewriting::Patch {
  std::string Text;
  std::unique_ptr<Module> Code;
  std::vector<rewrite::Outcome> Outcomes;
};
} // namespace

/// What is kept for kernels of \p M.
Error Rewriting::addDecisions(const Module &M, rewrite::Wishes &Asked) {
  if (Request.Build.Decisions.empty())
    return Error::success();
  auto File = readDecisions(Request.Build.Decisions);
  if (!File)
    return File.takeError();
  const std::string Hash = analysis::codeHash(M);
  bool IsMet = false;
  for (const Decision &D : File->Kernels) {
    const Function *F = M.getFunction(D.Kernel);
    if (!F || F->isDeclaration())
      continue;
    IsMet |= D.Module == Hash;
    if (D.Module != Hash || !D.Keep.changesCode())
      continue;
    rewrite::Wish Kept;
    auto IsWritten = Kept.add(D.Keep.Remedy, D.Keep.Parameters);
    if (!IsWritten)
      return IsWritten.takeError();
    if (!*IsWritten) {
      noteOther(D.Display + ": ", D.Keep.Remedy,
                " --decisions " + Request.Build.Decisions);
      continue;
    }
    uint64_t Threads = 0;
    for (const LaunchShape &S : D.Shapes)
      Threads =
          std::max(Threads, uint64_t(S.Block[0]) * S.Block[1] * S.Block[2]);
    if (Threads)
      Kept.limit(Threads);
    Asked.Of.emplace(D.Kernel, std::move(Kept));
  }
  if (IsMet)
    return Error::success();
  return userError(Request.Build.Decisions +
                       ": no decision is of the code of " + Source,
                   "The code has changed since, or was built with other "
                   "options: optimize the program again.");
}

/// \p File to device code, with all of its debug information.
Expected<std::unique_ptr<Module>>
Rewriting::compile(const std::string &File, ArrayRef<std::string> Before) {
  frontend::CompileOptions Options = Compile;
  Options.ClangArguments.insert(Options.ClangArguments.begin(), Before.begin(),
                                Before.end());
  for (const char *Word : {"-Xclang", "-debug-info-kind=limited"})
    Options.DeviceArguments.push_back(Word);
  Options.ClangArguments.push_back("-fplugin=" + Tools.Tree.pragmasPath());
  if (!Before.empty())
    Options.ClangArguments.push_back("-w"); // it has been said
  return frontend::compileDeviceCode(
      Tools, Options, Temp,
      frontend::SourceFile(File, frontend::InputKind::Cuda), Context);
}

/// A text in another folder includes what the source does, and the library.
std::vector<std::string> Rewriting::textWords() const {
  const StringRef Folder = sys::path::parent_path(Source);
  return {"-iquote", Folder.empty() ? "." : Folder.str(), "-idirafter",
          Tools.Tree.includeDir(), "-std=c++17"};
}

/// What to write into the source.
Expected<rewrite::Ordered> Rewriting::order() {
  if (Error E = compile(Source).moveInto(Device))
    return std::move(E);
  auto Settled = remedies::settleRequests(*Device);
  if (!Settled)
    return Settled.takeError();
  if (!Settled->Unmatched.empty())
    return userError(join(Settled->Unmatched, "\n"), remedies::UnmatchedHelp);
  for (const std::string &Name : Settled->Asked)
    if (Name != "remap" && Name != "collect")
      noteOther("", Name, ""); // the request is in the source
  Asked.Only = Request.Kernel;
  if (!Asked.Only.empty() && none_of(*Device, [&](const Function &F) {
        return rewrite::isKernelNamed(F, Asked.Only);
      }))
    return userError("--kernel=" + Asked.Only + ": " + Source +
                         " has no such kernel",
                     "Name it as in the source, or mangled; a template must be "
                     "instantiated.");
  for (const Candidate &What : Request.Build.Remedies) {
    auto IsWritten = Asked.All.add(What.Remedy, What.Parameters);
    if (!IsWritten)
      return IsWritten.takeError();
    if (!*IsWritten)
      noteOther("", What.Remedy, " --" + What.Remedy);
  }
  if (Error E = addDecisions(*Device, Asked))
    return std::move(E);
  return rewrite::orderPatches(*Device, Asked);
}

Error Rewriting::runWriter(frontend::CompileOptions Options,
                           const std::string &From) {
  Options.ClangArguments.push_back("-w"); // it has been said
  auto Result = frontend::runProcess(frontend::deviceCommand(
      Tools, Options, frontend::SourceFile(From, frontend::InputKind::Cuda), "",
      Stage::Syntax));
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return internalError(Source + ": rewriting it failed");
  return Error::success();
}

/// A text that does not compile is a mistake of ours, and nobody's to find.
Expected<std::unique_ptr<Module>>
Rewriting::compileText(const std::string &Text) {
  if (!sys::fs::exists(Tools.Tree.includeDir() + "/reconverge"))
    return internalError(
        "the installation is incomplete: no device library in " +
        Tools.Tree.includeDir());
  auto Written = compile(Text, textWords());
  if (Written)
    return Written;
  consumeError(Written.takeError());
  return internalError(Source + ": the rewritten text does not compile");
}

/// What is not seen in the text: that fewer warps run than before.
void Rewriting::noteCost(StringRef Kernel, const Module &Written) {
  const Function *Before = Device->getFunction(Kernel),
                 *After = Written.getFunction(Kernel);
  if (!Before || !After)
    return;
  const auto Count = [&](const Module &Alone) -> std::optional<RegisterUse> {
    const auto Copy = CloneModule(Alone);
    StripDebugInfo(*Copy); // with all of it, ptxas does not optimise
    auto Registers = frontend::countRegisters(*Copy, Compile, Tools);
    if (Registers)
      return *Registers;
    consumeError(Registers.takeError()); // the text is right without
    return std::nullopt;
  };
  const remedies::WarpCost Cost = remedies::warpCost(*Before, *After, Count);
  if (Cost.Lowers)
    note("", 0, 0,
         demangle(Kernel) + ": takes " + Cost.Text +
             ": compare times before you keep it");
}

static Expected<std::vector<rewrite::Outcome>> readOutcomes(StringRef Path) {
  auto File = readFile(Path);
  if (!File)
    return File.takeError();
  return json::parse<std::vector<rewrite::Outcome>>((*File)->getBuffer());
}

static const remedies::RefusalKind *kindOf(uint64_t Code) {
  for (const remedies::RefusalKind *Kind : rewrite::refuse::All)
    if (Kind->Number == Code)
      return Kind;
  return nullptr;
}

/// \p From with what of \p Orders can be written.
Expected<Rewriting::Patch>
Rewriting::patch(const std::string &From,
                 const std::vector<rewrite::Order> &Orders) {
  const std::string File = Temp.file("orders.json"),
                    Text = Temp.file("text" + std::to_string(++Texts) + ".cu");
  for (const char *Old : {".text", ".outcomes"})
    (void)sys::fs::remove(File + Old);
  if (Error E = writeFileAtomically(
          File, [&](raw_ostream &To) { To << json::Value(Orders); }))
    return std::move(E);
  frontend::CompileOptions Options = Compile;
  if (From != Source) {
    const auto Words = textWords();
    Options.ClangArguments.insert(Options.ClangArguments.begin(), Words.begin(),
                                  Words.end());
  }
  for (const std::string &Word :
       {"-fplugin=" + Tools.Tree.pragmasPath(), std::string("-Xclang"),
        std::string("-add-plugin"), std::string("-Xclang"),
        std::string("reconverge-rewrite"), std::string("-Xclang"),
        std::string("-plugin-arg-reconverge-rewrite"), std::string("-Xclang"),
        File})
    Options.ClangArguments.push_back(Word);
  if (Error E = runWriter(std::move(Options), From))
    return std::move(E);
  Patch Made;
  if (Error E = readOutcomes(File + ".outcomes").moveInto(Made.Outcomes))
    return std::move(E);
  if (!sys::fs::exists(File + ".text"))
    return Made;
  if (std::error_code EC = sys::fs::rename(File + ".text", Text))
    return userError("cannot write " + Text + ": " + EC.message());
  Made.Text = Text;
  if (Error E = compileText(Text).moveInto(Made.Code))
    return std::move(E);
  return Made;
}

/// What may be written into \p Last besides, which has been made of \p Orders.
std::vector<rewrite::Order>
Rewriting::more(const Patch &Last, const std::vector<rewrite::Order> &Orders) {
  std::vector<rewrite::Order> More;
  for (const rewrite::Outcome &O : Last.Outcomes) {
    if (O.Code || !O.Behind)
      continue;
    Kernel &Of = Kernels[O.Kernel];
    auto Done = find_if(Orders, [&](const rewrite::Order &Given) {
      return Given.Kernel == O.Kernel;
    });
    Of.Rounds.push_back(*(Done + O.Number));
    for (rewrite::Place &P : Of.Rounds.back().Chain)
      P.Line -= Of.Lines; // as it was in the source
    Of.Lines += O.Lines;
    for (rewrite::Order &Next : rewrite::furtherRounds(
             *Device->getFunction(O.Kernel), Asked, Of.Rounds)) {
      Next.Behind = O.Behind;
      for (auto *Places : {&Next.Chain, &Next.Choices, &Next.Later})
        for (rewrite::Place &P : *Places)
          P.Line += Of.Lines;
      More.push_back(std::move(Next));
    }
  }
  return More;
}

/// How large they have to be, where the file has told.
static std::string blocksOf(const rewrite::Outcome &O) {
  if (O.Exact)
    return "; for blocks of " + std::to_string(O.Exact) +
           " threads, no fewer, as the kernel takes them";
  if (O.Launched)
    return "; for blocks of up to " + std::to_string(O.Launched) +
           " threads, as they are launched here";
  return "";
}

Error Rewriting::noteOutcome(const rewrite::Outcome &O, const Module *Written) {
  unsigned &Others = Kernels[O.Kernel].Further;
  if (!O.Code) {
    note("", 0, 0,
         demangle(O.Kernel) +
             (O.Items ? ": is collected now; a launch of one block for " +
                            Twine(O.Items) + " will do"
              : Others ? ": has " + Twine(Others + 1) + " rounds of remap now"
                       : Twine(": has a round of remap now")) +
             blocksOf(O));
    noteCost(O.Kernel, *Written);
    return Error::success();
  }
  const remedies::RefusalKind *Kind = kindOf(O.Code);
  if (!Kind)
    return internalError("the source rewriter refuses by " + Twine(O.Code));
  if (Kind == &rewrite::refuse::Second && Others > 0)
    --Others; // it has its own
  else
    noteLeft(O.File, O.Line, O.Column, *Kind, O.Detail);
  return Error::success();
}

Error Rewriting::write(const rewrite::Ordered &Found) {
  std::vector<rewrite::Order> Orders = Found.Orders;
  auto Last = patch(Source, Orders);
  if (!Last)
    return Last.takeError();
  const std::vector<rewrite::Outcome> Outcomes = Last->Outcomes;
  while (Last->Code) {
    Orders = more(*Last, Orders);
    if (Orders.empty())
      break;
    auto Next = patch(Last->Text, Orders);
    if (!Next)
      return Next.takeError();
    if (!Next->Code)
      break;
    for (const rewrite::Outcome &O : Next->Outcomes)
      Kernels[O.Kernel].Further += !O.Code;
    Last = std::move(Next);
  }
  if (Error E = Last->Code ? print(Last->Text) : printSame())
    return E;
  for (const rewrite::Outcome &O : Outcomes)
    if (Error E = noteOutcome(O, Last->Code.get()))
      return E;
  return Error::success();
}

/// The text, or how it differs, goes where it was asked for.
Error Rewriting::print(const std::string &Text) {
  auto New = readFile(Text);
  if (!New)
    return New.takeError();
  if (Request.As != Form::Diff)
    return writeOutput(Request.As == Form::InPlace ? Source
                                                   : Request.Build.Output,
                       [&](raw_ostream &To) { To << (*New)->getBuffer(); });
  auto Diff = sys::findProgramByName("diff");
  if (!Diff)
    return userError("there is no program 'diff'",
                     "Install it (Debian: diffutils), or name -o and compare.");
  frontend::Command C;
  const std::string Output = Temp.file("diff");
  const std::string Name = StringRef(Source).ltrim('/').str();
  C.Arguments = {*Diff,     "-u",        "--label", "a/" + Name,
                 "--label", "b/" + Name, Source,    Text};
  C.Output = Output;
  auto Result = frontend::runProcess(C);
  if (!Result)
    return Result.takeError();
  if (Result->Signal || Result->Exit > 1)
    return userError("diff failed");
  auto Lines = readFile(Output);
  if (!Lines)
    return Lines.takeError();
  OS << (*Lines)->getBuffer();
  return Error::success();
}

/// Nothing has changed.
Error Rewriting::printSame() {
  return Request.As == Form::File ? print(Source) : Error::success();
}

Error Rewriting::run() {
  auto Found = order();
  if (!Found)
    return Found.takeError();
  for (const rewrite::Missed &M : Found->Left)
    noteLeft(M.File, M.Line, M.Column, *M.Why, M.Detail);
  if (Found->Orders.empty()) {
    if (Said.empty())
      note("", 0, 0,
           Request.Build.Remedies.empty()
               ? "nothing to rewrite: no pragma, attribute, decision, --remap "
                 "or --collect asks for it"
               : "nothing to rewrite: no kernel has a branch at which threads "
                 "part");
    return printSame();
  }
  return write(*Found);
}

Error rewrite(const RewriteRequest &Request, raw_ostream &OS,
              raw_ostream &Notes) {
  auto Tools = frontend::findToolchain(Request.Build.CudaPath);
  if (!Tools)
    return Tools.takeError();
  auto Temp = frontend::TempDir::create(Request.Build.Keep);
  if (!Temp)
    return Temp.takeError();
  for (const std::string &Source : Request.Build.Inputs)
    if (Error E = Rewriting(Request, *Tools, *Temp, Source, OS, Notes).run())
      return E;
  return Error::success();
}

} // namespace reconverge::driver
