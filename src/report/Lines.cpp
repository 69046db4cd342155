//===- report/Lines.cpp - What each line of a source costs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block counts for the line of its first instruction, once in each file that
// its chain of calls passes: in the function's own file, and in those of the
// callers at the line of the call. So the lines of one file add up to all that
// runs in it or below it, whatever other files it includes.
//
//===----------------------------------------------------------------------===//

#include "report/Lines.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

/// Calls \p Do with the innermost place of each file in \p Where.
static void forEachFile(const SourceChain &Where,
                        function_ref<void(const SourceLoc &)> Do) {
  StringSet<> Seen;
  for (const SourceLoc &Loc : Where)
    if (Loc.Line && Seen.insert(Loc.File).second)
      Do(Loc);
}

std::map<std::string, FileLines> linesOf(const Profile &P,
                                         const RunCost &Cost) {
  std::map<std::string, FileLines> Files;
  const double Slots = Cost.Slots > 0 ? Cost.Slots : 1;
  for (const KernelProfile &K : P.Kernels)
    for (auto [Info, Counts] : zip_equal(K.Info.Blocks, K.Blocks))
      forEachFile(Info.Where, [&](const SourceLoc &Loc) {
        LineCost &Line = Files[Loc.File][Loc.Line];
        Line.OfRun += Info.IssueSlots * double(Counts.Warps) / Slots;
        Line.Lanes += double(Info.Instructions) * double(Counts.Lanes);
        Line.Capacity += double(Info.Instructions) * double(Counts.Warps) *
                         double(K.WarpSize);
      });
  for (const PlaceCost &Place : Cost.Places) {
    const PlaceCost::Member M = Place.Branches.front();
    forEachFile(P.Kernels[M.Kernel].Info.Branches[M.Branch].Where,
                [&](const SourceLoc &Loc) {
                  LineCost &Line = Files[Loc.File][Loc.Line];
                  Line.Self += Place.Self;
                  Line.Total = std::max(Line.Total, Place.Cost);
                });
  }
  return Files;
}

static Ink inkOf(double Self) {
  return Self >= 0.1 ? Ink::Hot : Self >= 0.03 ? Ink::Warm : Ink::Plain;
}

/// "12.3%", or blanks for what would be 0.0%.
static std::string share(double X) { return X < 0.0005 ? "" : percent(X); }

void printAnnotated(StringRef Name, StringRef Source, const FileLines &Lines,
                    unsigned WarpSize, raw_ostream &OS,
                    const TerminalOptions &Options) {
  printInk(OS, cleanText(Name), Ink::Strong, Options.Color);
  OS << '\n';
  printInk(OS, "  self   total   slots  lanes   line", Ink::Strong,
           Options.Color);
  OS << '\n';
  unsigned Number = 0;
  for (StringRef Rest = Source; !Rest.empty();) {
    StringRef Text;
    std::tie(Text, Rest) = Rest.split('\n');
    auto At = Lines.find(++Number);
    const LineCost Cost = At == Lines.end() ? LineCost() : At->second;
    std::string Lanes;
    if (Cost.Capacity > 0)
      raw_string_ostream(Lanes) << format("%.1f", WarpSize * Cost.efficiency());
    std::string Margin;
    raw_string_ostream(Margin) << right_justify(share(Cost.Self), 6) << "  "
                               << right_justify(share(Cost.Total), 6) << "  "
                               << right_justify(share(Cost.OfRun), 6) << "  "
                               << right_justify(Lanes, 5) << "  ";
    printInk(OS, Margin, inkOf(Cost.Self), Options.Color);
    OS << right_justify(std::to_string(Number), 5) << "  ";
    // Tabs and other scripts stay as they are; what moves the cursor goes.
    std::string Line;
    for (char C : Text.rtrim('\r'))
      if (C == '\t' || static_cast<unsigned char>(C) >= 0x20)
        Line += C;
    OS << StringRef(Line).rtrim() << '\n';
  }
  OS << '\n';
  printWrapped(OS,
               "self: lost where lanes part at this line; total: with the "
               "branches inside; slots: of the run's issue slots, those of the "
               "code that begins here, and of what it calls in other files; "
               "lanes: that work there, of " +
                   std::to_string(WarpSize) + ".",
               std::max(Options.Width, 80u), 2);
}

} // namespace reconverge::report
