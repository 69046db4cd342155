//===- report/Sarif.cpp - Results as annotation tools read them -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SARIF 2.1.0 (OASIS, 2020), the part of it that services which annotate
// changes read: a tool with its rules, results with a level, a message, a place
// and further places. Files below the run's folder are named relative to it and
// to the base "%SRCROOT%", so that a log fits any checkout.
//
//===----------------------------------------------------------------------===//

#include "report/Sarif.h"

#include "core/JsonWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <array>

using namespace llvm;

namespace reconverge::report {

static constexpr StringLiteral Schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json";
static constexpr StringLiteral Base = "%SRCROOT%";

/// \p Path as the path of a URI (RFC 3986).
static std::string uriOf(StringRef Path) {
  std::string Uri;
  for (char C : Path)
    if (isAlnum(C) || StringRef("-._~/+@=,").contains(C))
      Uri += C;
    else
      Uri += "%" + utohexstr(uint8_t(C), /*LowerCase=*/false, /*Width=*/2);
  return Uri;
}

static void writeFile(JsonWriter &W, StringRef File, StringRef Folder) {
  SmallString<256> Path(File);
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  StringRef Rest = Path;
  if (sys::path::is_absolute(Rest) &&
      !(!Folder.empty() && Rest.consume_front(Folder) &&
        Rest.consume_front("/"))) {
    W.text("uri", "file://" + uriOf(Path));
    return;
  }
  W.text("uri", uriOf(Rest));
  W.text("uriBaseId", Base);
}

/// A location's members.
static void writePlace(JsonWriter &W, const SarifPlace &P, StringRef Folder) {
  W.object("physicalLocation", [&] {
    W.object("artifactLocation", [&] { writeFile(W, P.File, Folder); });
    if (P.Line)
      W.object("region", [&] {
        W.count("startLine", P.Line);
        if (P.Column)
          W.count("startColumn", P.Column);
      });
  });
  if (!P.Message.empty())
    W.object("message", [&] { W.text("text", P.Message); });
}

static StringRef wordOf(SarifResult::LevelKind Level) {
  switch (Level) {
  case SarifResult::Error:
    return "error";
  case SarifResult::Warning:
    return "warning";
  case SarifResult::Note:
    return "note";
  }
  llvm_unreachable("a result has one of three levels");
}

static void writeRule(JsonWriter &W, const SarifRule &R) {
  W.text("id", R.Id);
  W.object("shortDescription", [&] { W.text("text", R.Summary); });
  if (!R.Help.empty())
    W.object("help", [&] { W.text("text", R.Help); });
}

static void writeResult(JsonWriter &W, const SarifResult &R,
                        const SarifRun &Run) {
  W.text("ruleId", R.Rule);
  for (auto [I, Rule] : enumerate(Run.Rules))
    if (Rule.Id == R.Rule)
      W.count("ruleIndex", I);
  W.text("level", wordOf(R.Level));
  W.object("message", [&] { W.text("text", R.Message); });
  const ArrayRef<SarifPlace> Places = R.Places;
  auto Write = [&](JsonWriter &S, const SarifPlace &P) {
    writePlace(S, P, Run.Folder);
  };
  if (!Places.empty())
    W.objects("locations", Places.take_front(1), Write);
  if (Places.size() > 1)
    W.objects("relatedLocations", Places.drop_front(1), Write);
  if (R.Suppressed)
    W.objects("suppressions", std::array{"external"},
              [](JsonWriter &S, const char *Kind) { S.text("kind", Kind); });
}

static void writeRun(JsonWriter &W, const SarifRun &Run) {
  W.object("tool", [&] {
    W.object("driver", [&] {
      W.text("name", "Reconverge");
      W.text("version", Run.Version);
      W.objects("rules", Run.Rules, writeRule);
    });
  });
  W.text("columnKind", "utf16CodeUnits");
  W.object("originalUriBaseIds", [&] {
    W.object(Base, [&] {
      if (!Run.Folder.empty())
        W.text("uri", "file://" + uriOf(Run.Folder) + "/");
    });
  });
  W.objects("results", Run.Results, [&](JsonWriter &S, const SarifResult &R) {
    writeResult(S, R, Run);
  });
}

void printSarif(const SarifRun &Run, raw_ostream &OS) {
  JsonWriter W(OS);
  W.root([&] {
    W.text("$schema", Schema);
    W.text("version", "2.1.0");
    W.objects("runs", ArrayRef(Run), writeRun);
  });
  OS << '\n';
}

} // namespace reconverge::report
