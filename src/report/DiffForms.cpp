//===- report/DiffForms.cpp - Two runs, as text and for tools -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and Markdown have the same cells. Of a run that lacks a kernel or a
// branch they say "-", and its JSON has no member.
//
//===----------------------------------------------------------------------===//

#include "report/Diff.h"
#include "report/MarkdownText.h"
#include "report/Names.h"

#include "core/JsonWriter.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace reconverge::report {

namespace {
/// What both runs have of one thing.
struct Pair {
  const RunDiff &D;
  const CostedRun &Before, &After;

  const KernelCost *before(const KernelDiff &K) const {
    return K.Before ? &Before.Cost.Kernels[*K.Before] : nullptr;
  }
  const KernelCost *after(const KernelDiff &K) const {
    return K.After ? &After.Cost.Kernels[*K.After] : nullptr;
  }
  const PlaceCost *before(const PlaceDiff &P) const {
    return P.Before ? &Before.Cost.Places[*P.Before] : nullptr;
  }
  const PlaceCost *after(const PlaceDiff &P) const {
    return P.After ? &After.Cost.Places[*P.After] : nullptr;
  }
  const BranchInfo &branch(const PlaceDiff &P) const {
    return P.After ? branchOf(After, *P.After) : branchOf(Before, *P.Before);
  }
  /// How many times as fast, all launches, as a change may have other ones; 0:
  /// not known.
  double faster(const KernelDiff &K) const;
  ArrayRef<PlaceDiff> places(size_t Most) const {
    return ArrayRef(D.Places).take_front(Most ? Most : D.Places.size());
  }
  /// What a reader must know, a sentence each.
  std::vector<std::string> notes() const;
};
} // namespace

double Pair::faster(const KernelDiff &K) const {
  const KernelCost *B = before(K), *A = after(K);
  if (!A || !B || !A->Time.isKnown() || !B->Time.isKnown())
    return 0;
  const double Then =
      B->Time.Cycles * double(Before.P.Kernels[*K.Before].Launches);
  const double Now =
      A->Time.Cycles * double(After.P.Kernels[*K.After].Launches);
  return Now > 0 ? Then / Now : 0;
}

std::vector<std::string> Pair::notes() const {
  std::vector<std::string> Notes;
  if (Before.P.Backend != After.P.Backend ||
      Before.P.Machine != After.P.Machine)
    Notes.push_back("before, counted on " + cleanText(Before.P.Backend) +
                    " and priced as " + cleanText(Before.P.Machine) +
                    "; after, on " + cleanText(After.P.Backend) + " and as " +
                    cleanText(After.P.Machine) + ".");
  if (Before.P.Arguments != After.P.Arguments)
    Notes.push_back("the arguments differ, so the input may.");
  return Notes;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static const char *const KernelTitles[] = {"slots before", "after", "change",
                                           "CFE before",   "after", "model"};
static const char *const PlaceTitles[] = {"lost before", "after", "change",
                                          "self before", "after"};
/// The column of them with the change.
static constexpr size_t ChangeCell = 2;

/// "12.3k"; "-" of a run that has none.
static std::string slots(bool Has, double N) {
  return Has ? count(uint64_t(std::llround(N))) : "-";
}

/// "-12.3%", "new", "gone".
static std::string change(bool HasBefore, bool HasAfter, double Before,
                          double After) {
  if (!HasBefore || !HasAfter)
    return HasAfter ? "new" : "gone";
  if (Before == After)
    return "same";
  if (!(Before > 0))
    return "new";
  std::string Text;
  raw_string_ostream(Text) << format("%+.1f%%", 100 * (After / Before - 1));
  return Text;
}

static std::vector<std::string> cellsOf(const Pair &R, const KernelDiff &K) {
  const KernelCost *B = R.before(K), *A = R.after(K);
  const double Old = B ? B->Slots : 0, New = A ? A->Slots : 0;
  std::string Faster = "-";
  if (const double X = R.faster(K); X > 0) {
    Faster.clear();
    raw_string_ostream(Faster) << format("%.2fx", X);
  }
  return {slots(B, Old),
          slots(A, New),
          change(B, A, Old, New),
          B ? percent(B->Cfe) : "-",
          A ? percent(A->Cfe) : "-",
          Faster};
}

static std::vector<std::string> cellsOf(const Pair &R, const PlaceDiff &P) {
  const PlaceCost *B = R.before(P), *A = R.after(P);
  return {slots(B, P.SlotsBefore), slots(A, P.SlotsAfter),
          change(B, A, P.SlotsBefore, P.SlotsAfter), B ? percent(B->Self) : "-",
          A ? percent(A->Self) : "-"};
}

/// "x < y"
static std::string conditionOf(const BranchInfo &B) {
  return cleanText(B.Condition.empty() ? wordOf(B.Kind)
                                       : StringRef(B.Condition));
}

/// "a.cu:12  x < y", as it is after the change, if it still is.
static std::string textOf(const BranchInfo &B) {
  std::string Text = B.Where.empty()
                         ? "block " + std::to_string(B.Block)
                         : sys::path::filename(B.Where.front().File).str() +
                               ":" + std::to_string(B.Where.front().Line);
  return cleanText(Text) + "  " + conditionOf(B);
}

static std::string commandOf(const Profile &P) {
  return cleanText(P.Arguments.empty()
                       ? P.Program
                       : P.Program + " " + join(P.Arguments, " "));
}

static std::string titleOf(const Pair &R) {
  const std::string Was = commandOf(R.Before.P), Is = commandOf(R.After.P);
  return Was == Is ? "Divergence of " + Is + ", before and after"
                   : "Divergence of " + Was + ", then of " + Is;
}

/// What stands in place of an empty table of branches.
static StringRef sameOf(const RunDiff &D) {
  return D.Kernels.empty() ? "Neither run has a kernel."
                           : "Every branch loses what it lost.";
}
static constexpr StringLiteral Legend =
    "slots: issue slots; lost: those that lanes idle away where they part at "
    "this branch; self: as a share of the run. model: how many times as fast "
    "the kernel is, all launches, by the model.";

/// The lines below the branches.
static std::vector<std::string> othersOf(const Pair &R, size_t MaxPlaces) {
  std::vector<std::string> Lines;
  if (R.D.Places.empty())
    return Lines;
  if (const size_t More = R.D.Places.size() - R.places(MaxPlaces).size())
    Lines.push_back("and " + counted(More, "more branch"));
  if (R.D.SamePlaces)
    Lines.push_back("and " + counted(R.D.SamePlaces, "branch") + " as before");
  return Lines;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static Table tableOf(ArrayRef<const char *> Titles, const char *Last,
                     unsigned Width) {
  Table T;
  for (const char *Title : Titles)
    T.column(Title, /*Left=*/false);
  T.column(Last, /*Left=*/true);
  T.wrapLast(Width);
  return T;
}

/// More than before stands out: less is better.
static void addRow(Table &T, ArrayRef<std::string> Cells, bool IsMore,
                   std::string Last) {
  std::vector<Table::Cell> Row;
  for (auto [I, Text] : enumerate(Cells))
    Row.push_back({Text, I == ChangeCell && IsMore ? Ink::Hot : Ink::Plain});
  Row.push_back({std::move(Last)});
  T.row(std::move(Row));
}

void printDiff(const RunDiff &D, const CostedRun &Before,
               const CostedRun &After, size_t MaxPlaces, raw_ostream &OS,
               const TerminalOptions &Options) {
  const Pair R{D, Before, After};
  const unsigned Width = std::max(Options.Width, 80u);
  printInk(OS, titleOf(R), Ink::Strong, Options.Color);
  OS << "\n\n";
  if (D.Kernels.empty()) {
    OS << sameOf(D) << '\n';
    return;
  }
  Table Kernels = tableOf(KernelTitles, "kernel", Width);
  for (const KernelDiff &K : D.Kernels)
    addRow(Kernels, cellsOf(R, K),
           (K.After ? R.after(K)->Slots : 0) >
               (K.Before ? R.before(K)->Slots : 0),
           kernelName(K.Name, 60));
  Kernels.print(OS, Options.Color);
  OS << '\n';
  if (D.Places.empty()) {
    OS << sameOf(D) << '\n';
  } else {
    Table Places = tableOf(PlaceTitles, "branch", Width);
    for (const PlaceDiff &P : R.places(MaxPlaces))
      addRow(Places, cellsOf(R, P), P.SlotsAfter > P.SlotsBefore,
             textOf(R.branch(P)));
    Places.print(OS, Options.Color);
  }
  for (const std::string &Line : othersOf(R, MaxPlaces))
    OS << Line << '\n';
  OS << '\n';
  printWrapped(OS, Legend, Width, 2);
  for (const std::string &Note : R.notes())
    printWrapped(OS, "note: " + Note, Width, 2);
}

static void printMarkdownTitles(ArrayRef<const char *> Titles, const char *Last,
                                raw_ostream &OS) {
  std::vector<std::string> Cells(Titles.begin(), Titles.end());
  Cells.push_back(Last);
  printMarkdownRow(OS, Cells);
  OS << '|';
  for (size_t I = 0; I != Titles.size(); ++I)
    OS << " ---: |";
  OS << " --- |\n";
}

static void printMarkdownRow(std::vector<std::string> Cells, StringRef Last,
                             raw_ostream &OS) {
  Cells.push_back(markdownOf(Last));
  printMarkdownRow(OS, Cells);
}

void printDiffMarkdown(const RunDiff &D, const CostedRun &Before,
                       const CostedRun &After, size_t MaxPlaces,
                       raw_ostream &OS) {
  const Pair R{D, Before, After};
  OS << "## " << markdownOf(titleOf(R)) << "\n\n";
  if (D.Kernels.empty()) {
    OS << sameOf(D) << '\n';
    return;
  }
  printMarkdownTitles(KernelTitles, "kernel", OS);
  for (const KernelDiff &K : D.Kernels)
    printMarkdownRow(cellsOf(R, K), kernelName(K.Name, 60), OS);
  OS << '\n';
  if (D.Places.empty()) {
    OS << sameOf(D) << '\n';
  } else {
    printMarkdownTitles(PlaceTitles, "branch", OS);
    for (const PlaceDiff &P : R.places(MaxPlaces))
      printMarkdownRow(cellsOf(R, P), textOf(R.branch(P)), OS);
  }
  for (const std::string &Line : othersOf(R, MaxPlaces))
    OS << '\n' << Line << '\n';
  OS << '\n' << Legend << '\n';
  for (const std::string &Note : R.notes())
    OS << "\nNote: " << markdownOf(Note) << '\n';
}

static void writeRun(JsonWriter &W, StringRef Key, const Profile &P) {
  W.object(Key, [&] {
    W.text("program", P.Program);
    W.texts("arguments", P.Arguments);
    W.text("backend", P.Backend);
    W.text("machine", P.Machine);
  });
}

static void writeKernel(JsonWriter &W, const Pair &R, const KernelDiff &K) {
  auto Side = [&](StringRef Key, const KernelCost *C, const CostedRun &Run,
                  std::optional<uint32_t> I) {
    if (C)
      W.line(Key, [&](JsonWriter &L) {
        L.text("name", Run.P.Kernels[*I].Info.Name);
        L.count("launches", Run.P.Kernels[*I].Launches);
        L.number("slots", C->Slots);
        L.number("cfe", C->Cfe);
      });
  };
  W.text("display", K.Name);
  Side("before", R.before(K), R.Before, K.Before);
  Side("after", R.after(K), R.After, K.After);
  if (const double X = R.faster(K); X > 0)
    W.number("model", X);
}

static void writePlace(JsonWriter &W, const Pair &R, const PlaceDiff &P) {
  const BranchInfo &B = R.branch(P);
  if (!B.Where.empty()) {
    W.text("file", B.Where.front().File);
    W.count("line", B.Where.front().Line);
    W.count("column", B.Where.front().Column);
  }
  W.text("condition", conditionOf(B));
  auto Side = [&](StringRef Key, const PlaceCost *C, double Lost) {
    if (C)
      W.line(Key, [&](JsonWriter &L) {
        L.number("lost", Lost);
        L.number("self", C->Self);
      });
  };
  Side("before", R.before(P), P.SlotsBefore);
  Side("after", R.after(P), P.SlotsAfter);
}

void printDiffJson(const RunDiff &D, const CostedRun &Before,
                   const CostedRun &After, size_t MaxPlaces, raw_ostream &OS) {
  const Pair R{D, Before, After};
  JsonWriter W(OS);
  W.root([&] {
    W.text("schema", "reconverge-diff/1");
    writeRun(W, "before", Before.P);
    writeRun(W, "after", After.P);
    W.texts("notes", R.notes());
    W.objects("kernels", D.Kernels, [&](JsonWriter &J, const KernelDiff &K) {
      writeKernel(J, R, K);
    });
    W.objects("places", R.places(MaxPlaces),
              [&](JsonWriter &J, const PlaceDiff &P) { writePlace(J, R, P); });
    W.count("samePlaces", D.SamePlaces);
  });
  OS << '\n';
}

} // namespace reconverge::report
