//===- report/Tests.cpp - What a test showed, for people ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   race: kernel: what happened                     a finding, those that fail
//       write at app.cu:12 by thread (0,0,0) of ...   a test first
//       read at app.cu:14 by ...
//       in build/test_a --fast and 2 other processes
//   2 more findings in kernel (--max-findings)
//   reconverge: note: ...                           processes cut short,
//   reconverge: tested for ...                        suppressions without use
//
//===----------------------------------------------------------------------===//

#include "report/Tests.h"

#include "report/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

bool TestOutcome::fails(FindingKind Kind) const {
  return any_of(Findings, [&](const MergedFinding &F) {
    return F.What.Kind == Kind && !F.What.Harmless && !F.Suppressed;
  });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static std::string relative(StringRef File, StringRef Folder) {
  SmallString<256> Path(File);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  StringRef Rest = Path;
  const bool IsInside =
      !Folder.empty() && Rest.consume_front(Folder) && Rest.consume_front("/");
  return (IsInside ? Rest : StringRef(Path)).str();
}

std::string placeText(const SourceChain &Where, StringRef Folder) {
  std::string Text;
  for (auto [Depth, Loc] : enumerate(Where)) {
    Text += Depth == 1 ? " (inlined at " : Depth ? ", at " : "";
    Text += relative(Loc.File, Folder) + ":" + std::to_string(Loc.Line);
  }
  return Where.size() > 1 ? Text + ")" : Text;
}

std::string findingText(const Finding &F, StringRef Folder) {
  const std::string Prefix = (Folder + "/").str();
  std::string Text;
  ListSeparator Space(" ");
  for (StringRef Word : split(F.Text, ' ')) {
    if (!Folder.empty())
      Word.consume_front(Prefix);
    Text += StringRef(Space);
    Text += Word;
  }
  return Text;
}

static std::string indices(const std::array<uint32_t, 3> &I) {
  return "(" + std::to_string(I[0]) + "," + std::to_string(I[1]) + "," +
         std::to_string(I[2]) + ")";
}

std::string placeText(const FindingPlace &P, StringRef Folder) {
  std::string Text = P.What;
  if (!P.Where.empty())
    Text += (Text.empty() ? "at " : " at ") + placeText(P.Where, Folder);
  if (P.Thread)
    Text += (Text.empty() ? "by thread " : " by thread ") + indices(*P.Thread);
  if (P.Block)
    Text += (Text.empty() ? "in block "
             : P.Thread   ? " of block "
                          : " in block ") +
            indices(*P.Block);
  return Text;
}

//===----------------------------------------------------------------------===//
// The summary
//===----------------------------------------------------------------------===//

static constexpr unsigned NameWidth = 60;

/// Which processes came across \p F, if the command has several.
static std::string whoFound(const MergedFinding &F, const TestOutcome &T) {
  if (T.Processes.size() < 2)
    return "";
  const TestedProcess &P = T.Processes[F.Processes.front()];
  std::string Text = "in " + relative(P.Program, T.Folder);
  for (const std::string &Word : P.Arguments)
    Text += " " + Word;
  Text = cutEnd(cleanText(Text), NameWidth);
  if (F.Processes.size() > 1)
    Text += " and " + counted(F.Processes.size() - 1, "other process");
  return Text;
}

static void printFinding(const MergedFinding &F, const TestOutcome &T,
                         raw_ostream &OS, const TerminalOptions &Options) {
  const StringRef Kind = wordOf(F.What.Kind);
  const StringRef After = F.What.Harmless ? " (fails no test): " : ": ";
  printInk(OS, Kind, F.What.Harmless ? Ink::Warm : Ink::Hot, Options.Color);
  OS << After;
  std::string Text;
  if (!F.What.Kernel.empty())
    Text += kernelName(F.What.Kernel, NameWidth) + ": ";
  Text += findingText(F.What, T.Folder);
  printWrapped(OS, cleanText(Text),
               Options.Width - widthOf(Kind) - widthOf(After), 4);
  auto Line = [&](const std::string &Words) {
    if (!Words.empty())
      printWrapped(OS, "    " + cleanText(Words), Options.Width, 8);
  };
  for (const FindingPlace &P : F.What.Places)
    Line(placeText(P, T.Folder));
  Line(whoFound(F, T));
}

/// "found: race (2), init (1)", without those that fail no test.
static std::string tally(const TestOutcome &T) {
  std::vector<std::string> Parts;
  for (FindingKind Kind : allFindingKinds()) {
    const auto Count = count_if(T.Findings, [&](const MergedFinding &F) {
      return F.What.Kind == Kind && !F.What.Harmless && !F.Suppressed;
    });
    if (Count)
      Parts.push_back(wordOf(Kind).str() + " (" + std::to_string(Count) + ")");
  }
  return Parts.empty() ? "no finding" : "found: " + join(Parts, ", ");
}

void printTest(const TestOutcome &T, raw_ostream &OS,
               const TerminalOptions &Options) {
  StringMap<unsigned> Shown, Hidden;
  std::vector<StringRef> WithHidden;
  for (const MergedFinding &F : T.Findings) {
    if (F.Suppressed)
      continue;
    const StringRef Kernel = F.What.Kernel;
    if (T.MostOfKernel && ++Shown[Kernel] > T.MostOfKernel) {
      if (!Hidden[Kernel]++)
        WithHidden.push_back(Kernel);
      continue;
    }
    printFinding(F, T, OS, Options);
  }
  for (StringRef Kernel : WithHidden)
    OS << counted(Hidden[Kernel], "more finding") << " in "
       << (Kernel.empty() ? "no kernel" : kernelName(Kernel, NameWidth))
       << " (--max-findings)\n";
  for (const TestedProcess &P : T.Processes)
    if (!P.HasEnded)
      printWrapped(OS,
                   "reconverge: note: " + relative(P.Program, T.Folder) +
                       " (process " + std::to_string(P.Id) +
                       ") did not come to its end: a signal, or _exit",
                   Options.Width, 4);
  for (const std::string &Line : T.UnusedSuppressions)
    OS << "reconverge: note: no finding was suppressed by '" << Line << "'\n";

  // Who has not come to its end has not told how many launches it had.
  uint64_t Launches = 0;
  bool IsLeast = false;
  StringSet<> Kernels;
  for (const TestedProcess &P : T.Processes) {
    Launches += P.HasEnded ? P.Launches : P.Kernels.size();
    IsLeast |= !P.HasEnded && !P.Kernels.empty();
    Kernels.insert(P.Kernels.begin(), P.Kernels.end());
  }
  std::string Words = "reconverge: tested for " + T.Checks + ": " +
                      counted(T.Processes.size(), "process") + ", " +
                      counted(Kernels.size(), "kernel") + ", " +
                      (IsLeast ? "at least " : "") +
                      counted(Launches, "launch") + ": " + tally(T);
  if (const auto Count = count_if(
          T.Findings, [](const MergedFinding &F) { return F.Suppressed; }))
    Words += ", " + std::to_string(Count) + " suppressed";
  if (T.Signal)
    Words += "; the command was ended by signal " + std::to_string(T.Signal);
  else
    Words += "; the command returned " + std::to_string(T.Exit);
  printWrapped(OS, Words, Options.Width, 4);
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

StringRef summaryOf(FindingKind Kind) {
  switch (Kind) {
  case FindingKind::Bounds:
    return "A kernel accesses memory that is not there, not its own or not "
           "aligned.";
  case FindingKind::Assert:
    return "An assertion of a kernel fails, or it executes a trap.";
  case FindingKind::Hang:
    return "Threads wait for what never comes.";
  case FindingKind::Sync:
    return "Threads do not agree on a barrier or on a mask.";
  case FindingKind::Race:
    return "Two threads access the same memory, one of them writes, and "
           "nothing orders the two.";
  case FindingKind::Init:
    return "A kernel reads memory that nobody has written.";
  case FindingKind::Order:
    return "What a launch leaves in memory depends on the order of its "
           "threads.";
  case FindingKind::Unsupported:
    return "A call or a construct does not run on the CPU.";
  }
  llvm_unreachable("a finding is of one of these kinds");
}

StringRef remedyFor(FindingKind Kind) {
  switch (Kind) {
  case FindingKind::Bounds:
    return "Compare the index with the size of what it goes into.";
  case FindingKind::Assert:
    return "See what the assertion says.";
  case FindingKind::Hang:
    return "See that every thread that is waited for gets there.";
  case FindingKind::Sync:
    return "Have all threads of the block meet at one __syncthreads(), and "
           "name "
           "in a mask those lanes that come.";
  case FindingKind::Race:
    return "Put a barrier or __syncwarp() between the two, or make both "
           "atomic.";
  case FindingKind::Init:
    return "Write it first: cudaMemset, a copy or another kernel.";
  case FindingKind::Order:
    return "Look for a missing barrier, or for atomics whose results are used.";
  case FindingKind::Unsupported:
    return "docs/supported.md has what runs; suppress it where the program "
           "lives without.";
  }
  llvm_unreachable("a finding is of one of these kinds");
}

} // namespace reconverge::report
