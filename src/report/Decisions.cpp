//===- report/Decisions.cpp - What was tried, as a table of text ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Decisions.h"

#include "core/DecisionJson.h"
#include "report/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

static std::string ratio(double X) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (X > 0)
    OS << format("%.3fx", X);
  return Text.empty() ? "-" : Text;
}

/// The verdict, where there is one.
static std::string verdictOf(const TrialResult &T) {
  return T.Compared.Launches ? wordOf(T.Compared.Kind).str() : "-";
}

static Ink inkOf(Outcome End) {
  switch (End) {
  case Outcome::Kept:
    return Ink::Strong;
  case Outcome::Wrong:
  case Outcome::Faulted:
  case Outcome::TimedOut:
    return Ink::Hot;
  case Outcome::Slower:
  case Outcome::Unproved:
  case Outcome::Refused:
  case Outcome::Untried:
    break;
  }
  return Ink::Faint;
}

/// \p Text under the last row, in as many lines as it takes.
static void remark(Table &T, StringRef Text, unsigned Width) {
  constexpr unsigned Indent = 8; // the table's own for remarks, and more
  std::string Wrapped;
  raw_string_ostream OS(Wrapped);
  printWrapped(OS, Text, Width - Indent, 0);
  for (StringRef Rest = Wrapped; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    T.remark("  " + Line.str());
    Rest = After;
  }
}

void printDecisions(const DecisionFile &File, raw_ostream &OS,
                    const TerminalOptions &Options) {
  const unsigned Width = std::max(Options.Width, 80u);
  OS << '\n';
  printInk(OS, "What was tried on " + cleanText(File.Program), Ink::Strong,
           Options.Color);
  OS << "\n\n";
  Table T;
  T.column("kernel", /*Left=*/true);
  T.column("candidate", /*Left=*/true);
  T.column("predicted", /*Left=*/false);
  T.column("achieved", /*Left=*/false);
  T.column("result", /*Left=*/true);
  T.column("outcome", /*Left=*/true);
  bool AnyEstimate = false, AnyTried = false;
  for (const Decision &D : File.Kernels) {
    const std::string Kernel = cutEnd(cleanText(D.Display), 28);
    if (D.Tried.empty())
      T.row({{Kernel}, {"none"}, {"-"}, {"-"}, {"-"}, {D.Why, Ink::Faint}});
    for (const TrialResult &R : D.Tried) {
      AnyTried = true;
      AnyEstimate |= R.Predicted > 0 && !D.Measured;
      T.row({{&R == &D.Tried.front() ? Kernel : ""},
             {cutEnd(cleanText(R.What.text()), 24)},
             {ratio(R.Predicted)},
             {D.Measured ? ratio(R.Speedup) : "-"},
             {verdictOf(R)},
             {wordOf(R.End).str(), inkOf(R.End)}});
      if (!R.Why.empty())
        remark(T, cleanText(R.Why), Width);
    }
  }
  T.print(OS, Options.Color);
  OS << '\n';
  for (const Decision &D : File.Kernels)
    if (D.Keep.changesCode()) {
      std::string Line = "kept: " + D.Keep.text() + " for " + D.Display;
      printWrapped(OS, cleanText(Line), Width, 2);
    }
  std::string Legend =
      "identical: every byte of device memory, in each launch tried, from the "
      "same state, as the original left it.";
  if (AnyEstimate)
    Legend += " predicted: issue slots of the original over the candidate's, "
              "counted on " +
              File.Device +
              "; an estimate, no time was taken. Only a GPU can confirm it.";
  if (AnyTried)
    printWrapped(OS, cleanText(Legend), Width, 2);
}

} // namespace reconverge::report
