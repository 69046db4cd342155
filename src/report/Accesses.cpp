//===- report/Accesses.cpp - Requests that take more than they must -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three findings, each of which has a remedy of its own:
//
//   uncoalesced              more sectors than the same lanes would touch side
//                            by side
//   bank conflicts           more passes through shared memory than without
//   atomics on one address   lanes that wait for one another
//
// An access has a row if it takes much more than it must (TooMuch, ManyTurns)
// and that is a part of the kernel that shows (LeastShare). Copies of a line
// that the optimiser made are one row.
//
//===----------------------------------------------------------------------===//

#include "report/Accesses.h"
#include "report/Names.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::report {

/// Times what is needed.
static constexpr double TooMuch = 1.5;
/// A request, on average.
static constexpr double ManyTurns = 4;
/// Of what all requests of the kernel take.
static constexpr double LeastShare = 0.05;

/// Of the headers that clang puts before every CUDA source.
static bool isCompilers(StringRef File) {
  return File.substr(File.rfind('/') + 1).starts_with("__clang_cuda");
}

bool isToolkits(StringRef File) {
  const size_t Cuda = File.find("/cuda");
  return isCompilers(File) || (Cuda != StringRef::npos &&
                               File.find("/include/", Cuda) != StringRef::npos);
}

const SourceLoc *userPlace(const SourceChain &Where) {
  for (bool (*IsNobodys)(StringRef) : {isToolkits, isCompilers})
    for (const SourceLoc &Loc : Where)
      if (!IsNobodys(Loc.File))
        return &Loc;
  return Where.empty() ? nullptr : &Where.front();
}

static std::string oneDigit(double X) {
  std::string Text;
  raw_string_ostream(Text) << format("%.1f", X);
  return Text;
}

namespace {
/// An access and its copies.
struct Merged {
  const AccessInfo *First = nullptr;
  AccessCounts Counts;
  uint64_t Copies = 0;

  double perRequest(uint64_t N) const {
    return double(N) / double(std::max<uint64_t>(Counts.Requests, 1));
  }
  std::string average(uint64_t N) const { return oneDigit(perRequest(N)); }
  /// "17.6 of 4.0 sectors"
  std::string ratio(uint64_t N, uint64_t Least, StringRef What) const {
    return average(N) + " of " + average(Least) + " " + What.str();
  }
  bool touchesShared() const {
    return First->Space == MemorySpace::Shared ||
           (First->Space == MemorySpace::Generic && !Counts.Sectors);
  }
};
} // namespace

static std::string wordsOf(const Merged &M) {
  const AccessInfo &A = *M.First;
  std::string Text = A.Use == MemoryUse::Load    ? "a load from "
                     : A.Use == MemoryUse::Store ? "a store to "
                                                 : "an atomic on ";
  if (A.Space == MemorySpace::Generic)
    Text += M.touchesShared() ? "shared memory" : "memory";
  else
    Text += std::string(wordOf(A.Space)) + " memory";
  Text += ", " + counted(A.Bytes, "byte") + " a lane";
  if (M.Copies > 1)
    Text += " (" + counted(M.Copies, "copy") + ")";
  return Text;
}

static std::vector<Merged> mergedByPlace(const KernelProfile &K) {
  std::vector<Merged> All;
  using Key = std::tuple<std::string, uint32_t, uint32_t, MemoryUse,
                         MemorySpace, uint32_t>;
  std::map<Key, size_t> Index;
  for (size_t I = 0; I < K.Accesses.size(); ++I) {
    const AccessInfo &A = K.Info.Accesses[I];
    if (!K.Accesses[I].Requests)
      continue;
    size_t At = All.size();
    if (const SourceLoc *Place = userPlace(A.Where))
      At = Index
               .try_emplace({Place->File, Place->Line, Place->Column, A.Use,
                             A.Space, A.Bytes},
                            At)
               .first->second;
    if (At == All.size())
      All.push_back({&A, {}, 0});
    All[At].Counts += K.Accesses[I];
    ++All[At].Copies;
  }
  return All;
}

/// To the places of rows that nothing else tells apart.
static void addColumns(std::vector<AccessView> &Rows) {
  std::map<std::pair<std::string, std::string>, unsigned> Alike;
  for (const AccessView &Row : Rows)
    ++Alike[{Row.At, Row.Which}];
  for (AccessView &Row : Rows)
    if (Row.Where.Column && Alike[{Row.At, Row.Which}] > 1)
      Row.At += ":" + std::to_string(Row.Where.Column);
}

std::vector<AccessView>
accessesOf(const KernelProfile &K, uint32_t Number,
           function_ref<std::string(const SourceLoc &)> At) {
  const std::vector<Merged> All = mergedByPlace(K);
  AccessCounts Sum, SumOfShared;
  for (const Merged &M : All)
    (M.touchesShared() ? SumOfShared : Sum) += M.Counts;
  std::vector<AccessView> Rows;
  for (const Merged &M : All) {
    const AccessCounts &C = M.Counts;
    auto Row = [&](uint64_t Part, uint64_t Whole, const std::string &What) {
      const double Share = double(Part) / double(std::max<uint64_t>(Whole, 1));
      if (Share < LeastShare)
        return;
      const SourceLoc *Place = userPlace(M.First->Where);
      Rows.push_back(
          {Number,
           Place ? At(*Place) : "block " + std::to_string(M.First->Block), What,
           wordsOf(M), C.Requests, Share, Place ? *Place : SourceLoc()});
    };
    const bool Waits = C.Wavefronts > TooMuch * double(C.LeastWavefronts);
    const uint64_t Turns = Sum.Turns + SumOfShared.Turns;
    if (M.First->Use == MemoryUse::Atomic && M.perRequest(C.Turns) >= ManyTurns)
      Row(C.Turns, Turns,
          "atomics on one address: " + M.average(C.Turns) + " turns");
    else if (M.touchesShared() && Waits)
      Row(C.Wavefronts, SumOfShared.Wavefronts,
          "bank conflicts: " +
              M.ratio(C.Wavefronts, C.LeastWavefronts, "wavefronts"));
    // A byte of local memory takes up a word, side by side or not.
    if (!M.touchesShared() && C.Sectors > TooMuch * double(C.LeastSectors) &&
        (M.First->Space != MemorySpace::Local || Waits))
      Row(C.Sectors, Sum.Sectors,
          "uncoalesced: " + M.ratio(C.Sectors, C.LeastSectors, "sectors"));
  }
  std::sort(Rows.begin(), Rows.end(),
            [](const AccessView &A, const AccessView &B) {
              return std::tie(B.OfKernel, A.At, A.What) <
                     std::tie(A.OfKernel, B.At, B.What);
            });
  addColumns(Rows);
  return Rows;
}

void printAccesses(const View &V, raw_ostream &OS,
                   const TerminalOptions &Options) {
  if (V.Accesses.empty())
    return;
  printInk(OS, "Requests to memory that take more than they must", Ink::Strong,
           Options.Color);
  OS << '\n';
  Table T;
  T.column("of kernel's", false);
  T.column("access", true);
  T.wrapLast(Options.Width);
  for (const AccessView &A : V.Accesses) {
    T.row({{percent(A.OfKernel)}, {A.At + "  " + A.What}});
    T.remark("in " + kernelName(V.Kernels[A.Kernel].Name, 40) + "; " + A.Which +
                 ", " + counted(A.Requests, "request"),
             Ink::Faint);
  }
  T.print(OS, Options.Color);
  if (V.MoreAccesses)
    OS << "and " << counted(V.MoreAccesses, "more access")
       << "; the JSON file has all\n";
  printWrapped(OS,
               "Per request, and what the same lanes would take at best; "
               "docs/memory.md has the rules.",
               Options.Width, 2);
  OS << '\n';
}

} // namespace reconverge::report
