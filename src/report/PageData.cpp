//===- report/PageData.cpp - What a page knows of a run -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The view of the terminal's report in full, and what pictures need beside it:
// the blocks of each kernel with their counts and edges, the lines of each
// source, block vectors, the launches in order, and what `optimize` tried. What
// there are many of stands in plain lists, whose order web/src/data.ts gives.
//
//===----------------------------------------------------------------------===//

#include "report/Accesses.h"
#include "report/Lines.h"
#include "report/Names.h"
#include "report/Page.h"
#include "report/Text.h"
#include "report/View.h"

#include "core/DecisionJson.h"
#include "core/JsonWriter.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace llvm;

namespace reconverge::report {

/// A line that takes less of the run's slots is not worth showing its file for.
static constexpr double LeastOfRun = 0.001;

std::vector<std::string> sourcesWorthShowing(const Profile &P,
                                             const RunCost &Cost) {
  std::vector<std::string> Names;
  for (const auto &[Name, Lines] : linesOf(P, Cost))
    if (!isToolkits(Name) && any_of(Lines, [](const auto &Line) {
          return Line.second.OfRun >= LeastOfRun || Line.second.Self > 0;
        }))
      Names.push_back(Name);
  return Names;
}

namespace {
class Writer {
public:
  Writer(const PageInput &Input, raw_ostream &OS)
      : P(Input.P), Cost(Input.Cost), Input(Input), W(OS, /*Indent=*/0),
        V(viewOf(P, Cost, {/*MaxPlaces=*/0})) {
    for (auto [I, S] : enumerate(Input.Sources))
      FileNumber[S.Name] = int64_t(I);
  }
  void write();

private:
  void writePlace(JsonWriter &J, const PlaceView &Place) const;
  void writeKernel(JsonWriter &J, uint32_t Number) const;
  void writeBlocks(JsonWriter &J, const KernelProfile &K) const;
  void writeBranches(JsonWriter &J, const KernelProfile &K,
                     const KernelCost &C) const;
  void writeSources();
  void writeTrace();
  void writeDecisions(const DecisionFile &D);

  /// -1: its file is not among the sources.
  int64_t fileOf(const SourceChain &Where) const {
    const SourceLoc *Loc = userPlace(Where);
    auto At = Loc ? FileNumber.find(Loc->File) : FileNumber.end();
    return At == FileNumber.end() ? -1 : At->second;
  }

  const Profile &P;
  const RunCost &Cost;
  const PageInput &Input;
  JsonWriter W;
  const View V;
  std::map<std::string, int64_t> FileNumber;
};
} // namespace

void Writer::writePlace(JsonWriter &J, const PlaceView &Place) const {
  J.text("at", Place.At);
  J.text("what", Place.What);
  J.integer("file", fileOf({Place.Where}));
  J.count("line", Place.Where.Line);
  J.count("depth", Place.Depth);
  J.count("copies", Place.Copies);
  J.counts("kernels", Place.Kernels);
  J.texts("inlinedAt", Place.InlinedAt);
  J.flag("inlinedInMany", Place.InlinedInMany);
  J.number("self", Place.Self);
  J.number("total", Place.Total);
  if (Place.Regrouped)
    J.numbers("regrouped", {Place.Regrouped->InWarp, Place.Regrouped->InBlock,
                            Place.Regrouped->InGrid});
  J.count("warps", Place.Warps);
  J.number("split", Place.Split);
  J.text("kind", wordOf(Place.Lanes.Kind));
  J.numbers("sides", Place.Lanes.Sides);
  J.texts("advice", Place.Advice);
  J.objects("remedies", Cost.Places[Place.Place].Remedies,
            [](JsonWriter &R, const RemedyBound &B) {
              R.text("name", B.What.Name);
              R.number("gain", B.Gain);
              R.number("price", B.Price);
              R.flag("byHand", B.What.ByHand);
            });
}

/// Issue slots of \p K by the mean number of lanes that work in them, from 0 to
/// a full warp: counts are sums over a block's executions.
static std::vector<double> slotsByLanes(const KernelProfile &K) {
  std::vector<double> Slots(K.WarpSize + 1);
  for (auto [Info, C] : zip_equal(K.Info.Blocks, K.Blocks))
    if (C.Warps) {
      const auto Mean = size_t(std::lround(double(C.Lanes) / double(C.Warps)));
      Slots[std::min<size_t>(Mean, K.WarpSize)] +=
          Info.IssueSlots * double(C.Warps);
    }
  return Slots;
}

void Writer::writeBlocks(JsonWriter &J, const KernelProfile &K) const {
  J.objects("blocks", seq(K.Info.Blocks.size()), [&](JsonWriter &B, size_t I) {
    const BlockInfo &Info = K.Info.Blocks[I];
    const BlockCounts &C = K.Blocks[I];
    B.integer("file", fileOf(Info.Where));
    const SourceLoc *Place = userPlace(Info.Where);
    B.count("line", Place ? Place->Line : 0);
    B.count("instructions", Info.Instructions);
    B.number("slots", Info.IssueSlots * double(C.Warps));
    B.counts("counts",
             std::array{C.Warps, C.Lanes, C.PartialIdle, C.ExitedIdle});
    B.counts("next", Info.Successors);
  });
}

void Writer::writeBranches(JsonWriter &J, const KernelProfile &K,
                           const KernelCost &C) const {
  J.objects("branches", seq(K.Info.Branches.size()),
            [&](JsonWriter &B, size_t I) {
              const BranchInfo &Info = K.Info.Branches[I];
              B.count("block", Info.Block);
              B.text("condition", cleanText(Info.Condition));
              B.text("reason", cleanText(Info.Reason));
              B.text("kind", wordOf(Info.Kind));
              B.counts("to", Info.Successors);
              B.counts("lanesTo", K.Branches[I].LanesTo);
              B.count("warps", K.Branches[I].Warps);
              B.count("splits", K.Branches[I].Splits);
              B.number("self", C.Branches[I].Self);
              B.number("total", C.Branches[I].Cost);
            });
}

/// Threads in runs of one class: class, threads, class, ...
static std::vector<uint64_t> runsOf(ArrayRef<uint32_t> ClassOf) {
  std::vector<uint64_t> Runs;
  for (auto [T, Class] : enumerate(ClassOf)) {
    if (T == 0 || Class != ClassOf[T - 1])
      Runs.insert(Runs.end(), {Class, 0});
    ++Runs.back();
  }
  return Runs;
}

static void writeVectors(JsonWriter &J, const KernelProfile &K) {
  const ThreadVectors &T = K.Vectors;
  J.count("launch", T.Launch);
  writeShape(J, T.Shape);
  J.countLists("classes", T.Classes);
  J.objects("threadBlocks", T.Blocks,
            [](JsonWriter &B, const ThreadVectors::ThreadBlock &Of) {
              B.count("number", Of.Number);
              B.counts("runs", runsOf(Of.ClassOf));
            });
}

void printPageVectors(const PageInput &Input, raw_ostream &OS) {
  JsonWriter W(OS, /*Indent=*/0);
  W.root([&] { W.objects("kernels", Input.P.Kernels, writeVectors); });
}

void Writer::writeKernel(JsonWriter &J, uint32_t Number) const {
  const KernelProfile &K = P.Kernels[Number];
  const KernelCost &C = Cost.Kernels[Number];
  const KernelView &View = V.Kernels[Number];
  J.text("name", kernelName(View.Name, 60));
  J.text("full", View.Name);
  J.count("launches", View.Launches);
  J.count("threads", View.Threads);
  J.count("warpSize", K.WarpSize);
  J.count("warps", K.WarpsRun);
  J.number("seconds", View.Seconds);
  J.number("ofRun", View.OfRun);
  J.number("cfe", View.Cfe);
  J.number("potential", View.Potential);
  J.number("attainable", View.Attainable);
  J.text("boundBy", View.BoundBy);
  J.number("divergent", View.Divergent);
  J.flag("fine", View.IsFine);
  J.text("whyIdle", View.WhyIdle);
  J.number("slots", C.Slots);
  J.number("fullSlots", C.FullSlots);
  if (C.Time.isKnown())
    J.object("time", [&] {
      J.numbers("cycles", {C.Time.Cycles, C.Time.Least, C.Time.Most});
      J.number("latency", C.Time.Latency);
      std::vector<std::string> Words;
      for (size_t U = 0; U != NumUnits; ++U)
        Words.push_back(wordOf(Unit(U)));
      J.texts("units", Words);
      J.numbers("busy", {C.Time.Units.begin(), C.Time.Units.end()});
    });
  J.numbers("slotsByLanes", slotsByLanes(K));
  writeBlocks(J, K);
  writeBranches(J, K, C);
  J.flag("hasVectors", K.Vectors.Launch != 0);
}

void Writer::writeSources() {
  const auto Lines = linesOf(P, Cost);
  std::vector<std::string> Names;
  for (const SourceText &S : Input.Sources)
    Names.push_back(S.Name);
  const PathNames Short(Names);
  W.objects("files", Input.Sources, [&](JsonWriter &J, const SourceText &S) {
    J.text("name", cleanText(S.Name));
    J.text("short", cleanText(Short.shortName(S.Name)));
    J.flag("newer", S.IsNewer);
    if (S.Text)
      J.text("text", *S.Text);
    auto At = Lines.find(S.Name);
    J.objects("lines", At == Lines.end() ? FileLines() : At->second,
              [](JsonWriter &L, const auto &Line) {
                const LineCost &Of = Line.second;
                L.count("line", Line.first);
                L.number("ofRun", Of.OfRun);
                L.number("lanes", Of.efficiency());
                L.number("self", Of.Self);
                L.number("total", Of.Total);
              });
  });
}

void Writer::writeTrace() {
  const LaunchTrace &T = P.Trace;
  W.object("trace", [&] {
    std::vector<std::string> Names;
    for (const LaunchTrace::Kernel &K : T.Kernels) {
      const auto Known = find_if(P.Kernels, [&](const KernelProfile &Of) {
        return Of.Info.Name == K.Name && Of.Info.Module == K.Module;
      });
      Names.push_back(kernelName(
          cleanText(Known == P.Kernels.end() ? K.Name : Known->Info.Display),
          60));
    }
    W.texts("kernels", Names);
    W.objects("shapes", T.Shapes, writeShape);
    std::vector<uint32_t> Flat;
    for (const LaunchTrace::Launch &L : T.Launches)
      Flat.insert(Flat.end(), {L.Kernel, L.Shape, L.Stream});
    W.counts("launches", Flat);
    W.count("more", T.More);
  });
}

static void writeTrial(JsonWriter &J, const TrialResult &R) {
  J.text("what", cleanText(R.What.text()));
  J.text("end", wordOf(R.End));
  J.text("why", cleanText(R.Why));
  J.text("verdict", wordOf(R.Compared.Kind));
  J.count("launches", R.Compared.Launches);
  J.count("bytes", R.Compared.Bytes);
  // Lower ends and upper ends beside; 0: not known.
  J.numbers("forecast", {R.Forecasted, R.ForecastLow, R.ForecastHigh});
  J.numbers("predicted", {R.Predicted, R.PredictedLow, R.PredictedHigh});
  J.numbers("achieved", {R.Speedup, R.Low, R.High});
  J.number("milliseconds", R.Milliseconds);
}

static void writeSet(JsonWriter &J, const QualitySet &S) {
  std::vector<std::string> Names;
  for (const QualitySet::Member &M : S.Members)
    Names.push_back(cleanText(M.What.text() + " of " + M.Kernel));
  J.texts("candidates", Names);
  J.number("speedup", S.Speedup);
  J.number("heldOutSpeedup", S.HeldOutSpeedup);
  J.text("trained", cleanText(join(S.Trained, ", ")));
  J.text("heldOut", cleanText(join(S.HeldOut, ", ")));
  J.flag("best", S.IsBest);
  J.text("why", cleanText(S.Why));
}

void Writer::writeDecisions(const DecisionFile &D) {
  W.object("decisions", [&] {
    W.text("program", cleanText(D.Program));
    W.text("device", cleanText(D.Device));
    W.texts("notes", D.Notes);
    W.objects("kernels", D.Kernels, [](JsonWriter &J, const Decision &Of) {
      const DecisionGain Gain = gainOf(Of);
      J.text("name", kernelName(cleanText(Of.Display), 60));
      J.text("keep", cleanText(Of.Keep.text()));
      J.flag("measured", Of.Measured);
      J.number("milliseconds", Of.Milliseconds);
      J.text("why", cleanText(Of.Why));
      J.number("gain", Gain.Remedy);
      J.number("compilerGain", Gain.Compiler);
      J.text("baseline", Gain.Baseline ? nameOf(*Gain.Baseline) : "");
      J.objects("tried", Of.Tried, writeTrial);
    });
    if (D.Search)
      W.object("quality", [&] {
        W.text("asked", cleanText(join(D.Search->Asked, "; ")));
        W.text("verdict", cleanText(D.Search->Verdict));
        W.objects("sets", D.Search->Sets, writeSet);
      });
    if (D.Whole.Runs)
      W.object("whole", [&] {
        W.count("runs", D.Whole.Runs);
        W.number("final", D.Whole.Final);
        W.number("ours", D.Whole.Ours);
        for (ForeignCompiler By : ForeignCompilers)
          W.number(nameOf(By), D.Whole.Foreign[By]);
      });
  });
}

void Writer::write() {
  W.root([&] {
    W.text("schema", "reconverge-page/1");
    W.text("program", V.Program);
    W.texts("arguments", V.Arguments);
    W.text("countedOn", V.CountedOn);
    W.flag("sharesAreOfTime", V.SharesAreOfTime);
    W.flag("timesAreOfCpu", V.TimesAreOfCpu);
    W.integer("exitStatus", V.ExitStatus);
    W.texts("notes", V.Notes);
    std::vector<std::string> Refused;
    for (const std::vector<std::string> &Lines : V.Refused)
      Refused.push_back(join(Lines, " "));
    W.texts("refused", Refused);
    if (V.Next)
      W.object("next", [&] {
        W.text("words", V.Next->Words);
        W.text("command", V.Next->Command);
      });
    W.text("whyNoKernels", V.WhyNoKernels);
    W.objects("kernels", seq(uint32_t(P.Kernels.size())),
              [&](JsonWriter &J, uint32_t I) { writeKernel(J, I); });
    W.counts("ranking", V.Ranking);
    W.objects("places", V.Places, [&](JsonWriter &J, const PlaceView &Place) {
      writePlace(J, Place);
    });
    W.count("slightPlaces", V.SlightPlaces);
    W.objects("accesses", V.Accesses, [&](JsonWriter &J, const AccessView &A) {
      J.count("kernel", A.Kernel);
      J.text("at", A.At);
      J.integer("file", fileOf({A.Where}));
      J.count("line", A.Where.Line);
      J.text("what", A.What);
      J.text("which", A.Which);
      J.count("requests", A.Requests);
      J.number("ofKernel", A.OfKernel);
    });
    writeSources();
    if (!P.Trace.Launches.empty())
      writeTrace();
    if (Input.Decisions)
      writeDecisions(*Input.Decisions);
  });
}

void printPageData(const PageInput &Input, raw_ostream &OS) {
  Writer(Input, OS).write();
}

} // namespace reconverge::report
