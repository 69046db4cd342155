//===- runtime/vm/Findings.cpp - What goes to `reconverge test` -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is opened, written and closed for each line, as lines are few: a
// program may close all descriptors that it does not know, and what is written
// stays whatever becomes of the process.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Findings.h"

#include "core/Error.h"
#include "runtime/profile/Process.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::unique_ptr<FindingsLog> &theLog() {
  static auto &Only = *new std::unique_ptr<FindingsLog>; // outlives destructors
  return Only;
}

FindingsLog *FindingsLog::current() { return theLog().get(); }

void FindingsLog::setCurrent(std::unique_ptr<FindingsLog> Log) {
  theLog() = std::move(Log);
}

Expected<std::unique_ptr<FindingsLog>> FindingsLog::open(StringRef Folder) {
  std::unique_ptr<FindingsLog> Log(new FindingsLog(Folder));
  if (Error E = Log->begin())
    return std::move(E);
  return std::move(Log);
}

Error FindingsLog::begin() {
  Owner = getpid();
  int File = -1;
  // A process that executes another program keeps its number.
  for (unsigned I = 0; File < 0; ++I) {
    Path = Folder + "/" + std::to_string(Owner) + "-" + std::to_string(I);
    File = ::open(Path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (File < 0 && errno != EEXIST)
      return userError("RECONVERGE_FINDINGS: cannot write " + Path + ": " +
                           std::strerror(errno),
                       "reconverge test sets it to a folder of its own.");
  }
  close(File);
  Profile Here;
  nameProgram(Here);
  TestedProcess P;
  P.Program = Here.Program;
  P.Arguments = Here.Arguments;
  P.Id = uint64_t(Owner);
  write(startLine(P));
  return Error::success();
}

void FindingsLog::write(StringRef Line) {
  const int File = ::open(Path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (File < 0)
    return; // the test is over, and its folder is gone
  while (!Line.empty()) {
    const ssize_t Written = ::write(File, Line.data(), Line.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      break;
    Line = Line.drop_front(size_t(Written));
  }
  close(File);
}

/// In a process that was forked off, begins its file.
bool FindingsLog::isOwner() {
  if (Owner == getpid())
    return true;
  Launches = 0;
  Kernels.clear();
  Found.clear();
  Error E = begin();
  const bool Begun = !E;
  consumeError(std::move(E));
  return Begun;
}

void FindingsLog::launch(StringRef Kernel) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!isOwner())
    return;
  ++Launches;
  if (Kernels.insert(Kernel).second)
    write(kernelLine(demangle(Kernel)));
}

void FindingsLog::add(Finding F) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!isOwner() ||
      any_of(Found, [&](const Finding &Old) { return Old.sameAs(F); }))
    return;
  write(findingLine(F));
  Found.push_back(std::move(F));
}

void FindingsLog::end() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Owner == getpid()) // one that was forked off and called nothing has none
    write(endLine(Launches));
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static FindingKind kindOf(warpvm::FaultKind Kind) {
  switch (Kind) {
  case warpvm::FaultKind::IllegalAddress:
  case warpvm::FaultKind::Misaligned:
  case warpvm::FaultKind::OutOfMemory:
    return FindingKind::Bounds;
  case warpvm::FaultKind::BarrierDivergence:
    return FindingKind::Sync;
  case warpvm::FaultKind::Deadlock:
  case warpvm::FaultKind::StepLimit:
    return FindingKind::Hang;
  case warpvm::FaultKind::Assert:
  case warpvm::FaultKind::Trap:
  case warpvm::FaultKind::IllegalInstruction:
    return FindingKind::Assert;
  }
  llvm_unreachable("a fault is of one of these kinds");
}

Finding findingOf(const warpvm::FaultError &E, std::string Kernel) {
  const warpvm::FaultDetails &D = E.details();
  Finding F;
  F.Kind = kindOf(E.kind());
  F.Kernel = std::move(Kernel);
  F.Text = D.Text.empty() ? E.message() : D.Text;
  FindingPlace P;
  P.Block = D.Block;
  P.Thread = D.Thread;
  auto [File, Line] = StringRef(D.Place).rsplit(':');
  unsigned Number = 0;
  if (!Line.getAsInteger(10, Number))
    P.Where.push_back({File.str(), Number, 0, ""});
  F.Places.push_back(std::move(P));
  return F;
}

std::vector<Finding> findingsOf(const OrderTrials &T, StringRef Kernel) {
  std::vector<Finding> Result;
  auto Add = [&](std::string Text) {
    Finding &F = Result.emplace_back();
    F.Kind = FindingKind::Order;
    F.Kernel = Kernel.str();
    F.Text = std::move(Text);
  };
  if (T.First)
    Add((Twine("the result depends on the order of threads: ") + T.First->Type +
         " at byte " + Twine(T.First->Offset) + " of " + T.First->Memory +
         " is " + T.First->Natural + ", and " + T.First->Other + " in order " +
         Twine(T.First->Order))
            .str());
  if (!T.Faults.empty())
    Add((Twine("a fault in order ") + Twine(T.Faults.front().Order) +
         " of its threads: " + T.Faults.front().Message)
            .str());
  return Result;
}

} // namespace reconverge::runtime
