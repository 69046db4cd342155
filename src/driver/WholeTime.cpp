//===- driver/WholeTime.cpp - A program against its baselines -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What trials say of kernels has to show in what a user waits for. The builds
// of the program run in turn, round by round, so that what drifts (clocks,
// caches of files) drifts for all: the final one, ours of the unmodified
// sources, nvcc's and clang's of the same. Time is from start to end, with the
// program's own input and its output thrown away.
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
    for (auto [Path, Own] : zip(Programs, Times)) {
      auto Took = Run(Path);
      if (!Took)
        return Took.takeError();
      Own.push_back(*Took);
      Spent += *Took;
    }
  for (std::vector<double> &Own : Times) {
    sort(Own);
    const size_t N = Own.size();
    Result.Medians.push_back(N % 2 ? Own[N / 2]
                                   : (Own[N / 2 - 1] + Own[N / 2]) / 2);
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

Error timeWhole(const BuildRequest &Final, const Session &Program,
                const RunMode &Mode, DecisionFile &Decisions, raw_ostream &OS) {
  SmallString<128> Path(Final.Output); // as it is executed, not looked up
  if (std::error_code EC = sys::fs::make_absolute(Path))
    return userError("cannot find " + Final.Output + ": " + EC.message());
  std::vector<std::string> Programs = {std::string(Path)};
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
  return Error::success();
}

} // namespace reconverge::driver
