//===- report/Races.cpp - Accesses that nothing orders --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Races.h"

#include "report/Kernels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace reconverge::report {

/// Of one kind in one kernel; the file has all.
static constexpr size_t MostRaces = 20;

void printRaces(const Profile &P, const PathNames &Paths, raw_ostream &OS,
                const TerminalOptions &Options) {
  if (none_of(P.Kernels,
              [](const KernelProfile &K) { return K.Races.Launches; }))
    return;
  auto Paragraph = [&](const Twine &Text, unsigned Indent) {
    printWrapped(OS, Text.str(), Options.Width, Indent);
  };
  auto NameOf = [&](const std::string &Path) {
    return Paths.shortName(cleanText(Path));
  };
  printInk(OS, "Races", Ink::Strong, Options.Color);
  OS << '\n';
  for (const KernelProfile &K : P.Kernels) {
    const RaceFindings &F = K.Races;
    const std::string Name = nameOf(K, 48) + ": ";
    const size_t Same =
        count_if(F.Races, [](const Race &R) { return R.SameValue; });
    const size_t Real = F.Races.size() - Same;
    const std::string Where = " in " + counted(F.Launches, "launch") + ".";
    if (!F.Launches)
      Paragraph(Name + "not looked at.", 2);
    else if (Real)
      Paragraph(Name + counted(Real, "race") + Where, 2);
    else
      Paragraph(Name + "no race" + Where, 2);
    auto List = [&](bool SameValue) {
      size_t Shown = 0;
      for (const Race &R : F.Races)
        if (R.SameValue == SameValue && Shown++ < MostRaces)
          Paragraph("  " + cleanText(textOf(R, NameOf)) + "; " +
                        counted(R.Times, "time") + ".",
                    4);
      if (Shown > MostRaces)
        Paragraph("  and " + counted(Shown - MostRaces, "more race") + ".", 4);
    };
    List(false);
    List(true);
    if (F.Incomplete)
      Paragraph("  There was no memory to follow all accesses.", 4);
  }
  Paragraph("A race is two accesses to one byte, one a write, that nothing "
            "orders; docs/races.md has the rules. Of one run, with this input.",
            2);
  OS << '\n';
}

} // namespace reconverge::report
