//===- driver/Remedies.cpp - --<remedy>, pragmas, attributes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remedies come after the whole device pipeline: multiply-adds are formed on
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

#include "analysis/CodeHash.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/Remedied.h"
#include "driver/LaunchWarnings.h"
#include "frontend/Registers.h"
#include "remedies/common/Requests.h"

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

/// The remedies that the source of \p M asks for.
static Expected<std::set<std::string>> settleRequests(Module &M) {
  auto Found = remedies::settleRequests(M);
  if (!Found)
    return Found.takeError();
  if (!Found->Unmatched.empty())
    return userError(join(Found->Unmatched, "\n"), remedies::UnmatchedHelp);
  return std::move(Found->Asked);
}

Expected<remedies::Applied> applyBeside(const Candidate &What, Function &Kernel,
                                        const frontend::LaunchBounds &Bounds,
                                        const remedies::Services &Services) {
  Function &Copy = frontend::copyForRemedy(Kernel, Bounds);
  auto Result = remedies::applyWith(Services, What, Copy);
  if (Result && !Result->Changed)
    Copy.eraseFromParent();
  return Result;
}

/// Host code that chooses at a launch is compiled after the device's, whole.
static Error checkLaunches(const Candidate &What, bool Relocatable,
                           const Twine &By) {
  if (Relocatable && remedies::changesLaunch(What))
    return userError(By + ": launches of relocatable device code cannot "
                          "change",
                     "Build without -rdc=true and -dc.");
  return Error::success();
}

/// The kernels of \p M beside which there is a copy that launches may take.
static std::set<Function *> remediedIn(Module &M) {
  std::set<Function *> All;
  for (Function &F : M)
    if (M.getFunction((F.getName() + RemediedSuffix).str()))
      All.insert(&F);
  return All;
}

/// Whether \p What leaves alone what the source does not ask for.
static bool isOnlyWhereAsked(const Candidate &What) {
  SmallVector<StringRef, 4> Words;
  StringRef(What.Parameters).split(Words, ';');
  return is_contained(Words, remedies::OnlyWhereAsked);
}

/// Applies to all kernels of \p M but those that are \p Decided a remedy that
/// changes launches; any launch is to take it. Who asks for it hears of what
/// cannot have it. A kernel has one such remedy, the first.
static Error applyToLaunches(const Candidate &What, Module &M,
                             const std::set<Function *> &Decided,
                             const remedies::Services &Services,
                             LaunchWarnings Warnings, raw_ostream *OS) {
  std::vector<Function *> Kernels;
  for (Function &F : M)
    if (!F.isDeclaration() && analysis::isKernel(F) && !Decided.count(&F) &&
        !F.getName().ends_with(RemediedSuffix) &&
        !F.getName().ends_with(HelperSuffix) &&
        (!isOnlyWhereAsked(What) || remedies::isAskedFor(F, What.Remedy)))
      Kernels.push_back(&F);
  for (Function *Kernel : Kernels) {
    if (M.getFunction((Kernel->getName() + RemediedSuffix).str())) {
      Warnings.addTaken(*Kernel);
      continue;
    }
    auto Result = applyBeside(
        What, *Kernel, {.Threads = UINT64_MAX, .Shared = INT32_MAX}, Services);
    if (!Result)
      return Result.takeError();
    if (Result->Missed.empty())
      continue;
    if (Result->Changed)
      Warnings.addChanged(*Kernel, Result->Missed);
    else
      Warnings.addAsItIs(*Kernel, Result->Missed);
  }
  if (OS)
    Warnings.print(*OS);
  return Error::success();
}

Error requestRemedies(BuildRequest &Request, const frontend::Toolchain &Tools) {
  for (const Candidate &What : Request.Remedies) {
    if (Error E = remedies::check(What))
      return E;
    if (Error E = checkLaunches(What, Request.Compile.Relocatable,
                                "--" + What.Remedy))
      return E;
  }
  frontend::CompileOptions &Compile = Request.Compile;
  auto CountRegisters = [Compile,
                         Tools](const Module &M) -> std::optional<RegisterUse> {
    auto Count = frontend::countRegisters(M, Compile, Tools);
    if (Count)
      return *Count;
    consumeError(Count.takeError()); // a remark says that they are not known
    return std::nullopt;
  };
  Compile.Transform =
      [Remedies = Request.Remedies, CountRegisters,
       Relocatable = Compile.Relocatable, Leave = Request.LeaveLaunches,
       IsWhole = Request.Make == BuildRequest::Product::Program &&
                 Request.Inputs.size() == 1,
       Words = Compile.ClangArguments, OS = Request.Diagnostics,
       Headers = std::vector<std::string>{Tools.Cuda.includeDir(),
                                          Tools.Cuda.ccclDir()},
       Then = std::move(Compile.Transform)](Module &M) -> Error {
    remedies::Services Services = {CountRegisters};
    if (OS)
      M.getContext().setDiagnosticHandler(
          std::make_unique<RemarkPrinter>(Words, *OS));
    auto Asked = settleRequests(M);
    if (!Asked)
      return Asked.takeError();
    std::vector<Candidate> Launches;
    for (const std::string &Name : *Asked) {
      const Candidate What = {Name, remedies::OnlyWhereAsked.str()};
      if (any_of(Remedies, [&](const Candidate &C) {
            return C.Remedy == Name; // it sees requests as well
          }))
        continue;
      if (Error E = checkLaunches(What, Relocatable,
                                  "#pragma reconverge " + What.Remedy))
        return E;
      if (remedies::changesLaunch(What))
        Launches.push_back(What);
      else if (Error E = remedies::applyToModule(What, M, Services))
        return E;
    }
    if (!Remedies.empty())
      Services.CodeHash = analysis::codeHash(M);
    Services.IsWhole = IsWhole;
    // Decisions are of this code, and go before what the source asks for.
    if (Error E = Then ? Then(M) : Error::success())
      return E;
    const std::set<Function *> Decided = remediedIn(M);
    if (!Leave)
      for (const Candidate &What : Launches)
        if (Error E = applyToLaunches(What, M, Decided, Services,
                                      {What.Remedy, Headers}, OS))
          return E;
    for (const Candidate &What : Remedies)
      if (Error E = remedies::changesLaunch(What)
                        ? applyToLaunches(What, M, Decided, Services,
                                          {What.Remedy, Headers}, OS)
                        : remedies::applyToModule(What, M, Services))
        return E;
    return Error::success();
  };
  const std::string Plugin = Tools.Tree.pragmasPath();
  Compile.ClangArguments.push_back("-fplugin=" + Plugin);
  Compile.HostArguments.push_back("-fpass-plugin=" + Plugin);
  return Error::success();
}

} // namespace reconverge::driver
