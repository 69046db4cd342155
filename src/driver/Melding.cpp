//===- driver/Melding.cpp - --meld and explain ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Melding comes after the whole device pipeline: multiply-adds are formed on
// the code that all variants share, so that a melded program computes the bits
// of the original, and blocks have their numbers, by which --meld=branch=<n>
// and profiles name branches. Afterwards blocks are numbered and counted anew;
// branches keep their numbers.
//
//===----------------------------------------------------------------------===//

#include "driver/Melding.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "transform/common/Refusal.h"
#include "transform/meld/Meld.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace reconverge::driver {

namespace {

/// Prints the remarks of passes that run in this process as clang prints its
/// own.
class RemarkPrinter : public DiagnosticHandler {
public:
  RemarkPrinter(ArrayRef<std::string> Words, raw_ostream &OS) : OS(OS) {
    for (StringRef Word : Words) {
      if (Word.consume_front("-Rpass="))
        Passed = Word.str();
      else if (Word.consume_front("-Rpass-missed="))
        Missed = Word.str();
    }
  }

  bool isAnyRemarkEnabled() const override {
    return !Passed.empty() || !Missed.empty();
  }
  bool isPassedOptRemarkEnabled(StringRef Pass) const override {
    return !Passed.empty() && Regex(Passed).match(Pass);
  }
  bool isMissedOptRemarkEnabled(StringRef Pass) const override {
    return !Missed.empty() && Regex(Missed).match(Pass);
  }
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    const auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info);
    if (!Remark)
      return false;
    if (!Remark->isEnabled())
      return true;
    OS << (Remark->isLocationAvailable() ? Remark->getLocationStr()
                                         : Remark->getFunction().getName())
       << ": remark: " << Remark->getMsg() << " ["
       << (Remark->isPassed() ? "-Rpass=" : "-Rpass-missed=")
       << Remark->getPassName() << "]\n";
    return true;
  }

private:
  raw_ostream &OS;
  std::string Passed, Missed;
};

} // namespace

static Error meld(Module &M, const transform::MeldOptions &Options) {
  unsigned Melded = 0;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    OptimizationRemarkEmitter Remarks(&F);
    Melded += transform::meldFunction(F, Options, Remarks).Branches;
  }
  if (Melded)
    analysis::renumberBlocks(M);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return internalError("melding made invalid code of " +
                         M.getSourceFileName() + ": " + Broken);
  return Error::success();
}

Error requestMelding(BuildRequest &Request) {
  if (!Request.Meld)
    return Error::success();
  auto Options = transform::parseMeldOptions(*Request.Meld);
  if (!Options)
    return Options.takeError();
  Request.Compile.Transform = [Options = *Options,
                               Words = Request.Compile.ClangArguments,
                               OS = Request.Diagnostics](Module &M) {
    if (OS)
      M.getContext().setDiagnosticHandler(
          std::make_unique<RemarkPrinter>(Words, *OS));
    return meld(M, Options);
  };
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

static void printPage(transform::RefusalCode Code, raw_ostream &OS) {
  std::string Sentence = transform::sentenceOf(Code).str();
  Sentence[0] = char(std::toupper(Sentence[0]));
  OS << "## " << transform::nameOf(Code) << "\n\n"
     << Sentence << ".\n\n"
     << transform::pageOf(Code) << "\n";
}

Error explain(StringRef Name, raw_ostream &OS) {
  if (!Name.empty()) {
    auto Code = transform::refusalNamed(Name);
    if (!Code)
      return userError("there is no code '" + Name + "'",
                       "reconverge explain lists them all.");
    printPage(*Code, OS);
    return Error::success();
  }
  OS << "# Codes\n\nWhy a branch was left as it is. A remark ends in one of "
        "these; `reconverge explain <code>` prints its page, and `reconverge "
        "explain` all of this file.\n";
  for (transform::RefusalCode Code : transform::allRefusals()) {
    OS << "\n";
    printPage(Code, OS);
  }
  return Error::success();
}

} // namespace reconverge::driver
