//===- core/MemoryJson.cpp - Accesses in a profile's file -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/MemoryJson.h"
#include "core/JsonReader.h"
#include "core/JsonWriter.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reconverge {

void writeTouched(JsonWriter &W, const Footprint &F) {
  W.line("touched", [&](JsonWriter &S) {
    S.count("threadBlocks", F.ThreadBlocks);
    S.count("blockLoads", F.BlockLoads);
    S.count("gridLoads", F.GridLoads);
    S.count("gridStores", F.GridStores);
  });
}

bool readTouched(const json::Value &V, json::Path P, Footprint &Out) {
  Fields F(V, P);
  return F && F.count("threadBlocks", Out.ThreadBlocks) &&
         F.count("blockLoads", Out.BlockLoads) &&
         F.count("gridLoads", Out.GridLoads) &&
         F.count("gridStores", Out.GridStores);
}

void writeTime(JsonWriter &W, const KernelTime &T) {
  W.number("cycles", T.Cycles);
  W.number("least", T.Least);
  W.number("most", T.Most);
  W.text("boundBy", wordOf(T.By, T.Busiest));
  W.number("nearness", T.Nearness);
  for (size_t U = 0; U != NumUnits; ++U)
    W.number(wordOf(Unit(U)), T.Units[U]);
  W.number("latency", T.Latency);
  W.number("full", T.Full);
}

void writeMemory(JsonWriter &W, const KernelProfile &K) {
  if (!K.Info.Marks.empty())
    W.lines("marks", K.Info.Marks, [](JsonWriter &S, const MarkInfo &Mark) {
      S.count("id", Mark.Id);
      writeWhere(S, Mark.Where);
    });
  if (K.Accesses.empty())
    return;
  W.lines("accesses", zip_equal(K.Info.Accesses, K.Accesses),
          [](JsonWriter &S, auto &&Row) {
            const auto &[A, C] = Row;
            S.count("id", A.Id);
            S.count("block", A.Block);
            S.text("use", wordOf(A.Use));
            S.text("space", wordOf(A.Space));
            S.count("bytes", A.Bytes);
            S.count("requests", C.Requests);
            S.count("lanes", C.Lanes);
            S.count("sectors", C.Sectors);
            S.count("leastSectors", C.LeastSectors);
            S.count("wavefronts", C.Wavefronts);
            S.count("leastWavefronts", C.LeastWavefronts);
            S.count("turns", C.Turns);
            writeWhere(S, A.Where);
          });
  writeTouched(W, K.Touched);
}

namespace {
struct AccessRow {
  AccessInfo Info;
  AccessCounts Counts;
};
} // namespace

static StringLiteral faultOf(const AccessRow &Row, size_t Blocks,
                             uint32_t WarpSize) {
  const AccessCounts &C = Row.Counts;
  if (Row.Info.Block >= Blocks)
    return "access lies in a block that is not listed";
  if (C.Lanes < C.Requests || C.Lanes / WarpSize > C.Requests)
    return "not as many lanes as the requests can have";
  if (C.Wavefronts < C.LeastWavefronts)
    return "fewer wavefronts than without a conflict";
  return "";
}

static bool readAccess(const json::Value &V, json::Path P, AccessRow &Row) {
  Fields F(V, P);
  AccessInfo &A = Row.Info;
  AccessCounts &C = Row.Counts;
  return F && F.count("id", A.Id) && F.count("block", A.Block) &&
         F.choice(
             "use", A.Use,
             {MemoryUse::Load, MemoryUse::Store, MemoryUse::Atomic},
             [](MemoryUse U) { return wordOf(U); },
             "expected load, store or atomic") &&
         F.choice(
             "space", A.Space,
             {MemorySpace::Global, MemorySpace::Shared, MemorySpace::Local,
              MemorySpace::Generic},
             [](MemorySpace S) { return wordOf(S); },
             "expected global, shared, local or generic") &&
         F.count("bytes", A.Bytes) && F.count("requests", C.Requests) &&
         F.count("lanes", C.Lanes) && F.count("sectors", C.Sectors) &&
         F.count("leastSectors", C.LeastSectors) &&
         F.count("wavefronts", C.Wavefronts) &&
         F.count("leastWavefronts", C.LeastWavefronts) &&
         F.count("turns", C.Turns) && F.list("where", A.Where, readLoc);
}

static bool readMark(const json::Value &V, json::Path P, MarkInfo &Mark) {
  Fields F(V, P);
  return F && F.count("id", Mark.Id) && F.list("where", Mark.Where, readLoc);
}

bool readMemory(const Fields &Kernel, KernelProfile &K, size_t Blocks) {
  if (Kernel.has("marks") && !Kernel.list("marks", K.Info.Marks, readMark))
    return false;
  if (!Kernel.has("accesses"))
    return true;
  std::vector<AccessRow> Rows;
  auto Read = [&](const json::Value &V, json::Path P, AccessRow &Row) {
    if (!readAccess(V, P, Row))
      return false;
    const StringLiteral Fault = faultOf(Row, Blocks, K.WarpSize);
    if (!Fault.empty())
      P.report(Fault);
    return Fault.empty();
  };
  if (!Kernel.list("accesses", Rows, Read) ||
      !Kernel.object("touched", K.Touched, readTouched))
    return false;
  for (AccessRow &Row : Rows) {
    K.Info.Accesses.push_back(std::move(Row.Info));
    K.Accesses.push_back(Row.Counts);
  }
  return true;
}

} // namespace reconverge
