//===- driver/Rewrite.cpp - Remedies, as a patch to the source ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   app.cu --clang, our pipeline--> device code with variables' names
//          --rewrite/Orders.cpp--> orders.json: where, what moves
//          --clang with our plugin (rewrite/pen)--> the text, and outcomes
//          --clang, our pipeline, ptxas--> does it compile, and into how many
//              registers?
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
#include "driver/OptionTable.h"
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

#include <set>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

using Form = RewriteRequest::Form;
using frontend::Stage;

Expected<RewriteRequest> parseRewriteWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Rewrite));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  RewriteRequest Request;
  unsigned Forms = 0;
  for (const Arg *A : Parsed) {
    switch (A->getOption().getID()) {
    case OPT_diff:
      ++Forms;
      continue;
    case OPT_in_place:
      ++Forms;
      Request.As = Form::InPlace;
      continue;
    case OPT_o:
      ++Forms;
      Request.As = Form::File;
      Request.Build.Output = A->getValue();
      continue;
    case OPT_kernel_EQ:
      Request.Kernel = A->getValue();
      continue;
    default:
      if (Error E = readBuildOption(*A, Parsed, Request.Build))
        return std::move(E);
    }
  }
  if (Error E = settle(Request.Build))
    return std::move(E);
  if (Error E = refuseRecord(Request.Build))
    return std::move(E);
  const BuildRequest &Build = Request.Build;
  if (Build.Inputs.empty())
    return userError("rewrite: no input", "Name a .cu file.");
  for (auto [Input, Kind] : zip(Build.Inputs, Build.Kinds))
    if (Kind != frontend::InputKind::Cuda)
      return userError("rewrite: " + Input + " is no CUDA source",
                       "Name .cu files.");
  if (Forms > 1)
    return userError("rewrite: more than one of --diff, --in-place and -o",
                     "Say once where the text goes.");
  if (Request.As == Form::File && Build.Inputs.size() > 1)
    return userError("rewrite: -o names one file, but there are " +
                         Twine(Build.Inputs.size()) + " inputs",
                     "Rewrite one at a time, or --in-place.");
  return Request;
}

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
  Error write(const rewrite::Ordered &Found);
  Expected<std::unique_ptr<Module>> compile(const std::string &Text);
  void noteCost(StringRef Kernel, const Module &Written);
  Error print(const std::string &Text);
  Error printSame();
  Error runPen(frontend::CompileOptions Options);
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

/// The device code, with all of its debug information, and what to write into
/// it.
Expected<rewrite::Ordered> Rewriting::order() {
  frontend::CompileOptions Options = Compile;
  for (const char *Word : {"-Xclang", "-debug-info-kind=limited"})
    Options.DeviceArguments.push_back(Word);
  Options.ClangArguments.push_back("-fplugin=" + Tools.Tree.pragmasPath());
  if (Error E =
          frontend::compileDeviceCode(
              Tools, Options, Temp,
              frontend::SourceFile(Source, frontend::InputKind::Cuda), Context)
              .moveInto(Device))
    return std::move(E);
  auto Settled = remedies::settleRequests(*Device);
  if (!Settled)
    return Settled.takeError();
  if (!Settled->Unmatched.empty())
    return userError(join(Settled->Unmatched, "\n"), remedies::UnmatchedHelp);
  for (const std::string &Name : Settled->Asked)
    if (Name != "remap" && Name != "collect")
      noteOther("", Name, ""); // the request is in the source
  rewrite::Wishes Asked;
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

Error Rewriting::runPen(frontend::CompileOptions Options) {
  Options.ClangArguments.push_back("-w"); // it has been said
  auto Result = frontend::runProcess(frontend::deviceCommand(
      Tools, Options, frontend::SourceFile(Source, frontend::InputKind::Cuda),
      "", Stage::Syntax));
  if (!Result)
    return Result.takeError();
  if (!Result->ok())
    return internalError(Source + ": rewriting it failed");
  return Error::success();
}

/// A text that does not compile is a mistake of ours, and nobody's to find.
Expected<std::unique_ptr<Module>> Rewriting::compile(const std::string &Text) {
  frontend::CompileOptions Options = Compile;
  SmallString<128> Folder(sys::path::parent_path(Source));
  if (Folder.empty())
    Folder = ".";
  for (const std::string &Word :
       {std::string("-iquote"), Folder.str().str(), std::string("-idirafter"),
        Tools.Tree.includeDir()})
    Options.ClangArguments.push_back(Word);
  Options.ClangArguments.push_back("-std=c++17");
  Options.ClangArguments.insert(Options.ClangArguments.end(),
                                Compile.ClangArguments.begin(),
                                Compile.ClangArguments.end());
  Options.ClangArguments.push_back("-w");
  if (!sys::fs::exists(Tools.Tree.includeDir() + "/reconverge"))
    return internalError(
        "the installation is incomplete: no device library in " +
        Tools.Tree.includeDir());
  auto Written = frontend::compileDeviceCode(
      Tools, Options, Temp,
      frontend::SourceFile(Text, frontend::InputKind::Cuda), Context);
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
  const auto Count = [&](const Module &Alone) -> std::optional<unsigned> {
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

Error Rewriting::write(const rewrite::Ordered &Found) {
  const std::string Orders = Temp.file("orders.json"), Text = Orders + ".text";
  for (const std::string &Old : {Text, Orders + ".outcomes"})
    (void)sys::fs::remove(Old);
  if (Error E = writeFileAtomically(
          Orders, [&](raw_ostream &To) { To << json::Value(Found.Orders); }))
    return E;
  frontend::CompileOptions Options = Compile;
  const std::string Plugin = Tools.Tree.pragmasPath();
  for (const std::string &Word :
       {"-fplugin=" + Plugin, std::string("-Xclang"),
        std::string("-add-plugin"), std::string("-Xclang"),
        std::string("reconverge-rewrite"), std::string("-Xclang"),
        std::string("-plugin-arg-reconverge-rewrite"), std::string("-Xclang"),
        Orders})
    Options.ClangArguments.push_back(Word);
  if (Error E = runPen(std::move(Options)))
    return E;
  auto Outcomes = readOutcomes(Orders + ".outcomes");
  if (!Outcomes)
    return Outcomes.takeError();
  std::unique_ptr<Module> Written;
  if (sys::fs::exists(Text))
    if (Error E = compile(Text).moveInto(Written))
      return E;
  if (Error E = Written ? print(Text) : printSame())
    return E;
  for (const rewrite::Outcome &O : *Outcomes) {
    if (!O.Code) {
      note("", 0, 0,
           demangle(O.Kernel) +
               (O.Items ? ": is collected now; a launch of one block for " +
                              Twine(O.Items) + " will do"
                        : Twine(": has a round of remap now")) +
               (O.Launched ? "; for blocks of up to " + Twine(O.Launched) +
                                 " threads, as they are launched here"
                           : Twine()));
      noteCost(O.Kernel, *Written);
      continue;
    }
    const remedies::RefusalKind *Kind = kindOf(O.Code);
    if (!Kind)
      return internalError("the pen refuses by " + Twine(O.Code));
    noteLeft(O.File, O.Line, O.Column, *Kind, O.Detail);
  }
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
           "nothing to rewrite: no pragma, attribute, decision, --remap or "
           "--collect asks for it");
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
