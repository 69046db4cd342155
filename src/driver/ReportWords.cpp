//===- driver/ReportWords.cpp - From words to requests for reports --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands that run no program: report, diff, cache. The form of a report
// is that which --format names, or else what its output's name ends in.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "core/File.h"
#include "driver/OptionTable.h"
#include "report/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

#include <array>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

Error addFailCondition(const Arg &A, std::vector<FailCondition> &To) {
  auto Condition = parseFailCondition(A.getValue());
  if (!Condition)
    return Condition.takeError();
  To.push_back(std::move(*Condition));
  return Error::success();
}

static Expected<InputArgList> parse(ArrayRef<const char *> Words,
                                    Subcommand Which) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Which));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  if (const Arg *Unknown = Parsed.getLastArg(OPT_UNKNOWN))
    return unknownOption(Unknown->getSpelling(), Which);
  return Parsed;
}

/// What report and diff share.
static Error readChoice(const InputArgList &Parsed, ReportChoice &Choice) {
  if (const Arg *A = Parsed.getLastArg(OPT_top_EQ)) {
    size_t Most = 0;
    if (StringRef(A->getValue()).getAsInteger(10, Most))
      return userError("'" + Twine(A->getValue()) + "' is no value of --top",
                       "Write how many rows to show; 0 is all.");
    Choice.Top = Most;
  }
  Choice.Kernel = Parsed.getLastArgValue(OPT_kernel_EQ);
  std::string Wrong;
  if (!Choice.Kernel.empty() && !Regex(Choice.Kernel).isValid(Wrong))
    return userError("--kernel=" + Choice.Kernel +
                         ": no regular expression: " + Wrong,
                     "Write an extended one (POSIX), such as 'scan|sort'.");
  return Error::success();
}

using FormatName = std::pair<StringLiteral, ReportFormat>;
static constexpr std::array<FormatName, 8> Formats = {
    {{"text", ReportFormat::Text},
     {"markdown", ReportFormat::Markdown},
     {"csv", ReportFormat::Csv},
     {"json", ReportFormat::Json},
     {"speedscope", ReportFormat::Speedscope},
     {"sarif", ReportFormat::Sarif},
     {"remarks", ReportFormat::Remarks},
     {"html", ReportFormat::Html}}};

static Expected<ReportFormat> formatNamed(StringRef Name,
                                          ArrayRef<FormatName> Of = Formats) {
  std::vector<StringRef> Known;
  for (const auto &[Word, Format] : Of) {
    if (Word == Name)
      return Format;
    Known.push_back(Word);
  }
  return userError("'" + Name + "' is no value of --format",
                   "Write one of " + join(Known, ", ") + ".");
}

/// What the ending of an output's name says.
static ReportFormat formatOf(StringRef Output) {
  return StringSwitch<ReportFormat>(Output)
      .EndsWith(".md", ReportFormat::Markdown)
      .EndsWith(".csv", ReportFormat::Csv)
      .EndsWith(".speedscope.json", ReportFormat::Speedscope)
      .EndsWith(".json", ReportFormat::Json)
      .EndsWith(".sarif", ReportFormat::Sarif)
      .EndsWith(".opt.yaml", ReportFormat::Remarks)
      .EndsWith(".html", ReportFormat::Html)
      .Default(ReportFormat::Text);
}

Expected<ReportRequest> parseReportWords(ArrayRef<const char *> Words) {
  auto Parsed = parse(Words, Subcommand::Report);
  if (!Parsed)
    return Parsed.takeError();
  std::vector<std::string> Inputs = Parsed->getAllArgValues(OPT_INPUT);
  if (Inputs.size() != 1)
    return userError("report: " + report::counted(Inputs.size(), "input"),
                     "Name one divergence.json, as written by reconverge "
                     "profile.");
  ReportRequest Request;
  Request.Input = Inputs.front();
  Request.Schedule = Parsed->hasArg(OPT_schedule);
  Request.Output = Parsed->getLastArgValue(OPT_o, "-");
  Request.Annotate = Parsed->getAllArgValues(OPT_annotate_EQ);
  Request.Format = formatOf(Request.Output);
  if (const Arg *A = Parsed->getLastArg(OPT_format_EQ))
    if (Error E = formatNamed(A->getValue()).moveInto(Request.Format))
      return std::move(E);
  if (Error E = readChoice(*Parsed, Request.Choice))
    return std::move(E);
  Request.Decisions = Parsed->getLastArgValue(OPT_decisions_EQ);
  if (!Request.Decisions.empty() && Request.Format != ReportFormat::Html)
    return userError("report: --decisions is for the page",
                     "Give --format html, or an output that ends in .html.");
  if (Request.Format != ReportFormat::Text &&
      (Request.Schedule || !Request.Annotate.empty()))
    return userError("report: --schedule and --annotate are for text",
                     "Leave --format out.");
  for (const Arg *A : Parsed->filtered(OPT_fail_if_EQ))
    if (Error E = addFailCondition(*A, Request.FailIf))
      return std::move(E);
  return Request;
}

Expected<DiffRequest> parseDiffWords(ArrayRef<const char *> Words) {
  auto Parsed = parse(Words, Subcommand::Diff);
  if (!Parsed)
    return Parsed.takeError();
  std::vector<std::string> Inputs = Parsed->getAllArgValues(OPT_INPUT);
  if (Inputs.size() != 2)
    return userError("diff: " + report::counted(Inputs.size(), "input"),
                     "Name two files as written by reconverge profile: before "
                     "the change, and after it.");
  DiffRequest Request;
  Request.Before = Inputs[0];
  Request.After = Inputs[1];
  Request.Output = Parsed->getLastArgValue(OPT_o, "-");
  constexpr FormatName Known[] = {{"text", ReportFormat::Text},
                                  {"markdown", ReportFormat::Markdown},
                                  {"json", ReportFormat::Json}};
  Request.Format = formatOf(Request.Output);
  if (const Arg *A = Parsed->getLastArg(OPT_format_EQ)) {
    if (Error E = formatNamed(A->getValue(), Known).moveInto(Request.Format))
      return std::move(E);
  } else if (none_of(Known, [&](const FormatName &F) {
               return F.second == Request.Format;
             })) {
    return userError("diff: no form that " + Request.Output + " would have",
                     "It writes text, .md and .json; or say --format.");
  }
  if (Error E = readChoice(*Parsed, Request.Choice))
    return std::move(E);
  return Request;
}

Expected<CacheRequest> parseCacheWords(ArrayRef<const char *> Words) {
  auto Parsed = parse(Words, Subcommand::Cache);
  if (!Parsed)
    return Parsed.takeError();
  std::vector<std::string> Inputs = Parsed->getAllArgValues(OPT_INPUT);
  const std::string Word = Inputs.empty() ? "" : Inputs[0];
  if (Inputs.size() > 1 || (Word != "" && Word != "clean" && Word != "finish"))
    return userError("cache: '" + Inputs.back() + "' is no word of it",
                     "Write reconverge cache, reconverge cache clean or "
                     "reconverge cache finish.");
  return CacheRequest{
      Parsed->getLastArgValue(OPT_cache_EQ, defaultCacheFolder()).str(),
      Word == "clean", Word == "finish"};
}

} // namespace reconverge::driver
