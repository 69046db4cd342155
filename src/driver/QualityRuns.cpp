//===- driver/QualityRuns.cpp - Outputs beside the original's -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run that writes nothing would be compared with what lay there before: an
// output counts only if it was written since the run began.
//
//===----------------------------------------------------------------------===//

#include "driver/QualityRuns.h"

#include "core/Error.h"
#include "core/File.h"
#include "driver/Sandbox.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

using namespace llvm;

namespace reconverge::driver {

/// The system's times of files may lag as far behind the clock.
static constexpr std::chrono::milliseconds ClockStep(20);

/// "with the arguments 'a b'".
std::string QualityRuns::inputText(size_t Input) const {
  return Arguments[Input].empty()
             ? std::string("without arguments")
             : "with the arguments '" + join(Arguments[Input], " ") + "'";
}

/// Of what a program wrote to standard error; empty: nothing.
static std::string lastLineOf(StringRef File) {
  auto Content = MemoryBuffer::getFile(File);
  const StringRef Text = Content ? (*Content)->getBuffer().rtrim() : "";
  return Text.rsplit('\n').second.empty() ? Text.str()
                                          : Text.rsplit('\n').second.str();
}

/// What the run on input number \p Input, which began at \p Begin, has left of
/// the output \p How.
Expected<std::string>
QualityRuns::readOutput(const QualityRequest &How, size_t Input,
                        std::chrono::system_clock::time_point Begin) const {
  if (How.isBuffer())
    return Buffers->read(How);
  const std::string File = How.Output == "-" ? Program->file("printed")
                                             : Mode.Box->fileOf(How.Output);
  sys::fs::file_status Status;
  if (sys::fs::status(File, Status) || Status.getLastModificationTime() < Begin)
    return userError("it does not write " + How.Output + " " + inputText(Input),
                     "Name a file that the program writes, or - for its "
                     "standard output.");
  auto Content = readFile(File);
  if (!Content)
    return Content.takeError();
  return (*Content)->getBuffer().str();
}

/// Runs the program \p Path on input number \p Input, and reads what each
/// --quality asks for. The UserError says how it failed.
Error QualityRuns::runOn(size_t Input, StringRef Path, double Limit,
                         std::vector<std::string> &Outputs,
                         double &Seconds) const {
  const std::string Said = Program->file("said");
  RunMode Now = Mode;
  Now.Output = Program->file("printed");
  Now.Errors = Said;
  Now.TimeLimit = Limit;
  Now.Arguments = &Arguments[Input];
  if (Error E = Buffers->ask(Now))
    return E;
  const auto Begin = std::chrono::system_clock::now() - ClockStep;
  auto Ended = Program->run(Now, Path);
  if (!Ended)
    return Ended.takeError();
  if (!Ended->ok())
    return userError(endOf(*Ended) + " " + inputText(Input), lastLineOf(Said));
  Seconds = Ended->Seconds;
  Outputs.clear();
  for (const QualityRequest &How : Request->Quality)
    if (Error E =
            readOutput(How, Input, Begin).moveInto(Outputs.emplace_back()))
      return E;
  return Error::success();
}

static std::string nameOf(const QualityRequest &How) {
  return How.Output == "-" ? "standard output" : How.Output;
}

/// Whether \p New is a worse quality than \p Known.
static bool isWorse(const QualityRequest &How, double New, double Known) {
  return How.IsGreaterBetter ? New < Known : New > Known;
}

/// A message, and what to do about it.
static std::pair<std::string, std::string> partsOf(Error E) {
  const std::string Text = toString(std::move(E));
  const auto [Message, Remedy] = StringRef(Text).split('\n');
  return {Message.str(), Remedy.trim().str()};
}

Expected<OutputQuality> QualityRuns::measure(StringRef Path, size_t First,
                                             size_t End) const {
  OutputQuality All;
  for (size_t I = First; I != End; ++I) {
    std::vector<std::string> Outputs;
    double Seconds = 0;
    if (Error E = runOn(I, Path, 60 + 10 * Took[I], Outputs, Seconds)) {
      std::tie(All.Why, All.Remedy) = partsOf(std::move(E));
      return All;
    }
    for (size_t N = 0; N != Outputs.size(); ++N) {
      const QualityRequest &How = Request->Quality[N];
      auto Q = measureQuality(How, References[I][N], nameOf(How), Outputs[N],
                              nameOf(How));
      if (!Q) {
        std::tie(All.Why, All.Remedy) = partsOf(Q.takeError());
        return All;
      }
      if (All.Worst.size() == N)
        All.Worst.push_back(Q->Value);
      else if (isWorse(How, Q->Value, All.Worst[N]))
        All.Worst[N] = Q->Value;
    }
  }
  for (auto [How, Worst] : zip(Request->Quality, All.Worst))
    if (!How.isWithin(Worst)) {
      All.Why = "outside the bound: " + How.metricName() + " " +
                qualityText(How, Worst) + " of " + nameOf(How);
      All.Remedy =
          "Widen the bound, or have the program do the same each time.";
      break;
    }
  return All;
}

Expected<std::map<std::string, double>>
QualityRuns::droppedOnInputs(StringRef Path) const {
  QualityRuns Counting = *this;
  Counting.Mode.Dropped = Program->file("dropped");
  if (auto Quality = Counting.onInputs(Path); !Quality)
    return Quality.takeError();
  std::map<std::string, double> Shares;
  auto File = MemoryBuffer::getFile(Counting.Mode.Dropped);
  SmallVector<StringRef> Lines;
  if (File)
    (*File)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines) {
    const auto [Kernel, Text] = Line.split(' ');
    uint64_t Millionths = 0;
    if (Text.getAsInteger(10, Millionths))
      return internalError(Counting.Mode.Dropped + ": no share: " + Line.str());
    double &Share = Shares[Kernel.str()];
    Share = std::max(Share, double(Millionths) / 1e6);
  }
  return Shares;
}

Expected<QualityRuns> QualityRuns::create(const OptimizeRequest &Request,
                                          const Session &Program,
                                          const OutputBuffers &Buffers,
                                          StringRef Unmodified,
                                          const RunMode &Mode) {
  QualityRuns Runs(Request, Program, Buffers, Mode);
  Runs.Arguments = {Request.Arguments};
  append_range(Runs.Arguments, Request.Train);
  Runs.Inputs = Runs.Arguments.size();
  append_range(Runs.Arguments, Request.HeldOut);
  for (size_t I = 0; I != Runs.Arguments.size(); ++I) {
    double Seconds = 0;
    if (Error E = Runs.runOn(I, Unmodified, 0, Runs.References.emplace_back(),
                             Seconds))
      return userError("--quality: the unmodified program: " +
                       toString(std::move(E)));
    Runs.Took.push_back(Seconds);
    if (frontend::interruption())
      return Runs;
    auto Again = Runs.measure(Unmodified, I, I + 1);
    if (!Again)
      return Again.takeError();
    if (!Again->isWithin())
      return userError("--quality: the unmodified program, run twice " +
                           Runs.inputText(I) + ": " + Again->Why,
                       Again->Remedy);
  }
  return Runs;
}

} // namespace reconverge::driver
