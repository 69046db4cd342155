//===- report/Terminal.cpp - A report as a table of text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user reads first, so in this order: what did not run, where lanes part
// at the highest price (a row a place, over all kernels), what to do about
// each, what each kernel lost in sum, which of its requests to memory take more
// than they must, the command that tries what is automatic,
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
#include "report/Accesses.h"
#include "report/Kernels.h"
#include "report/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::report {

/// Kernels that a row names; the others are counted.
static constexpr size_t MostKernels = 2;

namespace {
class Writer {
public:
  Writer(const View &V, raw_ostream &OS, const TerminalOptions &O)
      : V(V), OS(OS), Options(O) {
    Options.Width = std::max(Options.Width, 80u);
  }
  void print();

private:
  void printHead();
  void printRefused();
  void printPlaces();
  void printNextStep();
  void printLegend();

  std::string kernels(const PlaceView &Place) const;
  void addRemarks(const PlaceView &Place, Table &T) const;
  void paragraph(const Twine &Text, unsigned Indent = 2) {
    printWrapped(OS, Text.str(), Options.Width, Indent);
  }

  const View &V;
  raw_ostream &OS;
  TerminalOptions Options;
};
} // namespace

//===----------------------------------------------------------------------===//
// A place
//===----------------------------------------------------------------------===//

/// The condition and how many copies there are.
static std::string what(const PlaceView &Place) {
  std::string Text = Place.What;
  if (Place.Copies > 1)
    Text += " (" + counted(Place.Copies, "copy") + ")";
  return Text;
}

std::string Writer::kernels(const PlaceView &Place) const {
  const size_t Count = Place.Kernels.size();
  std::string Text;
  for (size_t I = 0; I != std::min(Count, MostKernels); ++I)
    Text += (I ? ", " : "") + kernelName(V.Kernels[Place.Kernels[I]].Name, 40);
  if (Count > MostKernels)
    Text += " and " + counted(Count - MostKernels, "more kernel");
  return Text;
}

/// ", inlined at a.cu:3, at a.cu:9", if all copies came by one way.
static std::string calls(const PlaceView &Place) {
  if (Place.InlinedInMany)
    return ", inlined at several places";
  return Place.InlinedAt.empty()
             ? ""
             : ", inlined at " + join(Place.InlinedAt, ", at ");
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

/// Lanes each way in per cent.
static std::string lanes(const LanesView &Lanes) {
  const size_t Count = Lanes.Sides.size();
  if (!Count)
    return "";
  // A switch may have many sides: the fullest are enough.
  std::string Text;
  for (size_t I = 0; I != std::min<size_t>(Count, 3); ++I)
    Text += (I ? "/" : "") + shareOf(Lanes.Sides[I], Lanes.Sum);
  if (Count > 3)
    Text += "/..";
  switch (Lanes.Kind) {
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
void Writer::addRemarks(const PlaceView &Place, Table &T) const {
  T.remark("in " + kernels(Place) + calls(Place) + "; " + percent(Place.Split) +
               " of " + counted(Place.Warps, "warp") + " split" +
               lanes(Place.Lanes),
           Ink::Faint);
  std::vector<std::string> Parts;
  if (Place.ByReturned)
    Parts.push_back(percent(*Place.ByReturned) + " by lanes that had returned");
  if (Place.ByPartialWarps)
    Parts.push_back(percent(*Place.ByPartialWarps) + " by partial warps");
  if (!Parts.empty())
    T.remark("of its total, " + join(Parts, " and "), Ink::Faint);
  for (const std::string &Line : Place.Advice)
    T.remark("-> " + Line, Ink::Plain, /*Hang=*/3);
}

static Ink inkOf(Severity Weight) {
  switch (Weight) {
  case Severity::Slight:
    return Ink::Plain;
  case Severity::Notable:
    return Ink::Warm;
  case Severity::Grave:
    return Ink::Hot;
  }
  llvm_unreachable("a place has one of three weights");
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

void Writer::printHead() {
  std::string Line = "Divergence of " + V.Program;
  for (const std::string &A : V.Arguments)
    Line += " " + A;
  printInk(OS, cutEnd(Line, Options.Width), Ink::Strong, Options.Color);
  OS << "\n\n";
}

void Writer::printRefused() {
  if (V.Refused.empty())
    return;
  printInk(OS,
           V.Kernels.empty() ? "Nothing could be run:"
                             : "Not all of the program was run. Left out:",
           Ink::Hot, Options.Color);
  OS << '\n';
  for (const std::vector<std::string> &Lines : V.Refused)
    for (const std::string &Line : Lines)
      paragraph("  " + Line, 4);
  OS << '\n';
}

void Writer::printPlaces() {
  if (V.Places.empty()) {
    if (V.SlightPlaces)
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
  for (const PlaceView &Place : V.Places) {
    const auto &Regrouped = Place.Regrouped;
    auto Recover = [&](double Recoverable::*Scope) {
      return Regrouped ? percent(*Regrouped.*Scope) : "-";
    };
    T.row({{percent(Place.Self), inkOf(Place.Weight)},
           {percent(Place.Total)},
           {Recover(&Recoverable::InWarp)},
           {Recover(&Recoverable::InBlock)},
           {Recover(&Recoverable::InGrid)},
           {std::string(2 * size_t(Place.Depth), ' ') + Place.At + "  " +
            what(Place)}});
    addRemarks(Place, T);
  }
  T.printTitleOver(OS, "recoverable in", /*Last=*/4, Options.Color);
  T.print(OS, Options.Color);
  if (V.MorePlaces)
    OS << "and " << counted(V.MorePlaces, "more place")
       << "; the JSON file has all\n";
  if (V.SlightPlaces)
    OS << "and " << counted(V.SlightPlaces, "place") << " below "
       << percent(LeastSelf) << '\n';
  OS << '\n';
}

void Writer::printNextStep() {
  if (!V.Next)
    return;
  if (V.Next->Command.empty()) {
    // Where all kernels are fine, the table of them has just said so.
    if (!all_of(V.Kernels, [](const KernelView &K) { return K.IsFine; })) {
      paragraph(V.Next->Words + ".");
      OS << '\n';
    }
    return;
  }
  const std::string Words = V.Next->Words + ":";
  printInk(OS, Words, Ink::Strong, Options.Color);
  // To be copied: never broken.
  const std::string &Command = V.Next->Command;
  const bool Fits = Words.size() + 1 + widthOf(Command) <= Options.Width;
  OS << (Fits ? " " : "\n  ") << Command << "\n\n";
}

void Writer::printLegend() {
  if (!V.Places.empty()) {
    paragraph("self: " +
              Twine(V.SharesAreOfTime ? "time, by the model," : "issue slots") +
              " lost where lanes part here; total: with the branches inside.");
    paragraph("recoverable: by regrouping, before its price. More: reconverge "
              "explain self");
  }
  if (!V.CountedOn.empty())
    paragraph("Counted on " + V.CountedOn + ".");
  if (V.ExitStatus)
    paragraph("note: the program ended with status " + Twine(V.ExitStatus) +
              "; what ran before is counted.");
  for (const std::string &Note : V.Notes)
    paragraph("note: " + Note);
}

void Writer::print() {
  printHead();
  printRefused();
  if (V.Kernels.empty()) {
    OS << V.WhyNoKernels << '\n';
  } else {
    printPlaces();
    printKernels(V, OS, Options);
    printAccesses(V, OS, Options);
    printSchedules(V, OS, Options);
    printOrders(V, OS, Options);
    printRaces(V, OS, Options);
    printNextStep();
  }
  printLegend();
}

void printTerminal(const View &V, raw_ostream &OS,
                   const TerminalOptions &Options) {
  Writer(V, OS, Options).print();
}

} // namespace reconverge::report
