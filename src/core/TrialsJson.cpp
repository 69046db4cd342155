//===- core/TrialsJson.cpp - Plans and logs of trials ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan is one JSON document, the log a document a line, each written whole
// by one call: a process that dies in a trial leaves at most its last line cut
// off, and that line is left out on reading (Trials.h).
//
//===----------------------------------------------------------------------===//

#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/JsonReader.h"
#include "core/JsonWriter.h"
#include "core/MemoryJson.h"
#include "core/ProfileJson.h"
#include "core/Trials.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge {

static constexpr JsonDocument PlanKind{
    "reconverge-trials/1", "a plan of trials",
    "'reconverge optimize' writes one for the program that it starts."};
static constexpr JsonDocument EventKind{
    "reconverge-trial/1", "a line of a trial's log",
    "This is not what the program's backend wrote."};

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

Error writeTrialPlan(const TrialPlan &Plan, StringRef Path) {
  return writeFileAtomically(Path, [&](raw_ostream &OS) {
    JsonWriter W(OS);
    W.root([&] {
      W.text("schema", PlanKind.Schema);
      W.text("log", Plan.Log);
      W.count("launches", Plan.Launches);
      W.count("budget", Plan.Budget);
      W.count("orders", Plan.Orders);
      W.count("samples", Plan.Samples);
      W.number("seconds", Plan.Seconds);
      W.flag("hurried", Plan.IsHurried);
      W.flag("byOutputs", Plan.ByOutputs);
      W.objects("images", Plan.Images,
                [](JsonWriter &S, const ForeignImage &I) {
                  S.text("compiler", nameOf(I.By));
                  S.text("module", I.Module);
                  S.text("path", I.Path);
                });
      W.objects("kernels", Plan.Kernels,
                [](JsonWriter &S, const TrialRequest &R) {
                  S.text("name", R.Kernel);
                  S.text("module", R.Module);
                  S.lines("candidates", R.Candidates, writeCandidate);
                  S.count("launches", R.Launches);
                });
    });
  });
}

static bool readRequest(const json::Value &V, json::Path P, TrialRequest &R) {
  Fields F(V, P);
  return F && F.text("name", R.Kernel) && F.text("module", R.Module) &&
         F.list("candidates", R.Candidates, readCandidate) &&
         F.count("launches", R.Launches);
}

static bool readImage(const json::Value &V, json::Path P, ForeignImage &I) {
  Fields F(V, P);
  std::string Name;
  if (!F || !F.text("compiler", Name) || !F.text("module", I.Module) ||
      !F.text("path", I.Path))
    return false;
  const std::optional<ForeignCompiler> By = foreignNamed(Name);
  if (!By)
    F.path("compiler").report("expected another compiler's name");
  I.By = By.value_or(I.By);
  return By.has_value();
}

Expected<TrialPlan> readTrialPlan(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  TrialPlan Plan;
  if (Error E = parseDocument(
          (*Buffer)->getBuffer(), Path, PlanKind,
          [&](const json::Value &V, json::Path Here) {
            Fields F(V, Here);
            return F && F.text("log", Plan.Log) &&
                   F.count("launches", Plan.Launches) &&
                   F.count("budget", Plan.Budget) &&
                   F.count("orders", Plan.Orders) &&
                   F.count("samples", Plan.Samples) &&
                   F.measure("seconds", Plan.Seconds) &&
                   (!F.has("hurried") || F.flag("hurried", Plan.IsHurried)) &&
                   (!F.has("byOutputs") ||
                    F.flag("byOutputs", Plan.ByOutputs)) &&
                   F.list("images", Plan.Images, readImage) &&
                   F.list("kernels", Plan.Kernels, readRequest);
          }))
    return std::move(E);
  return Plan;
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

static StringRef wordOf(TrialEvent::Kind K) {
  switch (K) {
  case TrialEvent::Begin:
    return "begin";
  case TrialEvent::End:
    return "end";
  case TrialEvent::Fault:
    return "fault";
  case TrialEvent::Hang:
    return "hang";
  case TrialEvent::Refused:
    return "refused";
  case TrialEvent::Untried:
    return "untried";
  case TrialEvent::Timed:
    return "timed";
  }
  llvm_unreachable("an event is of one of seven kinds");
}

static void writeDemand(JsonWriter &W, const Demand &D) {
  writeShape(W, D.Shape);
  W.count("registers", D.Registers);
  W.count("staticShared", D.StaticShared);
  W.number("share", D.Share);
  W.number("slots", D.Slots);
  W.numbers("busy", {D.Busy.begin(), D.Busy.end()});
  W.number("pathCycles", D.PathCycles);
  W.number("pathLoads", D.PathLoads);
  W.flag("hasMachineCode", D.HasMachineCode);
  W.flag("hasMemory", D.HasMemory);
  W.number("wavefronts", D.Wavefronts);
  W.number("loadSectors", D.LoadSectors);
  W.number("storeSectors", D.StoreSectors);
  W.number("mergedStores", D.MergedStores);
  W.number("atomicSectors", D.AtomicSectors);
  W.number("atomicTurns", D.AtomicTurns);
  writeTouched(W, D.Touched);
}

static bool readDemand(const json::Value &V, json::Path P, Demand &D) {
  Fields F(V, P);
  std::vector<double> Busy;
  if (!F || !readShape(V, P, D.Shape) || !F.count("registers", D.Registers) ||
      !F.count("staticShared", D.StaticShared) ||
      !F.measure("share", D.Share) || !F.measure("slots", D.Slots) ||
      !F.measures("busy", Busy) || !F.measure("pathCycles", D.PathCycles) ||
      !F.measure("pathLoads", D.PathLoads) ||
      !F.flag("hasMachineCode", D.HasMachineCode) ||
      !F.flag("hasMemory", D.HasMemory) ||
      !F.measure("wavefronts", D.Wavefronts) ||
      !F.measure("loadSectors", D.LoadSectors) ||
      !F.measure("storeSectors", D.StoreSectors) ||
      !F.measure("mergedStores", D.MergedStores) ||
      !F.measure("atomicSectors", D.AtomicSectors) ||
      !F.measure("atomicTurns", D.AtomicTurns) ||
      !F.object("touched", D.Touched, readTouched))
    return false;
  if (Busy.size() != NumPipes) {
    F.path("busy").report("expected the cycles of each pipe");
    return false;
  }
  std::ranges::copy(Busy, D.Busy.begin());
  return true;
}

void printTrialEvent(const TrialEvent &E, raw_ostream &OS) {
  JsonWriter W(OS, /*Indent=*/0);
  W.root([&] {
    W.text("schema", EventKind.Schema);
    W.text("event", wordOf(E.What));
    W.text("kernel", E.Kernel);
    W.text("module", E.Module);
    W.line("candidate", [&](JsonWriter &S) { writeCandidate(S, E.Tried); });
    W.count("launch", E.Launch);
    W.line("shape", [&](JsonWriter &S) { writeShape(S, E.Shape); });
    W.text("why", E.Why);
    W.line("verdict", [&](JsonWriter &S) { writeVerdict(S, E.Compared); });
    W.lines("original", E.Original, writeDemand);
    W.lines("variant", E.Variant, writeDemand);
    if (E.OriginalTime.isKnown() && E.VariantTime.isKnown()) {
      W.line("originalTime",
             [&](JsonWriter &S) { writeTime(S, E.OriginalTime); });
      W.line("variantTime",
             [&](JsonWriter &S) { writeTime(S, E.VariantTime); });
    }
    W.numbers("originalMs", E.OriginalMs);
    W.numbers("variantMs", E.VariantMs);
  });
  OS << '\n';
}

static bool readEvent(const json::Value &V, json::Path P, TrialEvent &E) {
  Fields F(V, P);
  if (!F ||
      !F.choice(
          "event", E.What,
          {TrialEvent::Begin, TrialEvent::End, TrialEvent::Fault,
           TrialEvent::Hang, TrialEvent::Refused, TrialEvent::Untried,
           TrialEvent::Timed},
          [](TrialEvent::Kind K) { return wordOf(K); },
          "expected begin, end, fault, hang, refused, untried or timed") ||
      !F.text("kernel", E.Kernel) || !F.text("module", E.Module) ||
      !F.object("candidate", E.Tried, readCandidate) ||
      !F.count("launch", E.Launch) || !F.object("shape", E.Shape, readShape) ||
      !F.text("why", E.Why) || !F.object("verdict", E.Compared, readVerdict) ||
      !F.list("original", E.Original, readDemand) ||
      !F.list("variant", E.Variant, readDemand) ||
      !F.measures("originalMs", E.OriginalMs) ||
      !F.measures("variantMs", E.VariantMs))
    return false;
  if (E.VariantMs.size() > E.OriginalMs.size()) {
    F.path("variantMs").report("expected no more times than of the original");
    return false;
  }
  return true;
}

Expected<std::vector<TrialEvent>> readTrialLog(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  std::vector<TrialEvent> Events;
  StringRef Rest = (*Buffer)->getBuffer();
  while (Rest.contains('\n')) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    Events.emplace_back();
    if (Error E = parseDocument(Line, (Path + ":" + Twine(Events.size())).str(),
                                EventKind,
                                [&](const json::Value &V, json::Path Here) {
                                  return readEvent(V, Here, Events.back());
                                }))
      return std::move(E);
  }
  return Events;
}

} // namespace reconverge
