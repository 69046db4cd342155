//===- unittests/report/SarifTest.cpp - Results for annotations -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report/Sarif.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::report;

/// The only run of the log that \p Run makes.
static json::Object runOf(const SarifRun &Run) {
  std::string Text;
  raw_string_ostream OS(Text);
  printSarif(Run, OS);
  json::Value Log = cantFail(json::parse(Text));
  EXPECT_EQ(Log.getAsObject()->getString("version"), "2.1.0");
  json::Array *Runs = Log.getAsObject()->getArray("runs");
  EXPECT_EQ(Runs->size(), 1u);
  return *Runs->front().getAsObject();
}

static SarifRun twoResults() {
  SarifRun Run;
  Run.Version = "1.2.3";
  Run.Folder = "/home/me/my app";
  Run.Rules = {{"bounds", "An access.", ""},
               {"race", "Two accesses.", "Help."}};
  Run.Results = {
      {"race",
       SarifResult::Error,
       "a \"race\"",
       {{"/home/me/my app/src/a.cu", 7, 3, ""}, {"b.cuh", 9, 0, "the write"}},
       false},
      {"bounds",
       SarifResult::Warning,
       "past the end",
       {{"/home/me/my app two/x y#.cu", 1, 0, ""}},
       true}};
  return Run;
}

TEST(Sarif, ResultsNameTheirRuleAndLevel) {
  const json::Object Run = runOf(twoResults());
  const json::Object &Driver = *Run.getObject("tool")->getObject("driver");
  EXPECT_EQ(Driver.getString("version"), "1.2.3");
  ASSERT_EQ(Driver.getArray("rules")->size(), 2u);
  const json::Array &Results = *Run.getArray("results");
  const json::Object &Race = *Results[0].getAsObject();
  EXPECT_EQ(Race.getString("ruleId"), "race");
  EXPECT_EQ(Race.getInteger("ruleIndex"), 1);
  EXPECT_EQ(Race.getString("level"), "error");
  EXPECT_EQ(Race.getObject("message")->getString("text"), "a \"race\"");
  EXPECT_EQ(Race.get("suppressions"), nullptr);
  const json::Object &Bounds = *Results[1].getAsObject();
  EXPECT_EQ(Bounds.getString("level"), "warning");
  EXPECT_EQ(
      (*Bounds.getArray("suppressions"))[0].getAsObject()->getString("kind"),
      "external");
}

TEST(Sarif, FilesBelowTheFolderAreRelativeToIt) {
  const json::Object Run = runOf(twoResults());
  auto Place = [&](size_t Result, StringRef Which) {
    return *(*(*Run.getArray("results"))[Result].getAsObject()->getArray(
        Which))[0]
                .getAsObject();
  };
  const json::Object First = Place(0, "locations");
  const json::Object &At = *First.getObject("physicalLocation");
  EXPECT_EQ(At.getObject("artifactLocation")->getString("uri"), "src/a.cu");
  EXPECT_EQ(At.getObject("artifactLocation")->getString("uriBaseId"),
            "%SRCROOT%");
  EXPECT_EQ(At.getObject("region")->getInteger("startLine"), 7);
  EXPECT_EQ(At.getObject("region")->getInteger("startColumn"), 3);
  const json::Object Second = Place(0, "relatedLocations");
  EXPECT_EQ(Second.getObject("message")->getString("text"), "the write");
  EXPECT_EQ(Second.getObject("physicalLocation")
                ->getObject("region")
                ->get("startColumn"),
            nullptr);
  // "my app two" only begins like the folder.
  const json::Object Other = Place(1, "locations");
  EXPECT_EQ(Other.getObject("physicalLocation")
                ->getObject("artifactLocation")
                ->getString("uri"),
            "file:///home/me/my%20app%20two/x%20y%23.cu");
  EXPECT_EQ(Run.getObject("originalUriBaseIds")
                ->getObject("%SRCROOT%")
                ->getString("uri"),
            "file:///home/me/my%20app/");
}
