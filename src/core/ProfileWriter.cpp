//===- core/ProfileWriter.cpp - A Profile as divergence.json --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each block, branch and launch shape takes one line. What is static and what
// was counted stand together in one object, so that a reader cannot pair them
// wrongly.
//
//===----------------------------------------------------------------------===//

#include "core/File.h"
#include "core/JsonWriter.h"
#include "core/MemoryJson.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>

using namespace llvm;

namespace reconverge {

StringRef wordOf(BranchKind Kind) {
  switch (Kind) {
  case BranchKind::If:
    return "if";
  case BranchKind::IfElse:
    return "if-else";
  case BranchKind::LoopExit:
    return "loop exit";
  case BranchKind::Switch:
    return "switch";
  }
  llvm_unreachable("a branch has one of four kinds");
}

void writeWhere(JsonWriter &W, const SourceChain &Chain) {
  W.objects("where", Chain, [](JsonWriter &S, const SourceLoc &Loc) {
    S.text("file", Loc.File);
    S.count("line", Loc.Line);
    S.count("column", Loc.Column);
    S.text("function", Loc.Function);
  });
}

void writeShape(JsonWriter &W, const LaunchShape &Shape) {
  W.counts("grid", Shape.Grid);
  W.counts("block", Shape.Block);
  W.count("dynamicShared", Shape.DynamicShared);
}

static void writeRegrouped(JsonWriter &W, const RegroupedCounts &R) {
  W.object("regrouped", [&] {
    W.count("launches", R.Launches);
    W.count("threads", R.Threads);
    W.text("digest", utohexstr(R.Digest, /*LowerCase=*/true, /*Width=*/16));
    W.counts("lanes", R.Lanes);
    W.counts("warps", R.Warps);
    W.counts("inWarp", R.InWarp);
    W.counts("inBlock", R.InBlock);
    W.counts("inGrid", R.InGrid);
  });
}

/// Lengths of runs of threads with one class: class, threads, class, ...
static std::vector<uint64_t> runsOf(ArrayRef<uint32_t> ClassOf) {
  std::vector<uint64_t> Runs;
  for (size_t T = 0; T != ClassOf.size(); ++T) {
    if (T == 0 || ClassOf[T] != ClassOf[T - 1])
      Runs.insert(Runs.end(), {ClassOf[T], 0});
    ++Runs.back();
  }
  return Runs;
}

/// JSON has no number that is not finite; a kernel may read any.
static std::vector<uint32_t> bitsOf(ArrayRef<float> Values) {
  std::vector<uint32_t> Bits;
  for (float V : Values)
    Bits.push_back(bit_cast<uint32_t>(V));
  return Bits;
}

static void writeVectors(JsonWriter &W, const ThreadVectors &V) {
  W.object("vectors", [&] {
    W.count("launch", V.Launch);
    writeShape(W, V.Shape);
    W.lines("classes", V.Classes,
            [](JsonWriter &S, const std::vector<uint32_t> &Counts) {
              S.counts("counts", Counts);
            });
    W.lines("blocks", V.Blocks,
            [](JsonWriter &S, const ThreadVectors::ThreadBlock &B) {
              S.count("number", B.Number);
              S.counts("runs", runsOf(B.ClassOf));
              if (!B.Features.empty())
                S.counts("features", bitsOf(B.Features));
            });
    if (!V.Loads.empty())
      W.counts("loads", V.Loads);
  });
}

static void writeTrace(JsonWriter &W, const LaunchTrace &T) {
  W.object("trace", [&] {
    W.lines("kernels", T.Kernels,
            [](JsonWriter &S, const LaunchTrace::Kernel &K) {
              S.text("name", K.Name);
              S.text("module", K.Module);
            });
    W.lines("shapes", T.Shapes, writeShape);
    std::vector<uint32_t> Flat;
    for (const LaunchTrace::Launch &L : T.Launches)
      Flat.insert(Flat.end(), {L.Kernel, L.Shape, L.Stream});
    W.counts("launches", Flat);
    W.count("more", T.More);
  });
}

static void writeOrders(JsonWriter &W, const OrderTrials &T) {
  W.object("orders", [&] {
    W.count("tried", T.Orders);
    W.count("launches", T.Launches);
    W.count("untried", T.Untried);
    W.count("differing", T.Differing);
    W.count("bytes", T.Bytes);
    W.count("faultyRuns", T.FaultyRuns);
    if (T.First)
      W.line("first", [&](JsonWriter &S) {
        S.count("launch", T.First->Launch);
        S.count("order", T.First->Order);
        S.text("memory", T.First->Memory);
        S.count("offset", T.First->Offset);
        S.text("type", T.First->Type);
        S.text("natural", T.First->Natural);
        S.text("other", T.First->Other);
      });
    W.lines("faults", T.Faults, [](JsonWriter &S, const OrderFault &F) {
      S.count("launch", F.Launch);
      S.count("order", F.Order);
      S.text("message", F.Message);
    });
  });
}

static void writeRaceAccess(JsonWriter &W, const RaceAccess &A) {
  W.text("access", wordOf(A.What));
  W.flag("volatile", A.Volatile);
  W.counts("block", A.Block);
  W.counts("thread", A.Thread);
  writeWhere(W, A.Where);
}

static void writeRaces(JsonWriter &W, const RaceFindings &F) {
  W.object("races", [&] {
    W.count("launches", F.Launches);
    W.flag("complete", !F.Incomplete);
    W.flag("sharesByAtomics", F.OfThreads.ByAtomics);
    W.flag("sharesOtherwise", F.OfThreads.Otherwise);
    W.lines("found", F.Races, [](JsonWriter &S, const Race &R) {
      S.text("space", wordOf(R.Space));
      S.flag("sameValue", R.SameValue);
      S.text("memory", R.Memory);
      S.count("offset", R.Offset);
      S.count("launch", R.Launch);
      S.count("times", R.Times);
      S.objects("accesses", std::array{R.First, R.Second}, writeRaceAccess);
    });
  });
}

static void writeRecoverable(JsonWriter &W, const Recoverable &R) {
  W.number("recoverInWarp", R.InWarp);
  W.number("recoverInBlock", R.InBlock);
  W.number("recoverInGrid", R.InGrid);
}

static void writeBranchCost(JsonWriter &W, const BranchCost &B) {
  W.number("lossSlots", B.LossSlots);
  W.number("partialSlots", B.PartialSlots);
  W.number("exitSlots", B.ExitSlots);
  W.number("divergeSlots", B.DivergeSlots);
  W.number("aroundSlots", B.AroundSlots);
  W.number("cost", B.Cost);
  W.number("selfSlots", B.SelfSlots);
  W.number("self", B.Self);
  writeRecoverable(W, B.Recover);
}

static void writeCost(JsonWriter &W, const KernelCost &C) {
  W.object("cost", [&] {
    W.number("slots", C.Slots);
    W.number("fullSlots", C.FullSlots);
    W.number("cfe", C.Cfe);
    W.number("potential", C.Potential);
    if (C.Time.isKnown()) {
      W.number("attainable", C.Attainable);
      W.line("time", [&](JsonWriter &S) { writeTime(S, C.Time); });
    }
    W.count("instructions", C.Instructions);
    W.count("warpInstructions", C.WarpInstructions);
    W.number("ofRun", C.OfRun);
    writeRecoverable(W, C.Recover);
    W.lines("branches", C.Branches, writeBranchCost);
    W.counts("order", C.Order);
  });
}

static void writeSchedule(JsonWriter &W, const LaunchSchedule &S) {
  W.object("schedule", [&] {
    W.count("launch", S.Launch);
    writeShape(W, S.Shape);
    W.count("sampledBlocks", S.SampledBlocks);
    W.count("multiprocessors", S.Multiprocessors);
    W.count("resident", S.Resident.Blocks);
    W.text("limitedBy", wordOf(S.Resident.By));
    W.flag("registersKnown", S.RegistersKnown);
    W.number("weighted", S.Times.Weighted);
    W.number("scheduled", S.Times.Scheduled);
    W.number("longestBlock", S.LongestBlock);
    W.number("meanBlock", S.MeanBlock);
    W.number("busy", S.Busy);
    W.number("tail", S.Tail);
  });
}

static void writePlace(JsonWriter &W, const PlaceCost &Place) {
  W.number("selfSlots", Place.SelfSlots);
  W.number("self", Place.Self);
  W.number("lossSlots", Place.LossSlots);
  W.number("cost", Place.Cost);
  writeRecoverable(W, Place.Recover);
  W.count("warps", Place.Warps);
  W.count("splits", Place.Splits);
  if (Place.Outer)
    W.count("outer", *Place.Outer);
  W.objects("branches", Place.Branches,
            [](JsonWriter &B, const PlaceCost::Member &M) {
              B.count("kernel", M.Kernel);
              B.count("branch", M.Branch);
            });
  W.objects("remedies", Place.Remedies,
            [](JsonWriter &R, const RemedyBound &Bound) {
              R.text("remedy", Bound.What.Name);
              R.number("gain", Bound.Gain);
              R.number("price", Bound.Price);
            });
}

static void writeKernel(JsonWriter &W, const KernelProfile &K,
                        const KernelCost *Cost, bool Raw) {
  const KernelInfo &Info = K.Info;
  assert(K.Blocks.size() == Info.Blocks.size() &&
         K.Branches.size() == Info.Branches.size() &&
         "counts are parallel to the static facts");
  W.text("name", Info.Name);
  W.text("display", Info.Display);
  W.text("module", Info.Module);
  writeWhere(W, Info.Where);
  W.count("warpSize", K.WarpSize);
  W.count("launches", K.Launches);
  W.count("threads", K.Threads);
  W.count("warps", K.WarpsRun);
  W.count("divergentWarps", K.DivergentWarps);
  W.number("seconds", K.Seconds);
  W.count("registers", Info.Registers);
  W.count("staticShared", Info.StaticShared);
  if (Info.HasMachineCode)
    W.flag("machineCode", true);
  W.lines("shapes", K.Shapes, writeShape);
  W.lines("blocks", seq(Info.Blocks.size()), [&](JsonWriter &S, size_t I) {
    const BlockInfo &B = Info.Blocks[I];
    const BlockCounts &C = K.Blocks[I];
    S.count("id", B.Id);
    S.count("instructions", B.Instructions);
    S.number("issueSlots", B.IssueSlots);
    S.number("latency", B.Latency);
    S.numbers("busy", {B.Busy.begin(), B.Busy.end()});
    S.number("path", B.Path);
    S.number("pathLoads", B.PathLoads);
    if (!B.Entries.empty())
      S.counts("entries", B.Entries);
    if (!B.Successors.empty())
      S.counts("successors", B.Successors);
    S.count("warps", C.Warps);
    S.count("lanes", C.Lanes);
    S.count("partialIdle", C.PartialIdle);
    S.count("exitedIdle", C.ExitedIdle);
    writeWhere(S, B.Where);
  });
  W.lines("branches", seq(Info.Branches.size()), [&](JsonWriter &S, size_t I) {
    const BranchInfo &B = Info.Branches[I];
    const BranchCounts &C = K.Branches[I];
    S.count("id", B.Id);
    S.count("block", B.Block);
    S.text("kind", wordOf(B.Kind));
    S.text("condition", B.Condition);
    S.text("reason", B.Reason);
    S.flag("leavesKernel", B.LeavesKernel);
    if (B.EndsGridLoop)
      S.flag("endsGridLoop", true);
    S.count("warps", C.Warps);
    S.count("splits", C.Splits);
    S.counts("lanesTo", C.LanesTo);
    S.counts("successors", B.Successors);
    S.counts("region", B.Region);
    writeWhere(S, B.Where);
  });
  writeMemory(W, K);
  writeRegrouped(W, K.Regrouped);
  if (K.Orders.Orders || K.Orders.Untried)
    writeOrders(W, K.Orders);
  if (K.Races.Launches)
    writeRaces(W, K.Races);
  if (Cost && Cost->Schedule)
    writeSchedule(W, *Cost->Schedule);
  if (Cost)
    writeCost(W, *Cost);
  if (Raw && K.Vectors.Launch)
    writeVectors(W, K.Vectors);
}

void printProfileJson(const Profile &P, const RunCost *Cost, raw_ostream &OS,
                      bool Raw) {
  assert((!Cost || Cost->Kernels.size() == P.Kernels.size()) &&
         "a cost for each kernel");
  Raw |= !Cost;
  JsonWriter W(OS);
  W.root([&] {
    W.text("schema", ProfileSchema);
    W.text("program", P.Program);
    W.texts("arguments", P.Arguments);
    W.integer("exitStatus", P.ExitStatus);
    W.text("backend", P.Backend);
    W.text("device", P.Device);
    W.text("policy", P.Policy);
    W.text("machine", P.Machine);
    W.texts("notes", P.Notes);
    W.texts("refused", P.Refused);
    W.objects("kernels", seq(P.Kernels.size()), [&](JsonWriter &, size_t I) {
      writeKernel(W, P.Kernels[I], Cost ? &Cost->Kernels[I] : nullptr, Raw);
    });
    if (Cost) {
      W.text("sharesOf", Cost->OfTime ? "time" : "slots");
      W.lines("places", Cost->Places, writePlace);
    }
    if (Raw && !P.Trace.Launches.empty())
      writeTrace(W, P.Trace);
  });
  OS << '\n';
}

Error writeReport(const Profile &P, const RunCost &Cost, StringRef Path,
                  bool Raw) {
  return writeFileAtomically(
      Path, [&](raw_ostream &OS) { printProfileJson(P, &Cost, OS, Raw); });
}

Error writeProfile(const Profile &P, StringRef Path) {
  return writeFileAtomically(
      Path, [&](raw_ostream &OS) { printProfileJson(P, nullptr, OS); });
}

} // namespace reconverge
