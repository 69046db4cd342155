//===- report/View.h - What a report says -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that a report says of a run, before it has a form: a plain value, which a
// writer (Terminal.h) turns into text, a page or another program's input.
// Texts are clean (cleanText). Shares are 0..1: of the run's time by the model,
// or of its issue slots (View::SharesAreOfTime), where nothing else is said.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_REPORT_VIEW_H
#define RECONVERGE_REPORT_VIEW_H

#include "core/Cost.h"
#include "core/Profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::report {

/// A place at which less of the run is lost is only counted.
inline constexpr double LeastSelf = 0.001;
/// From this share of the run on a place gets advice; a kernel is left alone if
/// none of its branches loses this share of it.
inline constexpr double WorthALook = 0.01;
/// A kernel whose lanes idle less than this is fine as it is.
inline constexpr double HardlyIdle = 0.05;

struct ViewOptions {
  unsigned MaxPlaces = 12; ///< the dearest ones; 0: no limit
};

enum class Severity { Slight, Notable, Grave };

/// How lanes part.
struct LanesView {
  BranchKind Kind = BranchKind::If;
  /// Lanes each way; those that go into the region first: into an if, around a
  /// loop once more. Of more than two sides the fullest come first. Empty if
  /// none came.
  std::vector<double> Sides;
  double Sum = 0;
};

/// A place in the source at which lanes part.
struct PlaceView {
  uint32_t Place = 0; ///< in RunCost::Places
  unsigned Depth = 0; ///< places above it in the view that it is inside of
  SourceLoc Where;    ///< of its dearest branch, as the profile has it; line 0:
                      ///< not known
  std::string At;     ///< the same in short: "a.cu:12"; "block 7"
  std::string What;   ///< the condition, or what kind of branch it is
  uint64_t Copies = 1;
  std::vector<uint32_t> Kernels; ///< in Profile::Kernels; that of the dearest
                                 ///< branch first
  /// The calls by which all copies came, the innermost first, in short. Copies
  /// that came by different ones have none.
  std::vector<std::string> InlinedAt;
  bool InlinedInMany = false; ///< by different ones
  Severity Weight = Severity::Slight;
  double Self = 0, Total = 0;
  /// What regrouping gives back, before its price; none: no threads were
  /// sampled.
  std::optional<Recoverable> Regrouped;
  uint64_t Warps = 0; ///< that came
  double Split = 0;   ///< of these
  LanesView Lanes;
  /// Parts of Total that are not for the branch to mend; none: not worth naming.
  std::optional<double> ByReturned, ByPartialWarps;
  std::vector<std::string> Advice; ///< most promising first; none: too cheap
};

/// An access to memory that takes more than it must.
struct AccessView {
  uint32_t Kernel = 0; ///< in Profile::Kernels
  std::string At;      ///< "a.cu:12"; "block 7"
  std::string What;    ///< "uncoalesced: 17.6 of 4.0 sectors", a request
  std::string Which;   ///< "a load from global memory, 4 bytes a lane"
  uint64_t Requests = 0;
  /// Of all that the kernel takes of this: sectors, wavefronts of shared
  /// memory, or turns.
  double OfKernel = 0;
  SourceLoc Where = {}; ///< as the profile has it; line 0: not known
};

/// Accesses that nothing orders.
struct RaceView {
  std::string Text;
  bool SameValue = false; ///< two writes that always stored the same
  uint64_t Times = 0;
};

struct KernelView {
  std::string Name; ///< demangled; Names.h has shorter ones
  SourceLoc Where;  ///< as the profile has it; line 0: not known
  uint64_t Launches = 0, Threads = 0;
  double Seconds = 0;
  double OfRun = 0;      ///< its share
  double Cfe = 0;        ///< of its lanes, those that work
  double Potential = 0;  ///< 1 / Cfe
  std::string BoundBy;   ///< "alu 82%"; empty: not known
  double Attainable = 0; ///< of Potential, in time; 0: not known
  double Divergent = 0;  ///< of its warps
  bool IsFine = false;   ///< nothing to gain
  std::string WhyIdle;   ///< where lanes idle and no branch is to blame
  OrderTrials Orders;
  uint64_t Watched = 0; ///< launches that were looked at for races
  bool WatchIncomplete = false;
  std::vector<RaceView> Races; ///< sorted by their places
  std::optional<LaunchSchedule> Schedule;
};

/// What to do next.
struct NextStep {
  std::string Words;   ///< "Try meld and remap", before a colon or a full stop
  std::string Command; ///< for a shell, as it is; empty: to do nothing
};

struct View {
  std::string Program;
  std::vector<std::string> Arguments;
  /// What did not run: what, then what to do, a line each.
  std::vector<std::vector<std::string>> Refused;

  std::vector<PlaceView> Places; ///< dearest first
  size_t MorePlaces = 0;         ///< beyond ViewOptions::MaxPlaces
  size_t SlightPlaces = 0;       ///< below LeastSelf

  std::vector<KernelView> Kernels; ///< parallel to Profile::Kernels
  std::string WhyNoKernels;        ///< empty if there are any
  std::vector<uint32_t> Ranking;   ///< kernels to show, dearest first
  size_t FineKernels = 0;          ///< not among these

  bool HasSchedules = false;        ///< KernelView::Schedule was asked for
  std::vector<AccessView> Accesses; ///< kernel by kernel, hottest first
  size_t MoreAccesses = 0;          ///< beyond ViewOptions::MaxPlaces

  std::optional<NextStep> Next; ///< none: no kernel ran, or remedies are in

  bool TimesAreOfCpu = false;
  bool SharesAreOfTime = false;   ///< not of issue slots
  std::string CountedOn;          ///< "the CPU (...), priced as H200; ..."
  int ExitStatus = 0;             ///< of the program
  std::vector<std::string> Notes; ///< what a reader must know
};

/// \p Cost is what model::costOf makes of \p P.
View viewOf(const Profile &P, const RunCost &Cost,
            const ViewOptions &Options = {});

} // namespace reconverge::report

#endif
