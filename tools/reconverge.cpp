//===- tools/reconverge.cpp - The command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "core/File.h"
#include "driver/Build.h"
#include "driver/Cache.h"
#include "driver/CommandLine.h"
#include "driver/Explain.h"
#include "driver/Manual.h"
#include "driver/Optimize.h"
#include "driver/Predict.h"
#include "driver/Profile.h"
#include "driver/Quality.h"
#include "driver/Report.h"
#include "driver/Rewrite.h"
#include "driver/Test.h"
#include "driver/Train.h"
#include "driver/Words.h"
#include "frontend/TempDir.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace reconverge;
using driver::Subcommand;

static const char Usage[] =
    "Reconverge finds what warp divergence costs a CUDA program.\n"
    "\n"
    "  reconverge profile app.cu -- args   run a program; print each "
    "branch's cost\n"
    "  reconverge predict app.cu -- args   the same; print what "
    "remedies should gain\n"
    "  reconverge optimize app.cu -o app -- args\n"
    "                                      try remedies, keep those that pay\n"
    "  reconverge rewrite app.cu           write a remedy into the source\n"
    "  reconverge test -- ctest            find errors in kernels, on the CPU\n"
    "  reconverge report divergence.json   show an earlier run: a table, a "
    "page\n"
    "  reconverge diff before.json after.json\n"
    "                                      compare two runs\n"
    "  reconverge quality --quality metric=psnr,bound=40 a.ppm b.ppm\n"
    "                                      compare an output with a reference\n"
    "  reconverge train rows -o net.json   train a net that predicts threads' "
    "times\n"
    "  reconverge cc app.cu -o app         build a program that can be "
    "profiled\n"
    "  reconverge cache                    size of the cache of kernels\n"
    "  reconverge explain self             explain a word of a report, or a "
    "code\n"
    "  reconverge man profile              a manual page, for man -l -\n"
    "  reconverge completion bash          completions for bash, zsh or fish\n"
    "  reconverge --version\n"
    "\n"
    "reconverge <command> --help lists a command's options.\n";

static int runCc(ArrayRef<const char *> Words) {
  Expected<int> Status = driver::cc(Words, RECONVERGE_VERSION, outs(), errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runProfile(ArrayRef<const char *> Words) {
  auto Request = driver::parseProfileWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Request->Build.Diagnostics = &errs();
  Expected<int> Status = driver::profile(*Request, errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runPredict(ArrayRef<const char *> Words) {
  auto Request = driver::parsePredictWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Request->Build.Diagnostics = &errs();
  Expected<int> Status = driver::predict(*Request, errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runOptimize(ArrayRef<const char *> Words) {
  auto Request = driver::parseOptimizeWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Request->Build.Diagnostics = &errs();
  Expected<int> Status = driver::optimize(*Request, errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runTest(ArrayRef<const char *> Words) {
  auto Request = driver::parseTestWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Request->Version = RECONVERGE_VERSION;
  Expected<int> Status = driver::test(*Request, errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runReport(ArrayRef<const char *> Words) {
  auto Request = driver::parseReportWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Expected<int> Status = driver::report(*Request, RECONVERGE_VERSION);
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runCache(ArrayRef<const char *> Words) {
  auto Request = driver::parseCacheWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  return reportError(driver::cache(*Request, outs()), errs());
}

static int runDiff(ArrayRef<const char *> Words) {
  auto Request = driver::parseDiffWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  return reportError(driver::diff(*Request), errs());
}

static int runQuality(ArrayRef<const char *> Words) {
  auto Request = driver::parseQualityWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Expected<int> Status = driver::quality(*Request, outs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runTrain(ArrayRef<const char *> Words) {
  auto Request = driver::parseTrainWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  return reportError(driver::train(*Request, errs()), errs());
}

static int runRewrite(ArrayRef<const char *> Words) {
  auto Request = driver::parseRewriteWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  return reportError(driver::rewrite(*Request, outs(), errs()), errs());
}

static int runExplain(ArrayRef<const char *> Words) {
  if (Words.size() > 1)
    return reportError(
        userError("explain: " + Twine(Words.size()) + " words",
                  "Name one, in quotes if it has blanks, or none for a list."),
        errs());
  return reportError(driver::explain(Words.empty() ? "" : Words[0], outs()),
                     errs());
}

/// What is no subcommand with a request: nothing if \p Words begin otherwise.
static std::optional<int> answer(ArrayRef<const char *> Words) {
  const StringRef Name = Words.front();
  const StringRef What = Words.size() > 1 ? Words[1] : "";
  if (Name == "--version") {
    outs() << "reconverge " RECONVERGE_VERSION "\n";
    return 0;
  }
  const bool AsksForHelp = driver::asksForHelp(Words.drop_front());
  if (Name == "man") {
    if (AsksForHelp) {
      outs() << "reconverge man [<command>]\n\nPrints the manual page of a "
                "command, or else of reconverge, for man -l -.\n";
      return 0;
    }
    return reportError(driver::printManual(What, RECONVERGE_VERSION, outs()),
                       errs());
  }
  if (Name == "completion") {
    if (AsksForHelp) {
      outs() << "reconverge completion bash|zsh|fish\n\nPrints completions for "
                "a shell: source <(reconverge completion bash)\n";
      return 0;
    }
    return reportError(driver::printCompletion(What, outs()), errs());
  }
  if (Name != "explain")
    return std::nullopt;
  if (!AsksForHelp)
    return runExplain(Words.drop_front());
  outs() << "reconverge explain [<word> or <code>]\n\nSays what a word of a "
            "report (self) or a code of a message (RC101) means.\nAll words: "
            "explain glossary; all codes: explain codes; alone, a list.\n";
  return 0;
}

/// The exit code for \p Words to the command that is called \p Called.
static int answerAll(StringRef Called, ArrayRef<const char *> Words) {
  // Build systems know compilers by such names, and tools after a dash.
  if (sys::path::filename(Called).starts_with("reconverge-clang")) {
    if (driver::asksForHelp(Words)) {
      driver::printHelp(Subcommand::Cc, outs());
      return 0;
    }
    return runCc(Words);
  }
  StringRef Name = Words.empty() ? "--help" : Words.front();
  if (Name == "--help" || Name == "-h" || Name == "help") {
    (Words.empty() ? errs() : outs()) << Usage;
    return Words.empty() ? int(ExitCode::UserError) : 0;
  }
  if (std::optional<int> Status = answer(Words))
    return *Status;
  struct Entry {
    Subcommand Which;
    int (*Run)(ArrayRef<const char *>);
  };
  Entry Chosen = StringSwitch<Entry>(Name)
                     .Case("profile", {Subcommand::Profile, runProfile})
                     .Case("predict", {Subcommand::Predict, runPredict})
                     .Case("optimize", {Subcommand::Optimize, runOptimize})
                     .Case("cc", {Subcommand::Cc, runCc})
                     .Case("report", {Subcommand::Report, runReport})
                     .Case("diff", {Subcommand::Diff, runDiff})
                     .Case("cache", {Subcommand::Cache, runCache})
                     .Case("quality", {Subcommand::Quality, runQuality})
                     .Case("rewrite", {Subcommand::Rewrite, runRewrite})
                     .Case("train", {Subcommand::Train, runTrain})
                     .Case("test", {Subcommand::Test, runTest})
                     .Default({Subcommand::Report, nullptr});
  if (!Chosen.Run)
    return reportError(
        userError("there is no command '" + Name + "'",
                  driver::didYouMean(Name, {"profile", "predict", "optimize",
                                            "rewrite", "test", "report", "diff",
                                            "quality", "train", "cc", "cache",
                                            "explain", "man", "completion"}) +
                      "reconverge --help lists the commands."),
        errs());
  ArrayRef<const char *> Rest = Words.drop_front();
  if (driver::asksForHelp(Rest)) {
    driver::printHelp(Chosen.Which, outs());
    return 0;
  }
  return Chosen.Run(Rest);
}

int main(int Count, const char **Arguments) {
  frontend::removeTempDirsOnSignal();
  const SmallVector<const char *> Words(Arguments + 1, Arguments + Count);
  int Status = answerAll(Arguments[0], Words);
  // A full disk is no success, even where a command has not looked.
  if (Error E = finishOutput()) {
    const int Failed = reportError(std::move(E), errs());
    Status = Status ? Status : Failed;
  }
  errs().clear_error(); // nobody can be told
  return Status;
}
