//===- report/Terminal.cpp - A profile as a table of text -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user reads first, so in this order: what did not run, where lanes part
// at the highest price (a row a place, over all kernels), what to do about
// each, what each kernel lost in sum, the command that tries what is automatic,
// two lines on the columns, and where the numbers come from. The rest is on the
// pages of `reconverge explain`.
//
// A row is numbers, then the place and its whole condition, which may take the
// rest of the line and go on in the next. A row right under that of a place
// around it is indented. Lines under a row say in which kernel it is and
// through which calls, how its warps split, and what may help.
//
//===----------------------------------------------------------------------===//

#include "report/Terminal.h"
#include "report/Advice.h"
#include "report/Kernels.h"
#include "report/Races.h"
#include "report/Text.h"

#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace reconverge::report {

/// A place at which less of the run is lost gets no row.
static constexpr double LeastSelf = 0.001;
/// Advice is given from this share of the run on.
static constexpr double WorthALook = 0.01;
/// Partial warps or returned lanes are named from this share of a loss on.
static constexpr double WorthNaming = 0.1;
/// Kernels that a row names; the others are counted.
static constexpr size_t MostKernels = 2;

namespace {

class TerminalReport {
public:
  TerminalReport(const Profile &P, const RunCost &Cost, raw_ostream &OS,
                 const TerminalOptions &Options);
  void print();

private:
  using Member = PlaceCost::Member;

  void printHead();
  void printRefused();
  void printPlaces();
  void printNextStep();
  void printLegend();

  const BranchInfo &info(Member M) const {
    return P.Kernels[M.Kernel].Info.Branches[M.Branch];
  }
  /// The dearest branch of a place stands for it.
  const BranchInfo &info(const PlaceCost &Place) const {
    return info(Place.Branches.front());
  }
  std::string where(const SourceLoc &Loc) const;
  std::string where(const PlaceCost &Place) const;
  std::string what(const PlaceCost &Place) const;
  std::string kernels(const PlaceCost &Place) const;
  std::string calls(const PlaceCost &Place) const;
  std::string lanes(const PlaceCost &Place) const;
  void addRemarks(const PlaceCost &Place, Table &T) const;
  bool isInside(uint32_t Place, uint32_t Other) const;
  void paragraph(const Twine &Text, unsigned Indent = 2);

  const Profile &P;
  const RunCost &Cost;
  raw_ostream &OS;
  TerminalOptions Options;
  std::vector<uint32_t> Rows; ///< places to show
  size_t Hidden = 0;          ///< that cost less than LeastSelf
  size_t Cut = 0;             ///< beyond the limit
  PathNames Paths;
};

} // namespace

static std::vector<std::string> pathsIn(const Profile &P) {
  std::vector<std::string> Paths;
  auto Add = [&](const SourceChain &Chain) {
    for (const SourceLoc &Loc : Chain)
      Paths.push_back(cleanText(Loc.File));
  };
  for (const KernelProfile &K : P.Kernels) {
    Add(K.Info.Where);
    for (const BranchInfo &B : K.Info.Branches)
      Add(B.Where);
    for (const Race &R : K.Races.Races) {
      Add(R.First.Where);
      Add(R.Second.Where);
    }
  }
  return Paths;
}

TerminalReport::TerminalReport(const Profile &P, const RunCost &Cost,
                               raw_ostream &OS, const TerminalOptions &O)
    : P(P), Cost(Cost), OS(OS), Options(O), Paths(pathsIn(P)) {
  assert(Cost.Kernels.size() == P.Kernels.size() && "a cost for each kernel");
  Options.Width = std::max(Options.Width, 80u);
  for (auto [I, Place] : enumerate(Cost.Places)) {
    if (Place.Self < LeastSelf)
      ++Hidden;
    else if (Options.MaxPlaces && Rows.size() == Options.MaxPlaces)
      ++Cut;
    else
      Rows.push_back(static_cast<uint32_t>(I));
  }
}

void TerminalReport::paragraph(const Twine &Text, unsigned Indent) {
  printWrapped(OS, Text.str(), Options.Width, Indent);
}

std::string TerminalReport::where(const SourceLoc &Loc) const {
  return Paths.shortName(cleanText(Loc.File)) + ":" + std::to_string(Loc.Line);
}

std::string TerminalReport::where(const PlaceCost &Place) const {
  if (info(Place).Where.empty())
    return "block " + std::to_string(info(Place).Block);
  return where(info(Place).Where.front());
}

/// The condition and how many copies there are; the kind, if no condition is
/// known.
std::string TerminalReport::what(const PlaceCost &Place) const {
  const BranchInfo &Branch = info(Place);
  std::string Text = cleanText(Branch.Condition);
  if (Text.empty())
    Text = wordOf(Branch.Kind).str();
  if (Place.Branches.size() > 1)
    Text += " (" + counted(Place.Branches.size(), "copy") + ")";
  return Text;
}

std::string TerminalReport::kernels(const PlaceCost &Place) const {
  std::vector<uint32_t> Of;
  for (Member M : Place.Branches)
    if (!is_contained(Of, M.Kernel))
      Of.push_back(M.Kernel);
  std::string Text;
  for (size_t I = 0; I != std::min(Of.size(), MostKernels); ++I)
    Text += (I ? ", " : "") + nameOf(P.Kernels[Of[I]], 40);
  if (Of.size() > MostKernels)
    Text += " and " + counted(Of.size() - MostKernels, "more kernel");
  return Text;
}

/// ", inlined at a.cu:3, at a.cu:9", if all copies came by one way.
std::string TerminalReport::calls(const PlaceCost &Place) const {
  auto WayOf = [&](Member M) {
    std::string Text;
    for (const SourceLoc &Loc : drop_begin(info(M).Where))
      Text += (Text.empty() ? ", inlined at " : ", at ") + where(Loc);
    return Text;
  };
  if (info(Place).Where.empty())
    return "";
  const std::string Way = WayOf(Place.Branches.front());
  return all_of(Place.Branches, [&](Member M) { return WayOf(M) == Way; })
             ? Way
             : ", inlined at several places";
}

static std::string shareOf(double Part, double Sum) {
  const double Percent = 100 * Part / Sum;
  if (Percent > 0 && Percent < 1)
    return "<1";
  if (Percent > 99 && Percent < 100)
    return ">99";
  std::string Text;
  raw_string_ostream(Text) << format("%.0f", Percent);
  return Text;
}

/// Lanes each way in per cent, those that go into the region first: into an if,
/// around a loop once more. Of the copies that are of the dearest one's kind.
std::string TerminalReport::lanes(const PlaceCost &Place) const {
  const BranchInfo &First = info(Place);
  std::vector<double> Sides(First.Successors.size());
  for (Member M : Place.Branches) {
    const BranchInfo &Info = info(M);
    if (Info.Kind != First.Kind || Info.Successors.size() != Sides.size())
      continue;
    auto InRegion = [&](size_t Side) {
      return std::binary_search(Info.Region.begin(), Info.Region.end(),
                                Info.Successors[Side]);
    };
    const bool Swap = Sides.size() == 2 && !InRegion(0) && InRegion(1);
    for (auto [Side, N] :
         enumerate(P.Kernels[M.Kernel].Branches[M.Branch].LanesTo))
      Sides[Swap ? 1 - Side : Side] += double(N);
  }
  double Sum = 0;
  for (double N : Sides)
    Sum += N;
  if (Sum == 0)
    return "";
  // A switch may have many sides: the fullest are enough.
  const size_t Count = Sides.size();
  if (Count > 2)
    sort(Sides, std::greater<>());
  std::string Text;
  for (size_t I = 0; I != std::min<size_t>(Count, 3); ++I)
    Text += (I ? "/" : "") + shareOf(Sides[I], Sum);
  if (Count > 3)
    Text += "/..";
  switch (First.Kind) {
  case BranchKind::If:
    return ", lanes in/past " + Text + "%";
  case BranchKind::LoopExit:
    return ", lanes on/out " + Text + "%";
  case BranchKind::IfElse:
  case BranchKind::Switch:
    return ", lanes " + Text + "%";
  }
  llvm_unreachable("a branch has one of four kinds");
}

/// Where the branch is, how it splits, what of its cost is not for the branch
/// to mend, and what may help.
void TerminalReport::addRemarks(const PlaceCost &Place, Table &T) const {
  const uint64_t Warps = std::max<uint64_t>(Place.Warps, 1);
  T.remark("in " + kernels(Place) + calls(Place) + "; " +
               percent(double(Place.Splits) / double(Warps)) + " of " +
               counted(Place.Warps, "warp") + " split" + lanes(Place),
           Ink::Faint);
  std::vector<std::string> Parts;
  auto Share = [&](double Slots) {
    return percent(Place.Cost * Slots / Place.LossSlots);
  };
  if (Place.ExitSlots >= WorthNaming * Place.LossSlots)
    Parts.push_back(Share(Place.ExitSlots) + " by lanes that had returned");
  if (Place.PartialSlots >= WorthNaming * Place.LossSlots)
    Parts.push_back(Share(Place.PartialSlots) + " by partial warps");
  if (!Parts.empty())
    T.remark("of its total, " + join(Parts, " and "), Ink::Faint);
  if (Place.Self >= WorthALook)
    for (const std::string &Line : adviceFor(Place, P))
      T.remark("-> " + Line, Ink::Plain);
}

bool TerminalReport::isInside(uint32_t Place, uint32_t Other) const {
  // Costs are derived, not read, so the chain ends; still, count.
  std::optional<uint32_t> Outer = Cost.Places[Place].Outer;
  for (size_t Steps = 0; Outer && Steps <= Cost.Places.size(); ++Steps) {
    if (*Outer == Other)
      return true;
    Outer = Cost.Places[*Outer].Outer;
  }
  return false;
}

static Ink inkOf(double Cost) {
  return Cost >= 0.1 ? Ink::Hot : Cost >= 0.03 ? Ink::Warm : Ink::Plain;
}

void TerminalReport::printHead() {
  std::string Line = "Divergence of " + cleanText(P.Program);
  for (const std::string &A : P.Arguments)
    Line += " " + cleanText(A);
  printInk(OS, cutEnd(Line, Options.Width), Ink::Strong, Options.Color);
  OS << "\n\n";
}

void TerminalReport::printRefused() {
  if (P.Refused.empty())
    return;
  printInk(OS,
           P.Kernels.empty() ? "Nothing could be run:"
                             : "Not all of the program was run. Left out:",
           Ink::Hot, Options.Color);
  OS << '\n';
  for (const std::string &Why : P.Refused)
    for (StringRef Line : split(Why, '\n')) // what, then what to do
      paragraph("  " + cleanText(Line), 4);
  OS << '\n';
}

void TerminalReport::printPlaces() {
  if (Rows.empty()) {
    if (Hidden)
      OS << "No place costs " << percent(LeastSelf) << " of the run.\n\n";
    return;
  }
  Table T;
  T.column("self", false);
  T.column("total", false);
  T.column("warp", false);
  T.column("block", false);
  T.column("grid", false);
  T.column("branch", true);
  T.wrapLast(Options.Width);
  std::vector<uint32_t> Around; // rows above that this one is inside of
  for (uint32_t Row : Rows) {
    const PlaceCost &Place = Cost.Places[Row];
    while (!Around.empty() && !isInside(Row, Around.back()))
      Around.pop_back();
    const bool Sampled = any_of(Place.Branches, [&](Member M) {
      return P.Kernels[M.Kernel].Regrouped.Launches != 0;
    });
    std::vector<Table::Cell> Cells = {{percent(Place.Self), inkOf(Place.Self)},
                                      {percent(Place.Cost)}};
    for (double Recover :
         {Place.RecoverInWarp, Place.RecoverInBlock, Place.RecoverInGrid})
      Cells.push_back({Sampled ? percent(Recover) : std::string("-")});
    Cells.push_back({std::string(2 * Around.size(), ' ') + where(Place) + "  " +
                     what(Place)});
    T.row(std::move(Cells));
    addRemarks(Place, T);
    Around.push_back(Row);
  }
  T.printTitleOver(OS, "recoverable in", /*Last=*/4, Options.Color);
  T.print(OS, Options.Color);
  if (Cut)
    OS << "and " << counted(Cut, "more place") << "; the JSON file has all\n";
  if (Hidden)
    OS << "and " << counted(Hidden, "place") << " below " << percent(LeastSelf)
       << '\n';
  OS << '\n';
}

/// Only where a line above speaks of what `optimize` can do.
void TerminalReport::printNextStep() {
  bool Any = false, Automatic = false;
  for (uint32_t Row : Rows)
    if (Cost.Places[Row].Self >= WorthALook) {
      Any = true;
      Automatic |= any_of(Cost.Places[Row].Remedies, isAutomatic);
    }
  if (!Any)
    return;
  const std::string Words =
      Automatic ? "Try " + join(Cost.Automatic, " and ") + ":"
                : "Nothing above is automatic. To try all the same:";
  const std::string Command = optimizeCommand(P);
  printInk(OS, Words, Ink::Strong, Options.Color);
  // To be copied: never broken.
  const bool Fits =
      Words.size() + 1 + widthOf(Command) <= std::max(Options.Width, 80u);
  OS << (Fits ? " " : "\n  ") << Command << "\n\n";
}

void TerminalReport::printLegend() {
  if (!Rows.empty()) {
    paragraph("self: issue slots lost where lanes part here; total: with the "
              "branches inside.");
    paragraph("recoverable: by regrouping, before its price. More: reconverge "
              "explain self");
  }
  StringRef Device = P.Device;
  const bool OnCpu = P.Backend == "vm";
  if (OnCpu && Device.consume_front("Reconverge warp VM (CPU)"))
    Device = Device.ltrim(", ");
  std::string Source = OnCpu                ? "the CPU"
                       : P.Backend == "gpu" ? "a GPU"
                                            : cleanText(P.Backend);
  if (!Device.empty())
    Source += " (" + cleanText(Device) + ")";
  if (!P.Machine.empty())
    Source += ", priced as " + StringRef(cleanText(P.Machine)).upper();
  uint64_t Threads = 0;
  for (const KernelProfile &K : P.Kernels)
    Threads += K.Regrouped.Threads;
  if (Threads)
    Source += "; regrouping from " + counted(Threads, "thread");
  if (!Source.empty())
    paragraph("Counted on " + Source + ".");
  if (P.ExitStatus)
    paragraph("note: the program ended with status " + Twine(P.ExitStatus) +
              "; what ran before is counted.");
  for (const std::string &Note : P.Notes)
    paragraph("note: " + cleanText(Note));
}

void TerminalReport::print() {
  printHead();
  printRefused();
  if (P.Kernels.empty()) {
    OS << (P.Notes.empty() && P.Refused.empty()
               ? "No kernel was launched.\n"
               : "No kernel ran to its end.\n");
  } else {
    printPlaces();
    printKernels(P, Cost, OS, Options);
    printOrders(P, OS, Options);
    printRaces(P, Paths, OS, Options);
    printNextStep();
  }
  printLegend();
}

void printProfile(const Profile &P, const RunCost &Cost, raw_ostream &OS,
                  const TerminalOptions &Options) {
  TerminalReport(P, Cost, OS, Options).print();
}

} // namespace reconverge::report
