//===- driver/Report.cpp - Profiles written earlier, shown ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   divergence.json --> Profile --(kernels asked for)--model--> costs --> a form
//
// Costs are computed anew: a file's own are for scripts. With --kernel they are
// of the kernels that match alone, and shares too, which a note says.
//
//===----------------------------------------------------------------------===//

#include "driver/Report.h"

#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/ProfileJson.h"
#include "driver/Profile.h"
#include "model/Model.h"
#include "remedies/Table.h"
#include "report/Diff.h"
#include "report/Lines.h"
#include "report/Page.h"
#include "report/Terminal.h"
#include "report/Writers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

namespace {
/// A profile and what it costs.
struct Costed {
  Profile Counted;
  std::optional<analysis::MachineModel> Machine;
  RunCost Cost;
};
} // namespace

static Error keepKernels(Profile &P, StringRef File, StringRef Pattern) {
  if (Pattern.empty())
    return Error::success();
  const Regex Wanted(Pattern);
  const size_t All = P.Kernels.size();
  erase_if(P.Kernels, [&](const KernelProfile &K) {
    return !Wanted.match(K.Info.Display) && !Wanted.match(K.Info.Name);
  });
  if (P.Kernels.empty())
    return userError("--kernel=" + Pattern + ": no kernel of " + File +
                         " matches",
                     "reconverge report " + File + " lists them.");
  P.Notes.push_back("shares are of the " + std::to_string(P.Kernels.size()) +
                    " of " + std::to_string(All) + " kernels that match " +
                    Pattern.str());
  return Error::success();
}

static Expected<Costed> readCosted(StringRef File, const ReportChoice &Choice) {
  auto Read = readProfile(File);
  if (!Read)
    return Read.takeError();
  if (Error E = keepKernels(*Read, File, Choice.Kernel))
    return std::move(E);
  Costed Run{std::move(*Read), std::nullopt, {}};
  Run.Machine = machineOf(Run.Counted);
  Run.Cost = model::costOf(Run.Counted, remedies::rules(),
                           Run.Machine ? limitsFor(Run.Counted, *Run.Machine)
                                       : nullptr);
  return Run;
}

static Error addSchedulesTo(Costed &Run, StringRef Input) {
  if (none_of(Run.Counted.Kernels,
              [](const KernelProfile &K) { return K.Vectors.Launch != 0; }))
    return userError(
        "report --schedule: " + Input + " has no block vectors",
        "A report has none; the profile of a run has, in the file that "
        "RECONVERGE_PROFILE names. Or run reconverge profile --schedule.");
  if (!Run.Machine)
    return userError("report --schedule: there is no machine file '" +
                         Run.Counted.Machine + "'",
                     "It has to be where reconverge finds its own.");
  addSchedules(Run.Counted, *Run.Machine->limits(), Run.Cost);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// The name that a profile has for the file \p Path: the same one, or else that
/// which has most of its last parts; empty if not even the last one.
static std::string nameOf(StringRef Path,
                          const std::map<std::string, report::FileLines> &In) {
  std::string Best;
  size_t Most = 0;
  for (const auto &[Name, Lines] : In) {
    if (sys::fs::equivalent(Path, Name))
      return Name;
    const size_t Parts =
        std::mismatch(sys::path::rbegin(Path), sys::path::rend(Path),
                      sys::path::rbegin(Name), sys::path::rend(Name))
            .second -
        sys::path::rbegin(Name);
    if (Parts > Most) {
      Most = Parts;
      Best = Name;
    }
  }
  return Best;
}

static Error printSources(const Costed &Run, ArrayRef<std::string> Paths,
                          raw_ostream &OS,
                          const report::TerminalOptions &Options) {
  const auto Files = report::linesOf(Run.Counted, Run.Cost);
  for (const std::string &Path : Paths) {
    auto Source = readFile(Path);
    if (!Source)
      return Source.takeError();
    const std::string Name = nameOf(Path, Files);
    if (Name.empty()) {
      std::vector<std::string> Known;
      for (const auto &[File, Lines] : Files)
        Known.push_back(File);
      return userError("--annotate=" + Path + ": the profile has no such file",
                       "It has " + join(Known, ", ") + ".");
    }
    report::printAnnotated(Path, (*Source)->getBuffer(), Files.at(Name),
                           Run.Counted.Kernels.front().WarpSize, OS, Options);
  }
  return Error::success();
}

/// What the page shows of the sources that \p Run names.
static std::vector<report::SourceText> readSources(const Costed &Run,
                                                   StringRef Profile) {
  // More than this is nothing that anybody reads.
  constexpr uint64_t MostBytes = 4 << 20;
  sys::fs::file_status Written, Of;
  (void)sys::fs::status(Profile, Written);
  std::vector<report::SourceText> Sources;
  for (std::string &Name : report::sourcesWorthShowing(Run.Counted, Run.Cost)) {
    report::SourceText S{std::move(Name), std::nullopt, false};
    if (!sys::fs::status(S.Name, Of) && Of.getSize() <= MostBytes) {
      S.IsNewer =
          Of.getLastModificationTime() > Written.getLastModificationTime();
      if (auto Source = readFile(S.Name))
        S.Text = (*Source)->getBuffer().str();
      else
        consumeError(Source.takeError()); // the page says it
    }
    Sources.push_back(std::move(S));
  }
  return Sources;
}

static Error printHtml(const ReportRequest &Request, const Costed &Run,
                       raw_ostream &OS) {
  auto Tree = frontend::findInstallation();
  if (!Tree)
    return Tree.takeError();
  if (!sys::fs::exists(Tree->pagePath()))
    return userError("the page is not part of this build: there is no " +
                         Tree->pagePath(),
                     "It takes npm to build it: utils/setup.sh web in the "
                     "sources says what is missing. The other formats work.");
  auto Template = readFile(Tree->pagePath());
  if (!Template)
    return Template.takeError();
  std::optional<DecisionFile> Decisions;
  if (!Request.Decisions.empty())
    if (Error E = readDecisions(Request.Decisions).moveInto(Decisions))
      return E;
  return report::printPage((*Template)->getBuffer(),
                           {Run.Counted, Run.Cost,
                            Decisions ? &*Decisions : nullptr,
                            readSources(Run, Request.Input)},
                           OS);
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static Error printForm(const ReportRequest &Request, StringRef Version,
                       const Costed &Run, raw_ostream &OS,
                       const report::TerminalOptions &Options) {
  // Scripts get all that there is.
  report::ViewOptions Chosen;
  const bool IsForPeople = Request.Format == ReportFormat::Text ||
                           Request.Format == ReportFormat::Markdown;
  Chosen.MaxPlaces =
      unsigned(Request.Choice.Top.value_or(IsForPeople ? Chosen.MaxPlaces : 0));
  auto View = [&] { return report::viewOf(Run.Counted, Run.Cost, Chosen); };
  switch (Request.Format) {
  case ReportFormat::Text:
    report::printTerminal(View(), OS, Options);
    break;
  case ReportFormat::Markdown:
    report::printMarkdown(View(), OS);
    break;
  case ReportFormat::Csv:
    report::printCsv(View(), OS);
    break;
  case ReportFormat::Json:
    printProfileJson(Run.Counted, &Run.Cost, OS, /*Raw=*/true);
    break;
  case ReportFormat::Speedscope:
    report::printSpeedscope(Run.Counted, Run.Cost, OS);
    break;
  case ReportFormat::Sarif: {
    SmallString<256> Folder;
    (void)sys::fs::current_path(Folder);
    report::printFindings(View(), Version, Folder, OS);
    break;
  }
  case ReportFormat::Remarks:
    report::printRemarks(View(), Run.Counted, Run.Cost, OS);
    break;
  case ReportFormat::Html:
    return printHtml(Request, Run, OS);
  }
  return Error::success();
}

/// Fills \p Output by \p Print, which may fail: then nothing is written.
static Error write(
    StringRef Output,
    function_ref<Error(raw_ostream &, const report::TerminalOptions &)> Print) {
  if (Error E = checkOutput(Output))
    return E;
  std::string Text;
  raw_string_ostream OS(Text);
  if (Error E = Print(OS, Output == "-" ? terminalFor(outs())
                                        : report::TerminalOptions()))
    return E;
  return writeOutput(Output, [&](raw_ostream &To) { To << Text; });
}

Expected<int> report(const ReportRequest &Request, StringRef Version) {
  auto Run = readCosted(Request.Input, Request.Choice);
  if (!Run)
    return Run.takeError();
  if (Request.Schedule)
    if (Error E = addSchedulesTo(*Run, Request.Input))
      return std::move(E);
  if (!Request.Annotate.empty() && Run->Counted.Kernels.empty())
    return userError("--annotate: no kernel ran to its end in " +
                     Request.Input);
  if (Error E =
          write(Request.Output, [&](raw_ostream &OS, const auto &Options) {
            if (!Request.Annotate.empty())
              return printSources(*Run, Request.Annotate, OS, Options);
            return printForm(Request, Version, *Run, OS, Options);
          }))
    return std::move(E);
  return sayWhatHolds(Request.FailIf, Run->Counted, Run->Cost, errs())
             ? int(ExitCode::ConditionHolds)
             : 0;
}

Error diff(const DiffRequest &Request) {
  auto Before = readCosted(Request.Before, Request.Choice);
  if (!Before)
    return Before.takeError();
  auto After = readCosted(Request.After, Request.Choice);
  if (!After)
    return After.takeError();
  return write(Request.Output, [&](raw_ostream &OS, const auto &Options) {
    const report::CostedRun Old{Before->Counted, Before->Cost},
        New{After->Counted, After->Cost};
    const report::RunDiff D = report::diffOf(Old, New);
    constexpr size_t MostForPeople = 12;
    if (Request.Format == ReportFormat::Json)
      report::printDiffJson(D, Old, New, Request.Choice.Top.value_or(0), OS);
    else if (Request.Format == ReportFormat::Markdown)
      report::printDiffMarkdown(D, Old, New,
                                Request.Choice.Top.value_or(MostForPeople), OS);
    else
      report::printDiff(D, Old, New, Request.Choice.Top.value_or(MostForPeople),
                        OS, Options);
    return Error::success();
  });
}

} // namespace reconverge::driver
