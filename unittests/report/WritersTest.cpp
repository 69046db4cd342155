//===- unittests/report/WritersTest.cpp - Forms of other tools ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms as wholes are tried by web/test/formats.mjs, by their own schemas;
// here what hostile names come to, and what numbers stand where.
//
//===----------------------------------------------------------------------===//

#include "report/Writers.h"
#include "report/Diff.h"
#include "report/Lines.h"
#include "report/Page.h"

#include "../model/HandMade.h"
#include "model/Model.h"

#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkParser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::report;

namespace {

/// A kernel of 11 issue slots, of which the branch's two sides lose 4.
Profile alternating() {
  Profile P;
  P.Program = "./app";
  P.Backend = "vm";
  P.Kernels.push_back(test::alternating("alternate").K);
  return P;
}

template <typename Print> std::string printed(Print Do) {
  std::string Text;
  raw_string_ostream OS(Text);
  Do(OS);
  return Text;
}

std::string inMarkdown(const Profile &P) {
  return printed(
      [&](raw_ostream &OS) { printMarkdown(viewOf(P, model::costOf(P)), OS); });
}

TEST(Markdown, NamesStayText) {
  Profile P = alternating();
  P.Kernels[0].Info.Display = "k<int, T*>(int*)";
  P.Kernels[0].Info.Branches[0].Condition = "a | b && `c` < d";
  const std::string Text = inMarkdown(P);
  EXPECT_NE(Text.find(" alt.cu:12 a \\| b &amp;&amp; \\`c\\` &lt; d "),
            std::string::npos)
      << Text;
  EXPECT_NE(Text.find("| k&lt;int, T\\*\\>"), std::string::npos) << Text;
  // A row of places: seven bars part eight cells, none of them the name's.
  EXPECT_NE(Text.find("| 36.4% | 36.4% | - | - | - | alt.cu:12 "),
            std::string::npos)
      << Text;
}

TEST(Csv, QuotesAreDoubled) {
  Profile P = alternating();
  P.Kernels[0].Info.Branches[0].Condition = "c == '\"'";
  const std::string Text = printed(
      [&](raw_ostream &OS) { printCsv(viewOf(P, model::costOf(P)), OS); });
  EXPECT_NE(Text.find("0.36363636363636365,0.36363636363636365,,,,"
                      "\"src/alt.cu\",12,7,\"c == '\"\"'\",1,"
                      "\"alternate(int*)\",1,1,"),
            std::string::npos)
      << Text;
  EXPECT_EQ(count(Text, '\r'), 2);
}

/// Stacks by the names of their frames, outermost first, and their weights.
std::map<std::string, double> stacksOf(const json::Object &File,
                                       size_t Number) {
  const json::Array &Frames = *File.getObject("shared")->getArray("frames");
  const json::Object &Of = *(*File.getArray("profiles"))[Number].getAsObject();
  std::map<std::string, double> Stacks;
  for (size_t I = 0; I != Of.getArray("samples")->size(); ++I) {
    std::string Name;
    for (const json::Value &F : *(*Of.getArray("samples"))[I].getAsArray())
      Name += "/" +
              Frames[*F.getAsInteger()].getAsObject()->getString("name")->str();
    Stacks[Name] += *(*Of.getArray("weights"))[I].getAsNumber();
  }
  return Stacks;
}

TEST(Speedscope, WastedSlotsByStack) {
  Profile P = alternating();
  // Inlined into the kernel by way of another function.
  P.Kernels[0].Info.Branches[0].Where = {
      {"src/rng.h", 3, 1, "draw()"},
      {"src/alt.cu", 12, 7, P.Kernels[0].Info.Display}};
  // A block of which half a warp is missing: nobody's fault.
  P.Kernels[0].Blocks[3] = {1, 16, 16, 0};
  const std::string Text = printed(
      [&](raw_ostream &OS) { printSpeedscope(P, model::costOf(P), OS); });
  json::Value Root = cantFail(json::parse(Text));
  const json::Object &File = *Root.getAsObject();
  using Stacks = std::map<std::string, double>;
  EXPECT_EQ(
      stacksOf(File, 0),
      (Stacks{{"/alternate/draw()/rng.h:3 i & 1", 4},
              {"/alternate/partial warps and lanes that had returned", 0.5}}));
  EXPECT_EQ(stacksOf(File, 1), (Stacks{{"/alternate", 11}}));
}

TEST(Findings, WhatIsWorthALook) {
  Profile P = alternating();
  const std::string Text = printed([&](raw_ostream &OS) {
    printFindings(viewOf(P, model::costOf(P)), "1.0", "/home/me", OS);
  });
  json::Value Root = cantFail(json::parse(Text));
  const json::Object &Run =
      *(*Root.getAsObject()->getArray("runs"))[0].getAsObject();
  const json::Array &Results = *Run.getArray("results");
  ASSERT_EQ(Results.size(), 1u);
  EXPECT_EQ(Results[0].getAsObject()->getString("level"), "warning");
  EXPECT_EQ(Results[0]
                .getAsObject()
                ->getObject("message")
                ->getString("text")
                ->take_until([](char C) { return C == ';'; }),
            "i & 1: 36.4% of the run is lost where lanes part here, 36.4% with "
            "the branches inside");
}

TEST(Findings, EachHasAPlace) {
  Profile P = alternating();
  P.Kernels[0].Info.Branches[0].Where.clear();
  auto Results = [&] {
    json::Value Root = cantFail(json::parse(printed([&](raw_ostream &OS) {
      printFindings(viewOf(P, model::costOf(P)), "1.0", "/home/me", OS);
    })));
    const json::Object &Run =
        *(*Root.getAsObject()->getArray("runs"))[0].getAsObject();
    return *Run.getArray("results");
  };
  P.Kernels[0].Info.Where = {{"src/alt.cu", 5, 1, ""}};
  json::Array Found = Results();
  ASSERT_EQ(Found.size(), 1u);
  const json::Array *Places = Found[0].getAsObject()->getArray("locations");
  ASSERT_TRUE(Places && Places->size() == 1);
  P.Kernels[0].Info.Where.clear();
  EXPECT_TRUE(Results().empty());
}

/// What LLVM's own parser reads in \p Text.
std::vector<std::unique_ptr<remarks::Remark>> remarksIn(StringRef Text) {
  std::vector<std::unique_ptr<remarks::Remark>> All;
  auto Parser =
      cantFail(remarks::createRemarkParser(remarks::Format::YAML, Text));
  while (true) {
    auto Next = Parser->next();
    if (!Next) {
      EXPECT_TRUE(Next.errorIsA<remarks::EndOfFileError>()) << Text.str();
      consumeError(Next.takeError());
      return All;
    }
    All.push_back(std::move(*Next));
  }
}

TEST(Remarks, LLVMReadsThem) {
  Profile P = alternating();
  const std::string Text = printed([&](raw_ostream &OS) {
    const RunCost Cost = model::costOf(P);
    printRemarks(viewOf(P, Cost), P, Cost, OS);
  });
  const auto All = remarksIn(Text);
  ASSERT_EQ(All.size(), 1u) << Text;
  const remarks::Remark &R = *All[0];
  EXPECT_EQ(R.RemarkType, remarks::Type::Missed);
  EXPECT_EQ(R.PassName, "reconverge");
  EXPECT_EQ(R.RemarkName, "DivergentBranch");
  EXPECT_EQ(R.FunctionName, P.Kernels[0].Info.Name);
  ASSERT_TRUE(R.Loc);
  EXPECT_EQ(R.Loc->SourceFilePath, "src/alt.cu");
  EXPECT_EQ(R.Loc->SourceLine, 12u);
  EXPECT_EQ(R.Loc->SourceColumn, 7u);
  EXPECT_EQ(R.Hotness, 4u);
  EXPECT_TRUE(StringRef(R.getArgsAsMsg())
                  .starts_with("i & 1: 36.4% of the run is lost where lanes "
                               "part here, 36.4% with the branches inside; "
                               "100.0% of 1 warp split"))
      << R.getArgsAsMsg();
}

TEST(Remarks, HostileNamesStayText) {
  const StringRef Bad[] = {
      "--- !Passed\nPass: x",
      "</td><script>alert(1)</script>",
      "a ? b : \"c\" # d",
      "'single' {flow: [1, 2]}",
      "*alias & %directive @at `tick`",
      "\xe4\xbd\xa0 < \xff \x1b[31m",
      "",
      "~",
  };
  for (StringRef Name : Bad) {
    Profile P = alternating();
    P.Kernels[0].Info.Name = Name.str();
    P.Kernels[0].Info.Branches[0].Condition = Name.str();
    P.Kernels[0].Info.Branches[0].Where = {{Name.str() + ".cu", 3, 1, "k"}};
    const std::string Text = printed([&](raw_ostream &OS) {
      const RunCost Cost = model::costOf(P);
      printRemarks(viewOf(P, Cost), P, Cost, OS);
    });
    const auto All = remarksIn(Text);
    ASSERT_EQ(All.size(), 1u) << Text;
    EXPECT_EQ(All[0]->RemarkType, remarks::Type::Missed);
    EXPECT_EQ(All[0]->Loc->SourceLine, 3u);
    EXPECT_FALSE(Regex("<[a-zA-Z/!?]").match(Text)) << Text;
    EXPECT_NE(All[0]->getArgsAsMsg().find(" of the run is lost"),
              std::string::npos);
  }
}

// The lines of the caller's file have what runs in the header that it includes.
TEST(Lines, ABlockCountsOnceInEachFile) {
  Profile P = alternating();
  std::vector<BlockInfo> &Blocks = P.Kernels[0].Info.Blocks;
  Blocks[0].Where = {{"a.cu", 3, 1, "k"}};
  Blocks[1].Where = {{"rng.h", 7, 1, "draw"}, {"a.cu", 4, 1, "k"}};
  Blocks[2].Where = {
      {"rng.h", 8, 1, "draw"}, {"rng.h", 20, 1, "twice"}, {"a.cu", 4, 1, "k"}};
  const auto Files = linesOf(P, model::costOf(P));
  EXPECT_EQ(Files.at("a.cu").at(3).OfRun, 2 / 11.0);
  EXPECT_EQ(Files.at("a.cu").at(4).OfRun, 3 / 11.0 + 5 / 11.0);
  EXPECT_EQ(Files.at("a.cu").at(4).efficiency(), 0.5);
  EXPECT_EQ(Files.at("rng.h").at(7).OfRun, 3 / 11.0);
  EXPECT_EQ(Files.at("rng.h").count(20), 0u);
  EXPECT_EQ(Files.at("src/alt.cu").at(12).Self, 4 / 11.0);

  const std::string Text = printed([&](raw_ostream &OS) {
    printAnnotated("a.cu", "\n\n  int i;\n  \x1b[2Jdraw();\n", Files.at("a.cu"),
                   32, OS, {});
  });
  EXPECT_NE(Text.find("                 18.2%   32.0      3    int i;\n"
                      "                 72.7%   16.0      4    [2Jdraw();\n"),
            std::string::npos)
      << Text;
}

TEST(Diff, PlacesArePairedAcrossLinesThatMoved) {
  Profile Old = alternating(), New = alternating();
  New.Kernels[0].Info.Branches[0].Where[0].Line = 40;
  New.Kernels[0].Blocks[1] = {1, 32, 0, 0}; // 3 slots with all lanes
  New.Kernels.push_back(test::alternating("fresh").K);
  New.Kernels[1].Info.Branches[0].Condition = "other";
  const RunCost Before = model::costOf(Old), After = model::costOf(New);
  const RunDiff D = diffOf({Old, Before}, {New, After});
  ASSERT_EQ(D.Places.size(), 2u);
  EXPECT_FALSE(D.Places[0].Before.has_value()); // 4 slots more
  EXPECT_TRUE(D.Places[1].Before.has_value());
  EXPECT_EQ(D.Places[1].SlotsBefore, 4);
  EXPECT_EQ(D.Places[1].SlotsAfter, 2.5);
  ASSERT_EQ(D.Kernels.size(), 2u);
  EXPECT_TRUE(D.Kernels[0].Before.has_value());
  EXPECT_FALSE(D.Kernels[1].Before.has_value());
  const std::string Text = printed([&](raw_ostream &OS) {
    printDiff(D, {Old, Before}, {New, After}, 0, OS, {});
  });
  for (const char *Line :
       {"          11     11    same       63.6%  77.3%",
        "           -     11     new           -  63.6%",
        "          4      3  -37.5%        36.4%  11.4%  alt.cu:40  i & 1",
        "          -      4     new            -  18.2%  alt.cu:12  other"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
}

TEST(Diff, MarkdownHasTheSameCells) {
  Profile Old = alternating(), New = alternating();
  New.Kernels[0].Blocks[1] = {1, 32, 0, 0};
  New.Kernels[0].Info.Branches[0].Condition =
      Old.Kernels[0].Info.Branches[0].Condition = "a|b";
  New.Arguments = {"2"};
  const RunCost Before = model::costOf(Old), After = model::costOf(New);
  const std::string Text = printed([&](raw_ostream &OS) {
    printDiffMarkdown(diffOf({Old, Before}, {New, After}), {Old, Before},
                      {New, After}, 0, OS);
  });
  for (const char *Line :
       {"## Divergence of ./app, then of ./app 2\n",
        "\n| slots before | after | change | CFE before | after | model | "
        "kernel "
        "|\n| ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
        "| 11 | 11 | same | 63.6% | 77.3% | - | alternate |\n",
        "\n| 4 | 3 | -37.5% | 36.4% | 22.7% | alt.cu:12  a\\|b |\n",
        "\nNote: the arguments differ, so the input may.\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
}

TEST(Diff, JsonHasTheNumbersInFull) {
  Profile Old = alternating(), New = alternating();
  New.Kernels[0].Blocks[1] = {1, 32, 0, 0};
  New.Kernels.push_back(test::alternating("fresh").K);
  New.Kernels[1].Info.Branches[0].Condition = "other";
  const RunCost Before = model::costOf(Old), After = model::costOf(New);
  const json::Value Root = cantFail(json::parse(printed([&](raw_ostream &OS) {
    printDiffJson(diffOf({Old, Before}, {New, After}), {Old, Before},
                  {New, After}, 0, OS);
  })));
  const json::Object &File = *Root.getAsObject();
  EXPECT_EQ(File.getString("schema"), "reconverge-diff/1");
  EXPECT_EQ(File.getObject("before")->getString("program"), "./app");
  const json::Array &Kernels = *File.getArray("kernels");
  ASSERT_EQ(Kernels.size(), 2u);
  const json::Object &Fresh = *Kernels[1].getAsObject();
  EXPECT_FALSE(Fresh.getObject("before")) << "it was not there";
  EXPECT_EQ(Fresh.getObject("after")->getNumber("slots"), 11);
  const json::Array &Places = *File.getArray("places");
  ASSERT_EQ(Places.size(), 2u);
  const json::Object &Mended = *Places[1].getAsObject();
  EXPECT_EQ(Mended.getString("condition"), "i & 1");
  EXPECT_EQ(Mended.getInteger("line"), 12);
  EXPECT_EQ(Mended.getObject("before")->getNumber("lost"), 4);
  EXPECT_EQ(Mended.getObject("after")->getNumber("lost"), 2.5);
  EXPECT_EQ(File.getInteger("samePlaces"), 0);
}

TEST(Diff, ARemediedKernelStandsForTheKernel) {
  const Profile Old = alternating();
  Profile New = alternating();
  New.Kernels[0].Info.Name += "$remedied";
  New.Kernels[0].Info.Display += " [remedied]";
  const RunCost C = model::costOf(Old);
  const RunDiff D = diffOf({Old, C}, {New, C});
  ASSERT_EQ(D.Kernels.size(), 1u);
  EXPECT_EQ(D.Kernels[0].Before, 0u);
}

TEST(Diff, NoKernelInEither) {
  Profile P = alternating();
  P.Kernels.clear();
  const RunCost C = model::costOf(P);
  EXPECT_EQ(printed([&](raw_ostream &OS) {
              printDiff(diffOf({P, C}, {P, C}), {P, C}, {P, C}, 0, OS, {});
            }),
            "Divergence of ./app, before and after\n\n"
            "Neither run has a kernel.\n");
}

TEST(Diff, NothingDiffers) {
  const Profile P = alternating();
  const RunCost C = model::costOf(P);
  const RunDiff D = diffOf({P, C}, {P, C});
  EXPECT_TRUE(D.Places.empty());
  EXPECT_EQ(D.SamePlaces, 1u);
}

TEST(Page, DataCannotEndItsElement) {
  Profile P = alternating();
  P.Program = "</script><b>";
  const RunCost C = model::costOf(P);
  const std::string Text = printed([&](raw_ostream &OS) {
    EXPECT_FALSE(errorToBool(
        printPage("<a>\"@RECONVERGE_DATA@\"</a>\"@RECONVERGE_VECTORS@\"",
                  {P, C, nullptr, {}}, OS)));
  });
  ASSERT_TRUE(StringRef(Text).starts_with("<a>{"));
  const auto [Data, Vectors] = StringRef(Text).drop_front(3).split("</a>");
  EXPECT_TRUE(bool(json::parse(Vectors)));
  EXPECT_EQ(Data.find('<'), StringRef::npos);
  json::Value Root = cantFail(json::parse(Data));
  EXPECT_EQ(Root.getAsObject()->getString("program"), "</script><b>");
  EXPECT_TRUE(errorToBool(printPage("no place", {P, C, nullptr, {}}, nulls())));
}

TEST(Page, SourcesWithoutCostAreLeftOut) {
  Profile P = alternating();
  std::vector<BlockInfo> &Blocks = P.Kernels[0].Info.Blocks;
  Blocks[0].Where = {{"idle.cu", 3, 1, "k"}};
  P.Kernels[0].Blocks[0] = {0, 0, 0, 0};
  Blocks[3].Where = {{"/usr/local/cuda/include/math.h", 3, 1, "k"}};
  EXPECT_EQ(sourcesWorthShowing(P, model::costOf(P)),
            std::vector<std::string>{"src/alt.cu"});
}

} // namespace
