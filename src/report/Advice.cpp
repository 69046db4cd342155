//===- report/Advice.cpp - What to do about a branch ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/metrics.md, "What to make of it", for one branch. The figures are the
// model's bounds, so each line says "at most". A remedy that gives back less
// than a tenth of what the branch wastes is not worth a line; where none is
// left, the line says what that means: to do nothing is an answer.
//
//===----------------------------------------------------------------------===//

#include "report/Advice.h"
#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace reconverge::report {

/// A remedy is named from this share of a branch's self cost on.
static constexpr double WorthALine = 0.1;
/// What is left of a gain is something from this share of the run on: less is
/// written as 0.0%.
static constexpr double Something = 0.0005;

/// After its price.
static double net(const RemedyBound &R) { return R.Gain - R.Price; }

static std::string lineOf(const RemedyBound &R) {
  const std::string Gain = percent(R.Gain);
  const std::string Price =
      " less about " + percent(R.Price) + " for " + R.What.PriceOf;
  if (net(R) < Something)
    return R.What.Advice + ": no; at most " + Gain + "," + Price;
  if (R.Price < Something)
    return R.What.Advice + ": at most " + Gain;
  return R.What.Advice + ": at most " + percent(net(R)) + " (" + Gain + Price +
         ")";
}

/// Those of the place that get a line.
static std::vector<RemedyBound> remediesOf(const PlaceCost &Place) {
  std::vector<RemedyBound> Remedies;
  copy_if(
      Place.Remedies, std::back_inserter(Remedies),
      [&](const RemedyBound &R) { return R.Gain >= WorthALine * Place.Self; });
  return Remedies;
}

std::vector<std::string> automaticAt(const PlaceCost &Place) {
  std::vector<std::string> Names;
  for (const RemedyBound &R : remediesOf(Place))
    if (!R.What.ByHand && net(R) >= Something)
      Names.push_back(R.What.Name);
  return Names;
}

std::vector<std::string> adviceFor(const PlaceCost &Place, const Profile &P) {
  std::vector<RemedyBound> Remedies = remediesOf(Place);
  auto Rank = [](const RemedyBound &R) {
    return std::tuple(-net(R), R.What.ByHand, R.What.Name);
  };
  sort(Remedies, [&](const RemedyBound &A, const RemedyBound &B) {
    return Rank(A) < Rank(B);
  });
  std::vector<std::string> Lines;
  for (const RemedyBound &R : Remedies)
    Lines.push_back(lineOf(R));
  if (!Lines.empty())
    return Lines;
  const bool Sampled = any_of(Place.Branches, [&](PlaceCost::Member M) {
    return P.Kernels[M.Kernel].Regrouped.Launches != 0;
  });
  if (!Sampled)
    return {"not known: no threads were sampled for regrouping"};
  return {"nothing by regrouping threads; only other code on its sides helps"};
}

/// Words that a shell would take apart, in quotes.
static std::string quoted(StringRef Word) {
  if (!Word.empty() &&
      Word.find_first_of(" \t\n\"'\\$`*?[]{}()<>|&;~#!") == StringRef::npos)
    return Word.str();
  std::string Text = "'";
  for (char C : Word)
    Text += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Text + "'";
}

std::string optimizeCommand(const Profile &P) {
  std::string Line = "reconverge optimize " + cleanText(P.Program);
  if (!P.Arguments.empty())
    Line += " --";
  for (const std::string &A : P.Arguments)
    Line += " " + quoted(cleanText(A));
  return Line;
}

} // namespace reconverge::report
