//===- report/Kernels.cpp - The table of kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with nothing to gain get no line beside others that have: how many
// there are is said. The findings of --shuffle and of --races follow, a
// paragraph a kernel.
//
//===----------------------------------------------------------------------===//

#include "report/Kernels.h"
#include "report/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::report {

/// Of one kind in one kernel; the file has all.
static constexpr size_t MostRaces = 20;

static std::string timesOf(double Factor) {
  std::string Text;
  raw_string_ostream(Text) << format("%.2fx", Factor);
  return Text;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// What there is room for, from the least on: how many threads there are and the
/// potential, which follows from CFE; and the share of warps that diverge.
enum class Room { Narrow, Usual, Wide };

/// With names of at most \p NameWidth columns.
static Table tableOf(const View &V, unsigned NameWidth, Room Has) {
  const bool HasTimes =
      any_of(V.Kernels, [](const KernelView &K) { return !K.BoundBy.empty(); });
  Table T;
  T.column("kernel", true);
  T.column("launches", false);
  if (Has >= Room::Usual)
    T.column("threads", false);
  T.column(V.TimesAreOfCpu ? "CPU time" : "time", false);
  T.column("of run", false);
  T.column("CFE", false);
  if (Has >= Room::Usual)
    T.column("potential", false);
  if (HasTimes) {
    T.column("attainable", false);
    T.column("bound by", true);
  }
  if (Has == Room::Wide)
    T.column("divergent warps", false);
  SmallVector<StringRef> Whole;
  for (uint32_t I : V.Ranking)
    Whole.push_back(V.Kernels[I].Name);
  for (auto [I, Name] : zip(V.Ranking, kernelNames(Whole, NameWidth))) {
    const KernelView &K = V.Kernels[I];
    std::vector<Table::Cell> Cells = {{Name}, {count(K.Launches)}};
    if (Has >= Room::Usual)
      Cells.push_back({count(K.Threads)});
    Cells.insert(Cells.end(),
                 {{duration(K.Seconds)}, {percent(K.OfRun)}, {percent(K.Cfe)}});
    if (Has >= Room::Usual)
      Cells.push_back({timesOf(K.Potential)});
    if (HasTimes) {
      Cells.push_back({K.Attainable > 0 ? timesOf(K.Attainable) : "-"});
      Cells.push_back({K.BoundBy.empty() ? "-" : K.BoundBy});
    }
    if (Has == Room::Wide)
      Cells.push_back({percent(K.Divergent)});
    T.row(std::move(Cells));
  }
  return T;
}

void printKernels(const View &V, raw_ostream &OS,
                  const TerminalOptions &Options) {
  constexpr unsigned Least = 20; // of a name
  Room Has = Room::Wide;
  while (Has != Room::Narrow && tableOf(V, Least, Has).width() > Options.Width)
    Has = Room(int(Has) - 1);
  const unsigned Fixed = tableOf(V, 6, Has).width() - 6;
  tableOf(V, std::max(Least, Options.Width - std::min(Fixed, Options.Width)),
          Has)
      .print(OS, Options.Color);
  auto Paragraph = [&](const Twine &Text) {
    printWrapped(OS, Text.str(), Options.Width, 2);
  };
  const std::string Fine = percent(1 - HardlyIdle) +
                           " of their lanes work or more, and no branch "
                           "costs " +
                           percent(WorthALook);
  if (all_of(V.Kernels, [](const KernelView &K) { return K.IsFine; }))
    Paragraph("Nothing to gain here: " + Fine + ".");
  else if (V.FineKernels)
    Paragraph("and " + counted(V.FineKernels, "kernel") +
              " with nothing to gain: " + Fine);
  OS << '\n';

  bool Any = false;
  for (uint32_t I : V.Ranking)
    if (const KernelView &K = V.Kernels[I]; !K.WhyIdle.empty()) {
      Paragraph(kernelName(K.Name, 48) + ": " + K.WhyIdle);
      Any = true;
    }
  if (Any)
    OS << '\n';
}

//===----------------------------------------------------------------------===//
// Orders and races
//===----------------------------------------------------------------------===//

void printOrders(const View &V, raw_ostream &OS,
                 const TerminalOptions &Options) {
  uint32_t Orders = 0;
  for (const KernelView &K : V.Kernels)
    Orders = std::max(Orders, K.Orders.Orders);
  if (!Orders)
    return;
  auto Paragraph = [&](const Twine &Text) {
    printWrapped(OS, Text.str(), Options.Width, 2);
  };
  const std::string Others = counted(Orders, "other order");
  printInk(OS, "Order of blocks, warps and lanes", Ink::Strong, Options.Color);
  OS << '\n';
  for (const KernelView &K : V.Kernels) {
    const OrderTrials &T = K.Orders;
    const std::string Name = kernelName(K.Name, 48) + ": ";
    const std::string Tried =
        counted(T.Launches, "launch") +
        (T.Launches < K.Launches ? " (of " + count(K.Launches) + ")" : "");
    if (!T.Launches) {
      Paragraph(Name + "not tried.");
      continue;
    }
    if (!T.Differing && !T.FaultyRuns)
      Paragraph(Name + "no difference in " + Others + " of " + Tried + ".");
    if (T.Differing) {
      const OrderDifference &D = *T.First;
      Paragraph(Name + "depends on the order. " +
                (T.Bytes == 1 ? "1 byte differs"
                              : "Up to " + count(T.Bytes) + " bytes differ") +
                " in " + count(T.Differing) + " of " + Tried +
                ". First in launch " + Twine(D.Launch) + ": " +
                cleanText(D.Memory) + ", at byte " + Twine(D.Offset) + ": " +
                cleanText(D.Type) + " " + cleanText(D.Natural) + ", but " +
                cleanText(D.Other) + " in order " + Twine(D.Order) + ".");
    }
    if (T.FaultyRuns) {
      const OrderFault &F = T.Faults.front();
      Paragraph(Name + "faults in " + count(T.FaultyRuns) + " of " +
                counted(T.Launches * T.Orders, "run") +
                " in other orders. First in launch " + Twine(F.Launch) +
                ", order " + Twine(F.Order) + ": " + cleanText(F.Message));
    }
  }
  Paragraph("order 1 is the natural one reversed; RECONVERGE_VM=seed=N runs a "
            "program in order N. What did not differ may still do so in an "
            "order that was not tried.");
  OS << '\n';
}

void printRaces(const View &V, raw_ostream &OS,
                const TerminalOptions &Options) {
  if (none_of(V.Kernels, [](const KernelView &K) { return K.Watched; }))
    return;
  auto Paragraph = [&](const Twine &Text, unsigned Indent) {
    printWrapped(OS, Text.str(), Options.Width, Indent);
  };
  printInk(OS, "Races", Ink::Strong, Options.Color);
  OS << '\n';
  for (const KernelView &K : V.Kernels) {
    const std::string Name = kernelName(K.Name, 48) + ": ";
    const size_t Real =
        count_if(K.Races, [](const RaceView &R) { return !R.SameValue; });
    const std::string Launches = " in " + counted(K.Watched, "launch") + ".";
    if (!K.Watched)
      Paragraph(Name + "not looked at.", 2);
    else if (Real)
      Paragraph(Name + counted(Real, "race") + Launches, 2);
    else
      Paragraph(Name + "no race" + Launches, 2);
    auto List = [&](bool SameValue) {
      size_t Shown = 0;
      for (const RaceView &R : K.Races)
        if (R.SameValue == SameValue && Shown++ < MostRaces)
          Paragraph("  " + R.Text + "; " + counted(R.Times, "time") + ".", 4);
      if (Shown > MostRaces)
        Paragraph("  and " + counted(Shown - MostRaces, "more race") + ".", 4);
    };
    List(false);
    List(true);
    if (K.WatchIncomplete)
      Paragraph("  There was no memory to follow all accesses.", 4);
  }
  Paragraph("A race is two accesses to one byte, one a write, that nothing "
            "orders; docs/races.md has the rules. Of one run, with this input.",
            2);
  OS << '\n';
}

} // namespace reconverge::report
