//===- driver/Quality.cpp - The quality of one output ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Quality.h"

#include "core/Error.h"
#include "core/File.h"
#include "driver/OptionTable.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

Expected<CompareRequest> parseQualityWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Quality));
  const std::vector<std::string> Inputs = Parsed.getAllArgValues(OPT_INPUT);
  const std::vector<std::string> Asked = Parsed.getAllArgValues(OPT_quality_EQ);
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  if (const Arg *Unknown = Parsed.getLastArg(OPT_UNKNOWN))
    return unknownOption(Unknown->getSpelling(), Subcommand::Quality);
  if (Inputs.size() != 2)
    return userError("quality: " + Twine(Inputs.size()) +
                         (Inputs.size() == 1 ? " file" : " files"),
                     "Name two: the reference, and the result beside it.");
  if (Asked.size() != 1)
    return userError("quality: --quality is given " + Twine(Asked.size()) +
                         " times",
                     "Give one, as in --quality metric=psnr,bound=40.");
  CompareRequest Request;
  Request.Reference = Inputs[0];
  Request.Result = Inputs[1];
  if (Error E = parseQuality(Asked.front()).moveInto(Request.How))
    return std::move(E);
  if (!Request.How.Output.empty())
    return userError("quality: out=" + Request.How.Output +
                         " names an output beside the two files",
                     "Leave it out; the two files are what is compared.");
  return Request;
}

Expected<int> quality(const CompareRequest &Request, raw_ostream &OS) {
  auto Reference = readFile(Request.Reference);
  if (!Reference)
    return Reference.takeError();
  auto Result = readFile(Request.Result);
  if (!Result)
    return Result.takeError();
  const QualityRequest &How = Request.How;
  auto Q = measureQuality(How, (*Reference)->getBuffer(), Request.Reference,
                          (*Result)->getBuffer(), Request.Result);
  if (!Q)
    return Q.takeError();
  const bool IsWithin = How.isWithin(Q->Value);
  const bool AreBytes = How.Metric == QualityMetric::Mismatch;
  if (How.Bound)
    OS << (IsWithin ? "within (" : "outside (");
  OS << How.metricName() << ' ' << qualityText(How, Q->Value);
  if (How.Bound)
    OS << ", bound " << qualityText(How, *How.Bound) << ", ";
  else
    OS << " (";
  OS << Q->Count << (AreBytes ? " byte" : " value")
     << (Q->Count == 1 ? ")" : "s)") << '\n';
  if (Q->Zeros)
    OS << "  of these, " << Q->Zeros
       << " with a reference of 0 count by their absolute error\n";
  return int(IsWithin ? ExitCode::Success : ExitCode::ConditionHolds);
}

} // namespace reconverge::driver
