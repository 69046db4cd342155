//===- tools/reconverge.cpp - The command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/CommandLine.h"
#include "driver/Explain.h"
#include "driver/Optimize.h"
#include "driver/Predict.h"
#include "driver/Profile.h"
#include "driver/Quality.h"
#include "driver/Test.h"
#include "driver/Train.h"
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
    "  reconverge profile app.cu -- args   run it; say what each divergent "
    "branch costs\n"
    "  reconverge predict app.cu -- args   the same; say what remedies should "
    "gain\n"
    "  reconverge optimize app.cu -o app -- args\n"
    "                                      try remedies, compare every byte, "
    "keep what pays\n"
    "  reconverge test -- ctest            run tests on the CPU; say what is "
    "wrong with their kernels\n"
    "  reconverge report divergence.json   print the table of an earlier run\n"
    "  reconverge quality --quality metric=psnr,bound=40 a.ppm b.ppm\n"
    "                                      how good one output is beside "
    "another\n"
    "  reconverge train rows -o net.json   a net that foretells how long "
    "threads "
    "take\n"
    "  reconverge cc app.cu -o app         build a program that can be "
    "profiled\n"
    "  reconverge explain self             a word of a report, or a code of a "
    "message\n"
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
  Expected<int> Status = driver::report(*Request, outs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
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

static int runExplain(ArrayRef<const char *> Words) {
  if (Words.size() > 1)
    return reportError(userError("explain: " + Twine(Words.size()) + " words",
                                 "Name one, or none for all."),
                       errs());
  return reportError(driver::explain(Words.empty() ? "" : Words[0], outs()),
                     errs());
}

int main(int Count, const char **Arguments) {
  frontend::removeTempDirsOnSignal();
  SmallVector<const char *> Words(Arguments + 1, Arguments + Count);
  // Build systems know compilers by such names, and tools after a dash.
  if (sys::path::filename(Arguments[0]).starts_with("reconverge-clang")) {
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
  if (Name == "--version") {
    outs() << "reconverge " RECONVERGE_VERSION "\n";
    return 0;
  }
  if (Name == "explain") {
    if (!driver::asksForHelp(ArrayRef(Words).drop_front()))
      return runExplain(ArrayRef(Words).drop_front());
    outs() << "reconverge explain [<code> or <word>]\n\nThe page of a code "
              "(RC101), a word of a report (self), all words (glossary) or all "
              "codes.\n";
    return 0;
  }
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
                     .Case("quality", {Subcommand::Quality, runQuality})
                     .Case("train", {Subcommand::Train, runTrain})
                     .Case("test", {Subcommand::Test, runTest})
                     .Default({Subcommand::Report, nullptr});
  if (!Chosen.Run)
    return reportError(
        userError("there is no command '" + Name + "'",
                  "The commands are profile, predict, optimize, "
                  "test, report, quality, train, cc and explain."),
        errs());
  ArrayRef<const char *> Rest = ArrayRef(Words).drop_front();
  if (driver::asksForHelp(Rest)) {
    driver::printHelp(Chosen.Which, outs());
    return 0;
  }
  return Chosen.Run(Rest);
}
