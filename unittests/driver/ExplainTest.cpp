//===- unittests/driver/ExplainTest.cpp - Codes and words -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Explain.h"

#include "core/Error.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace llvm;
using reconverge::driver::explain;

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

TEST(Explain, Codes) {
  EXPECT_TRUE(StringRef(page("RC101")).starts_with("## RC101\n"));
  EXPECT_TRUE(StringRef(page("rc311"))
                  .starts_with("## RC311\n\nIt uses shared memory.\n\n"))
      << "of several remedies";
  EXPECT_TRUE(StringRef(page("")).starts_with("# Codes\n"));
}

TEST(Explain, OthersAreNamedWithWhatThereIs) {
  EXPECT_TRUE(
      StringRef(page("warpness"))
          .starts_with("error: there is no code and no word 'warpness'"))
      << page("warpness");
}
