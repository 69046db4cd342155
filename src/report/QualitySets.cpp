//===- report/QualitySets.cpp - What outputs allow, as a table ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Decisions.h"

#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::report {

static std::string nameOf(const QualitySet &Set) {
  std::vector<std::string> Names;
  for (const QualitySet::Member &M : Set.Members)
    Names.push_back(M.What.text() + " of " + M.Kernel);
  return cleanText(join(Names, " + "));
}

static std::string ratio(double X) {
  std::string Text;
  raw_string_ostream(Text) << format("%.3fx", X);
  return Text;
}

void printSearch(const QualitySearch &Search, raw_ostream &OS,
                 const TerminalOptions &Options) {
  const unsigned Width = std::max(Options.Width, 80u);
  if (!Search.Sets.empty()) {
    OS << '\n';
    printInk(OS, "What its outputs allow", Ink::Strong, Options.Color);
    OS << "\n\n";
    Table T;
    T.column("set", /*Left=*/false);
    T.column("speed-up", /*Left=*/false);
    T.column("quality", /*Left=*/true);
    T.column("held out", /*Left=*/true);
    T.column("", /*Left=*/true);
    for (const auto &[N, Set] : enumerate(Search.Sets)) {
      const bool IsKept = Set.Why.empty();
      T.row({{std::to_string(N + 1)},
             {ratio(Set.Speedup)},
             {Set.Trained.empty() ? "-" : join(Set.Trained, ", ")},
             {Set.HeldOut.empty()
                  ? "-"
                  : ratio(Set.HeldOutSpeedup) + ", " + join(Set.HeldOut, ", ")},
             {IsKept       ? "kept"
              : Set.IsBest ? "of the best"
                           : "",
              IsKept ? Ink::Strong : Ink::Faint}});
      std::string Text;
      raw_string_ostream Wrapped(Text);
      printWrapped(Wrapped,
                   nameOf(Set) + (IsKept ? "" : ": " + cleanText(Set.Why)),
                   Width - 8, 0);
      for (StringRef Rest = Text; !Rest.empty();) {
        auto [Line, After] = Rest.split('\n');
        T.remark("  " + Line.str());
        Rest = After;
      }
    }
    T.print(OS, Options.Color);
    OS << '\n';
  }
  std::string Line = "--quality: " + Search.Verdict;
  printWrapped(OS, cleanText(Line), Width, 2);
  if (!Search.Sets.empty())
    printWrapped(OS,
                 "speed-up: of all kernels together, where it is least of the "
                 "inputs. quality: the worst over these. of the best: no other "
                 "set is as fast and as good.",
                 Width, 2);
}

} // namespace reconverge::report
