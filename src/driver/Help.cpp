//===- driver/Help.cpp - What --help prints -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of a command, by their titles, in lines as long as the terminal's:
//
//   TRYING REMEDIES:
//     --allow-reorder       Also keep what changes a result inside what the
//                           order of threads changes anyway
//
//===----------------------------------------------------------------------===//

#include "driver/OptionTable.h"
#include "driver/Profile.h"
#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// Where what an option does begins.
static constexpr unsigned HelpColumn = 24;

static void printOption(const ShownOption &O, raw_ostream &OS, unsigned Width) {
  const std::string Name = "  " + O.Spelling + O.Value;
  const bool Fits = Name.size() < HelpColumn;
  OS << Name;
  OS.indent(Fits ? HelpColumn - unsigned(Name.size()) : 0);
  if (!Fits)
    OS << '\n';
  std::string Help;
  raw_string_ostream To(Help);
  report::printWrapped(To, O.Help, Width - HelpColumn, 0);
  bool Begun = Fits;
  for (StringRef Line : split(StringRef(Help).rtrim('\n'), '\n')) {
    OS.indent(Begun ? 0 : HelpColumn) << Line << '\n';
    Begun = false;
  }
}

void printHelp(Subcommand Which, raw_ostream &OS) {
  const SubcommandInfo &Info = *find_if(
      subcommands(), [&](const SubcommandInfo &I) { return I.Which == Which; });
  const unsigned Width = std::max(terminalFor(OS).Width, 80u);
  OS << Info.Title << "\n\nUSAGE: reconverge " << Info.Name << ' ' << Info.Usage
     << '\n';
  if (!Info.About.empty()) {
    OS << '\n';
    report::printWrapped(OS, Info.About.str() + ".", Width, 0);
  }
  for (const auto &[Title, Options] : optionsOf(Which)) {
    OS << '\n' << Title << ":\n";
    for (const ShownOption &O : Options)
      printOption(O, OS, Width);
  }
}

} // namespace reconverge::driver
