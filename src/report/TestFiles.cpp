//===- report/TestFiles.cpp - What a test showed, for CI ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JUnit's XML has no standard; this is the part that the usual CI servers read.
// A process is a suite, a kernel a case of it, and a finding a failure of the
// case. What belongs to no kernel (calls that are not supported) is the case
// "CUDA calls". The command is a suite with itself as its only case.
//
//===----------------------------------------------------------------------===//

#include "report/Tests.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

//===----------------------------------------------------------------------===//
// JUnit
//===----------------------------------------------------------------------===//

static std::string xml(StringRef Text) {
  std::string Safe;
  raw_string_ostream OS(Safe);
  printHTMLEscaped(cleanText(Text), OS);
  return Safe;
}

static std::string commandLine(StringRef Program,
                               ArrayRef<std::string> Arguments) {
  std::string Text = Program.str();
  for (const std::string &Word : Arguments)
    Text += " " + Word;
  return Text;
}

namespace {
struct Case {
  std::string Name;
  std::vector<const Finding *> Failures;
};
} // namespace

static std::vector<Case> casesOf(size_t Process, const TestOutcome &T) {
  std::vector<Case> Cases;
  for (const std::string &Kernel : T.Processes[Process].Kernels)
    Cases.push_back({Kernel, {}});
  for (const MergedFinding &F : T.Findings) {
    if (F.Suppressed || F.What.Harmless || !is_contained(F.Processes, Process))
      continue;
    const std::string Name =
        F.What.Kernel.empty() ? "CUDA calls" : F.What.Kernel;
    auto At = find_if(Cases, [&](const Case &C) { return C.Name == Name; });
    if (At == Cases.end())
      At = Cases.insert(Cases.end(), {Name, {}});
    At->Failures.push_back(&F.What);
  }
  return Cases;
}

static void printFailure(const Finding &F, StringRef Folder, raw_ostream &OS) {
  OS << "      <failure type=\"" << wordOf(F.Kind) << "\" message=\""
     << xml(findingText(F, Folder)) << "\">" << xml(findingText(F, Folder));
  for (const FindingPlace &P : F.Places)
    if (std::string Where = placeText(P, Folder); !Where.empty())
      OS << "\n" << xml(Where);
  OS << "</failure>\n";
}

static void printSuite(size_t Process, const TestOutcome &T, raw_ostream &OS) {
  const TestedProcess &P = T.Processes[Process];
  const std::vector<Case> Cases = casesOf(Process, T);
  const auto Failed =
      count_if(Cases, [](const Case &C) { return !C.Failures.empty(); });
  OS << "  <testsuite name=\"" << xml(commandLine(P.Program, P.Arguments))
     << "\" tests=\"" << Cases.size() << "\" failures=\"" << Failed << "\">\n";
  for (const Case &C : Cases) {
    OS << "    <testcase classname=\"" << xml(sys::path::filename(P.Program))
       << "\" name=\"" << xml(C.Name) << "\"";
    if (C.Failures.empty()) {
      OS << "/>\n";
      continue;
    }
    OS << ">\n";
    for (const Finding *F : C.Failures)
      printFailure(*F, T.Folder, OS);
    OS << "    </testcase>\n";
  }
  if (!P.HasEnded)
    OS << "    <system-err>The process did not come to its end: a signal, or "
          "_exit.</system-err>\n";
  OS << "  </testsuite>\n";
}

void printJUnit(const TestOutcome &T, raw_ostream &OS) {
  size_t Tests = 1, Failures = T.Exit || T.Signal;
  for (size_t I = 0; I != T.Processes.size(); ++I)
    for (const Case &C : casesOf(I, T)) {
      ++Tests;
      Failures += !C.Failures.empty();
    }
  const std::string Time = formatv("{0:f3}", T.Seconds);
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << "<testsuites name=\"reconverge\" tests=\"" << Tests << "\" failures=\""
     << Failures << "\" time=\"" << Time << "\">\n";
  const std::string Command = xml(join(T.Command, " "));
  const bool Failed = T.Exit || T.Signal;
  OS << "  <testsuite name=\"" << Command << "\" tests=\"1\" failures=\""
     << Failed << "\" time=\"" << Time << "\">\n"
     << "    <testcase classname=\"command\" name=\"" << Command << "\" time=\""
     << Time << "\"";
  if (Failed)
    OS << ">\n      <failure type=\"command\" message=\""
       << (T.Signal ? "was ended by signal " + std::to_string(T.Signal)
                    : "returned " + std::to_string(T.Exit))
       << "\"/>\n    </testcase>\n";
  else
    OS << "/>\n";
  OS << "  </testsuite>\n";
  for (size_t I = 0; I != T.Processes.size(); ++I)
    printSuite(I, T, OS);
  OS << "</testsuites>\n";
}

//===----------------------------------------------------------------------===//
// SARIF
//===----------------------------------------------------------------------===//

SarifRun sarifOf(const TestOutcome &T, std::string Version) {
  SarifRun Run;
  Run.Version = std::move(Version);
  Run.Folder = T.Folder;
  for (FindingKind Kind : allFindingKinds())
    Run.Rules.push_back(
        {wordOf(Kind).str(), summaryOf(Kind).str(), remedyFor(Kind).str()});
  for (const MergedFinding &F : T.Findings) {
    SarifResult &R = Run.Results.emplace_back();
    R.Rule = wordOf(F.What.Kind).str();
    R.Level = F.What.Harmless ? SarifResult::Warning : SarifResult::Error;
    R.Suppressed = F.Suppressed;
    const std::string What = findingText(F.What, T.Folder);
    R.Message = F.What.Kernel.empty() ? What : F.What.Kernel + ": " + What;
    for (const FindingPlace &P : F.What.Places) {
      const std::string Text = placeText(P, T.Folder);
      if (!Text.empty())
        R.Message += "; " + Text;
      // The places that it was inlined into come after it.
      for (const SourceLoc &Loc : P.Where)
        R.Places.push_back({Loc.File, Loc.Line, Loc.Column,
                            &Loc == &P.Where.front() ? Text : "inlined here"});
    }
    if (!R.Places.empty())
      R.Places.front().Message.clear();
  }
  return Run;
}

} // namespace reconverge::report
