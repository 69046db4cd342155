//===- core/ProfileReader.cpp - divergence.json as a Profile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything downstream indexes with what it finds in a Profile, so nothing is
// believed here: every value is read through a typed function that reports the
// path to it (JsonReader.h), then each kernel is checked as a whole. The first
// fault ends the reading, so a damaged file gets one message:
//
//   run.json: block has more lanes than its warps at
//   (root).kernels[0].blocks[3]
//     This is not what 'reconverge profile' wrote; profile the program again.
//
// Keys that are not known are ignored ("cost" and "places" are: they are
// derived).
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "core/File.h"
#include "core/JsonReader.h"
#include "core/MemoryJson.h"
#include "core/ProfileChecks.h"
#include "core/ProfileJson.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace reconverge {

//===----------------------------------------------------------------------===//
// One function a value
//===----------------------------------------------------------------------===//

bool readLoc(const json::Value &V, json::Path P, SourceLoc &Loc) {
  Fields F(V, P);
  return F && F.text("file", Loc.File) && F.count("line", Loc.Line) &&
         F.count("column", Loc.Column) && F.text("function", Loc.Function);
}

static bool readTriple(const Fields &F, StringRef Key,
                       std::array<uint32_t, 3> &Out) {
  std::vector<uint32_t> Sizes;
  if (!F.counts(Key, Sizes))
    return false;
  if (Sizes.size() != 3 || is_contained(Sizes, 0u)) {
    F.path(Key).report("expected three sizes of at least 1");
    return false;
  }
  std::copy(Sizes.begin(), Sizes.end(), Out.begin());
  return true;
}

bool readShape(const json::Value &V, json::Path P, LaunchShape &S) {
  Fields F(V, P);
  return F && readTriple(F, "grid", S.Grid) &&
         readTriple(F, "block", S.Block) &&
         F.count("dynamicShared", S.DynamicShared);
}

namespace {
/// What stands together in the file is two parallel lists in memory.
struct BlockRow {
  BlockInfo Info;
  BlockCounts Counts;
};
struct BranchRow {
  BranchInfo Info;
  BranchCounts Counts;
};
} // namespace

/// Not in files of before machines had pipes.
static bool readUnits(const Fields &F, BlockInfo &B) {
  if (!F.has("busy"))
    return true;
  std::vector<double> Busy;
  if (!F.measures("busy", Busy) || !F.measure("path", B.Path) ||
      !F.measure("pathLoads", B.PathLoads))
    return false;
  if ((F.has("entries") && !F.counts("entries", B.Entries)) ||
      (F.has("successors") && !F.counts("successors", B.Successors)))
    return false;
  if (Busy.size() != NumPipes) {
    F.path("busy").report("expected the cycles of each pipe");
    return false;
  }
  std::ranges::copy(Busy, B.Busy.begin());
  return true;
}

static bool readBlock(const json::Value &V, json::Path P, BlockRow &Row) {
  Fields F(V, P);
  return F && F.count("id", Row.Info.Id) &&
         F.list("where", Row.Info.Where, readLoc) &&
         F.count("instructions", Row.Info.Instructions) &&
         F.measure("issueSlots", Row.Info.IssueSlots) &&
         F.measure("latency", Row.Info.Latency) && readUnits(F, Row.Info) &&
         F.count("warps", Row.Counts.Warps) &&
         F.count("lanes", Row.Counts.Lanes) &&
         F.count("partialIdle", Row.Counts.PartialIdle) &&
         F.count("exitedIdle", Row.Counts.ExitedIdle);
}

static bool readKind(const Fields &F, BranchKind &Out) {
  return F.choice(
      "kind", Out,
      {BranchKind::If, BranchKind::IfElse, BranchKind::LoopExit,
       BranchKind::Switch},
      [](BranchKind K) { return wordOf(K); },
      "expected if, if-else, loop exit or switch");
}

static bool readBranch(const json::Value &V, json::Path P, BranchRow &Row) {
  Fields F(V, P);
  return F && F.count("id", Row.Info.Id) && F.count("block", Row.Info.Block) &&
         readKind(F, Row.Info.Kind) &&
         F.list("where", Row.Info.Where, readLoc) &&
         F.text("condition", Row.Info.Condition) &&
         F.text("reason", Row.Info.Reason) &&
         F.flag("leavesKernel", Row.Info.LeavesKernel) &&
         (!F.has("endsGridLoop") ||
          F.flag("endsGridLoop", Row.Info.EndsGridLoop)) &&
         F.counts("successors", Row.Info.Successors) &&
         F.counts("region", Row.Info.Region) &&
         F.count("warps", Row.Counts.Warps) &&
         F.count("splits", Row.Counts.Splits) &&
         F.counts("lanesTo", Row.Counts.LanesTo);
}

//===----------------------------------------------------------------------===//
// What must hold between values: the fault in words, or empty
//===----------------------------------------------------------------------===//

static StringLiteral faultOf(const BranchRow &Row, size_t Blocks,
                             uint32_t WarpSize) {
  const BranchInfo &B = Row.Info;
  if (B.Block >= Blocks)
    return "branch lies in a block that is not listed";
  if (B.Successors.empty())
    return "branch has no successors";
  if (any_of(B.Successors, [&](uint32_t S) { return S >= Blocks; }))
    return "branch leads to a block that is not listed";
  if (any_of(B.Region, [&](uint32_t R) { return R >= Blocks; }))
    return "region has a block that is not listed";
  if (std::ranges::adjacent_find(B.Region, std::greater_equal<>()) !=
      B.Region.end())
    return "region is not in ascending order";
  if (Row.Counts.LanesTo.size() != B.Successors.size())
    return "lanesTo and successors differ in length";
  return faultOf(Row.Counts, WarpSize);
}

static bool checkKernel(const KernelProfile &K, const Fields &F) {
  auto Report = [&](StringRef Key, StringLiteral Fault) {
    if (!Fault.empty())
      F.path(Key).report(Fault);
    return Fault.empty();
  };
  if (K.Info.Name.empty())
    return Report("name", "expected the kernel's name");
  if (K.WarpSize != 32 && K.WarpSize != 64)
    return Report("warpSize", "expected 32 or 64");
  if (!fits(K.Threads, K.WarpsRun, K.WarpSize))
    return Report("threads", "more threads than the warps hold");
  if (K.DivergentWarps > K.WarpsRun)
    return Report("divergentWarps", "more divergent warps than warps");
  StringLiteral Fault = faultOf(K.Regrouped, K.Blocks.size(), K.WarpSize);
  if (!Fault.empty())
    return Report("regrouped", Fault);
  return Report("orders", faultOf(K.Orders, K.Launches));
}

static bool readRegrouped(const Fields &Kernel, RegroupedCounts &R) {
  const json::Value *V = Kernel.value("regrouped");
  if (!V)
    return false;
  json::Path Here = Kernel.path("regrouped");
  Fields F(*V, Here);
  if (!F)
    return false;
  if (auto Digest = V->getAsObject()->getString("digest");
      Digest && Digest->getAsInteger(16, R.Digest)) {
    Here.field("digest").report("expected 16 hexadecimal digits");
    return false;
  }
  return F.count("launches", R.Launches) && F.count("threads", R.Threads) &&
         F.counts("lanes", R.Lanes) && F.counts("warps", R.Warps) &&
         F.counts("inWarp", R.InWarp) && F.counts("inBlock", R.InBlock) &&
         F.counts("inGrid", R.InGrid);
}

static bool readCounts(const json::Value &V, json::Path P,
                       std::vector<uint32_t> &Out) {
  Fields F(V, P);
  return F && F.counts("counts", Out);
}

static bool readThreadBlock(const json::Value &V, json::Path P,
                            ThreadVectors::ThreadBlock &Out) {
  Fields F(V, P);
  std::vector<uint32_t> Runs;
  if (!F || !F.count("number", Out.Number) || !F.counts("runs", Runs))
    return false;
  uint64_t Threads = 0;
  for (size_t R = 1; R < Runs.size(); R += 2)
    Threads += Runs[R];
  if (Runs.size() % 2 || Threads > ThreadVectors::MaxThreads) {
    F.path("runs").report("expected pairs of a class and a number of threads");
    return false;
  }
  for (size_t R = 0; R != Runs.size(); R += 2)
    Out.ClassOf.insert(Out.ClassOf.end(), Runs[R + 1], Runs[R]);
  std::vector<uint32_t> Bits;
  if (F.has("features") && !F.counts("features", Bits))
    return false;
  for (uint32_t B : Bits)
    Out.Features.push_back(bit_cast<float>(B));
  return true;
}

static StringLiteral faultOf(const ThreadVectors &V, uint64_t Launches,
                             size_t Blocks) {
  if (V.Launch == 0 || V.Launch > Launches)
    return "vectors of no launch";
  if (any_of(V.Classes, [&](auto &C) { return C.size() != Blocks; }))
    return "a class is not parallel to the blocks";
  for (size_t B = 0; B != V.Blocks.size(); ++B) {
    const ThreadVectors::ThreadBlock &Here = V.Blocks[B];
    if (Here.Number >= V.Shape.blocks() ||
        (B && Here.Number <= V.Blocks[B - 1].Number))
      return "thread blocks are not in ascending order within the grid";
    if (Here.ClassOf.size() != V.Shape.blockThreads())
      return "not as many threads as a thread block has";
    if (any_of(Here.ClassOf, [&](uint32_t C) { return C >= V.Classes.size(); }))
      return "a thread is of a class that is not listed";
    if (Here.Features.size() != V.Loads.size() * Here.ClassOf.size())
      return "features are not a row a thread";
  }
  return "";
}

/// Only in raw profiles.
static bool readVectors(const Fields &Kernel, KernelProfile &K, size_t Blocks) {
  if (!Kernel.has("vectors"))
    return true;
  const json::Value &V = *Kernel.value("vectors");
  json::Path Here = Kernel.path("vectors");
  Fields F(V, Here);
  ThreadVectors &Out = K.Vectors;
  if (!F || !F.count("launch", Out.Launch) || !readShape(V, Here, Out.Shape) ||
      !F.list("classes", Out.Classes, readCounts) ||
      !F.list("blocks", Out.Blocks, readThreadBlock) ||
      (F.has("loads") && !F.counts("loads", Out.Loads)))
    return false;
  const StringLiteral Fault = faultOf(Out, K.Launches, Blocks);
  if (!Fault.empty())
    Here.report(Fault);
  return Fault.empty();
}

static bool readTracedKernel(const json::Value &V, json::Path P,
                             LaunchTrace::Kernel &Out) {
  Fields F(V, P);
  return F && F.text("name", Out.Name) && F.text("module", Out.Module);
}

/// Only in raw profiles.
static bool readTrace(const Fields &Root, LaunchTrace &T) {
  if (!Root.has("trace"))
    return true;
  json::Path Here = Root.path("trace");
  Fields F(*Root.value("trace"), Here);
  std::vector<uint32_t> Flat;
  if (!F || !F.list("kernels", T.Kernels, readTracedKernel) ||
      !F.list("shapes", T.Shapes, readShape) || !F.counts("launches", Flat) ||
      !F.count("more", T.More))
    return false;
  for (size_t I = 0; I + 2 < Flat.size(); I += 3)
    T.Launches.push_back({Flat[I], Flat[I + 1], Flat[I + 2]});
  if (Flat.size() % 3 == 0 && all_of(T.Launches, [&](auto &L) {
        return L.Kernel < T.Kernels.size() && L.Shape < T.Shapes.size();
      }))
    return true;
  F.path("launches")
      .report("expected a listed kernel, a listed shape and a stream for each "
              "launch");
  return false;
}

static bool readDifference(const json::Value &V, json::Path P,
                           OrderDifference &D) {
  Fields F(V, P);
  return F && F.count("launch", D.Launch) && F.count("order", D.Order) &&
         F.text("memory", D.Memory) && F.count("offset", D.Offset) &&
         F.text("type", D.Type) && F.text("natural", D.Natural) &&
         F.text("other", D.Other);
}

static bool readFault(const json::Value &V, json::Path P, OrderFault &Out) {
  Fields F(V, P);
  return F && F.count("launch", Out.Launch) && F.count("order", Out.Order) &&
         F.text("message", Out.Message);
}

/// Only of a run that tried orders.
static bool readOrders(const json::Value &Kernel, json::Path P,
                       OrderTrials &T) {
  const json::Value *V = Kernel.getAsObject()->get("orders");
  if (!V)
    return true;
  json::Path Here = P.field("orders");
  Fields F(*V, Here);
  if (!F || !F.count("tried", T.Orders) || !F.count("launches", T.Launches) ||
      !F.count("untried", T.Untried) || !F.count("differing", T.Differing) ||
      !F.count("bytes", T.Bytes) || !F.count("faultyRuns", T.FaultyRuns) ||
      !F.list("faults", T.Faults, readFault))
    return false;
  const json::Value *First = V->getAsObject()->get("first");
  return !First ||
         readDifference(*First, Here.field("first"), T.First.emplace());
}

static bool readRaceAccess(const json::Value &V, json::Path P, RaceAccess &A) {
  Fields F(V, P);
  auto Triple = [&](StringRef Key, std::array<uint32_t, 3> &Out) {
    std::vector<uint32_t> Indices;
    if (!F.counts(Key, Indices))
      return false;
    if (Indices.size() != 3) {
      F.path(Key).report("expected three indices");
      return false;
    }
    std::copy(Indices.begin(), Indices.end(), Out.begin());
    return true;
  };
  return F &&
         F.choice(
             "access", A.What,
             {RaceAccess::Read, RaceAccess::Write, RaceAccess::Atomic},
             [](RaceAccess::Kind K) { return wordOf(K); },
             "expected read, write or atomic") &&
         F.flag("volatile", A.Volatile) && Triple("block", A.Block) &&
         Triple("thread", A.Thread) && F.list("where", A.Where, readLoc);
}

static bool readRace(const json::Value &V, json::Path P, Race &R) {
  Fields F(V, P);
  std::vector<RaceAccess> Both;
  if (!F ||
      !F.choice(
          "space", R.Space, {RaceSpace::Shared, RaceSpace::Global},
          [](RaceSpace S) { return wordOf(S); }, "expected shared or global") ||
      !F.flag("sameValue", R.SameValue) || !F.text("memory", R.Memory) ||
      !F.count("offset", R.Offset) || !F.count("launch", R.Launch) ||
      !F.count("times", R.Times) || !F.list("accesses", Both, readRaceAccess))
    return false;
  if (Both.size() != 2) {
    F.path("accesses").report("expected two accesses");
    return false;
  }
  R.First = std::move(Both[0]);
  R.Second = std::move(Both[1]);
  return true;
}

/// Only of a run that looked for races.
static bool readRaces(const Fields &Kernel, RaceFindings &R) {
  if (!Kernel.has("races"))
    return true;
  json::Path Here = Kernel.path("races");
  Fields F(*Kernel.value("races"), Here);
  bool Complete = true;
  if (!F || !F.count("launches", R.Launches) || !F.flag("complete", Complete) ||
      !F.flag("sharesByAtomics", R.OfThreads.ByAtomics) ||
      !F.flag("sharesOtherwise", R.OfThreads.Otherwise) ||
      !F.list("found", R.Races, readRace))
    return false;
  R.Incomplete = !Complete;
  return true;
}

/// Not in files of before they were asked for.
static bool readNeeds(const Fields &Kernel, KernelInfo &Info) {
  return (!Kernel.has("registers") ||
          (Kernel.count("registers", Info.Registers) &&
           Kernel.count("staticShared", Info.StaticShared))) &&
         (!Kernel.has("machineCode") ||
          Kernel.flag("machineCode", Info.HasMachineCode));
}

static bool readKernel(const json::Value &V, json::Path P, KernelProfile &K) {
  Fields F(V, P);
  KernelInfo &Info = K.Info;
  if (!F || !F.text("name", Info.Name) || !F.text("display", Info.Display) ||
      !F.text("module", Info.Module) || !F.list("where", Info.Where, readLoc) ||
      !F.count("warpSize", K.WarpSize) || !F.count("launches", K.Launches) ||
      !F.count("threads", K.Threads) || !F.count("warps", K.WarpsRun) ||
      !F.count("divergentWarps", K.DivergentWarps) ||
      !F.measure("seconds", K.Seconds) || !readNeeds(F, Info) ||
      !F.list("shapes", K.Shapes, readShape))
    return false;

  std::vector<BlockRow> Blocks;
  auto Block = [&](const json::Value &V, json::Path P, BlockRow &Row) {
    if (!readBlock(V, P, Row))
      return false;
    StringLiteral Fault = faultOf(Row.Counts, K.WarpSize);
    if (!Fault.empty())
      P.report(Fault);
    return Fault.empty();
  };
  std::vector<BranchRow> Branches;
  auto Branch = [&](const json::Value &V, json::Path P, BranchRow &Row) {
    if (!readBranch(V, P, Row))
      return false;
    StringLiteral Fault = faultOf(Row, Blocks.size(), K.WarpSize);
    if (!Fault.empty())
      P.report(Fault);
    return Fault.empty();
  };
  if (!F.list("blocks", Blocks, Block) ||
      !F.list("branches", Branches, Branch) || !readRegrouped(F, K.Regrouped) ||
      !readVectors(F, K, Blocks.size()) || !readOrders(V, P, K.Orders) ||
      !readRaces(F, K.Races) || !readMemory(F, K, Blocks.size()))
    return false;
  for (BlockRow &Row : Blocks) {
    auto IsMissing = [&](uint32_t B) { return B >= Blocks.size(); };
    if (any_of(Row.Info.Entries, IsMissing) ||
        any_of(Row.Info.Successors, IsMissing)) {
      F.path("blocks").report("a block names one that is not listed");
      return false;
    }
    Info.Blocks.push_back(std::move(Row.Info));
    K.Blocks.push_back(Row.Counts);
  }
  for (BranchRow &Row : Branches) {
    Info.Branches.push_back(std::move(Row.Info));
    K.Branches.push_back(std::move(Row.Counts));
  }
  return checkKernel(K, F);
}

static bool readExitStatus(const Fields &F, int &Out) {
  const json::Value *V = F.value("exitStatus");
  if (!V)
    return false;
  std::optional<int64_t> N = V->getAsInteger();
  if (!N || *N < std::numeric_limits<int>::min() ||
      *N > std::numeric_limits<int>::max()) {
    F.path("exitStatus").report("expected an exit status");
    return false;
  }
  Out = static_cast<int>(*N);
  return true;
}

static bool readRoot(const json::Value &V, json::Path Here, Profile &P) {
  Fields F(V, Here);
  const bool IsRead =
      F && F.text("program", P.Program) && F.texts("arguments", P.Arguments) &&
      readExitStatus(F, P.ExitStatus) && F.text("backend", P.Backend) &&
      F.text("device", P.Device) && F.text("policy", P.Policy) &&
      F.text("machine", P.Machine) && F.texts("notes", P.Notes) &&
      // Not in files of before it was told apart from notes.
      (!V.getAsObject()->get("refused") || F.texts("refused", P.Refused)) &&
      F.list("kernels", P.Kernels, readKernel) && readTrace(F, P.Trace);
  for (KernelProfile &K : P.Kernels)
    K.OnGpu = P.Backend == "gpu";
  return IsRead;
}

Expected<Profile> parseProfile(StringRef Text, StringRef File) {
  const JsonDocument Kind{ProfileSchema, "a divergence profile",
                          "This is not what 'reconverge profile' wrote; "
                          "profile the program again."};
  Profile P;
  if (Error E = parseDocument(Text, File, Kind,
                              [&](const json::Value &V, json::Path Here) {
                                return readRoot(V, Here, P);
                              }))
    return std::move(E);
  return P;
}

Expected<Profile> readProfile(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  return parseProfile((*Buffer)->getBuffer(), Path);
}

} // namespace reconverge
