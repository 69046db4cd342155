//===- report/Forecasts.cpp - The table of `predict` ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is a few rows: a remedy each, the greatest gain first.
//
//===----------------------------------------------------------------------===//

#include "report/Forecasts.h"
#include "report/Names.h"
#include "report/View.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace reconverge::report {

static std::string times(double Factor) {
  std::string Text;
  raw_string_ostream(Text) << format("%.2fx", Factor);
  return Text;
}

static void addRows(Table &T, const KernelView &K, const Forecasts &Of) {
  std::string Name = kernelName(K.Name, 40), Bound = K.BoundBy;
  std::string Share = percent(K.OfRun), Cfe = percent(K.Cfe);
  auto Row = [&](StringRef What, const std::string &Gain,
                 const std::string &Range) {
    T.row({{Name}, {Share}, {Cfe}, {Bound}, {What.str()}, {Gain}, {Range}});
    Name = Share = Cfe = Bound = "";
  };
  for (const Forecast &F : Of)
    Row(F.Remedy + (F.ByHand ? " (by hand)" : ""), times(F.Speedup),
        times(F.Low) + " to " + times(F.High));
  if (Of.empty())
    Row("nothing", "", "");
}

void printForecasts(const Profile &P, const RunCost &Cost,
                    const std::vector<Forecasts> &Of, raw_ostream &OS,
                    const TerminalOptions &Options) {
  const View V = viewOf(P, Cost);
  printInk(OS, "What remedies should gain on " + V.Program, Ink::Strong,
           Options.Color);
  OS << "\n\n";
  Table T;
  T.column("kernel", true);
  T.column("of run", false);
  T.column("CFE", false);
  T.column("bound by", true);
  T.column("remedy", true);
  T.column("forecast", false);
  T.column("between", true);
  std::vector<size_t> Hottest(V.Kernels.size());
  std::iota(Hottest.begin(), Hottest.end(), 0);
  std::ranges::sort(
      Hottest, {}, [&](size_t I) { return std::pair(-V.Kernels[I].OfRun, I); });
  for (size_t I : Hottest)
    addRows(T, V.Kernels[I], Of[I]);
  T.print(OS, Options.Color);
  OS << '\n';
  printWrapped(OS,
               "Nothing was built: forecasts are from counts of the program as "
               "it is. Between: if the remedy gives nothing back and its price "
               "is paid; if it gives back all that idles, for nothing. "
               "reconverge optimize tries what is automatic.",
               Options.Width, 0);
  OS << "Counted on " << V.CountedOn << '\n';
}

} // namespace reconverge::report
