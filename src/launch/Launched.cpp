//===- launch/Launched.cpp - A recipe's launches in a program -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch by a recipe may be slower than the kernel as it was: with other data
// than those that it was tried on, or where the launch is small. So a program
// measures both, on its own launches, and takes what is faster (Switch.cpp):
// for each kernel, device and power of two of threads.
//
// Nothing waits: an event before and one after, in the launch's own stream, are
// asked at later launches. Both forms leave the same bytes, so it does not
// matter to the program which is taken.
//
// Where the two leave other bytes, times must not choose: which form a launch
// takes is Stops.cpp's to say, and one that is captured takes the kernel as it was.
//
// Launches that are captured into a graph are not measured: no event of theirs
// would tell. They take the form that is known to be faster, the recipe's if
// none is. A graph keeps its form.
//
// The warp VM's clock is the CPU's, and what it tells would differ from run to
// run. There each launch takes its recipe, unless RECONVERGE_VM has clock=model,
// by which events tell what the model says, and the choice is the same in every
// run (runtime/vm/ModelClock.h).
//
// Limitation: launches of a kernel from two places of the program, at about one
// size, are one to this. So are launches whose work differs and whose size does
// not.
//
//===----------------------------------------------------------------------===//

#include "launch/Launched.h"

#include "core/DroppedShares.h"
#include "core/Remedied.h"
#include "launch/Execute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <vector>

/// The shim's, where the program has it for its CUDA runtime.
extern "C" __attribute__((weak, visibility("default"))) int
reconverge_shim_has_clock();

namespace reconverge::launch {

static bool hasClock() {
  return !reconverge_shim_has_clock || reconverge_shim_has_clock();
}

static bool isCaptured(cudaStream_t Stream) {
  cudaStreamCaptureStatus Status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(Stream, &Status) != cudaSuccess ||
         Status != cudaStreamCaptureStatusNone;
}

/// The time of \p Now, and its share in that of making the order by which it was
/// launched. Of the first order nobody knows yet how often it will serve. Where orders are made anew by and by, the first launch that makes
/// one loads code and takes memory, which the others do not: it tells nothing.
double Launched::amortised(const Stopwatch::Known &Now, OfClass &Of) const {
  const double Time = Now.Milliseconds;
  if (Time < 0 || !R.Reuse || Now.Of.Of == Form::Original)
    return Time;
  if (Now.Of.Makes) {
    Of.Making = Time;
    ++Of.Makings;
    return Time;
  }
  if (R.Reuse->Renewed && Of.Makings < 2)
    return Time;
  const Orders::Counts &C = Kept.counts();
  double Uses =
      double(C.Made + C.Reused) / double(std::max<uint64_t>(C.Made, 1));
  if (C.Made <= 1)
    Uses = std::max(Uses, RecipeReuse::UsesAtFirst);
  return Time + std::max(Of.Making - Time, 0.) / Uses;
}

/// The kernel as the program has it, in device code.
static std::string mangledNameOf(const Recipe &R) {
  std::string Name = R.Steps.empty() ? "" : R.Steps.back().Kernel;
  for (const RecipeStep &Step : R.Steps)
    if (Step.Kernel.ends_with(RemediedSuffix))
      Name = Step.Kernel.substr(0, Step.Kernel.size() -
                                       std::strlen(RemediedSuffix));
  return Name;
}

/// Has \p Now run by the order in \p Scratch that the user gives. Nothing else
/// is tried: that order is what the user wants to see.
void Launched::give(Turn &Now, uint32_t Scratch, const LaunchShape &Shape) {
  LaunchAmount Units = R.Scratch[Scratch].Bytes;
  Units.Times = 1;
  Now.Given.resize(R.Scratch.size());
  Now.Fault = Given.find(mangledNameOf(R), amountOf(Units, Shape).value_or(0),
                         Now.Class.first, Now.Given[Scratch]);
  Now.Take = Form::Recipe;
}

/// Whether the recipe's next measured launch is to be one that is made ready
/// before: \p Now makes it, and is measured aside.
bool Launched::leadsIn(const Turn &Now, const OfClass &Of) const {
  const Switch::Turn Next = Of.Choice.upcoming();
  return Now.In && !Of.Alone && Now.In->Next.Args && !Now.In->IsReady &&
         !Now.In->LedIn && Next.Measured && Next.Take == Form::Recipe;
}

/// What a time that is known now says.
void Launched::note(const Stopwatch::Known &Now, OfClass &Of) {
  if (R.Ahead && Now.Of.Of == Form::Recipe && Now.Milliseconds > 0) {
    double &Least = Now.Of.Makes ? Of.Own : Of.Ready;
    Least = Least > 0 ? std::min(Least, Now.Milliseconds) : Now.Milliseconds;
  }
  if (!Now.Of.Aside)
    Of.Choice.arrived(Now.Of.Of, amortised(Now, Of));
}

/// Once all of the first round is known: where orders that were made before do not
/// pay, because the data come too late for them, launches try it with their own.
void Launched::judge(OfClass &Of) const {
  if (!R.Ahead || Of.Judged || !Of.Choice.isDecided())
    return;
  Of.Judged = true;
  Of.Alone =
      Of.Choice.kept() == Form::Original || (Of.Own > 0 && Of.Ready > Of.Own);
  if (Of.Alone)
    Of.Choice = {};
}

bool Launched::measure(Turn &Now, OfClass &Of, Stopwatch::Timing T,
                       cudaStream_t Stream) {
  Now.Take = T.Of;
  if (!Of.Watch.begin(T, Stream))
    return false;
  Now.Measured = T;
  return true;
}

/// Has \p Now be measured, if it is its turn.
void Launched::measure(Turn &Now, OfClass &Of, cudaStream_t Stream) {
  for (const Stopwatch::Known &K : Of.Watch.poll())
    note(K, Of);
  judge(Of);
  const bool LeadsIn = leadsIn(Now, Of);
  if (Now.In)
    Now.In->LedIn = LeadsIn;
  if (LeadsIn) {
    (void)measure(Now, Of, {.Of = Form::Recipe, .Aside = true}, Stream);
    return;
  }
  const Switch::Turn Next = Of.Choice.next();
  Now.Take = Next.Take;
  if (Next.Measured && !measure(Now, Of, {.Of = Next.Take}, Stream))
    Of.Choice.arrived(Next.Take, -1);
}

/// Has what launches before it have counted choose for \p Now. Others go on
/// while it waits for them.
void Launched::count(Turn &Now, const LaunchShape &Shape, cudaStream_t Stream,
                     std::unique_lock<std::mutex> &Guard) {
  Now.Take = Form::Original;
  Now.Counts = Stopped.begin(R, Now.Class.first, Stream);
  if (!Now.Counts)
    return;
  Guard.unlock();
  Stops::wait(*Now.Counts);
  Guard.lock();
  Now.Take = Stopped.choose(*Now.Counts, R, Shape, Now.Which);
}

Launched::Turn Launched::begin(const LaunchShape &Shape, cudaStream_t Stream,
                               void *const *Args, const CudaCalls &Calls) {
  Turn Now;
  std::unique_lock<std::mutex> Guard(Lock);
  if (!isFor(R, Shape) || cudaGetDevice(&Now.Class.first)) {
    ++Outside;
    return Now;
  }
  Now.Class.second = unsigned(std::bit_width(Shape.threads()));
  OfClass &Of = Classes[Now.Class];
  ++Of.Launches;
  const bool Captured = isCaptured(Stream);
  Of.Captured += Captured;
  if (const std::optional<uint32_t> Scratch = R.given()) {
    give(Now, *Scratch, Shape);
    return Now;
  }
  Now.Take = R.Stop ? Form::Original : Of.Choice.kept();
  if (Captured)
    return Now;
  if (R.Stop) {
    count(Now, Shape, Stream, Guard);
    return Now;
  }
  if (R.Ahead && !Of.Alone &&
      (Of.Choice.kept() == Form::Recipe || Of.Choice.upcoming().Measured))
    Now.In = Following.begin(R, Calls, Now.Class.first, Stream, Shape, Args);
  if (hasClock())
    measure(Now, Of, Stream);
  if (Now.In && Now.Take == Form::Recipe && !Of.Alone)
    Following.choose(*Now.In, Now.Which);
  if (R.Reuse && Now.Take == Form::Recipe)
    Now.Order = Kept.begin(R, Now.Class.first, Stream, Shape, Now.Which);
  if (Now.Measured) {
    Now.Measured->Makes = Now.Which.Making;
    Now.Which.Probing = false; // the next will; probes come to be rare
  }
  return Now;
}

void Launched::end(const Turn &Took, bool Done, cudaStream_t Stream) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Took.Order)
    Kept.end(*Took.Order, R, Took.Which, Done, Stream);
  if (Took.In)
    Following.end(*Took.In, Took.Take == Form::Recipe && Done);
  if (Took.Counts)
    Stopped.end(*Took.Counts, R, Took.Take == Form::Recipe && Done, Stream);
  const auto At = Classes.find(Took.Class);
  if (At == Classes.end())
    return; // it is not for such launches
  OfClass &Of = At->second;
  Of.ByRecipe += Took.Take == Form::Recipe && Done;
  if (!Took.Measured)
    return;
  if (Done && Of.Watch.end(*Took.Measured, Stream))
    return;
  if (!Done)
    Of.Watch.drop(*Took.Measured);
  if (!Took.Measured->Aside)
    Of.Choice.arrived(Took.Take, -1);
}

//===----------------------------------------------------------------------===//
// What RECONVERGE_VERBOSE=1 says
//===----------------------------------------------------------------------===//

/// As the source has it.
static std::string nameOf(const Recipe &R) {
  std::string Name = mangledNameOf(R);
  int Failed = 0;
  char *Plain = abi::__cxa_demangle(Name.c_str(), nullptr, nullptr, &Failed);
  if (Plain)
    Name = Plain;
  std::free(Plain);
  return Name;
}

std::string Launched::describe(const std::string &Name, unsigned Bits,
                               const OfClass &Of) const {
  char Text[512];
  std::snprintf(Text, sizeof Text,
                "%llu launches of %llu to %llu threads, %llu with the remedy",
                (unsigned long long)Of.Launches, 1ull << (Bits - 1),
                (1ull << (Bits - 1)) * 2 - 1, (unsigned long long)Of.ByRecipe);
  std::string Line = "reconverge: " + Name + ": " + Text;
  const Switch &C = Of.Choice;
  if (R.given()) {
    Line += ": in the order that is given";
  } else if (R.Stop) {
    Line += ": as what launches before them have counted says";
  } else if (!hasClock()) {
    Line += ": not measured, since events here tell the time of the CPU";
  } else if (!C.isDecided()) {
    Line += ": too few were measured to choose";
  } else {
    std::snprintf(Text, sizeof Text,
                  ": %s, %.4f ms with it and %.4f ms without; changed %llu "
                  "times",
                  C.kept() == Form::Recipe ? "kept" : "switched off",
                  C.milliseconds(Form::Recipe), C.milliseconds(Form::Original),
                  (unsigned long long)C.changes());
    Line += Text;
  }
  if (Of.Alone)
    Line += "; by orders of their own, as those made before did not pay";
  if (Of.Captured)
    Line += "; " + std::to_string(Of.Captured) + " of them captured";
  return Line + "\n";
}

/// "herding stopped once and went on twice", after what it may and does drop.
std::string Launched::describeStops() {
  const Stops::Summary S = Stopped.summary();
  const double May =
      100 * double(R.Stop->Most.Times) / double(R.Stop->Most.Per);
  char Text[256];
  std::snprintf(Text, sizeof Text,
                "a launch may drop %.4g %% of its threads, and dropped %.4g %% "
                "at most: stopped %llu times, went on again %llu times",
                May, 100 * S.Most, (unsigned long long)S.Stopped,
                (unsigned long long)S.Resumed);
  return std::string(Text) +
         (S.Lost ? "; what " + std::to_string(S.Lost) +
                       " streams count was lost, and they stopped for good"
                 : "");
}

/// Of a launch's threads, in millionths, rounded up.
std::string Launched::describeShare() {
  std::lock_guard<std::mutex> Guard(Lock);
  const Stops::Summary S = Stopped.summary();
  if (!S.Heard)
    return "";
  return mangledNameOf(R) + " " +
         std::to_string(uint64_t(std::ceil(1e6 * S.Most))) + "\n";
}

std::string Launched::describe() {
  std::lock_guard<std::mutex> Guard(Lock);
  const std::string Name = nameOf(R);
  std::string Lines;
  for (const auto &[Class, Of] : Classes)
    Lines += describe(Name, Class.second, Of);
  if (const Orders::Counts &C = Kept.counts(); C.Made)
    Lines += "reconverge: " + Name + ": " + std::to_string(C.Made) +
             " orders were made for " + std::to_string(C.Made + C.Reused) +
             " launches" +
             (R.Reuse->Renewed
                  ? ""
                  : "; of " + std::to_string(C.Probes) + " probes, " +
                        std::to_string(C.Renewed) + " asked for a new one") +
             "\n";
  if (const Sequences::Counts &C = Following.counts(); C.Launches)
    Lines += "reconverge: " + Name + ": " + std::to_string(C.Ready) + " of " +
             std::to_string(C.Launches) +
             " launches had an order that the launch before had made; " +
             std::to_string(C.Foretold) + " were made so\n";
  if (R.Stop && !Classes.empty())
    Lines += "reconverge: " + Name + ": " + describeStops() + "\n";
  if (Outside)
    Lines += "reconverge: " + Name + ": " + std::to_string(Outside) +
             " launches that the remedy is not for\n";
  return Lines;
}

namespace {
/// In the order in which they were first launched.
struct Talkative {
  std::mutex Lock;
  std::vector<Launched *> All;
};
} // namespace

static Talkative &talkative() {
  static Talkative &Only = *new Talkative;
  return Only;
}

static bool isTalkative() {
  const char *Asked = std::getenv("RECONVERGE_VERBOSE");
  return Asked && std::strcmp(Asked, "1") == 0;
}

/// Of a file that several processes may add to; null: nobody asks.
static const char *sharesFile() {
  const char *Path = std::getenv(DroppedSharesVariable);
  return Path && *Path ? Path : nullptr;
}

static void describeAll() {
  std::lock_guard<std::mutex> Guard(talkative().Lock);
  const char *Path = sharesFile();
  std::FILE *Shares = Path ? std::fopen(Path, "a") : nullptr;
  for (Launched *L : talkative().All) {
    if (isTalkative())
      std::fputs(L->describe().c_str(), stderr);
    if (Shares)
      std::fputs(L->describeShare().c_str(), Shares);
  }
  if (Shares)
    std::fclose(Shares);
}

void describeAtExit(Launched &L) {
  if (!isTalkative() && !sharesFile())
    return;
  std::lock_guard<std::mutex> Guard(talkative().Lock);
  if (talkative().All.empty() && std::atexit(describeAll))
    return; // nothing is said, then
  talkative().All.push_back(&L);
}

} // namespace reconverge::launch
