//===- runtime/trial/Bench.h - What trials need of a backend ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bench holds one launch of the program's: it keeps memory, runs code on it
// and says how that went. In which order, and what follows from it, is the
// protocol's (Protocol.h), the same on every backend. What can end a process,
// and how one guards against that, stays with the bench.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_RUNTIME_TRIAL_BENCH_H
#define RECONVERGE_RUNTIME_TRIAL_BENCH_H

#include "core/Races.h"
#include "runtime/trial/Comparison.h"
#include "runtime/trial/Log.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::runtime {

struct RunOptions {
  /// Seed of the order of threads, where one can be chosen; 0: the natural one.
  uint64_t Order = 0;
  bool Timed = false;
};

/// How a run of code ended.
struct RunEnd {
  enum Kind {
    Well,
    Fault,
    Hang,
    Refused ///< it was not run at all
  } How = Well;
  std::string Why;         ///< unless it ended well
  double Milliseconds = 0; ///< where the bench has a clock
  bool Prints = false;     ///< the code did; only a natural run's text is shown
  Demands Asks;            ///< where a run counts its own; empty: it does not

  bool isWell() const { return How == Well; }
};

/// What both ask of the GPU, priced by the machine file; empty: not counted.
struct DemandPair {
  Demands Original, Variant;
};

/// How often the original runs, to see what varies with the order of threads.
struct SpreadRule {
  unsigned Runs; ///< beside the program's own
  /// Each has an order of its own, by a seed, and all are made. Otherwise the
  /// device chooses: one shows little, so those after the first are made only
  /// where something may vary, and none once nothing can be told any more.
  bool Seeded;
  /// Where something may vary and a candidate differs: so many more runs before
  /// the candidate is given another go, up to \p Most in all.
  unsigned More = 8, Most = 40;
};

/// What to show of a page's allocation next; a bench may show all of it.
enum class NextPage { Page, Allocation };

/// Is shown a page that is not now as the original left it.
using PageVisitor = llvm::function_ref<NextPage(
    const MemoryPage &In, llvm::ArrayRef<uint8_t> Original,
    llvm::ArrayRef<uint8_t> Now)>;

/// Runs one launch of the program's again and again.
class OriginalBench {
public:
  virtual ~OriginalBench() = default;

  // Once, in this order.

  /// Keeps memory as it is before the launch. An error says why that cannot be;
  /// runUntried() is next then, and nothing else.
  virtual llvm::Error takeBefore() = 0;
  /// The launch, as the program makes it. An error says why there is nothing to
  /// try, though the launch was made. If it failed by itself, that is the
  /// program's affair, and there is nothing to try either.
  virtual llvm::Expected<RunEnd> runNatural() = 0;
  /// Keeps what the launch left. An error says why that cannot be.
  virtual llvm::Error takeAfter() = 0;
  /// The launch, as the program makes it, with nothing kept.
  virtual void runUntried() = 0;

  // As often as need be.

  virtual void restoreBefore() = 0;
  virtual RunEnd runOriginal(const RunOptions &How) = 0;
  /// Of memory as it is from what the original left.
  virtual void differences(PageVisitor Visit) = 0;
  virtual uint64_t extent() const = 0; ///< bytes that are compared

  /// The last thing.
  virtual void restoreAfter() = 0;
};

/// Runs other code in the place of the program's kernel as well.
class Bench : public OriginalBench {
public:
  /// Those of the kernel, in the order of the plan.
  virtual llvm::SmallVector<TriedCandidate *> candidates() = 0;
  /// Whether an untried launch is logged for candidates that are struck off.
  virtual bool namesStruckOff() const { return false; }
  virtual const llvm::Function &kernel() const = 0; ///< the original's code

  /// Strikes off candidates that have no code to run, if that is known before
  /// the launch. Whether anything is left to try.
  virtual bool admit() { return true; }
  /// Asked after takeBefore(): why no result can be judged; empty: it can.
  virtual std::string whyUnknown() const { return ""; }
  virtual SpreadRule spread() const = 0;

  /// Of the original, from memory as it was before: which threads share what
  /// they write. None: it cannot be told here.
  virtual std::optional<RaceFindings> findRaces() { return std::nullopt; }

  /// Makes the code of \p C, at its first trial. An error refuses it.
  virtual llvm::Error build(TriedCandidate &C) = 0;
  /// The same of \p Proof, which was built, from memory as it is, if its threads
  /// do what one thread of the original does in turn (Recipe::Trips).
  virtual std::optional<RaceFindings> findRacesOf(TriedCandidate &) {
    return std::nullopt;
  }
  /// Runs \p C from memory as it is. What it leaves is there to be compared,
  /// unless the run was timed.
  virtual RunEnd run(TriedCandidate &C, const RunOptions &How) = 0;
  /// After how a candidate ended badly was logged. A process whose device is
  /// lost ends here.
  virtual void goOnAfter(const RunEnd &) {}
  /// By runs of code that counts, from memory as it was before, where run()
  /// does not count itself.
  virtual DemandPair count(TriedCandidate &) { return {}; }
  virtual bool canTime() const { return false; }
};

} // namespace reconverge::runtime

#endif
