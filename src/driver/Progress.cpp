//===- driver/Progress.cpp - What long work is doing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Progress.h"

#include "driver/Build.h"
#include "driver/Profile.h"
#include "report/Text.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

Progress::Progress(raw_ostream &OS, const RunRequest &Request,
                   Clock::duration First)
    : OS(OS), IsQuiet(Request.Quiet),
      IsLive(!Request.Quiet && OS.is_displayed()),
      IsVerbose(!Request.Quiet && Request.Verbose),
      Width(terminalFor(OS).Width), First(First), Began(Clock::now()),
      Due(First) {}

void Progress::begin(const Twine &What, bool IsShown) {
  clear();
  Stage = What.str();
  Began = Clock::now();
  Due = First;
  if (IsShown)
    report::printWrapped(OS, "reconverge: " + Stage, Width, 2);
  OS.flush();
}

void Progress::stage(const Twine &What) { begin(What, !IsQuiet); }
void Progress::step(const Twine &What) { begin(What, IsLive || IsVerbose); }

/// Whether it is time for another line in a log.
bool Progress::isDue() {
  if (IsQuiet || Clock::now() - Began < Due)
    return false;
  Due *= 2;
  return true;
}

std::string Progress::elapsed() const {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                            Clock::now() - Began)
                            .count()) +
         " s";
}

void Progress::follow(BuildRequest &Request) {
  const size_t Sources = sourcesOf(Request);
  if (Sources > 1)
    Request.OnSource = [this, Sources, At = size_t(0)](StringRef Path) mutable {
      stage("compiling " + Path + " (" + Twine(++At) + " of " + Twine(Sources) +
            ")");
    };
}

void Progress::goesOn() {
  // A terminal is the program's while that runs.
  if (IsLive || !isDue())
    return;
  report::printWrapped(OS, "reconverge: " + Stage + ": " + elapsed(), Width, 2);
  OS.flush();
}

void Progress::update(function_ref<WorkDone()> Get) {
  if (IsLive) {
    const WorkDone Work = Get();
    std::string Bar = barOf(Work, Width ? Width - 1 : 0);
    if (Bar != Shown) // or it would flicker
      OS << "\r\033[K" << Bar;
    OS.flush();
    Shown = std::move(Bar);
    if (!IsVerbose)
      return;
  }
  const bool IsOverdue = !IsLive && isDue();
  if (!IsOverdue && !IsVerbose)
    return;
  const WorkDone Work = Get();
  if (!IsOverdue && (Work.Now == Last || Work.Now.empty()))
    return;
  Last = Work.Now;
  clear();
  std::string Text = "reconverge: " + std::to_string(Work.Done) + " of " +
                     std::to_string(Work.Of) + ", " + elapsed();
  if (!Work.Now.empty())
    Text += ": " + Work.Now;
  report::printWrapped(OS, Text, Width, 2);
  OS.flush();
}

void Progress::clear() {
  if (Shown.empty())
    return;
  OS << "\r\033[K";
  OS.flush();
  Shown.clear();
}

std::string barOf(const WorkDone &Work, unsigned Width) {
  constexpr size_t Cells = 20;
  const size_t Full =
      Work.Of ? std::min(Cells, Work.Done * Cells / Work.Of) : 0;
  const std::string Bar = "[" + std::string(Full, '#') +
                          std::string(Cells - Full, ' ') + "] " +
                          std::to_string(Work.Done) + "/" +
                          std::to_string(Work.Of) + " " + Work.Now;
  // A line that wraps could not be taken back.
  return report::cutEnd(Bar, Width);
}

} // namespace reconverge::driver
