//===- driver/TrialRuns.cpp - Expendable runs of a program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate can end the run that tries it: it faults, hangs, or corrupts what
// the program needs. What the log says last names it. It is struck off, and the
// program is run again without it; what the others have shown until then is
// seen again there, so of a run that was ended only its end is kept.
//
//   plan --run--> log: ... begin A  end A  begin B |       B ended the run
//   plan without B --run--> log: ... begin A  end A  begin C  end C ...
//
// Runs are limited: a program in which many candidates end runs, each after a
// long way, is not worth them all. Then what the last run showed counts. So it
// does where the user's time limit is met.
//
//===----------------------------------------------------------------------===//

#include "driver/TrialRuns.h"

#include "driver/Decide.h"
#include "remedies/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace reconverge::driver {

/// Runs that candidates may end; a fault of one remedy may well be one of all
/// its parameters, in several kernels.
static constexpr unsigned MostEnded = 16;

static bool isAnythingLeft(const TrialPlan &Plan) {
  return any_of(Plan.Kernels,
                [](const TrialRequest &R) { return !R.Candidates.empty(); });
}

/// False if \p Plan does not have what \p Last says was tried.
static bool strikeOff(TrialPlan &Plan, const TrialEvent &Last) {
  for (TrialRequest &R : Plan.Kernels)
    if (R.Kernel == Last.Kernel && R.Module == Last.Module)
      if (auto At = find(R.Candidates, Last.Tried); At != R.Candidates.end()) {
        R.Candidates.erase(At);
        return true;
      }
  return false;
}

/// The proof \p Last has ended the run: takes what moves the same out of
/// \p Plan, and says why in \p All.
static void strikeOffUnproved(TrialPlan &Plan, const TrialEvent &Last,
                              std::vector<TrialEvent> &All) {
  for (TrialRequest &R : Plan.Kernels)
    if (R.Kernel == Last.Kernel && R.Module == Last.Module)
      erase_if(R.Candidates, [&](const Candidate &C) {
        if (remedies::movedBy(C) != remedies::movedBy(Last.Tried))
          return false;
        TrialEvent E = Last;
        E.What = TrialEvent::Refused;
        E.Tried = C;
        E.Why = "in another order it does not end well";
        All.push_back(std::move(E));
        return true;
      });
}

/// How the trial \p Last, which has ended the run, ended itself.
static TrialEvent endOf(const TrialEvent &Last,
                        const frontend::ProcessResult &Run) {
  TrialEvent End = Last;
  if (Last.What != TrialEvent::Begin)
    return End;
  End.What = Run.TimedOut ? TrialEvent::Hang : TrialEvent::Fault;
  End.Why = "the run with it " + endOf(Run);
  return End;
}

/// Says in \p All of what \p Plan has and nothing there tells of that there was
/// no time for it. How much that is.
static size_t leaveUntried(const TrialPlan &Plan,
                           std::vector<TrialEvent> &All) {
  size_t Left = 0;
  for (const TrialRequest &R : Plan.Kernels)
    for (const Candidate &C : R.Candidates) {
      if (any_of(All, [&](const TrialEvent &E) {
            return E.Kernel == R.Kernel && E.Module == R.Module &&
                   E.Tried == C && E.What != TrialEvent::Begin;
          }))
        continue;
      TrialEvent E;
      E.What = TrialEvent::Untried;
      E.Kernel = R.Kernel;
      E.Module = R.Module;
      E.Tried = C;
      E.Why = "the time limit was met before";
      All.push_back(std::move(E));
      ++Left;
    }
  return Left;
}

Expected<std::vector<TrialEvent>> runTrials(TrialPlan Plan, TrialRun Run,
                                            raw_ostream &OS,
                                            function_ref<bool()> IsTimeUp) {
  std::vector<TrialEvent> All;
  for (unsigned Ended = 0; isAnythingLeft(Plan); ++Ended) {
    (void)sys::fs::remove(Plan.Log);
    auto Result = Run(Plan);
    if (!Result)
      return Result.takeError();
    std::vector<TrialEvent> Events;
    if (sys::fs::exists(Plan.Log))
      if (Error E = readTrialLog(Plan.Log).moveInto(Events))
        return std::move(E);
    const TrialEvent *Last = endOfRun(Events, !Result->ok());
    if (frontend::interruption())
      return All;
    if (IsTimeUp()) {
      // We have ended the run, if it did not end by itself; no candidate has.
      if (Last && Last->What == TrialEvent::Begin)
        Events.pop_back();
      append_range(All, Events);
      if (size_t Left = leaveUntried(Plan, All))
        OS << "reconverge: note: the time limit was met; " << Left
           << (Left == 1 ? " candidate was" : " candidates were")
           << " not tried\n";
      return All;
    }
    if (Last && Ended != MostEnded && strikeOff(Plan, *Last)) {
      All.push_back(endOf(*Last, *Result));
      if (remedies::isProof(Last->Tried))
        strikeOffUnproved(Plan, *Last, All);
      continue;
    }
    if (Last) {
      OS << "reconverge: note: " << Ended + 1
         << " runs were ended by candidates; what they left is not tried\n";
      if (Last->What == TrialEvent::Begin)
        Events.back() = endOf(*Last, *Result);
    } else if (!Result->ok()) {
      OS << "reconverge: note: a run with trials " << endOf(*Result) << '\n';
    }
    append_range(All, Events);
    return All;
  }
  return All;
}

WorkDone doneOf(const TrialPlan &Plan) {
  WorkDone Work;
  std::map<StringRef, size_t> LaunchesOf;
  for (const TrialRequest &R : Plan.Kernels) {
    const uint64_t Launches =
        R.Launches ? std::min(R.Launches, Plan.Launches) : Plan.Launches;
    Work.Of += Launches * R.Candidates.size();
    LaunchesOf[R.Kernel] = Launches;
  }
  auto Events = readTrialLog(Plan.Log);
  if (!Events) {
    consumeError(Events.takeError()); // there is none yet
    return Work;
  }
  for (const TrialEvent &E : *Events) {
    if (E.What == TrialEvent::Begin)
      Work.Now = demangle(E.Kernel) + ", launch " + std::to_string(E.Launch) +
                 ": " + E.Tried.text();
    else if (E.What == TrialEvent::Refused)
      Work.Done += LaunchesOf[E.Kernel];
    else if (E.What != TrialEvent::Timed)
      ++Work.Done;
  }
  Work.Done = std::min(Work.Done, Work.Of);
  return Work;
}

} // namespace reconverge::driver
