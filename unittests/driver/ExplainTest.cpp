//===- unittests/driver/ExplainTest.cpp - Codes and words -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Explain.h"
#include "driver/Words.h"

#include "core/DecisionJson.h"
#include "core/Error.h"
#include "core/KernelTime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using reconverge::driver::didYouMean;
using reconverge::driver::explain;
using reconverge::driver::nearestOf;

static std::string page(StringRef Name) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (Error E = explain(Name, OS))
    return "error: " + toString(std::move(E));
  return Text;
}

TEST(Explain, WordsOfTheReport) {
  for (const char *Word :
       {"self", "total", "recoverable", "CFE", "potential", "split", "place",
        "meld", "remap", "refill", "sort", "slot", "partial warp", "refused"})
    EXPECT_TRUE(StringRef(page(Word)).starts_with("## ")) << page(Word);
  EXPECT_EQ(page("cfe"), page("control-flow efficiency"));
  EXPECT_EQ(StringRef(page("self")).count("## "), 1u) << "one entry";
  EXPECT_TRUE(StringRef(page("glossary")).starts_with("# Glossary\n"));
}

// Whoever reads a word in a report can ask for it.
TEST(Explain, AllThatReportsSay) {
  std::vector<std::string> Words = {
      "in/past",        "on/out",    "copies",         "warps",    "lanes",
      "uncoalesced",    "turns",     "bank conflicts", "returned", "remedied",
      "predicted",      "achieved",  "up to order",    "rounding", "attainable",
      "issue slots",    "bound by",  "potential",      "sectors",  "wavefronts",
      "partial warps",  "slots",     "recoverable",    "forecast", "priced as",
      "reorder-blocks", "divergent", "permute"};
  for (size_t U = 0; U != NumUnits; ++U)
    Words.push_back(wordOf(Unit(U)));
  for (Bound By : {Bound::Latency, Bound::Grid, Bound::Launch})
    Words.push_back(wordOf(By, Unit::Issue));
  for (TrialOutcome End :
       {TrialOutcome::Kept, TrialOutcome::Slower, TrialOutcome::Wrong,
        TrialOutcome::Rounded, TrialOutcome::Unproved, TrialOutcome::Faulted,
        TrialOutcome::TimedOut, TrialOutcome::Refused, TrialOutcome::Untried})
    Words.push_back(wordOf(End).str());
  for (VerdictKind Kind : {VerdictKind::Identical, VerdictKind::UpToOrder,
                           VerdictKind::Differs, VerdictKind::Unknown})
    Words.push_back(wordOf(Kind).str());
  for (const std::string &Word : Words)
    EXPECT_TRUE(StringRef(page(Word)).starts_with("## ")) << page(Word);
}

TEST(Explain, Codes) {
  EXPECT_TRUE(StringRef(page("RC101")).starts_with("## RC101\n"));
  EXPECT_TRUE(StringRef(page("rc311"))
                  .starts_with("## RC311\n\nIt uses shared memory.\n\n"))
      << "of several remedies";
  EXPECT_TRUE(StringRef(page("codes")).starts_with("# Codes\n"));
}

// Alone it lists what there is, in lines that fit.
TEST(Explain, AllThatThereIs) {
  const std::string All = page("");
  EXPECT_NE(All.find("  warp, lane, divergence"), std::string::npos) << All;
  EXPECT_NE(All.find("RC101, RC102"), std::string::npos) << All;
  for (StringRef Line : split(All, '\n'))
    EXPECT_LE(Line.size(), 100u) << Line.str();
}

TEST(Explain, ParagraphsAreBrokenBetweenWords) {
  const std::string Self = page("self");
  for (StringRef Line : split(Self, '\n'))
    EXPECT_LE(Line.size(), 100u) << Line.str();
  EXPECT_GT(StringRef(Self).count('\n'), 4u) << Self;
}

TEST(Explain, LinksAreWordsOnATerminal) {
  EXPECT_NE(page("attainable").find("potential, as far as"), std::string::npos);
  EXPECT_NE(page("attainable").find("By the model of docs/time.md."),
            std::string::npos);
  for (const std::string &Word : reconverge::driver::explained())
    if (Word != "glossary" && Word != "codes")
      EXPECT_EQ(page(Word).find("]("), std::string::npos) << page(Word);
}

TEST(Explain, SlipsAreAnsweredWithWhatWasMeant) {
  const std::string Start = "error: there is no code and no word '";
  EXPECT_EQ(page("slef"), Start + "slef' to explain\n  Did you mean self? "
                                  "reconverge explain lists all.");
  EXPECT_EQ(page("cfee"), Start + "cfee' to explain\n  Did you mean CFE? "
                                  "reconverge explain lists all.");
  EXPECT_EQ(page("efficiency"), Start +
                                    "efficiency' to explain\n  Did you mean "
                                    "control-flow efficiency? reconverge "
                                    "explain lists all.");
  EXPECT_EQ(page("xylophone"),
            Start + "xylophone' to explain\n  reconverge explain lists all.");
}

TEST(Words, AtMostThreeTheNearestFirst) {
  const std::vector<std::string> Known = {"rewrite", "report", "remap", "re",
                                          "meld",    "refill", "remaps"};
  EXPECT_EQ(nearestOf("remap", Known),
            (std::vector<std::string>{"remap", "remaps"}));
  EXPECT_EQ(nearestOf("rempa", Known), std::vector<std::string>{"remap"});
  EXPECT_EQ(nearestOf("reportt", Known), std::vector<std::string>{"report"});
  EXPECT_EQ(nearestOf("zzz", Known), std::vector<std::string>());
  EXPECT_EQ(didYouMean("meldd", {"meld", "melded", "melds", "melding"}),
            "Did you mean meld, melded or melds? ");
}
