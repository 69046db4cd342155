//===- tools/reconverge.cpp - The command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/CommandLine.h"
#include "driver/Profile.h"
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
    "  reconverge report divergence.json   print the table of an earlier run\n"
    "  reconverge cc app.cu -o app         build a program that can be "
    "profiled\n"
    "  reconverge --version\n"
    "\n"
    "reconverge <command> --help lists a command's options.\n";

static int runCc(ArrayRef<const char *> Words) {
  Expected<int> Status = driver::cc(Words, RECONVERGE_VERSION, outs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runProfile(ArrayRef<const char *> Words) {
  auto Request = driver::parseProfileWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  Expected<int> Status = driver::profile(*Request, errs());
  if (!Status)
    return reportError(Status.takeError(), errs());
  return *Status;
}

static int runReport(ArrayRef<const char *> Words) {
  auto Request = driver::parseReportWords(Words);
  if (!Request)
    return reportError(Request.takeError(), errs());
  return reportError(driver::report(*Request, outs()), errs());
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
  struct Entry {
    Subcommand Which;
    int (*Run)(ArrayRef<const char *>);
  };
  Entry Chosen = StringSwitch<Entry>(Name)
                     .Case("profile", {Subcommand::Profile, runProfile})
                     .Case("cc", {Subcommand::Cc, runCc})
                     .Case("report", {Subcommand::Report, runReport})
                     .Default({Subcommand::Report, nullptr});
  if (!Chosen.Run)
    return reportError(userError("there is no command '" + Name + "'",
                                 "The commands are profile, report and cc."),
                       errs());
  ArrayRef<const char *> Rest = ArrayRef(Words).drop_front();
  if (driver::asksForHelp(Rest)) {
    driver::printHelp(Chosen.Which, outs());
    return 0;
  }
  return Chosen.Run(Rest);
}
