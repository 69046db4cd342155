//===- report/Terminal.cpp - A profile as a table of text -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user reads first, so in this order: which branches cost most (over all
// kernels, by slots wasted), what each kernel lost in sum, what to conclude,
// how to read the columns, and where the numbers come from. A kernel that
// hardly diverges gets one line that says so: to do nothing is an answer.
//
// All widths are fixed but those of place and condition, which share what is
// left of the line.
//
//===----------------------------------------------------------------------===//

#include "report/Terminal.h"
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

/// A branch below this share of its kernel gets no row.
static constexpr double LeastCost = 0.001;
/// A kernel is left alone if none of its branches costs this much.
static constexpr double WorthALook = 0.01;
/// A kernel whose lanes idle less than this is fine as it is.
static constexpr double HardlyIdle = 0.05;
/// Partial warps or returned lanes are named from this share of a loss on.
static constexpr double WorthNaming = 0.1;

namespace {

class TerminalReport {
public:
  TerminalReport(const Profile &P, ArrayRef<KernelCost> Costs, raw_ostream &OS,
                 const TerminalOptions &Options);
  void print();

private:
  struct Row {
    uint32_t Kernel, Branch;
  };
  void printHead();
  void printBranches();
  void printKernels();
  void printAdvice();
  void printOrders();
  void printLegend();

  const BranchInfo &info(Row R) const {
    return P.Kernels[R.Kernel].Info.Branches[R.Branch];
  }
  const BranchCounts &counts(Row R) const {
    return P.Kernels[R.Kernel].Branches[R.Branch];
  }
  const BranchCost &cost(Row R) const {
    return Costs[R.Kernel].Branches[R.Branch];
  }
  std::string place(const SourceLoc &Loc) const;
  std::string place(Row R) const;
  std::string sides(Row R) const;
  void remarks(Row R, Table &T) const;
  std::string kernelName(size_t Kernel) const;
  void paragraph(const Twine &Text, unsigned Indent = 0);

  const Profile &P;
  ArrayRef<KernelCost> Costs;
  raw_ostream &OS;
  bool Color;
  unsigned Width;
  std::vector<Row> Rows; ///< those to show
  size_t Hidden = 0;     ///< branches that cost less than LeastCost
  size_t Cut = 0;        ///< branches beyond the limit
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
  }
  return Paths;
}

TerminalReport::TerminalReport(const Profile &P, ArrayRef<KernelCost> Costs,
                               raw_ostream &OS, const TerminalOptions &Options)
    : P(P), Costs(Costs), OS(OS), Color(Options.Color),
      Width(std::max(Options.Width, 80u)), Paths(pathsIn(P)) {
  assert(Costs.size() == P.Kernels.size() && "a cost for each kernel");
  for (auto [K, Cost] : enumerate(Costs))
    for (uint32_t Branch : Cost.Order) {
      if (Cost.Branches[Branch].Cost < LeastCost)
        ++Hidden;
      else
        Rows.push_back({static_cast<uint32_t>(K), Branch});
    }
  sort(Rows, [&](Row A, Row B) {
    double LossA = cost(A).LossSlots, LossB = cost(B).LossSlots;
    return LossA != LossB
               ? LossA > LossB
               : std::pair(A.Kernel, A.Branch) < std::pair(B.Kernel, B.Branch);
  });
  if (Options.MaxBranches && Rows.size() > Options.MaxBranches) {
    Cut = Rows.size() - Options.MaxBranches;
    Rows.resize(Options.MaxBranches);
  }
}

void TerminalReport::paragraph(const Twine &Text, unsigned Indent) {
  printWrapped(OS, Text.str(), Width, Indent);
}

std::string TerminalReport::place(const SourceLoc &Loc) const {
  return Paths.shortName(cleanText(Loc.File)) + ":" + std::to_string(Loc.Line);
}

std::string TerminalReport::place(Row R) const {
  if (info(R).Where.empty())
    return "block " + std::to_string(info(R).Block);
  return place(info(R).Where.front());
}

std::string TerminalReport::kernelName(size_t Kernel) const {
  const KernelInfo &Info = P.Kernels[Kernel].Info;
  return cleanText(Info.Display.empty() ? Info.Name : Info.Display);
}

/// Lanes each way in per cent, those that go into the region first: into an if,
/// around a loop once more.
std::string TerminalReport::sides(Row R) const {
  const BranchInfo &Info = info(R);
  std::vector<uint64_t> Lanes = counts(R).LanesTo;
  auto InRegion = [&](uint32_t Block) {
    return std::binary_search(Info.Region.begin(), Info.Region.end(), Block);
  };
  if (Lanes.size() == 2 && !InRegion(Info.Successors[0]) &&
      InRegion(Info.Successors[1]))
    std::swap(Lanes[0], Lanes[1]);
  double Sum = 0;
  for (uint64_t N : Lanes)
    Sum += double(N);
  if (Sum == 0)
    return "-";
  // A switch may have many sides: the fullest are enough.
  size_t Sides = Lanes.size();
  if (Sides > 2)
    sort(Lanes, std::greater<>());
  std::string Text;
  for (size_t I = 0; I != std::min<size_t>(Sides, 3); ++I) {
    if (I)
      Text += '/';
    double Percent = 100 * double(Lanes[I]) / Sum;
    if (Percent > 0 && Percent < 1)
      Text += "<1";
    else if (Percent > 99 && Percent < 100)
      Text += ">99";
    else
      raw_string_ostream(Text) << format("%.0f", Percent);
  }
  return Sides > 3 ? Text + "/.." : Text;
}

static Ink inkOf(double Cost) {
  return Cost >= 0.1 ? Ink::Hot : Cost >= 0.03 ? Ink::Warm : Ink::Plain;
}

void TerminalReport::printHead() {
  std::string Line = "Divergence of " + cleanText(P.Program);
  for (const std::string &A : P.Arguments)
    Line += " " + cleanText(A);
  printInk(OS, cutEnd(Line, Width), Ink::Strong, Color);
  OS << "\n\n";
}

/// Through which calls the branch came to be here, and what of its cost is not
/// for the branch to mend.
void TerminalReport::remarks(Row R, Table &T) const {
  const SourceChain &Where = info(R).Where;
  if (Where.size() > 1) {
    std::string Text = "inlined at";
    for (size_t I = 1; I != Where.size(); ++I)
      Text += (I > 1 ? ", at " : " ") + place(Where[I]);
    T.remark(cutEnd(Text, Width - 4));
  }
  const BranchCost &C = cost(R);
  auto Share = [&](double Slots) {
    return percent(C.Cost * Slots / C.LossSlots);
  };
  std::vector<std::string> Parts;
  if (C.ExitSlots >= WorthNaming * C.LossSlots)
    Parts.push_back(Share(C.ExitSlots) + " by lanes that had returned");
  if (C.PartialSlots >= WorthNaming * C.LossSlots)
    Parts.push_back(Share(C.PartialSlots) + " by partial warps");
  if (!Parts.empty())
    T.remark("of its cost " + join(Parts, " and "));
}

void TerminalReport::printBranches() {
  if (Rows.empty())
    return;
  bool Numbered = P.Kernels.size() > 1;
  auto Fill = [&](unsigned PlaceWidth, unsigned ConditionWidth) {
    Table T;
    if (Numbered)
      T.column("#", false);
    T.column("where", true);
    T.column("condition", true);
    T.column("kind", true);
    T.column("warps", false);
    T.column("split", false);
    T.column("lanes %", false);
    T.column("cost", false);
    T.column("warp", false);
    T.column("block", false);
    T.column("grid", false);
    for (Row R : Rows) {
      const BranchCost &C = cost(R);
      std::vector<Table::Cell> Cells;
      if (Numbered)
        Cells.push_back({std::to_string(R.Kernel + 1)});
      Cells.push_back({cutStart(place(R), PlaceWidth)});
      Cells.push_back({cutEnd(cleanText(info(R).Condition), ConditionWidth)});
      Cells.push_back({wordOf(info(R).Kind).str()});
      Cells.push_back({count(counts(R).Warps)});
      Cells.push_back(
          {percent(double(counts(R).Splits) /
                   double(std::max<uint64_t>(counts(R).Warps, 1)))});
      Cells.push_back({sides(R)});
      Cells.push_back({percent(C.Cost), inkOf(C.Cost)});
      for (double Recover :
           {C.RecoverInWarp, C.RecoverInBlock, C.RecoverInGrid})
        Cells.push_back({P.Kernels[R.Kernel].Regrouped.Launches
                             ? percent(Recover)
                             : std::string("-")});
      T.row(std::move(Cells));
      remarks(R, T);
    }
    return T;
  };
  // Once to learn what the other columns take.
  unsigned Fixed = Fill(5, 9).width() - 5 - 9;
  unsigned Free = Width > Fixed + 24 ? Width - Fixed : 24;
  unsigned Longest = 0;
  for (Row R : Rows)
    Longest = std::max(Longest, widthOf(place(R)));
  unsigned PlaceWidth =
      std::min(std::max(Longest, 5u), std::max(Free / 2, 12u));
  Table T = Fill(PlaceWidth, Free - PlaceWidth);
  OS.indent(T.width() - widthOf("recoverable in"));
  printInk(OS, "recoverable in", Ink::Strong, Color);
  OS << '\n';
  T.print(OS, Color);
  if (Cut)
    OS << "and " << Cut << " more; the JSON file has them all\n";
  if (Hidden)
    OS << "and " << Hidden << (Hidden == 1 ? " branch" : " branches")
       << " below " << percent(LeastCost) << '\n';
  OS << '\n';
}

void TerminalReport::printKernels() {
  bool Numbered = P.Kernels.size() > 1;
  auto Fill = [&](unsigned NameWidth) {
    Table T;
    if (Numbered)
      T.column("#", false);
    T.column("kernel", true);
    T.column("launches", false);
    T.column("threads", false);
    T.column("time", false);
    T.column("CFE", false);
    T.column("potential", false);
    T.column("divergent warps", false);
    for (auto [I, K] : enumerate(P.Kernels)) {
      const KernelCost &C = Costs[I];
      std::vector<Table::Cell> Cells;
      if (Numbered)
        Cells.push_back({std::to_string(I + 1)});
      std::string Potential;
      raw_string_ostream(Potential) << format("%.2fx", C.Potential);
      Cells.push_back({cutEnd(kernelName(I), NameWidth)});
      Cells.push_back({count(K.Launches)});
      Cells.push_back({count(K.Threads)});
      Cells.push_back({duration(K.Seconds)});
      Cells.push_back({percent(C.Cfe)});
      Cells.push_back({Potential});
      Cells.push_back({percent(double(K.DivergentWarps) /
                               double(std::max<uint64_t>(K.WarpsRun, 1)))});
      T.row(std::move(Cells));
    }
    return T;
  };
  unsigned Fixed = Fill(6).width() - 6;
  Fill(Width > Fixed + 20 ? Width - Fixed : 20).print(OS, Color);
  OS << '\n';
}

/// A line for each kernel whose branches are better left alone, and why lanes
/// idle there if no branch is to blame.
void TerminalReport::printAdvice() {
  bool Any = false;
  for (auto [I, K] : enumerate(P.Kernels)) {
    const KernelCost &C = Costs[I];
    if (!C.Order.empty() && C.Branches[C.Order.front()].Cost >= WorthALook)
      continue;
    double Partial = 0;
    for (auto [Info, Counts] : zip(K.Info.Blocks, K.Blocks))
      Partial += double(Counts.PartialIdle) * Info.Instructions;
    double Idle =
        double(C.WarpInstructions) * K.WarpSize - double(C.Instructions);
    std::string Line = cutEnd(kernelName(I), 48) + ": ";
    if (1 - C.Cfe < HardlyIdle)
      Line += "hardly diverges, nothing to gain here.";
    else if (2 * Partial >= Idle)
      Line += "lanes idle in partial warps, not at branches; block sizes that "
              "are multiples of " +
              std::to_string(K.WarpSize) + " fill them.";
    else
      Line += "no branch costs " + percent(WorthALook) +
              "; what idles is spread over many.";
    paragraph(Line, 2);
    Any = true;
  }
  if (Any)
    OS << '\n';
}

/// What --shuffle found: outputs that depend on the order first, and for the
/// others how far the search went.
void TerminalReport::printOrders() {
  uint32_t Orders = 0;
  for (const KernelProfile &K : P.Kernels)
    Orders = std::max(Orders, K.Orders.Orders);
  if (!Orders)
    return;
  const std::string Others =
      count(Orders) + (Orders == 1 ? " other order" : " other orders");
  printInk(OS, "Order of blocks, warps and lanes", Ink::Strong, Color);
  OS << '\n';
  for (auto [I, K] : enumerate(P.Kernels)) {
    const OrderTrials &T = K.Orders;
    const std::string Name = cutEnd(kernelName(I), 48) + ": ";
    const std::string Tried =
        count(T.Launches) + (T.Launches == 1 ? " launch" : " launches") +
        (T.Launches < K.Launches ? " (of " + count(K.Launches) + ")" : "");
    if (!T.Launches) {
      paragraph(Name + "not tried.", 2);
      continue;
    }
    if (!T.Differing && !T.FaultyRuns)
      paragraph(Name + "no difference in " + Others + " of " + Tried + ".", 2);
    if (T.Differing) {
      const OrderDifference &D = *T.First;
      paragraph(
          Name + "depends on the order. " +
              (T.Bytes == 1 ? "1 byte differs"
                            : "Up to " + count(T.Bytes) + " bytes differ") +
              " in " + count(T.Differing) + " of " + Tried +
              ". First in launch " + Twine(D.Launch) + ": " +
              cleanText(D.Memory) + ", at byte " + Twine(D.Offset) + ": " +
              cleanText(D.Type) + " " + cleanText(D.Natural) + ", but " +
              cleanText(D.Other) + " in order " + Twine(D.Order) + ".",
          2);
    }
    if (T.FaultyRuns) {
      const OrderFault &F = T.Faults.front();
      paragraph(Name + "faults in " + count(T.FaultyRuns) + " of " +
                    count(T.Launches * T.Orders) +
                    " runs in other orders. First in launch " +
                    Twine(F.Launch) + ", order " + Twine(F.Order) + ": " +
                    cleanText(F.Message),
                2);
    }
  }
  paragraph("order 1 is the natural one reversed; RECONVERGE_VM=seed=N runs a "
            "program in order N. What did not differ may still do so in an "
            "order that was not tried.",
            2);
  OS << '\n';
}

void TerminalReport::printLegend() {
  if (!Rows.empty()) {
    paragraph(Twine("cost: share of the kernel's issue slots wasted from the "
                    "branch to where its warp is whole again; nested branches "
                    "are included, rows overlap") +
                  (P.Kernels.size() > 1
                       ? ", and come by slots wasted in the whole run"
                       : "") +
                  ". lanes %: into/past an if, on/out of a loop.",
              2);
    uint64_t Launches = 0, Threads = 0;
    for (const KernelProfile &K : P.Kernels) {
      Launches += K.Regrouped.Launches;
      Threads += K.Regrouped.Threads;
    }
    if (Launches)
      paragraph("recoverable: what regrouping threads in a warp, block or grid "
                "would give back, before its own price; from " +
                    count(Threads) + " threads of " + count(Launches) +
                    (Launches == 1 ? " launch." : " launches."),
                2);
  }
  std::string Source = P.Backend == "gpu"  ? "a GPU"
                       : P.Backend == "vm" ? "the warp VM"
                                           : cleanText(P.Backend);
  if (!P.Device.empty())
    Source += " (" + cleanText(P.Device) + ")";
  if (!P.Policy.empty())
    Source += ", reconvergence " + cleanText(P.Policy);
  if (!P.Machine.empty())
    Source += ", issue costs " + cleanText(P.Machine);
  if (P.Backend == "vm")
    Source += "; times are the CPU's";
  if (!Source.empty())
    paragraph("counted on " + Source + ".", 2);
  if (P.ExitStatus)
    paragraph("note: the program ended with status " + Twine(P.ExitStatus) +
                  "; what ran before is counted.",
              2);
  for (const std::string &Note : P.Notes)
    paragraph("note: " + cleanText(Note), 2);
}

void TerminalReport::print() {
  printHead();
  if (P.Kernels.empty()) {
    OS << (P.Notes.empty() ? "No kernel was launched.\n"
                           : "No kernel ran to its end.\n");
  } else {
    printBranches();
    printKernels();
    printAdvice();
    printOrders();
  }
  printLegend();
}

void printProfile(const Profile &P, ArrayRef<KernelCost> Costs, raw_ostream &OS,
                  const TerminalOptions &Options) {
  TerminalReport(P, Costs, OS, Options).print();
}

} // namespace reconverge::report
