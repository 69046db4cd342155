//===- report/Kernels.cpp - The table of kernels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that hardly diverges gets no line beside others that do: to do
// nothing is an answer, and how many got it is said. Where nothing diverges
// all are shown.
//
//===----------------------------------------------------------------------===//

#include "report/Kernels.h"
#include "report/Names.h"
#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::report {

/// A kernel is left alone if none of its branches parts lanes at this price.
static constexpr double WorthALook = 0.01;
/// A kernel whose lanes idle less than this is fine as it is.
static constexpr double HardlyIdle = 0.05;

std::string nameOf(const KernelProfile &K, unsigned Width) {
  return kernelName(K.Info.Display.empty() ? K.Info.Name : K.Info.Display,
                    Width);
}

static bool hasBranchToBlame(const KernelCost &C) {
  return any_of(C.Branches,
                [](const BranchCost &B) { return B.Self >= WorthALook; });
}

static bool isFine(const KernelCost &C) {
  return 1 - C.Cfe < HardlyIdle && !hasBranchToBlame(C);
}

static std::string wordsFor(double Fraction) {
  std::string Text;
  raw_string_ostream(Text) << format("%.2fx", Fraction);
  return Text;
}

/// Why lanes idle in a kernel of which no branch is to blame.
static std::string adviceFor(const KernelProfile &K, const KernelCost &C) {
  double Partial = 0;
  for (auto [Info, Counts] : zip(K.Info.Blocks, K.Blocks))
    Partial += double(Counts.PartialIdle) * Info.Instructions;
  const double Idle =
      double(C.WarpInstructions) * K.WarpSize - double(C.Instructions);
  if (2 * Partial >= Idle)
    return "lanes idle in partial warps, not at branches; block sizes that are "
           "multiples of " +
           std::to_string(K.WarpSize) + " fill them.";
  return "no branch costs " + percent(WorthALook) +
         "; what idles is spread over many.";
}

void printKernels(const Profile &P, const RunCost &Cost, raw_ostream &OS,
                  const TerminalOptions &Options) {
  std::vector<size_t> Shown;
  for (size_t I = 0; I != P.Kernels.size(); ++I)
    if (!isFine(Cost.Kernels[I]))
      Shown.push_back(I);
  const bool AllFine = Shown.empty();
  const size_t LeftOut = AllFine ? 0 : P.Kernels.size() - Shown.size();
  if (AllFine)
    append_range(Shown, seq(P.Kernels.size()));
  sort(Shown, [&](size_t A, size_t B) {
    return std::pair(-Cost.Kernels[A].Slots, A) <
           std::pair(-Cost.Kernels[B].Slots, B);
  });

  auto Fill = [&](unsigned NameWidth) {
    Table T;
    T.column("kernel", true);
    T.column("launches", false);
    T.column("threads", false);
    T.column(P.Backend == "vm" ? "CPU time" : "time", false);
    T.column("of run", false);
    T.column("CFE", false);
    T.column("potential", false);
    if (Options.Width >= 100)
      T.column("divergent warps", false);
    for (size_t I : Shown) {
      const KernelProfile &K = P.Kernels[I];
      const KernelCost &C = Cost.Kernels[I];
      std::vector<Table::Cell> Cells = {
          {nameOf(K, NameWidth)},
          {count(K.Launches)},
          {count(K.Threads)},
          {duration(K.Seconds)},
          {percent(Cost.Slots > 0 ? C.Slots / Cost.Slots : 0)},
          {percent(C.Cfe)},
          {wordsFor(C.Potential)}};
      if (Options.Width >= 100)
        Cells.push_back({percent(double(K.DivergentWarps) /
                                 double(std::max<uint64_t>(K.WarpsRun, 1)))});
      T.row(std::move(Cells));
    }
    return T;
  };
  const unsigned Fixed = Fill(6).width() - 6;
  Fill(Options.Width > Fixed + 20 ? Options.Width - Fixed : 20)
      .print(OS, Options.Color);
  auto Paragraph = [&](const Twine &Text) {
    printWrapped(OS, Text.str(), Options.Width, 2);
  };
  const std::string Fine = percent(1 - HardlyIdle) +
                           " of their lanes work or more, and no branch "
                           "costs " +
                           percent(WorthALook);
  if (AllFine)
    Paragraph("Nothing to gain here: " + Fine + ".");
  else if (LeftOut)
    Paragraph("and " + counted(LeftOut, "kernel") +
              " with nothing to gain: " + Fine);
  OS << '\n';

  bool Any = false;
  for (size_t I : Shown)
    if (!hasBranchToBlame(Cost.Kernels[I]) && !isFine(Cost.Kernels[I])) {
      Paragraph(nameOf(P.Kernels[I], 48) + ": " +
                adviceFor(P.Kernels[I], Cost.Kernels[I]));
      Any = true;
    }
  if (Any)
    OS << '\n';
}

void printOrders(const Profile &P, raw_ostream &OS,
                 const TerminalOptions &Options) {
  uint32_t Orders = 0;
  for (const KernelProfile &K : P.Kernels)
    Orders = std::max(Orders, K.Orders.Orders);
  if (!Orders)
    return;
  auto Paragraph = [&](const Twine &Text) {
    printWrapped(OS, Text.str(), Options.Width, 2);
  };
  const std::string Others = counted(Orders, "other order");
  printInk(OS, "Order of blocks, warps and lanes", Ink::Strong, Options.Color);
  OS << '\n';
  for (const KernelProfile &K : P.Kernels) {
    const OrderTrials &T = K.Orders;
    const std::string Name = nameOf(K, 48) + ": ";
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

} // namespace reconverge::report
