//===- runtime/trial/Protocol.cpp - The order of a trial ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   before := memory
//   run the original as the program does; after := memory
//   run it again, each time from before: bytes that come out otherwise depend
//                                        on the order of threads
//   each candidate:  memory := before
//                    run it; compare every byte with after; log the verdict
//   rounds:          the original and each candidate that may be kept (right,
//                    or off by rounding where only the compiler differs), timed
//                    if the bench has a clock (Rounds.cpp)
//   memory := after
//
// So the program goes on as if nothing had been tried. Each trial is logged
// before it begins, and each end at once: a candidate may end the process, and
// the last line of the log then says which (core/Trials.h).
//
// An error of the program's own launch is the program's: nothing is tried, and
// it sees what it would see without us.
//
// A candidate that moves threads (or blocks) is refused if either of two checks
// fails. First, where the bench can watch accesses: no byte that one thread
// writes is touched by another, except by atomic operations on both sides. Where
// proofs have a thread for each iteration of a loop over the grid, the first of
// them is watched as well. Second: the launch with its threads in other orders
// leaves the same bytes, up to the spread of the original. The runs of the
// second check are candidates too (remedies::isProof). They come first and are
// never timed. If one of them differs or ends badly, all later candidates that
// move threads are refused. A check that cannot be made refuses nothing.
//
// A few runs of the original show only a part of the spread of, say, a sum by
// atomics; on the warp VM, too, where its threads share the blocks as they come.
// A right candidate may fall outside that part. So where the order may matter
// and a candidate differs, the original runs more often (SpreadRule), and the
// candidate runs again. A result outside the spread of all runs of the original
// still differs.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Protocol.h"

#include "analysis/Numbering.h"
#include "analysis/device/Intrinsics.h"
#include "remedies/Table.h"
#include "runtime/trial/Rounds.h"
#include "runtime/trial/Stopwatch.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <utility>

using namespace llvm;

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// The original
//===----------------------------------------------------------------------===//

bool runNatural(OriginalBench &On, RunEnd &Natural,
                function_ref<void(const Twine &)> LeaveUntried) {
  if (Error E = On.takeBefore()) {
    LeaveUntried(toString(std::move(E)));
    On.runUntried();
    return false;
  }
  Expected<RunEnd> Ran = On.runNatural();
  if (!Ran) {
    LeaveUntried(toString(Ran.takeError()));
    return false;
  }
  Natural = std::move(*Ran);
  if (!Natural.isWell())
    return false;
  if (Error E = On.takeAfter()) {
    LeaveUntried(toString(std::move(E)));
    return false;
  }
  return true;
}

RunEnd runAgain(OriginalBench &On, const RunOptions &How, PageVisitor See) {
  On.restoreBefore();
  RunEnd End = On.runOriginal(How);
  if (End.isWell())
    On.differences(See);
  return End;
}

//===----------------------------------------------------------------------===//
// One launch
//===----------------------------------------------------------------------===//

/// Whether the code of \p F says that the order of threads may matter.
static bool hasAtomics(const Function &F) {
  for (const Function *Part : analysis::functionsOf(F))
    for (const Instruction &I : instructions(*Part)) {
      if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
        return true;
      if (const auto *Call = dyn_cast<CallBase>(&I)) {
        if (Call->isInlineAsm())
          return true; // it may well be one
        if (analysis::intrinsicKind(I) == analysis::IntrinsicKind::Atomic)
          return true;
      }
    }
  return false;
}

namespace {
/// A launch after its natural run, while candidates are tried on it.
class LaunchTrial {
public:
  /// \p Milliseconds: of the natural run, where the bench has a clock.
  LaunchTrial(Bench &On, LaunchLog &Log, const TrialPlan &Plan,
              double Milliseconds)
      : On(On), Log(Log), Plan(Plan), Natural(Milliseconds), Rule(On.spread()),
        HasAtomics(hasAtomics(On.kernel())), Unknown(On.whyUnknown()),
        Spread(On.kernel()) {}

  void run();

private:
  bool mayVary() const { return HasAtomics || Spread.bytes(); }
  double share() const;
  bool leavesNoTime() const;
  void runOriginal(unsigned Times);
  std::optional<std::string> &tied(Moved What) {
    return What == Moved::Blocks ? TiedBlocks : TiedThreads;
  }
  const std::string &whyTied(Moved What);
  void noteUnstable() { Unknown = whyUnstable(Spread, On.extent()); }
  Verdict compare();
  bool isJudgedLater(const Candidate &What) const;
  bool mayBeKept(const TrialEvent &E) const;
  std::optional<RunEnd> runUntilTold(TriedCandidate &C, TrialEvent &E);
  void noteLost(TriedCandidate &C, double Milliseconds);
  bool mayProve(TriedCandidate &C, Moved What);
  void tryOne(TriedCandidate &C);

  Bench &On;
  LaunchLog &Log;
  const TrialPlan &Plan;
  const double Natural;
  const Stopwatch Time;
  const SpreadRule Rule;
  const bool HasAtomics;
  std::string Unknown; ///< why no verdict can be given; empty: one can
  unsigned Runs = 1;   ///< of the original
  OrderSpread Spread;
  SmallVector<TriedCandidate *> Right; ///< what is worth timing
  /// Why threads, or blocks, may not change places, once that was looked at;
  /// empty: nothing speaks against it.
  std::optional<std::string> TiedThreads, TiedBlocks;
  bool HasSeenIterations = false;
};
} // namespace

/// Seconds for each launch that is tried.
double LaunchTrial::share() const {
  uint64_t Launches = 0;
  for (const TrialRequest &R : Plan.Kernels)
    if (!R.Candidates.empty())
      Launches +=
          std::min(R.Launches ? R.Launches : Plan.Launches, Plan.Launches);
  return Plan.Seconds / double(std::max<uint64_t>(Launches, 1));
}

/// Whether one more candidate would take the time in which those that may be
/// kept are timed.
bool LaunchTrial::leavesNoTime() const {
  return Plan.IsHurried && Time.seconds() > share() / 2 &&
         any_of(Right,
                [](const TriedCandidate *C) { return C->What.changesCode(); });
}

/// Runs the original \p Times more, if the rule wants all of them, and says in
/// Unknown why nothing can be told of the launch's result if that is so.
void LaunchTrial::runOriginal(unsigned Times) {
  for (unsigned I = 0; I != Times && Unknown.empty(); ++I) {
    if (I && !Rule.Seeded && !mayVary())
      break;
    RunOptions How;
    How.Order = Runs++;
    const RunEnd End = runAgain(
        On, How,
        [&](const MemoryPage &In, ArrayRef<uint8_t> Natural,
            ArrayRef<uint8_t> Other) {
          Spread.add(In, Natural, Other);
          if (Rule.Seeded)
            return NextPage::Page;
          noteUnstable();
          return Unknown.empty() ? NextPage::Page : NextPage::Allocation;
        });
    if (!End.isWell())
      Unknown =
          "the original fails in another order of its threads: " + End.Why;
  }
  if (Rule.Seeded && Unknown.empty())
    noteUnstable();
}

/// Memory as a candidate has left it with what the original left.
Verdict LaunchTrial::compare() {
  Comparison Compared(Spread);
  On.differences([&](const MemoryPage &In, ArrayRef<uint8_t> Original,
                     ArrayRef<uint8_t> Variant) {
    Compared.add(In, Original, Variant);
    return Compared.isSettled() ? NextPage::Allocation : NextPage::Page;
  });
  return Compared.verdict(On.extent(), Unknown);
}

/// Whether the program's outputs say whether the result of \p What may be kept.
bool LaunchTrial::isJudgedLater(const Candidate &What) const {
  return Plan.ByOutputs && What.Promises == Promise::Bound;
}

/// Whether a result like \p E's may be kept, so that its cost is of interest.
bool LaunchTrial::mayBeKept(const TrialEvent &E) const {
  if (isJudgedLater(E.Tried))
    return true;
  switch (E.Compared.Kind) {
  case VerdictKind::Identical:
  case VerdictKind::UpToOrder:
    return true;
  case VerdictKind::Differs:
    return E.Compared.First.Ulps && !E.Tried.changesCode();
  case VerdictKind::Unknown:
    return false;
  }
  llvm_unreachable("a verdict has one of five kinds");
}

static TrialEvent::Kind kindOf(RunEnd::Kind How) {
  switch (How) {
  case RunEnd::Well:
    return TrialEvent::End;
  case RunEnd::Fault:
    return TrialEvent::Fault;
  case RunEnd::Hang:
    return TrialEvent::Hang;
  case RunEnd::Refused:
    return TrialEvent::Refused;
  }
  llvm_unreachable("a run ends in one of four ways");
}

bool endedWell(Bench &On, LaunchLog &Log, TriedCandidate &C,
               const RunEnd &End) {
  if (!End.isWell()) {
    Log.strikeOff(kindOf(End.How), C, End.Why);
    On.goOnAfter(End);
    return false;
  }
  if (End.Prints)
    Log.strikeOff(TrialEvent::Fault, C, "it prints, and the kernel does not");
  return !End.Prints;
}

/// Runs \p C until it is told from the original's result as far as can be:
/// fills in \p E. The last run; none if it has ended badly.
std::optional<RunEnd> LaunchTrial::runUntilTold(TriedCandidate &C,
                                                TrialEvent &E) {
  constexpr double Patience = 20; // seconds
  const Stopwatch Time;
  for (;;) {
    On.restoreBefore();
    RunEnd End = On.run(C, {});
    if (!endedWell(On, Log, C, End))
      return std::nullopt;
    E.Compared = compare();
    E.Variant = End.Asks;
    if (E.Compared.Kind != VerdictKind::Differs || isJudgedLater(C.What) ||
        !mayVary() || Runs >= Rule.Most ||
        Time.seconds() > std::min(share(), Patience))
      return End;
    runOriginal(Rule.More);
  }
}

/// The time of the only run of \p C tells enough.
void LaunchTrial::noteLost(TriedCandidate &C, double Milliseconds) {
  C.LostIn = Log.Common.Shape;
  TrialEvent E = Log.event(TrialEvent::Timed, C.What);
  E.OriginalMs = {Natural};
  E.VariantMs = {Milliseconds};
  Log.add(E);
}

static std::string wordOf(Moved What) {
  return What == Moved::Blocks ? "blocks" : "threads";
}

/// What a race check says against moving \p What; empty: nothing.
static std::string whyDependent(const RaceFindings &F, Moved What,
                                const std::string &Who) {
  if (F.areIndependentUpToOrder(What))
    return "";
  if (F.Incomplete)
    return "not all accesses of the launch could be followed, so that its " +
           Who + " may depend on one another";
  std::string Why = "its " + Who + " depend on one another through memory";
  if (!F.Races.empty())
    Why += ": " + textOf(F.Races.front(), [](const std::string &File) {
             return sys::path::filename(File).str();
           });
  return Why;
}

/// Why \p What may not change places in this launch; empty: nothing says so.
const std::string &LaunchTrial::whyTied(Moved What) {
  std::optional<std::string> &Why = tied(What);
  if (!Why) {
    On.restoreBefore();
    const std::optional<RaceFindings> Found = On.findRaces();
    Why = Found ? whyDependent(*Found, What, wordOf(What)) : "";
  }
  return *Why;
}

/// Whether proof \p C, which was built, may run; else it is struck off.
/// Iterations are as tied as it shows.
bool LaunchTrial::mayProve(TriedCandidate &C, Moved What) {
  if (std::exchange(HasSeenIterations, true))
    return true;
  On.restoreBefore();
  const std::optional<RaceFindings> Found = On.findRacesOf(C);
  const std::string Why = Found ? whyDependent(*Found, What, "iterations") : "";
  if (Why.empty())
    return true;
  tied(What) = Why;
  Log.strikeOff(TrialEvent::Refused, C, Why);
  return false;
}

/// What a proof that came out like \p Result says against moving \p What.
static std::string whyDisproved(const Verdict &Result, Moved What) {
  if (Result.Kind != VerdictKind::Differs)
    return "";
  return "in another order of its " + wordOf(What) +
         " its result differs, first at byte " + utostr(Result.First.Offset) +
         " of " + Result.First.Where;
}

void LaunchTrial::tryOne(TriedCandidate &C) {
  const Moved What = remedies::movedBy(C.What);
  if (What != Moved::Nothing && !whyTied(What).empty())
    return Log.strikeOff(TrialEvent::Refused, C, whyTied(What));
  if (Error E = On.build(C))
    return Log.strikeOff(TrialEvent::Refused, C, toString(std::move(E)));
  const bool IsProof = remedies::isProof(C.What);
  if (IsProof && !mayProve(C, What))
    return;
  Log.add(TrialEvent::Begin, C.What);
  TrialEvent E = Log.event(TrialEvent::End, C.What);
  const std::optional<RunEnd> Ran = runUntilTold(C, E);
  if (IsProof)
    tied(What) = Ran ? whyDisproved(E.Compared, What)
                     : "in another order it does not end well";
  if (!Ran)
    return;
  const bool IsRight = !IsProof && mayBeKept(E),
             IsLost = IsRight && C.What.changesCode() &&
                      isLostCause(Natural, Ran->Milliseconds);
  if (IsRight && !IsLost) {
    Right.push_back(&C);
    if (DemandPair Both = On.count(C); !Both.Variant.empty()) {
      E.Original = std::move(Both.Original);
      E.Variant = std::move(Both.Variant);
    }
  }
  Log.add(E);
  if (IsLost)
    noteLost(C, Ran->Milliseconds);
}

void LaunchTrial::run() {
  runOriginal(Rule.Runs);
  for (TriedCandidate *C : On.candidates())
    if (C->StruckOff || C->LostIn == Log.Common.Shape)
      continue;
    else if (leavesNoTime())
      Log.add(TrialEvent::Untried, C->What, "there was no time for it");
    else
      tryOne(*C);
  if (On.canTime() && !Right.empty() && Plan.Samples)
    timeRounds(On, Log, Right, Plan.Samples,
               share() - (Plan.IsHurried ? Time.seconds() : 0));
  On.restoreAfter();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void leaveUntried(Bench &On, LaunchLog &Log, const Twine &Why) {
  for (const TriedCandidate *C : On.candidates())
    if (!C->StruckOff || On.namesStruckOff())
      Log.add(TrialEvent::Untried, C->What, Why);
}

void tryLaunch(Bench &On, LaunchLog &Log, const TrialPlan &Plan) {
  if (!On.admit())
    return On.runUntried();
  RunEnd Natural;
  if (!runNatural(On, Natural,
                  [&](const Twine &Why) { leaveUntried(On, Log, Why); }))
    return;
  if (Natural.Prints)
    return leaveUntried(On, Log, "the launch cannot be run again: it prints");
  Log.Common.Original = Natural.Asks;
  LaunchTrial(On, Log, Plan, Natural.Milliseconds).run();
}

} // namespace reconverge::runtime
