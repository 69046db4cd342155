//===- driver/ByDecisions.cpp - Building by decisions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decision is of a kernel in one module of code, which its hash names. Of
// what a build compiles, the module that has this hash gets it; where there is
// none, the kernel is built as it is, and the user has to hear of it: the gain
// is gone.
//
//===----------------------------------------------------------------------===//

#include "driver/ByDecisions.h"

#include "analysis/CodeHash.h"
#include "analysis/Marks.h"
#include "analysis/device/Annotations.h"
#include "core/DecisionJson.h"
#include "core/Error.h"
#include "driver/Remedies.h"
#include "frontend/ForeignCode.h"
#include "remedies/common/Requests.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

/// Has other compilers make the code of some kernels, or, where two compilers'
/// code cannot be one module, leaves all to us.
static void leaveToOthers(Module &M,
                          const MapVector<Function *, ForeignCompiler> &Kernels,
                          raw_ostream *OS) {
  if (Kernels.empty())
    return;
  const bool IsMixed = any_of(M, [&](Function &F) {
    auto Found = Kernels.find(&F);
    return !F.isDeclaration() && analysis::isKernel(F) &&
           !analysis::isTwin(F) &&
           (Found == Kernels.end() || Found->second != Kernels.front().second);
  });
  const GlobalVariable *Apart =
      IsMixed ? frontend::unsharedVariable(M) : nullptr;
  if (!Apart) {
    for (auto [F, By] : Kernels)
      frontend::markFor(*F, By);
    return;
  }
  if (OS)
    *OS << "reconverge: note: " << M.getSourceFileName() << ": variable '"
        << demangle(Apart->getName())
        << "' is unknown to the host, so kernels by two compilers would not "
           "share it; where another's code was kept, ours is built\n";
}

/// Whether \p Tried shows that the source should not have asked for it.
static bool isAgainst(const TrialResult &Tried, const Decision &D) {
  switch (Tried.End) {
  case TrialOutcome::Slower:
    return D.Measured;
  case TrialOutcome::Wrong:
  case TrialOutcome::Rounded:
  case TrialOutcome::Unproved:
  case TrialOutcome::Faulted:
  case TrialOutcome::TimedOut:
    return true;
  case TrialOutcome::Kept:
  case TrialOutcome::Refused:
  case TrialOutcome::Untried:
    return false;
  }
  llvm_unreachable("all outcomes are above");
}

/// The launches that a remedy is kept for: as large as those it was tried on.
static frontend::LaunchBounds boundsOf(const Decision &D) {
  frontend::LaunchBounds Bounds;
  for (const LaunchShape &S : D.Shapes) {
    Bounds.Threads = std::max(Bounds.Threads,
                              uint64_t(S.Block[0]) * S.Block[1] * S.Block[2]);
    Bounds.Shared = std::max(Bounds.Shared, S.DynamicShared);
  }
  return Bounds;
}

Error Decisions::apply(Module &M, raw_ostream *OS) {
  const std::string Hash = analysis::codeHash(M);
  MapVector<Function *, ForeignCompiler> ForOthers;
  // A kernel of one name can have a decision in each of several modules.
  StringSet<> Decided;
  for (const Decision &D : File.Kernels)
    if (D.Module == Hash)
      Decided.insert(D.Kernel);
  for (auto [D, Now] : zip(File.Kernels, States)) {
    Function *F = M.getFunction(D.Kernel);
    if (!F || F->isDeclaration())
      continue;
    if (D.Module == Hash)
      for (const TrialResult &T : D.Tried)
        if (T.What.Parameters == remedies::OnlyWhereAsked && isAgainst(T, D))
          remedies::dropRequests(*F, T.What.Remedy);
    if (D.Keep == Candidate())
      continue;
    if (D.Module != Hash) {
      if (Now == State::Unseen && !Decided.contains(D.Kernel))
        Now = State::Changed;
      continue;
    }
    if (IsHostCompiled && D.Keep.changesCode()) {
      Now = State::TooLate;
      continue;
    }
    Now = State::Used;
    if (std::optional<ForeignCompiler> By = D.Keep.foreign()) {
      ForOthers.insert({F, *By});
      continue;
    }
    auto Result = applyBeside(D.Keep, *F, boundsOf(D));
    if (!Result)
      return Result.takeError();
    if (!Result->Changed)
      return internalError(D.Keep.text() + " does nothing to " + D.Display +
                           " any more");
  }
  leaveToOthers(M, ForOthers, OS);
  return Error::success();
}

void Decisions::report(bool IsWhole, raw_ostream &OS) const {
  std::string Changed, TooLate, Missing;
  size_t Wanted = 0, Unused = 0;
  for (auto [D, Now] : zip(File.Kernels, States)) {
    if (D.Keep == Candidate())
      continue;
    ++Wanted;
    if (Now == State::Used || (Now == State::Unseen && !IsWhole))
      continue;
    ++Unused;
    std::string &List = Now == State::Changed   ? Changed
                        : Now == State::TooLate ? TooLate
                                                : Missing;
    List += (List.empty() ? "" : ", ") + D.Display;
  }
  if (!Unused)
    return;
  OS << "reconverge: warning: " << Path << ": " << Unused << " of " << Wanted
     << (Wanted == 1 ? " decision" : " decisions")
     << (Unused == 1 ? " is" : " are") << " not used";
  if (!Changed.empty())
    OS << "; code that has changed since: " << Changed;
  if (!TooLate.empty())
    OS << "; relocatable device code, whose launches cannot choose: "
       << TooLate;
  if (!Missing.empty())
    OS << "; no such kernel: " << Missing;
  OS << "\n  What is named is built as it is. Optimize the program again.\n";
}

Expected<std::shared_ptr<Decisions>> requestDecisions(BuildRequest &Request) {
  if (Request.Decisions.empty())
    return nullptr;
  auto File = readDecisions(Request.Decisions);
  if (!File)
    return File.takeError();
  auto All = std::make_shared<Decisions>(std::move(*File), Request.Decisions);
  Request.Compile.Transform = [All, OS = Request.Diagnostics](Module &M) {
    return All->apply(M, OS);
  };
  return All;
}

} // namespace reconverge::driver
