//===- driver/Test.cpp - CUDA tests without a GPU -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   command ──environment──▶ every process below it, on the warp VM
//                                │ a file each, in a folder of ours
//                                ▼
//            merged, suppressed ──▶ summary on stderr, JUnit, SARIF, exit code
//
// The environment reaches whatever the command starts: ctest, make, a shell, an
// interpreter. A process that uses our CUDA runtime finds there which checks it
// is to make and where to write what it finds (core/Findings.h). It says nothing
// of that on its own streams, so that the command's output is the program's.
//
// A test below a test, as when ctest runs what reconverge_test() has added, makes
// its own checks on its own processes, and leaves what it has not suppressed in
// the outer one's folder as well.
//
//===----------------------------------------------------------------------===//

#include "driver/Test.h"

#include "core/Error.h"
#include "core/File.h"
#include "driver/Build.h"
#include "driver/Profile.h"
#include "driver/Run.h"
#include "driver/Suppressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <tuple>

using namespace llvm;

namespace reconverge::driver {

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static Expected<frontend::ProcessResult>
runCommand(const TestRequest &Request, const frontend::Installation &Tree,
           StringRef Folder) {
  frontend::Command C;
  C.Arguments = Request.Command;
  C.Arguments.front() = Session::findProgram(Request.Command.front());
  if (C.Arguments.front().empty() || !sys::fs::can_execute(C.Arguments.front()))
    return userError("test: there is no program " + Request.Command.front(),
                     "The command comes after --, as in reconverge test -- "
                     "ctest --output-on-failure.");
  C.Environment = {"RECONVERGE_DEVICE=cpu",
                   "RECONVERGE_PROFILE=",
                   "RECONVERGE_TRIALS=",
                   "RECONVERGE_FINDINGS=" + Folder.str(),
                   overEnvironment("RECONVERGE_VM", Request.Vm),
                   runtimeFirst(Tree)};
  outs().flush();
  return frontend::runProcess(C);
}

/// The files that processes have left in \p Folder.
static Expected<std::vector<TestedProcess>> readProcesses(StringRef Folder) {
  std::vector<std::string> Files;
  std::error_code EC;
  for (sys::fs::directory_iterator At(Folder, EC), End; At != End && !EC;
       At.increment(EC))
    Files.push_back(At->path());
  if (EC)
    return userError("cannot read " + Folder + ": " + EC.message());
  llvm::sort(Files);
  std::vector<TestedProcess> Processes;
  for (const std::string &File : Files)
    if (Error E = readTestedProcess(File).moveInto(Processes.emplace_back()))
      return internalError(toString(std::move(E)));
  return Processes;
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

static SourceChain placeOf(const Finding &F) {
  return F.Places.empty() ? SourceChain() : F.Places.front().Where;
}

void mergeFindings(report::TestOutcome &T) {
  llvm::sort(T.Processes, [](const TestedProcess &A, const TestedProcess &B) {
    return std::tie(A.Program, A.Arguments, A.Id) <
           std::tie(B.Program, B.Arguments, B.Id);
  });
  for (auto [I, P] : enumerate(T.Processes))
    for (const Finding &F : P.Findings) {
      auto At = find_if(T.Findings, [&](const report::MergedFinding &Old) {
        return Old.What.sameAs(F);
      });
      if (At == T.Findings.end())
        At = T.Findings.insert(T.Findings.end(), {F, {}, false});
      if (!is_contained(At->Processes, I))
        At->Processes.push_back(I);
    }
  llvm::sort(T.Findings, [](const report::MergedFinding &A,
                            const report::MergedFinding &B) {
    auto Key = [](const Finding &F) {
      return std::tuple(F.Harmless, F.Kind, StringRef(F.Kernel), placeOf(F),
                        StringRef(F.Text));
    };
    return Key(A.What) < Key(B.What);
  });
}

int exitCodeOf(const report::TestOutcome &T) {
  for (auto [Kind, Code] : {std::pair(FindingKind::Bounds, TestExit::Fault),
                            {FindingKind::Assert, TestExit::Fault},
                            {FindingKind::Hang, TestExit::Fault},
                            {FindingKind::Race, TestExit::Race},
                            {FindingKind::Sync, TestExit::Sync},
                            {FindingKind::Init, TestExit::Init},
                            {FindingKind::Order, TestExit::Order},
                            {FindingKind::Unsupported, TestExit::Unsupported}})
    if (T.fails(Kind))
      return int(Code);
  return int(T.Exit || T.Signal ? ExitCode::ProgramFailed : ExitCode::Success);
}

/// Where a test above this one looks for processes; empty: there is none.
static std::string outerFolder() {
  const char *Folder = std::getenv("RECONVERGE_FINDINGS");
  return Folder && sys::fs::is_directory(Folder) ? Folder : "";
}

/// Leaves the processes of \p T in \p Outer; \p Name is this test's alone.
static Error tellOuter(const report::TestOutcome &T, StringRef Outer,
                       StringRef Name) {
  for (auto [I, P] : enumerate(T.Processes)) {
    const std::string File =
        (Outer + "/" + Name + "-" + std::to_string(I)).str();
    if (Error E = writeFileAtomically(File, [&, &P = P](raw_ostream &OS) {
          OS << startLine(P);
          for (const std::string &Kernel : P.Kernels)
            OS << kernelLine(Kernel);
          for (const report::MergedFinding &F : T.Findings)
            if (!F.Suppressed && is_contained(F.Processes, I))
              OS << findingLine(F.What);
          if (P.HasEnded)
            OS << endLine(P.Launches);
        }))
      return E;
  }
  return Error::success();
}

static Error writeFiles(const TestRequest &Request,
                        const report::TestOutcome &T) {
  if (!Request.JUnit.empty())
    if (Error E = writeFileAtomically(
            Request.JUnit, [&](raw_ostream &OS) { report::printJUnit(T, OS); }))
      return E;
  if (Request.Sarif.empty())
    return Error::success();
  return writeFileAtomically(Request.Sarif, [&](raw_ostream &OS) {
    report::printSarif(report::sarifOf(T, Request.Version), OS);
  });
}

Expected<int> test(const TestRequest &Request, raw_ostream &OS) {
  // Before a long run, not after it.
  for (const std::string &File : {Request.JUnit, Request.Sarif})
    if (Error E = checkOutput(File))
      return std::move(E);
  Suppressions Known;
  if (!Request.Suppressions.empty())
    if (Error E = Suppressions::read(Request.Suppressions).moveInto(Known))
      return std::move(E);
  auto Tree = frontend::findInstallation();
  if (!Tree)
    return Tree.takeError();
  auto Folder = frontend::TempDir::create();
  if (!Folder)
    return Folder.takeError();

  auto Ended = runCommand(Request, *Tree, Folder->path());
  if (!Ended)
    return Ended.takeError();
  report::TestOutcome T;
  T.Command = Request.Command;
  T.Exit = Ended->Exit;
  T.Signal = Ended->Signal;
  T.Seconds = Ended->Seconds;
  T.Checks = Request.Checks;
  T.MostOfKernel = Request.MostOfKernel;
  SmallString<128> Here;
  if (!sys::fs::current_path(Here))
    T.Folder = Here.str().str();
  if (Error E = readProcesses(Folder->path()).moveInto(T.Processes))
    return std::move(E);
  mergeFindings(T);
  Known.apply(T);
  report::printTest(T, OS, terminalFor(OS));
  // Half of the tests would look like all.
  if (frontend::interruption())
    return orInterrupted(0, OS);
  if (Error E = writeFiles(Request, T))
    return std::move(E);
  if (const std::string Outer = outerFolder(); !Outer.empty())
    if (Error E = tellOuter(T, Outer, sys::path::filename(Folder->path())))
      return std::move(E);
  if (T.Processes.empty()) {
    if (!T.Exit && !T.Signal)
      return userError("test: no process of the command used Reconverge's CUDA "
                       "runtime: nothing was tested",
                       howToBuild(*Tree));
    // That it failed may have this reason, or another.
    OS << "reconverge: note: no process of the command got as far as "
          "Reconverge's CUDA runtime: nothing was tested; is the program "
          "another compiler's?\n  "
       << howToBuild(*Tree) << '\n';
  }
  return exitCodeOf(T);
}

} // namespace reconverge::driver
