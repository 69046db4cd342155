//===- driver/Remedies.cpp - --meld, --remap, pragmas ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transforms come after the whole device pipeline: multiply-adds are formed on
// the code that all variants share, so that a changed program computes the bits
// of the original, and blocks have their numbers, by which branch=<n> and
// profiles name branches. Afterwards blocks are numbered and counted anew;
// branches keep their numbers.
//
// Pragmas come first: they are part of the program. Our plugin for clang leaves
// them in the device code (plugin/Pragmas.cpp).
//
// Registers are counted for these alone, and not for what decisions keep: that
// is applied as it was tried. The count must not depend on whether a GPU's code
// is built, or a profile's program would be another than the final one.
//
//===----------------------------------------------------------------------===//

#include "driver/Remedies.h"

#include "core/Error.h"
#include "frontend/Registers.h"
#include "transform/common/Refusal.h"
#include "transform/remap/Pragmas.h"
#include "transform/remedies/Remedies.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace reconverge::driver {

namespace {

/// Prints the remarks of passes that run in this process as clang prints its
/// own; and warns of what a pragma asks for and cannot be.
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
                                         : Remark->getFunction().getName());
    if (isa<DiagnosticInfoOptimizationFailure>(Remark))
      OS << ": warning: " << Remark->getMsg() << "\n";
    else
      OS << ": remark: " << Remark->getMsg() << " ["
         << (Remark->isPassed() ? "-Rpass=" : "-Rpass-missed=")
         << Remark->getPassName() << "]\n";
    return true;
  }

private:
  raw_ostream &OS;
  std::string Passed, Missed;
};

} // namespace

/// What pragmas say, and whether a branch is to be remapped by one.
static Expected<bool> settlePragmas(Module &M) {
  auto Found = transform::settlePragmas(M);
  if (!Found)
    return Found.takeError();
  if (!Found->Unmatched.empty())
    return userError(join(Found->Unmatched, "\n"), transform::UnmatchedRemedy);
  return Found->Asked != 0;
}

Error requestRemedies(BuildRequest &Request, const frontend::Toolchain &Tools) {
  for (const Candidate &What : Request.Remedies)
    if (Error E = transform::check(What))
      return E;
  frontend::CompileOptions &Compile = Request.Compile;
  auto CountRegisters = [Compile,
                         Tools](const Module &M) -> std::optional<unsigned> {
    auto Count = frontend::countRegisters(M, Compile, Tools);
    if (Count)
      return *Count;
    consumeError(Count.takeError()); // a remark says that they are not known
    return std::nullopt;
  };
  Compile.Transform = [Remedies = Request.Remedies, CountRegisters,
                       Words = Compile.ClangArguments, OS = Request.Diagnostics,
                       Then = std::move(Compile.Transform)](Module &M) {
    if (OS)
      M.getContext().setDiagnosticHandler(
          std::make_unique<RemarkPrinter>(Words, *OS));
    auto Asked = settlePragmas(M);
    if (!Asked)
      return Asked.takeError();
    std::vector<Candidate> All = Remedies;
    if (*Asked && none_of(All, [](const Candidate &C) {
          return C.Remedy == "remap"; // it sees pragmas as well
        }))
      All.insert(All.begin(), {"remap", "marked=1"});
    for (const Candidate &What : All)
      if (Error E = transform::applyToModule(What, M, CountRegisters))
        return E;
    return Then ? Then(M) : Error::success();
  };
  SmallString<128> Plugin(Tools.Tree.binDir());
  sys::path::append(Plugin, "..", "lib", "libReconvergeClang.so");
  Compile.ClangArguments.push_back("-fplugin=" + Plugin.str().str());
  Compile.HostArguments.push_back("-fpass-plugin=" + Plugin.str().str());
  return Error::success();
}

} // namespace reconverge::driver
