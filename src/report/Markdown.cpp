//===- report/Markdown.cpp - A report as Markdown -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same tables in the same order as on a terminal, for a change's description
// or a wiki. Every sign that Markdown or HTML would read is escaped: conditions
// and names of templates have many.
//
//===----------------------------------------------------------------------===//

#include "report/MarkdownText.h"
#include "report/Names.h"
#include "report/Text.h"
#include "report/Writers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

std::string markdownOf(StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (C == '<')
      Out += "&lt;";
    else if (C == '&')
      Out += "&amp;";
    else if (StringRef("\\`*_{}[]>|~$").contains(C))
      Out += std::string("\\") + C;
    else
      Out += C;
  return Out;
}

static std::string ratio(double X) {
  if (!(X > 0))
    return "-";
  std::string Text;
  raw_string_ostream(Text) << format("%.2fx", X);
  return Text;
}

void printMarkdownRow(raw_ostream &OS, ArrayRef<std::string> Cells) {
  OS << "| " << join(Cells, " | ") << " |\n";
}

static std::string nameOf(const View &V, uint32_t Kernel) {
  return markdownOf(kernelName(V.Kernels[Kernel].Name, 60));
}

/// What the terminal says under a row.
static std::string whatHelps(const PlaceView &Place) {
  std::string Text;
  for (const std::string &Line : Place.Advice)
    Text += (Text.empty() ? "" : "<br>") + markdownOf(Line);
  return Text.empty() ? "-" : Text;
}

static void printPlaces(const View &V, raw_ostream &OS) {
  if (V.Places.empty())
    return;
  printMarkdownRow(OS, {"self", "total", "in the warp", "in the block",
                        "in the grid", "branch", "kernel", "what may help"});
  OS << "| ---: | ---: | ---: | ---: | ---: | --- | --- | --- |\n";
  for (const PlaceView &Place : V.Places) {
    auto Recover = [&](double Recoverable::*Scope) {
      return Place.Regrouped ? percent(*Place.Regrouped.*Scope) : "-";
    };
    std::string Kernels;
    for (uint32_t Kernel : Place.Kernels)
      Kernels += (Kernels.empty() ? "" : ", ") + nameOf(V, Kernel);
    std::string What = markdownOf(Place.At + " " + Place.What);
    if (Place.Copies > 1)
      What += " (" + counted(Place.Copies, "copy") + ")";
    printMarkdownRow(
        OS, {percent(Place.Self), percent(Place.Total),
             Recover(&Recoverable::InWarp), Recover(&Recoverable::InBlock),
             Recover(&Recoverable::InGrid), What, Kernels, whatHelps(Place)});
  }
  OS << '\n';
  if (V.MorePlaces)
    OS << "And " << counted(V.MorePlaces, "more place") << ".\n\n";
}

static void printKernelTable(const View &V, raw_ostream &OS) {
  if (V.Ranking.empty())
    return;
  printMarkdownRow(OS, {"kernel", "launches", "threads", "of the run", "CFE",
                        "potential", "bound by", "divergent warps"});
  OS << "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n";
  for (uint32_t I : V.Ranking) {
    const KernelView &K = V.Kernels[I];
    printMarkdownRow(OS, {nameOf(V, I), count(K.Launches), count(K.Threads),
                          percent(K.OfRun), percent(K.Cfe), ratio(K.Potential),
                          K.BoundBy.empty() ? "-" : markdownOf(K.BoundBy),
                          percent(K.Divergent)});
  }
  OS << '\n';
}

static void printAccessTable(const View &V, raw_ostream &OS) {
  if (V.Accesses.empty())
    return;
  printMarkdownRow(OS,
                   {"of the kernel's", "access", "what", "kernel", "requests"});
  OS << "| ---: | --- | --- | --- | ---: |\n";
  for (const AccessView &A : V.Accesses)
    printMarkdownRow(OS, {percent(A.OfKernel), markdownOf(A.At + " " + A.What),
                          markdownOf(A.Which), nameOf(V, A.Kernel),
                          count(A.Requests)});
  OS << '\n';
}

void printMarkdown(const View &V, raw_ostream &OS) {
  OS << "## Divergence of " << markdownOf(V.Program);
  for (const std::string &A : V.Arguments)
    OS << ' ' << markdownOf(A);
  OS << "\n\n";
  for (const std::vector<std::string> &Lines : V.Refused)
    OS << "- Not run: " << markdownOf(join(Lines, " ")) << '\n';
  if (!V.Refused.empty())
    OS << '\n';
  if (V.Kernels.empty())
    OS << V.WhyNoKernels << "\n\n";
  printPlaces(V, OS);
  printKernelTable(V, OS);
  printAccessTable(V, OS);
  if (V.Next && V.Next->Command.empty())
    OS << markdownOf(V.Next->Words) << ".\n\n";
  else if (V.Next)
    OS << markdownOf(V.Next->Words) << ":\n\n```\n"
       << V.Next->Command << "\n```\n\n";
  OS << "Shares are of "
     << (V.SharesAreOfTime ? "time, by the model" : "issue slots") << ".";
  if (!V.CountedOn.empty())
    OS << " Counted on " << markdownOf(V.CountedOn) << ".";
  OS << '\n';
  for (const std::string &Note : V.Notes)
    OS << "\nNote: " << markdownOf(Note) << '\n';
}

} // namespace reconverge::report
