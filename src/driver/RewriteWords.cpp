//===- driver/RewriteWords.cpp - The command line of rewrite --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/OptionTable.h"
#include "driver/Rewrite.h"

#include "core/Error.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

using Form = RewriteRequest::Form;

Expected<RewriteRequest> parseRewriteWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Rewrite));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  RewriteRequest Request;
  unsigned Forms = 0;
  for (const Arg *A : Parsed) {
    switch (A->getOption().getID()) {
    case OPT_diff:
      ++Forms;
      continue;
    case OPT_in_place:
      ++Forms;
      Request.As = Form::InPlace;
      continue;
    case OPT_o:
      ++Forms;
      Request.As = Form::File;
      Request.Build.Output = A->getValue();
      continue;
    case OPT_kernel_EQ:
      Request.Kernel = A->getValue();
      continue;
    default:
      if (Error E = readBuildOption(*A, Parsed, Request.Build))
        return std::move(E);
    }
  }
  if (Error E = settle(Request.Build))
    return std::move(E);
  if (Error E = refuseRecord(Request.Build))
    return std::move(E);
  const BuildRequest &Build = Request.Build;
  if (Build.Inputs.empty())
    return userError("rewrite: no input", "Name a .cu file.");
  for (auto [Input, Kind] : zip(Build.Inputs, Build.Kinds))
    if (Kind != frontend::InputKind::Cuda)
      return userError("rewrite: " + Input + " is no CUDA source",
                       "Name .cu files.");
  if (Forms > 1)
    return userError("rewrite: more than one of --diff, --in-place and -o",
                     "Say once where the text goes.");
  if (Request.As == Form::File && Build.Inputs.size() > 1)
    return userError("rewrite: -o names one file, but there are " +
                         Twine(Build.Inputs.size()) + " inputs",
                     "Rewrite one at a time, or --in-place.");
  return Request;
}

} // namespace reconverge::driver
