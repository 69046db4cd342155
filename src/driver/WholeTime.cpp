//===- driver/WholeTime.cpp - A program against its baselines -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What trials say of kernels has to show in what a user waits for. The builds
// of the program run in turn, round by round, so that what drifts (clocks,
// caches of files) drifts for all: the final one, ours of the unmodified
// sources, nvcc's and clang's of the same. Time is from start to end, with the
// program's own input and its output thrown away.
//
// Where each run of another compiler's program is faster than any of the final
// one, it is what the user gets: kernels are not all of a program.
//
// A program by another compiler may fail where ours does not (it checks its own
// results, and clang's arithmetic is another): it alone has no time then.
//
//===----------------------------------------------------------------------===//

#include "driver/WholeTime.h"

#include "core/Error.h"
#include "driver/Build.h"
#include "driver/ForeignImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

static constexpr unsigned MostRounds = 5;
static constexpr double MostSeconds = 60; ///< that rounds may begin in

Expected<Alternation>
alternate(ArrayRef<std::string> Programs, unsigned Most, double Seconds,
          function_ref<Expected<double>(const std::string &)> Run) {
  Alternation Result;
  std::vector<std::vector<double>> Times(Programs.size());
  double Spent = 0;
  for (; Result.Rounds != Most && Spent < Seconds; ++Result.Rounds)
    for (auto [Path, Taken] : zip(Programs, Times)) {
      auto Took = Run(Path);
      if (!Took)
        return Took.takeError();
      Taken.push_back(*Took);
      Spent += *Took;
    }
  Result.Times = Times;
  for (std::vector<double> &Taken : Times) {
    sort(Taken);
    const size_t N = Taken.size();
    Result.Medians.push_back(N % 2 ? Taken[N / 2]
                                   : (Taken[N / 2 - 1] + Taken[N / 2]) / 2);
  }
  return Result;
}

static Expected<double> secondsOf(const Session &Program, const RunMode &Mode,
                                  const std::string &Path) {
  auto Ended = Program.run(Mode, Path);
  if (!Ended)
    return Ended.takeError();
  if (!Ended->ok())
    return userError(sys::path::filename(Path) + " " + endOf(*Ended));
  return Ended->Seconds;
}

static Error copyProgram(const std::string &From, const std::string &To) {
  std::error_code EC = sys::fs::copy_file(From, To);
  if (!EC)
    EC = sys::fs::setPermissions(To, sys::fs::owner_all);
  return EC ? userError("cannot copy " + From + ": " + EC.message())
            : Error::success();
}

size_t surelyFaster(const Alternation &Times, size_t First) {
  constexpr double LeastGain = 1.01;
  constexpr unsigned LeastRounds = 3;
  size_t Best = 0;
  if (Times.Rounds < LeastRounds)
    return Best;
  const double Final = *llvm::min_element(Times.Times[0]);
  for (size_t I = First; I != Times.Times.size(); ++I)
    if (Times.Medians[I] > 0 &&
        Final > LeastGain * *llvm::max_element(Times.Times[I]) &&
        (!Best || Times.Medians[I] < Times.Medians[Best]))
      Best = I;
  return Best;
}

Error timeWhole(const BuildRequest &Final, const Session &Program,
                const RunMode &Mode, DecisionFile &Decisions, raw_ostream &OS) {
  // A copy: a sandbox shows the folder as it was before there was a program.
  std::vector<std::string> Programs = {Program.file("final-program")};
  if (Error E = copyProgram(Final.Output, Programs.front()))
    return E;
  BuildRequest Unmodified = Final;
  Unmodified.Decisions.clear();
  Unmodified.Compile.Dependencies = {};
  Unmodified.Output = Program.file("unmodified-program");
  if (Error E = build(Unmodified))
    return E;
  Programs.push_back(Unmodified.Output);
  SmallVector<ForeignCompiler> Others;
  for (ForeignCompiler By : ForeignCompilers) {
    const std::string Output = Program.file(Twine(nameOf(By)) + "-program");
    if (!buildBy(By, Final, Output, OS))
      continue;
    Others.push_back(By);
    Programs.push_back(Output);
  }
  const ArrayRef<std::string> Foreign = ArrayRef(Programs).drop_front(2);
  StringSet<> Failed;
  auto Times = alternate(
      Programs, MostRounds, MostSeconds,
      [&](const std::string &P) -> Expected<double> {
        if (Failed.contains(P))
          return 0;
        auto Took = secondsOf(Program, Mode, P);
        if (Took || frontend::interruption() || !is_contained(Foreign, P))
          return Took;
        OS << "reconverge: note: no whole time: " << toString(Took.takeError())
           << '\n';
        Failed.insert(P);
        return 0;
      });
  if (!Times) {
    OS << "reconverge: note: no whole times: " << toString(Times.takeError())
       << '\n';
    return Error::success();
  }
  WholeTimes &Whole = Decisions.Whole;
  Whole.Runs = Times->Rounds;
  Whole.Final = Times->Medians[0];
  Whole.Ours = Times->Medians[1];
  for (auto [By, Median] : zip(Others, drop_begin(Times->Medians, 2)))
    Whole.Foreign[By] = Median;
  const size_t Best = surelyFaster(*Times, 2);
  if (!Best)
    return Error::success();
  Whole.Built = Others[Best - 2];
  return frontend::moveIntoPlace(Programs[Best], Final.Output);
}

} // namespace reconverge::driver
