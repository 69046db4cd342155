//===- report/Forecasts.cpp - The table of `predict` ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is a few rows: a candidate each, the greatest gain first. If the same is
// said of all candidates of a remedy, they are one row.
//
//===----------------------------------------------------------------------===//

#include "report/Forecasts.h"
#include "report/Names.h"
#include "report/View.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace llvm;

namespace reconverge::report {

static std::string times(double Factor) {
  std::string Text;
  raw_string_ostream(Text) << format("%.2fx", Factor);
  return Text;
}

static std::pair<std::string, std::string> gainOf(const Forecast &F) {
  return {times(F.Speedup), times(F.Low) + " to " + times(F.High)};
}

static std::string nameOf(const Forecast &F, bool IsOne) {
  if (F.ByHand)
    return F.Remedy + " (by hand)";
  if (IsOne || !F.Parameters || F.Parameters->empty())
    return F.Remedy;
  return F.Remedy + " (" + *F.Parameters + ")";
}

static void addRows(Table &T, const KernelView &K, const Forecasts &Of) {
  std::string Name = kernelName(K.Name, 40), Bound = K.BoundBy;
  std::string Share = percent(K.OfRun), Cfe = percent(K.Cfe);
  auto Row = [&](StringRef What, const std::string &Gain,
                 const std::string &Range) {
    T.row({{Name}, {Share}, {Cfe}, {Bound}, {What.str()}, {Gain}, {Range}});
    Name = Share = Cfe = Bound = "";
  };
  for (size_t I = 0; I != Of.size(); ++I) {
    const auto SaysTheSame = [&](const Forecast &Other) {
      return Other.Remedy != Of[I].Remedy || gainOf(Other) == gainOf(Of[I]);
    };
    const bool IsOne = std::ranges::all_of(Of, SaysTheSame);
    if (!IsOne || std::ranges::find(Of, Of[I].Remedy, &Forecast::Remedy) ==
                      Of.begin() + ptrdiff_t(I))
      Row(nameOf(Of[I], IsOne), gainOf(Of[I]).first, gainOf(Of[I]).second);
  }
  if (Of.empty())
    Row("nothing", "", "");
}

static std::vector<size_t> hottestFirst(const View &V) {
  std::vector<size_t> Order(V.Kernels.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::ranges::sort(
      Order, {}, [&](size_t I) { return std::pair(-V.Kernels[I].OfRun, I); });
  return Order;
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
  for (size_t I : hottestFirst(V))
    addRows(T, V.Kernels[I], Of[I]);
  T.print(OS, Options.Color);
  OS << '\n';
  printWrapped(OS,
               "Nothing was built: forecasts are from counts of the program as "
               "it is. Between: if the remedy gives nothing back and its price "
               "is paid; if it gives back all that idles, for nothing; and as "
               "far beyond either as forecasts usually are off. "
               "reconverge optimize tries what is automatic.",
               Options.Width, 0);
  OS << "Counted on " << V.CountedOn << '\n';
}

void printGroupings(const Profile &P, const RunCost &Cost,
                    const std::vector<std::optional<GroupingForecasts>> &Of,
                    raw_ostream &OS, const TerminalOptions &Options) {
  OS << '\n';
  printInk(OS, "What it should gain to deal out threads anew by block vectors",
           Ink::Strong, Options.Color);
  OS << "\n\n";
  Table T;
  T.column("kernel", true);
  T.column("launch", false);
  T.column("threads", false);
  T.column("regrouped", false);
  T.column("classes", false);
  T.column("by", true);
  T.column("weighted", false);
  T.column("scheduled", false);
  const View V = viewOf(P, Cost);
  for (size_t I : hottestFirst(V)) {
    std::string Name = kernelName(V.Kernels[I].Name, 40);
    const std::optional<GroupingForecasts> &F = Of[I];
    if (!F) {
      T.row({{Name}, {"-"}, {"-"}, {"-"}, {"-"}, {"no block vectors"}});
      continue;
    }
    std::string Launch = std::to_string(F->Launch), Threads = count(F->Threads),
                Sampled = count(F->Sampled), Classes = count(F->Classes);
    for (const GroupingForecasts::Grouping &G : F->By) {
      T.row({{Name},
             {Launch},
             {Threads},
             {Sampled},
             {Classes},
             {G.Algorithm},
             {percent(G.Improvement.Weighted)},
             {percent(G.Improvement.Scheduled)}});
      Name = Launch = Threads = Sampled = Classes = "";
    }
  }
  T.print(OS, Options.Color);
  OS << '\n';
  printWrapped(OS,
               "1 - T/T0 by the two metrics of Liang et al., in groups of a "
               "warp, before the price of regrouping and of memory: "
               "docs/metrics.md. Classes: of threads that ran each block as "
               "often.",
               Options.Width, 0);
}

/// Where the loads of \p F stand.
static std::string placesOf(ArrayRef<uint32_t> Loads, const KernelInfo &Info) {
  std::string Text;
  const StringRef First = Info.Marks.empty() ? "loads: " : "features: ";
  for (uint32_t Load : Loads)
    if (const std::string Place = placeOfFeature(Info, Load); !Place.empty())
      Text += (Text.empty() ? First : ", ").str() + std::to_string(Load) +
              " at " + Place;
  return Text;
}

/// Adds a row: how good \p By is, whose parameters are \p Text, and where \p Loads
/// are that they ask for.
static void addSource(Table &T, const std::string &Kernel, StringRef Source,
                      const OrderQuality &By, bool HasR2 = true,
                      const std::string &Text = {},
                      const std::string &Places = {}) {
  std::string R2 = "-";
  if (HasR2) {
    R2.clear();
    raw_string_ostream(R2) << format("%.3f", By.R2);
  }
  T.row({{Kernel},
         {Source.str()},
         {R2},
         {percent(By.Purity)},
         {percent(By.Gain)}});
  if (Text.empty())
    return;
  T.remark("  --regroup='" + Text + "'");
  if (!Places.empty())
    T.remark("  " + Places);
}

static void addSources(Table &T, const EstimateForecast &F,
                       const KernelInfo &Info, const std::string &Kernel) {
  addSource(T, Kernel, "none", F.AsItIs, /*HasR2=*/false);
  const std::string Threads = "  " + count(F.Fitted) + " fitted";
  SmallVector<uint32_t> OfSum;
  for (auto [Load, Weight] : zip_equal(F.Loads, F.Sum.PerUnit))
    if (Weight != 0)
      OfSum.push_back(Load);
  addSource(T, Threads, "sum", F.BySum, /*HasR2=*/true, textOfSum(F),
            placesOf(OfSum, Info));
  addSource(T, "  " + count(F.Tested) + " tested", "tree", F.ByTree,
            /*HasR2=*/true, textOfTree(F), placesOf(F.Tree.loads(), Info));
  if (F.ByNet)
    addSource(T, "", "net", *F.ByNet);
  if (F.ByTiles)
    addSource(T, "", "net, mma", *F.ByTiles);
  if (!F.WhyNoNet.empty())
    T.remark("  no net: " + F.WhyNoNet);
  addSource(T, "", "time", F.ByTime, /*HasR2=*/false);
}

void printEstimates(const Profile &P, const RunCost &Cost,
                    const std::vector<std::optional<EstimateForecast>> &Of,
                    raw_ostream &OS, const TerminalOptions &Options) {
  OS << '\n';
  printInk(OS, "What threads take, estimated from what they load before",
           Ink::Strong, Options.Color);
  OS << "\n\n";
  Table T;
  T.column("kernel", true);
  T.column("order by", true);
  T.column("R2", false);
  T.column("purity", false);
  T.column("gain", false);
  const View V = viewOf(P, Cost);
  for (size_t I : hottestFirst(V)) {
    const std::string Name = kernelName(V.Kernels[I].Name, 40);
    if (Of[I])
      addSources(T, *Of[I], P.Kernels[I].Info, Name);
    else
      T.row({{Name}, {"-"}, {"-"}, {"-"}, {"-"}});
  }
  T.print(OS, Options.Color);
  OS << '\n';
  printWrapped(
      OS,
      "Of threads to which nothing was fitted, in order of a sum of weighted "
      "loads, of a tree of questions about them, of the classes of a net "
      "(where this build can train one), by multiply-adds and on tensor cores, "
      "and of what threads took, which no source can surpass. R2: what is "
      "explained of how long they take; "
      "purity: lanes that take about as long as most of their warp; gain: 1 - "
      "T/T0 by the weighted metric of Liang et al., before the price of the "
      "order. -: no load outside of loops, or in the first round of a loop "
      "over "
      "items, decides what its threads do, or none that can be made before the "
      "kernel.",
      Options.Width, 0);
}

} // namespace reconverge::report
