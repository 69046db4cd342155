//===- core/DecisionJson.cpp - Decisions as a file ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// decisions.json, as docs/optimize.md documents it: written by `optimize`, read
// by `cc --decisions` and by people. Keys that are not known are ignored, so
// that an older tool reads what a newer one wrote; a word that names a verdict
// or an outcome has to be known, or the decision would be taken for another.
//
//===----------------------------------------------------------------------===//

#include "core/DecisionJson.h"

#include "core/Error.h"
#include "core/File.h"
#include "core/JsonReader.h"
#include "core/JsonWriter.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace reconverge {

StringRef wordOf(VerdictKind Kind) {
  switch (Kind) {
  case VerdictKind::Identical:
    return "identical";
  case VerdictKind::UpToOrder:
    return "identical-up-to-order";
  case VerdictKind::Differs:
    return "differs";
  case VerdictKind::Unknown:
    return "unknown";
  }
  llvm_unreachable("a verdict has one of four kinds");
}

static StringRef wordOf(Promise P) {
  switch (P) {
  case Promise::Bytes:
    return "bytes";
  case Promise::Order:
    return "order";
  case Promise::Bound:
    return "bound";
  }
  llvm_unreachable("a promise is one of three");
}

StringRef wordOf(TrialOutcome End) {
  switch (End) {
  case TrialOutcome::Kept:
    return "kept";
  case TrialOutcome::Slower:
    return "slower";
  case TrialOutcome::Wrong:
    return "wrong";
  case TrialOutcome::Rounded:
    return "rounded";
  case TrialOutcome::Unproved:
    return "unproved";
  case TrialOutcome::Faulted:
    return "faulted";
  case TrialOutcome::TimedOut:
    return "timed out";
  case TrialOutcome::Refused:
    return "refused";
  case TrialOutcome::Untried:
    return "untried";
  }
  llvm_unreachable("a trial has one of nine ends");
}

DecisionGain gainOf(const Decision &D) {
  DecisionGain Gain;
  for (const TrialResult &T : D.Tried) {
    if (T.End != TrialOutcome::Kept && T.End != TrialOutcome::Slower)
      continue;
    const auto By = T.What.foreign();
    if (By && D.Keep != Candidate() && T.Speedup > Gain.Compiler) {
      Gain.Compiler = T.Speedup;
      Gain.Baseline = By;
    }
    if (!By && T.What == D.Keep)
      Gain.Remedy = D.Measured ? T.Speedup : T.Predicted;
  }
  return Gain;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool readCandidate(const json::Value &V, json::Path P, Candidate &C) {
  Fields F(V, P);
  if (!F || !F.text("remedy", C.Remedy) ||
      !F.text("parameters", C.Parameters) ||
      (F.has("promise") && !F.choice(
                               "promise", C.Promises,
                               {Promise::Bytes, Promise::Order, Promise::Bound},
                               [](Promise P) { return wordOf(P); },
                               "expected bytes, order or bound")))
    return false;
  if (C.Remedy.empty())
    F.path("remedy").report("expected a remedy's name, or none");
  return !C.Remedy.empty();
}

bool readVerdict(const json::Value &V, json::Path P, Verdict &Out) {
  Fields F(V, P);
  if (!F ||
      !F.choice(
          "kind", Out.Kind,
          {VerdictKind::Identical, VerdictKind::UpToOrder, VerdictKind::Differs,
           VerdictKind::Unknown},
          [](VerdictKind K) { return wordOf(K); },
          "expected identical, identical-up-to-order, differs or unknown") ||
      !F.count("launches", Out.Launches) || !F.count("bytes", Out.Bytes) ||
      !F.count("orderDependent", Out.OrderDependent) ||
      !F.text("where", Out.First.Where) ||
      !F.count("offset", Out.First.Offset) ||
      !F.text("original", Out.First.Original) ||
      !F.text("variant", Out.First.Variant) ||
      (F.has("ulps") && !F.count("ulps", Out.First.Ulps)) ||
      !F.text("reason", Out.Reason))
    return false;
  if (Out.OrderDependent > Out.Bytes)
    P.report("more bytes vary than were compared");
  return Out.OrderDependent <= Out.Bytes;
}

/// Not in files of before predictions had one; a forecast, where there is one.
static bool readRanges(const Fields &F, TrialResult &T) {
  return (!F.has("predictedLow") ||
          (F.measure("predictedLow", T.PredictedLow) &&
           F.measure("predictedHigh", T.PredictedHigh))) &&
         (!F.has("forecast") || (F.measure("forecast", T.Forecasted) &&
                                 F.measure("forecastLow", T.ForecastLow) &&
                                 F.measure("forecastHigh", T.ForecastHigh)));
}

static bool readTrial(const json::Value &V, json::Path P, TrialResult &T) {
  Fields F(V, P);
  if (!F || !F.object("candidate", T.What, readCandidate) ||
      !F.choice(
          "outcome", T.End,
          {TrialOutcome::Kept, TrialOutcome::Slower, TrialOutcome::Wrong,
           TrialOutcome::Rounded, TrialOutcome::Unproved, TrialOutcome::Faulted,
           TrialOutcome::TimedOut, TrialOutcome::Refused,
           TrialOutcome::Untried},
          [](TrialOutcome O) { return wordOf(O); },
          "expected kept, slower, wrong, rounded, unproved, faulted, timed "
          "out, "
          "refused or untried") ||
      !F.text("why", T.Why) || !F.object("verdict", T.Compared, readVerdict) ||
      !F.measure("predicted", T.Predicted) || !readRanges(F, T) ||
      !F.measure("speedup", T.Speedup) || !F.measure("low", T.Low) ||
      !F.measure("high", T.High) || !F.measure("milliseconds", T.Milliseconds))
    return false;
  if (T.Low > T.Speedup || T.Speedup > T.High) {
    F.path("speedup").report("lies outside its interval");
    return false;
  }
  return true;
}

static bool readDecision(const json::Value &V, json::Path P, Decision &D) {
  Fields F(V, P);
  if (!F || !F.text("name", D.Kernel) || !F.text("display", D.Display) ||
      !F.text("module", D.Module) || !F.list("shapes", D.Shapes, readShape) ||
      !F.object("keep", D.Keep, readCandidate) ||
      !F.flag("measured", D.Measured) || !F.text("why", D.Why) ||
      (F.has("timed") && !F.count("timed", D.Timed)) ||
      (F.has("milliseconds") && !F.measure("milliseconds", D.Milliseconds)) ||
      !F.list("tried", D.Tried, readTrial))
    return false;
  if (D.Kernel.empty()) {
    F.path("name").report("expected the kernel's name");
    return false;
  }
  bool Earned = !D.Keep.changesCode();
  for (const TrialResult &T : D.Tried)
    Earned |= T.What == D.Keep && T.End == TrialOutcome::Kept;
  if (!Earned)
    F.path("keep").report("what is kept was not tried and found better");
  return Earned;
}

static bool readWhole(const json::Value &V, json::Path P, WholeTimes &T) {
  Fields F(V, P);
  if (!F || !F.count("runs", T.Runs) || !F.measure("final", T.Final) ||
      !F.measure("ours", T.Ours))
    return false;
  for (ForeignCompiler By : ForeignCompilers)
    if (F.has(nameOf(By)) && !F.measure(nameOf(By), T.Foreign[By]))
      return false;
  std::string Built;
  if (F.has("built") && !F.text("built", Built))
    return false;
  T.Built = foreignNamed(Built);
  return true;
}

static bool readMember(const json::Value &V, json::Path P,
                       QualitySet::Member &M) {
  Fields F(V, P);
  return F && F.text("kernel", M.Kernel) && readCandidate(V, P, M.What);
}

static bool readSet(const json::Value &V, json::Path P, QualitySet &S) {
  Fields F(V, P);
  return F && F.list("candidates", S.Members, readMember) &&
         F.measure("speedup", S.Speedup) &&
         F.measure("heldOutSpeedup", S.HeldOutSpeedup) &&
         F.texts("trained", S.Trained) && F.texts("heldOut", S.HeldOut) &&
         F.flag("best", S.IsBest) && F.text("why", S.Why);
}

static bool readSearch(const json::Value &V, json::Path P,
                       std::optional<QualitySearch> &Search) {
  Fields F(V, P);
  QualitySearch &S = Search.emplace();
  return F && F.texts("asked", S.Asked) && F.count("inputs", S.Inputs) &&
         F.count("heldOut", S.HeldOut) && F.text("verdict", S.Verdict) &&
         F.list("sets", S.Sets, readSet);
}

static bool readRoot(const json::Value &V, json::Path Here, DecisionFile &D) {
  Fields F(V, Here);
  if (!F || !F.text("program", D.Program) ||
      !F.texts("arguments", D.Arguments) || !F.text("device", D.Device) ||
      !F.texts("notes", D.Notes) ||
      !F.list("kernels", D.Kernels, readDecision) ||
      (F.has("whole") && !F.object("whole", D.Whole, readWhole)) ||
      (F.has("quality") && !F.object("quality", D.Search, readSearch)))
    return false;
  StringSet<> Seen;
  for (const Decision &K : D.Kernels)
    if (!Seen.insert(K.Module + "/" + K.Kernel).second) {
      F.path("kernels").report("a kernel is decided twice");
      return false;
    }
  return true;
}

Expected<DecisionFile> parseDecisions(StringRef Text, StringRef File) {
  const JsonDocument Kind{DecisionSchema, "a file of decisions",
                          "This is not what 'reconverge optimize' wrote; "
                          "optimize the program again."};
  DecisionFile D;
  if (Error E = parseDocument(Text, File, Kind,
                              [&](const json::Value &V, json::Path Here) {
                                return readRoot(V, Here, D);
                              }))
    return std::move(E);
  return D;
}

Expected<DecisionFile> readDecisions(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  return parseDecisions((*Buffer)->getBuffer(), Path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void writeCandidate(JsonWriter &W, const Candidate &C) {
  W.text("remedy", C.Remedy);
  W.text("parameters", C.Parameters);
  if (C.Promises != Promise::Bytes)
    W.text("promise", wordOf(C.Promises));
}

void writeVerdict(JsonWriter &W, const Verdict &V) {
  W.text("kind", wordOf(V.Kind));
  W.count("launches", V.Launches);
  W.count("bytes", V.Bytes);
  W.count("orderDependent", V.OrderDependent);
  W.text("where", V.First.Where);
  W.count("offset", V.First.Offset);
  W.text("original", V.First.Original);
  W.text("variant", V.First.Variant);
  W.count("ulps", V.First.Ulps);
  W.text("reason", V.Reason);
}

static void writeTrial(JsonWriter &W, const TrialResult &T) {
  W.line("candidate", [&](JsonWriter &S) { writeCandidate(S, T.What); });
  W.text("outcome", wordOf(T.End));
  W.text("why", T.Why);
  W.line("verdict", [&](JsonWriter &S) { writeVerdict(S, T.Compared); });
  W.number("predicted", T.Predicted);
  W.number("predictedLow", T.PredictedLow);
  W.number("predictedHigh", T.PredictedHigh);
  if (T.Forecasted > 0) {
    W.number("forecast", T.Forecasted);
    W.number("forecastLow", T.ForecastLow);
    W.number("forecastHigh", T.ForecastHigh);
  }
  W.number("speedup", T.Speedup);
  W.number("low", T.Low);
  W.number("high", T.High);
  W.number("milliseconds", T.Milliseconds);
}

static void writeDecision(JsonWriter &W, const Decision &D) {
  W.text("name", D.Kernel);
  W.text("display", D.Display);
  W.text("module", D.Module);
  W.lines("shapes", D.Shapes, writeShape);
  W.line("keep", [&](JsonWriter &S) { writeCandidate(S, D.Keep); });
  W.flag("measured", D.Measured);
  W.count("timed", D.Timed);
  W.number("milliseconds", D.Milliseconds);
  W.text("why", D.Why);
  W.line("gain", [&](JsonWriter &S) {
    const DecisionGain Gain = gainOf(D);
    S.number("remedy", Gain.Remedy);
    S.number("compiler", Gain.Compiler);
    S.text("baseline", Gain.Baseline ? nameOf(*Gain.Baseline) : "none");
  });
  W.objects("tried", D.Tried, writeTrial);
}

static void writeSet(JsonWriter &W, const QualitySet &S) {
  W.lines("candidates", S.Members,
          [](JsonWriter &L, const QualitySet::Member &M) {
            L.text("kernel", M.Kernel);
            writeCandidate(L, M.What);
          });
  W.number("speedup", S.Speedup);
  W.number("heldOutSpeedup", S.HeldOutSpeedup);
  W.texts("trained", S.Trained);
  W.texts("heldOut", S.HeldOut);
  W.flag("best", S.IsBest);
  W.text("why", S.Why);
}

static void writeSearch(JsonWriter &W, const QualitySearch &Search) {
  W.object("quality", [&] {
    W.texts("asked", Search.Asked);
    W.count("inputs", Search.Inputs);
    W.count("heldOut", Search.HeldOut);
    W.text("verdict", Search.Verdict);
    W.objects("sets", Search.Sets, writeSet);
  });
}

void printDecisions(const DecisionFile &File, raw_ostream &OS) {
  JsonWriter W(OS);
  W.root([&] {
    W.text("schema", DecisionSchema);
    W.text("program", File.Program);
    W.texts("arguments", File.Arguments);
    W.text("device", File.Device);
    W.texts("notes", File.Notes);
    W.objects("kernels", File.Kernels, writeDecision);
    if (File.Search)
      writeSearch(W, *File.Search);
    W.line("whole", [&](JsonWriter &S) {
      S.count("runs", File.Whole.Runs);
      S.number("final", File.Whole.Final);
      S.number("ours", File.Whole.Ours);
      for (ForeignCompiler By : ForeignCompilers)
        S.number(nameOf(By), File.Whole.Foreign[By]);
      if (File.Whole.Built)
        S.text("built", nameOf(*File.Whole.Built));
    });
  });
}

Error writeDecisions(const DecisionFile &File, StringRef Path) {
  return writeFileAtomically(
      Path, [&](raw_ostream &OS) { printDecisions(File, OS); });
}

} // namespace reconverge
