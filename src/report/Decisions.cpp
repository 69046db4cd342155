//===- report/Decisions.cpp - What was tried, as a table of text ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was tried on each kernel, hottest first: a row a candidate, and under it
// why it did not do; candidates that were not tried for the reason of the one
// above have a row together. What was predicted stands beside what was
// achieved. The gain of a remedy is over the fastest build of the unmodified
// kernel, whoever made it; what choosing that build gained is said apart.
//
//===----------------------------------------------------------------------===//

#include "report/Decisions.h"

#include "core/DecisionJson.h"
#include "report/Names.h"
#include "report/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::report {

static std::string ratio(double X) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (X > 0)
    OS << format("%.3fx", X);
  return Text.empty() ? "-" : Text;
}

static std::string milliseconds(double X) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (X > 0)
    OS << format("%.4g", X);
  return Text.empty() ? "-" : Text;
}

static bool isRounding(const TrialResult &R) {
  return R.Compared.Kind == VerdictKind::Differs && R.Compared.First.Ulps;
}

/// The verdict, where there is one, in a narrow column.
static std::string verdictOf(const TrialResult &T) {
  if (!T.Compared.Launches)
    return "-";
  if (T.Compared.Kind == VerdictKind::UpToOrder)
    return "up to order";
  return isRounding(T) ? "rounding" : wordOf(T.Compared.Kind).str();
}

/// What is kept for the kernel of \p D, and what each part of that gains.
static std::string gainLine(const Decision &D) {
  const DecisionGain Gain = gainOf(D);
  std::string Line = "kept: " + D.Keep.text() + " for " + D.Display + ": ";
  std::string Over = "our build";
  if (Gain.Baseline)
    Over = (Twine(nameOf(*Gain.Baseline)) + "'s").str();
  if (!D.Keep.changesCode())
    return Line + ratio(Gain.Compiler) + " over our build";
  Line += ratio(Gain.Remedy);
  if (!D.Measured)
    return Line + " by the model";
  Line += " over " + Over + " of the kernel as it is";
  if (Gain.Baseline)
    Line += ", which is " + ratio(Gain.Compiler) + " over ours";
  return Line;
}

static Ink inkOf(TrialOutcome End) {
  switch (End) {
  case TrialOutcome::Kept:
    return Ink::Strong;
  case TrialOutcome::Wrong:
  case TrialOutcome::Faulted:
  case TrialOutcome::TimedOut:
    return Ink::Hot;
  case TrialOutcome::Slower:
  case TrialOutcome::Rounded:
  case TrialOutcome::Unproved:
  case TrialOutcome::Refused:
  case TrialOutcome::Untried:
    break;
  }
  return Ink::Faint;
}

/// \p Text, if any, under the last row, in as many lines as it takes.
static void remark(Table &T, StringRef Text, unsigned Width) {
  if (Text.empty())
    return;
  constexpr unsigned Indent = 8; // the table's own for remarks, and more
  std::string Wrapped;
  raw_string_ostream OS(Wrapped);
  printWrapped(OS, Text, Width - Indent, 0);
  for (StringRef Rest = Wrapped; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    T.remark("  " + Line.str());
    Rest = After;
  }
}

/// What a row's remark says of \p R; empty: nothing. \p IsAsAbove: why it did
/// not do has just been said. Two candidates of which \p MostCandidate columns
/// are the same would be told apart by nothing else.
static std::string underRow(const TrialResult &R, bool IsAsAbove,
                            unsigned MostCandidate, unsigned Width) {
  std::string Why = cleanText(R.Why);
  if (IsAsAbove && !Why.empty())
    Why = "the same";
  const std::string Whole = cleanText(R.What.text());
  if (widthOf(Whole) <= MostCandidate)
    return Why;
  return cutEnd(Whole, Width - 12) + (Why.empty() ? "" : ": " + Why);
}

/// How many of \p Left, from the first on, were not tried, for \p Why.
static size_t countUntried(ArrayRef<TrialResult> Left, StringRef Why) {
  return Left
      .take_while([&](const TrialResult &R) {
        return R.End == TrialOutcome::Untried && cleanText(R.Why) == Why;
      })
      .size();
}

static std::vector<std::string> namesOf(const DecisionFile &File,
                                        unsigned Most) {
  SmallVector<StringRef> Whole;
  for (const Decision &D : File.Kernels)
    Whole.push_back(D.Display);
  return kernelNames(Whole, Most);
}

/// Columns of kernels' names.
static unsigned widestOf(ArrayRef<std::string> Names) {
  unsigned Widest = 12;
  for (const std::string &Name : Names)
    Widest = std::max(Widest, widthOf(Name));
  return Widest;
}

static unsigned widestVerdict(const DecisionFile &File) {
  unsigned Widest = 6; // the title
  for (const Decision &D : File.Kernels)
    for (const TrialResult &R : D.Tried)
      Widest = std::max(Widest, widthOf(verdictOf(R)));
  return Widest;
}

namespace {
/// What there is in a table, and wants an explanation.
struct Shown {
  bool Time, Ms, Tried = false, Predicted = false, Rounded = false;
};
} // namespace

static std::string legendOf(const Shown &Any, StringRef Device) {
  std::string Legend =
      "identical: every byte of device memory, in each launch tried, from the "
      "same state, as the original left it.";
  if (Any.Rounded)
    Legend += " rounding: all that differs are floating-point numbers, by a "
              "few units in the last place.";
  if (Any.Predicted)
    Legend +=
        (Any.Time ? " predicted: time of the original over the "
                    "candidate's, by a model of what both were counted "
                    "to ask of "
                  : " predicted: time of the original over the "
                    "candidate's, of many such launches that fill a GPU, "
                    "by a model of what both were counted to ask for on ") +
        Device.str() +
        (Any.Time ? "."
                  : "; an estimate, no time was taken. "
                    "Only a GPU can confirm it.");
  if (Any.Ms)
    Legend += " ms: of the launches timed, together.";
  if (Any.Time)
    Legend += " none: our build of the kernel as it is. achieved: the fastest "
              "of none, nvcc and clang "
              "over the candidate; of nvcc and clang, over none.";
  return Legend;
}

void printDecisions(const DecisionFile &File, raw_ostream &OS,
                    const TerminalOptions &Options) {
  const unsigned Width = std::max(Options.Width, 80u);
  const bool AnyTime =
      any_of(File.Kernels, [](const Decision &D) { return D.Measured; });
  // On a narrow terminal times give way to names.
  const bool IsNarrow = Width < 100;
  const bool ShowsMs = AnyTime && !IsNarrow;
  // Columns beside those of names, with what parts them.
  const unsigned Others = 36 + widestVerdict(File) + (ShowsMs ? 8 : 0);
  const std::vector<std::string> Names = namesOf(
      File, std::clamp(Width - Others - (IsNarrow ? 20 : 24), 12u, 28u));
  const unsigned MostCandidate = Width - Others - widestOf(Names);
  OS << '\n';
  printInk(OS, "What was tried on " + cleanText(File.Program), Ink::Strong,
           Options.Color);
  OS << "\n\n";
  Table T;
  T.column("kernel", /*Left=*/true);
  T.column("candidate", /*Left=*/true);
  T.column("predicted", /*Left=*/false);
  T.column("achieved", /*Left=*/false);
  if (ShowsMs)
    T.column("ms", /*Left=*/false);
  T.column("result", /*Left=*/true);
  T.column("outcome", /*Left=*/true);
  Shown Any = {AnyTime, ShowsMs};
  auto Row = [&](StringRef Kernel, StringRef What, double Predicted,
                 double Achieved, double Ms, StringRef Result,
                 Table::Cell End) {
    std::vector<Table::Cell> Cells = {{Kernel.str()},
                                      {cutEnd(cleanText(What), MostCandidate)},
                                      {ratio(Predicted)},
                                      {ratio(Achieved)}};
    if (ShowsMs)
      Cells.push_back({milliseconds(Ms)});
    Cells.push_back({Result.str()});
    Cells.push_back(std::move(End));
    T.row(std::move(Cells));
  };
  for (const auto &[D, Kernel] : zip(File.Kernels, Names)) {
    if (D.Tried.empty())
      Row(Kernel, "none", 0, 0, 0, "-", {D.Why, Ink::Faint});
    // What the others are compared with stands above them.
    else if (D.Measured)
      Row(Kernel, "none", 0, 0, D.Milliseconds, "-",
          D.Keep == Candidate() ? Table::Cell{"kept", Ink::Strong}
                                : Table::Cell{"-", Ink::Faint});
    std::string Above; // the remark under the last row
    for (ArrayRef<TrialResult> Left = D.Tried; !Left.empty();) {
      const TrialResult &R = Left.front();
      Any.Tried = true;
      Any.Rounded |= isRounding(R);
      Any.Predicted |= R.Predicted > 0;
      const bool First = &R == &D.Tried.front() && !D.Measured;
      Row(First ? StringRef(Kernel) : "", R.What.text(), R.Predicted,
          D.Measured ? R.Speedup : 0, R.Milliseconds, verdictOf(R),
          {wordOf(R.End).str(), inkOf(R.End)});
      const std::string Why = cleanText(R.Why);
      remark(T, underRow(R, Why == Above, MostCandidate, Width), Width);
      Above = Why;
      Left = Left.drop_front();
      if (const size_t More = countUntried(Left, Why);
          R.End == TrialOutcome::Untried && More > 1) {
        Row("", std::to_string(More) + " more", 0, 0, 0, "-",
            {wordOf(R.End).str(), inkOf(R.End)});
        Left = Left.drop_front(More);
      }
    }
  }
  T.print(OS, Options.Color);
  OS << '\n';
  for (const Decision &D : File.Kernels)
    if (D.Keep != Candidate())
      printWrapped(OS, cleanText(gainLine(D)), Width, 2);
  if (Any.Tried)
    printWrapped(OS, cleanText(legendOf(Any, File.Device)), Width, 2);
}

void printWhole(const WholeTimes &Whole, raw_ostream &OS,
                const TerminalOptions &Options) {
  if (!Whole.Runs)
    return;
  std::string Line;
  raw_string_ostream Text(Line);
  Text << format("whole program: %.3f s; unmodified, built by us: %.3f s",
                 Whole.Final, Whole.Ours);
  for (ForeignCompiler By : ForeignCompilers) {
    Text << ", by " << nameOf(By) << ": ";
    if (Whole.Foreign[By] > 0)
      Text << format("%.3f s", Whole.Foreign[By]);
    else
      Text << "no time";
  }
  Text << " (medians of " << Whole.Runs << " runs each, in turn)";
  if (Whole.Built)
    Text << ". " << nameOf(*Whole.Built)
         << "'s was faster in every run: it is what was built, and nothing of "
            "what was kept";
  printWrapped(OS, Line, std::max(Options.Width, 80u), 2);
}

} // namespace reconverge::report
