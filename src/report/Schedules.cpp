//===- report/Schedules.cpp - How thread blocks fill a GPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Kernels.h"
#include "report/Names.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace reconverge::report {

static std::string cycles(double Cycles) {
  return count(uint64_t(std::llround(std::clamp(Cycles, 0.0, 1e18))));
}

/// "launch 3, 24 thread blocks of 128 threads (times from 12)".
static std::string launchOf(const LaunchSchedule &S) {
  const uint64_t Blocks = S.Shape.blocks();
  std::string Text = "launch " + std::to_string(S.Launch) + ", " +
                     counted(Blocks, "thread block") + " of " +
                     counted(S.Shape.blockThreads(), "thread");
  if (S.SampledBlocks != Blocks)
    Text += " (each taken to be as the nearest of " + count(S.SampledBlocks) +
            " with block vectors)";
  return Text;
}

static std::string residentOf(const LaunchSchedule &S) {
  const std::string By = std::string(wordOf(S.Resident.By)) +
                         (S.RegistersKnown ? "" : "; registers not known");
  if (!S.Resident.Blocks)
    return "no thread block fits on a multiprocessor (" + By + ")";
  return counted(S.Resident.Blocks, "thread block") + " at once on each of " +
         counted(S.Multiprocessors, "multiprocessor") + " (limited by " + By +
         ")";
}

void printSchedules(const View &V, raw_ostream &OS,
                    const TerminalOptions &Options) {
  if (!V.HasSchedules)
    return;
  auto Paragraph = [&](const Twine &Text, unsigned Indent = 2) {
    printWrapped(OS, Text.str(), Options.Width, Indent);
  };
  printInk(OS, "Schedule of thread blocks", Ink::Strong, Options.Color);
  OS << '\n';
  for (const KernelView &K : V.Kernels) {
    const std::string Name = kernelName(K.Name, 48) + ": ";
    if (!K.Schedule) {
      Paragraph(Name + "no block vectors were taken.");
      continue;
    }
    const LaunchSchedule &S = *K.Schedule;
    Paragraph(Name + launchOf(S) + "; " + residentOf(S) + ".");
    std::string Times =
        "  BBV-weighted " + cycles(S.Times.Weighted) + " cycles";
    if (S.Resident.Blocks)
      Times += ", scheduled " + cycles(S.Times.Scheduled) +
               "; slots are full for " + percent(S.Busy) +
               " of that, and some multiprocessor has nothing left for " +
               percent(S.Tail);
    if (S.MeanBlock > 0)
      raw_string_ostream(Times)
          << format("; the longest thread block takes %.1fx the mean",
                    S.LongestBlock / S.MeanBlock);
    Paragraph(Times + ".", 4);
    for (const std::string &Line : S.Drawing)
      OS << "  " << Line << '\n';
  }
  Paragraph("Cycles are latencies added up: to compare two forms of a kernel "
            "by, not a time. A slot holds one thread block.");
  OS << '\n';
}

} // namespace reconverge::report
