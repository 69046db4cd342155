//===- core/Findings.cpp - What a tested process showed -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two findings are the same if their kind, kernel and places are: addresses,
// values and who was first differ from run to run. What has no place is told
// apart by its text.
//
//===----------------------------------------------------------------------===//

#include "core/Findings.h"

#include "core/File.h"
#include "core/JsonReader.h"
#include "core/JsonWriter.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge {

static constexpr JsonDocument LineKind{
    "reconverge-findings/1", "a line of what a tested process showed",
    "This is not what our CUDA runtime wrote."};

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

ArrayRef<FindingKind> allFindingKinds() {
  static constexpr FindingKind All[] = {
      FindingKind::Bounds, FindingKind::Assert,     FindingKind::Hang,
      FindingKind::Sync,   FindingKind::Race,       FindingKind::Init,
      FindingKind::Order,  FindingKind::Unsupported};
  return All;
}

StringRef wordOf(FindingKind Kind) {
  switch (Kind) {
  case FindingKind::Bounds:
    return "bounds";
  case FindingKind::Assert:
    return "assert";
  case FindingKind::Hang:
    return "hang";
  case FindingKind::Sync:
    return "sync";
  case FindingKind::Race:
    return "race";
  case FindingKind::Init:
    return "init";
  case FindingKind::Order:
    return "order";
  case FindingKind::Unsupported:
    return "unsupported";
  }
  llvm_unreachable("a finding is of one of these kinds");
}

bool Finding::sameAs(const Finding &Other) const {
  auto Same = [](const FindingPlace &A, const FindingPlace &B) {
    return A.What == B.What && A.Where == B.Where;
  };
  if (Kind != Other.Kind || Harmless != Other.Harmless ||
      Kernel != Other.Kernel || Places.size() != Other.Places.size() ||
      !all_of(zip(Places, Other.Places), [&](auto Pair) {
        return Same(std::get<0>(Pair), std::get<1>(Pair));
      }))
    return false;
  // Addresses and values differ from time to time; without a place the text is
  // all there is.
  return (!Places.empty() && !Places.front().Where.empty()) ||
         Text == Other.Text;
}

static FindingPlace placeOf(const RaceAccess &A) {
  FindingPlace P;
  P.What = (A.Volatile ? "volatile " : "") + std::string(wordOf(A.What));
  P.Where = A.Where;
  P.Block = A.Block;
  P.Thread = A.Thread;
  return P;
}

Finding findingOf(const Race &R, std::string Kernel) {
  Finding F;
  F.Kind = FindingKind::Race;
  F.Harmless = R.SameValue;
  F.Kernel = std::move(Kernel);
  F.Text = (Twine("nothing orders two accesses of byte ") + Twine(R.Offset) +
            " of " + R.Memory + (R.SameValue ? ", which write the same" : ""))
               .str();
  F.Places = {placeOf(R.First), placeOf(R.Second)};
  return F;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string lineOf(StringRef Event,
                          function_ref<void(JsonWriter &)> Members) {
  std::string Line;
  raw_string_ostream OS(Line);
  JsonWriter W(OS, /*Indent=*/0);
  W.root([&] {
    W.text("schema", LineKind.Schema);
    W.text("event", Event);
    Members(W);
  });
  Line += '\n';
  return Line;
}

std::string startLine(const TestedProcess &P) {
  return lineOf("start", [&](JsonWriter &W) {
    W.text("program", P.Program);
    W.texts("arguments", P.Arguments);
    W.count("process", P.Id);
  });
}

std::string kernelLine(StringRef Kernel) {
  return lineOf("kernel", [&](JsonWriter &W) { W.text("kernel", Kernel); });
}

std::string findingLine(const Finding &F) {
  return lineOf("finding", [&](JsonWriter &W) {
    W.text("kind", wordOf(F.Kind));
    W.flag("harmless", F.Harmless);
    W.text("kernel", F.Kernel);
    W.text("text", F.Text);
    W.objects("places", F.Places, [](JsonWriter &S, const FindingPlace &P) {
      S.text("what", P.What);
      writeWhere(S, P.Where);
      if (P.Block)
        S.counts("block", *P.Block);
      if (P.Thread)
        S.counts("thread", *P.Thread);
    });
  });
}

std::string endLine(uint64_t Launches) {
  return lineOf("end", [&](JsonWriter &W) { W.count("launches", Launches); });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool readIndex(const Fields &F, StringRef Key,
                      std::optional<std::array<uint32_t, 3>> &Out) {
  std::vector<uint32_t> Indices;
  if (!F.has(Key))
    return true;
  if (!F.counts(Key, Indices))
    return false;
  if (Indices.size() != 3) {
    F.path(Key).report("expected three indices");
    return false;
  }
  std::copy(Indices.begin(), Indices.end(), Out.emplace().begin());
  return true;
}

static bool readPlace(const json::Value &V, json::Path P, FindingPlace &Out) {
  Fields F(V, P);
  return F && F.text("what", Out.What) && F.list("where", Out.Where, readLoc) &&
         readIndex(F, "block", Out.Block) && readIndex(F, "thread", Out.Thread);
}

static bool readFinding(const Fields &F, Finding &Out) {
  std::string Word;
  if (!F.text("kind", Word))
    return false;
  const auto *Kind = find_if(allFindingKinds(),
                             [&](FindingKind K) { return wordOf(K) == Word; });
  if (Kind == allFindingKinds().end()) {
    F.path("kind").report("expected a kind of finding");
    return false;
  }
  Out.Kind = *Kind;
  return F.flag("harmless", Out.Harmless) && F.text("kernel", Out.Kernel) &&
         F.text("text", Out.Text) && F.list("places", Out.Places, readPlace);
}

static bool readLine(const json::Value &V, json::Path P, TestedProcess &Out) {
  Fields F(V, P);
  std::string Event;
  if (!F || !F.text("event", Event))
    return false;
  if (Event == "start")
    return F.text("program", Out.Program) &&
           F.texts("arguments", Out.Arguments) && F.count("process", Out.Id);
  if (Event == "kernel")
    return F.text("kernel", Out.Kernels.emplace_back());
  if (Event == "finding")
    return readFinding(F, Out.Findings.emplace_back());
  if (Event == "end") {
    Out.HasEnded = true;
    return F.count("launches", Out.Launches);
  }
  F.path("event").report("expected start, kernel, finding or end");
  return false;
}

Expected<TestedProcess> readTestedProcess(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  TestedProcess P;
  StringRef Rest = (*Buffer)->getBuffer();
  for (unsigned Number = 1; Rest.contains('\n'); ++Number) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Error E =
            parseDocument(Line, (Path + ":" + Twine(Number)).str(), LineKind,
                          [&](const json::Value &V, json::Path Here) {
                            return readLine(V, Here, P);
                          }))
      return std::move(E);
  }
  return P;
}

} // namespace reconverge
