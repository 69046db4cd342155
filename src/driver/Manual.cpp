//===- driver/Manual.cpp - Manual pages -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They say what --help says, in another form: the table of options has the words,
// so that none can be left behind.
//
//===----------------------------------------------------------------------===//

#include "driver/Manual.h"

#include "core/Error.h"
#include "driver/OptionTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// \p Text as roff takes it: no requests, and hyphens that can be copied.
static std::string roff(StringRef Text) {
  std::string Out;
  for (char C : Text)
    Out += C == '\\'  ? std::string("\\e")
           : C == '-' ? std::string("\\-")
                      : std::string(1, C);
  return StringRef(Out).starts_with(".") || StringRef(Out).starts_with("'")
             ? "\\&" + Out
             : Out;
}

static void printTop(StringRef Name, StringRef Version, StringRef Title,
                     raw_ostream &OS) {
  OS << ".TH " << Name.upper() << " 1 \"\" \"Reconverge " << Version
     << "\"\n.SH NAME\n"
     << roff(Name) << " \\- " << roff(Title) << '\n';
}

static void printEnd(StringRef Others, raw_ostream &OS) {
  OS << ".SH EXIT STATUS\n"
        "0: it worked. 1: a program or command that was run has failed. 2: the "
        "input or the environment; the message says what to do. 3: a condition "
        "of \\-\\-fail\\-if holds. 10 to 15: what test has found. 70: a fault "
        "of "
        "Reconverge. 130, 143: ended by SIGINT or SIGTERM. profile returns "
        "what "
        "the program returned.\n"
        ".SH SEE ALSO\n"
     << Others << '\n';
}

static void printOverview(StringRef Version, raw_ostream &OS) {
  printTop("reconverge", Version,
           "find what warp divergence costs a CUDA program, and mend it", OS);
  OS << ".SH SYNOPSIS\n.B reconverge\n.I command\n[options] ...\n"
        ".SH COMMANDS\n";
  for (const SubcommandInfo &Info : subcommands())
    OS << ".TP\n.B " << Info.Name << "\n" << roff(Info.Title) << ".\n";
  OS << ".TP\n.B explain\nSay what a word of a report, or a code of a message, "
        "means.\n"
        ".TP\n.B man\nPrint the manual page of a command.\n"
        ".TP\n.B completion\nPrint completions for bash, zsh or fish.\n";
  std::string Others;
  for (const SubcommandInfo &Info : subcommands())
    Others += std::string(Others.empty() ? "" : ", ") + "reconverge\\-" +
              Info.Name.str() + "(1)";
  printEnd(Others, OS);
}

Error printManual(StringRef Command, StringRef Version, raw_ostream &OS) {
  if (Command.empty()) {
    printOverview(Version, OS);
    return Error::success();
  }
  if (Command == "--list") {
    for (const SubcommandInfo &Info : subcommands())
      OS << Info.Name << '\n';
    return Error::success();
  }
  std::vector<StringRef> Known;
  for (const SubcommandInfo &Info : subcommands()) {
    Known.push_back(Info.Name);
    if (Info.Name != Command)
      continue;
    printTop(("reconverge-" + Info.Name).str(), Version, Info.Title, OS);
    OS << ".SH SYNOPSIS\n.B reconverge " << Info.Name << "\n"
       << roff(Info.Usage) << '\n';
    if (!Info.About.empty())
      OS << ".SH DESCRIPTION\n" << roff(Info.About) << ".\n";
    for (const auto &[Title, Options] : optionsOf(Info.Which)) {
      OS << ".SH " << Title << '\n';
      for (const ShownOption &O : Options) {
        OS << ".TP\n.BR \"" << roff(O.Spelling) << "\"";
        if (!O.Value.empty())
          OS << " \"" << roff(O.Value) << '"';
        OS << '\n' << roff(O.Help) << ".\n";
      }
    }
    printEnd("reconverge(1)", OS);
    return Error::success();
  }
  return userError("there is no manual page of '" + Command + "'",
                   "The commands are " + join(Known, ", ") + ".");
}

} // namespace reconverge::driver
