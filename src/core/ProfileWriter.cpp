//===- core/ProfileWriter.cpp - A Profile as divergence.json --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text is laid out for people and for diff: the frame is indented, and each
// block, branch and launch shape takes one line. What is static and what was
// counted stand together in one object, so that a reader cannot pair them
// wrongly. Numbers are written exactly: counts as 64-bit integers, others with
// as many digits as reading them back needs.
//
//===----------------------------------------------------------------------===//

#include "core/File.h"
#include "core/ProfileJson.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>

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

namespace {

class ProfileWriter {
public:
  explicit ProfileWriter(raw_ostream &OS) : J(OS, /*IndentSize=*/1) {}

  void profile(const Profile &P, ArrayRef<KernelCost> Costs);

private:
  using Stream = json::OStream;
  void kernel(const KernelProfile &K, const KernelCost *Cost);
  void regrouped(const RegroupedCounts &R);
  void cost(const KernelCost &C);

  static void text(Stream &S, StringRef Key, StringRef Text);
  static void number(Stream &S, StringRef Key, double Value);
  static void where(Stream &S, const SourceChain &Chain);
  template <typename Range>
  static void list(Stream &S, StringRef Key, const Range &Numbers);
  /// An array with one object a line; \p Fill writes the members of the I-th.
  template <typename Filler>
  void rows(StringRef Key, size_t Count, Filler Fill);
  /// A value on one line, whatever the depth.
  template <typename Filler> void oneLine(Filler Fill);

  Stream J;
};

} // namespace

/// Paths and arguments may hold any bytes; JSON is UTF-8.
void ProfileWriter::text(Stream &S, StringRef Key, StringRef Text) {
  if (json::isUTF8(Text))
    S.attribute(Key, Text);
  else
    S.attribute(Key, json::fixUTF8(Text));
}

void ProfileWriter::number(Stream &S, StringRef Key, double Value) {
  assert(std::isfinite(Value) && "JSON has no infinities");
  S.attribute(Key, std::isfinite(Value) ? Value : 0.0);
}

template <typename Range>
void ProfileWriter::list(Stream &S, StringRef Key, const Range &Numbers) {
  S.attributeArray(Key, [&] {
    for (auto N : Numbers)
      S.value(uint64_t(N));
  });
}

void ProfileWriter::where(Stream &S, const SourceChain &Chain) {
  S.attributeArray("where", [&] {
    for (const SourceLoc &Loc : Chain)
      S.object([&] {
        text(S, "file", Loc.File);
        S.attribute("line", uint64_t(Loc.Line));
        S.attribute("column", uint64_t(Loc.Column));
        text(S, "function", Loc.Function);
      });
  });
}

template <typename Filler> void ProfileWriter::oneLine(Filler Fill) {
  J.rawValue([&](raw_ostream &OS) {
    Stream Line(OS);
    Fill(Line);
  });
}

template <typename Filler>
void ProfileWriter::rows(StringRef Key, size_t Count, Filler Fill) {
  J.attributeArray(Key, [&] {
    for (size_t I = 0; I != Count; ++I)
      oneLine([&](Stream &S) { S.object([&] { Fill(S, I); }); });
  });
}

void ProfileWriter::regrouped(const RegroupedCounts &R) {
  J.attributeObject("regrouped", [&] {
    J.attribute("launches", R.Launches);
    J.attribute("threads", R.Threads);
    auto Row = [&](StringRef Key, const std::vector<uint64_t> &Numbers) {
      J.attributeBegin(Key);
      oneLine([&](Stream &S) {
        S.array([&] {
          for (uint64_t N : Numbers)
            S.value(N);
        });
      });
      J.attributeEnd();
    };
    Row("lanes", R.Lanes);
    Row("warps", R.Warps);
    Row("inWarp", R.InWarp);
    Row("inBlock", R.InBlock);
    Row("inGrid", R.InGrid);
  });
}

void ProfileWriter::cost(const KernelCost &C) {
  J.attributeObject("cost", [&] {
    number(J, "slots", C.Slots);
    number(J, "fullSlots", C.FullSlots);
    number(J, "cfe", C.Cfe);
    number(J, "potential", C.Potential);
    J.attribute("instructions", C.Instructions);
    J.attribute("warpInstructions", C.WarpInstructions);
    number(J, "recoverInWarp", C.RecoverInWarp);
    number(J, "recoverInBlock", C.RecoverInBlock);
    number(J, "recoverInGrid", C.RecoverInGrid);
    rows("branches", C.Branches.size(), [&](Stream &S, size_t I) {
      const BranchCost &B = C.Branches[I];
      number(S, "lossSlots", B.LossSlots);
      number(S, "partialSlots", B.PartialSlots);
      number(S, "exitSlots", B.ExitSlots);
      number(S, "divergeSlots", B.DivergeSlots);
      number(S, "aroundSlots", B.AroundSlots);
      number(S, "cost", B.Cost);
      number(S, "recoverInWarp", B.RecoverInWarp);
      number(S, "recoverInBlock", B.RecoverInBlock);
      number(S, "recoverInGrid", B.RecoverInGrid);
    });
    J.attributeBegin("order");
    oneLine([&](Stream &S) {
      S.array([&] {
        for (uint32_t N : C.Order)
          S.value(uint64_t(N));
      });
    });
    J.attributeEnd();
  });
}

void ProfileWriter::kernel(const KernelProfile &K, const KernelCost *Cost) {
  const KernelInfo &Info = K.Info;
  assert(K.Blocks.size() == Info.Blocks.size() &&
         K.Branches.size() == Info.Branches.size() &&
         "counts are parallel to the static facts");
  text(J, "name", Info.Name);
  text(J, "display", Info.Display);
  text(J, "module", Info.Module);
  where(J, Info.Where);
  J.attribute("warpSize", uint64_t(K.WarpSize));
  J.attribute("launches", K.Launches);
  J.attribute("threads", K.Threads);
  J.attribute("warps", K.WarpsRun);
  J.attribute("divergentWarps", K.DivergentWarps);
  number(J, "seconds", K.Seconds);
  rows("shapes", K.Shapes.size(), [&](Stream &S, size_t I) {
    const LaunchShape &Shape = K.Shapes[I];
    list(S, "grid", Shape.Grid);
    list(S, "block", Shape.Block);
    S.attribute("dynamicShared", Shape.DynamicShared);
  });
  rows("blocks", Info.Blocks.size(), [&](Stream &S, size_t I) {
    const BlockInfo &B = Info.Blocks[I];
    const BlockCounts &C = K.Blocks[I];
    S.attribute("id", uint64_t(B.Id));
    S.attribute("instructions", uint64_t(B.Instructions));
    number(S, "issueSlots", B.IssueSlots);
    number(S, "latency", B.Latency);
    S.attribute("warps", C.Warps);
    S.attribute("lanes", C.Lanes);
    S.attribute("partialIdle", C.PartialIdle);
    S.attribute("exitedIdle", C.ExitedIdle);
    where(S, B.Where);
  });
  rows("branches", Info.Branches.size(), [&](Stream &S, size_t I) {
    const BranchInfo &B = Info.Branches[I];
    const BranchCounts &C = K.Branches[I];
    S.attribute("id", uint64_t(B.Id));
    S.attribute("block", uint64_t(B.Block));
    S.attribute("kind", wordOf(B.Kind));
    text(S, "condition", B.Condition);
    text(S, "reason", B.Reason);
    S.attribute("leavesKernel", B.LeavesKernel);
    S.attribute("warps", C.Warps);
    S.attribute("splits", C.Splits);
    list(S, "lanesTo", C.LanesTo);
    list(S, "successors", B.Successors);
    list(S, "region", B.Region);
    where(S, B.Where);
  });
  regrouped(K.Regrouped);
  if (Cost)
    cost(*Cost);
}

void ProfileWriter::profile(const Profile &P, ArrayRef<KernelCost> Costs) {
  assert((Costs.empty() || Costs.size() == P.Kernels.size()) &&
         "a cost for each kernel, or none");
  auto Strings = [&](StringRef Key, const std::vector<std::string> &Texts) {
    J.attributeArray(Key, [&] {
      for (const std::string &T : Texts)
        J.value(json::isUTF8(T) ? T : json::fixUTF8(T));
    });
  };
  J.object([&] {
    J.attribute("schema", ProfileSchema);
    text(J, "program", P.Program);
    Strings("arguments", P.Arguments);
    J.attribute("exitStatus", int64_t(P.ExitStatus));
    text(J, "backend", P.Backend);
    text(J, "device", P.Device);
    text(J, "policy", P.Policy);
    text(J, "machine", P.Machine);
    Strings("notes", P.Notes);
    J.attributeArray("kernels", [&] {
      for (size_t I = 0; I != P.Kernels.size(); ++I)
        J.object(
            [&] { kernel(P.Kernels[I], Costs.empty() ? nullptr : &Costs[I]); });
    });
  });
}

void printProfileJson(const Profile &P, ArrayRef<KernelCost> Costs,
                      raw_ostream &OS) {
  ProfileWriter(OS).profile(P, Costs);
  OS << '\n';
}

Error writeReport(const Profile &P, ArrayRef<KernelCost> Costs,
                  StringRef Path) {
  return writeFileAtomically(
      Path, [&](raw_ostream &OS) { printProfileJson(P, Costs, OS); });
}

Error writeProfile(const Profile &P, StringRef Path) {
  return writeReport(P, {}, Path);
}

} // namespace reconverge
