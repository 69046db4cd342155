//===- remedies/Table.cpp - All remedies ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remedies.def is the list. Here is what is the same for all of them.
//
//===----------------------------------------------------------------------===//

#include "remedies/Table.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "remedies/common/ItemRefusals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace reconverge::remedies {

namespace {

/// Keeps what passes say about code that they left alone.
class MissedRemarks : public DiagnosticHandler {
public:
  explicit MissedRemarks(std::vector<std::string> &Into) : Into(Into) {}
  bool isAnyRemarkEnabled() const override { return true; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return true; }
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    const auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info);
    if (!Remark || !Remark->isMissed())
      return Remark != nullptr;
    std::string Place;
    if (Remark->isLocationAvailable()) {
      StringRef File;
      unsigned Line = 0, Column = 0;
      Remark->getLocation(File, Line, Column);
      Place = (sys::path::filename(File) + ":" + Twine(Line) + ": ").str();
    }
    Into.push_back(Place + Remark->getMsg());
    return true;
  }

private:
  std::vector<std::string> &Into;
};

} // namespace

static const Remedy *const Table[] = {
#define REMEDY(NAME, DOES, PARAMETERS, WORDS) &NAME::Itself,
#include "remedies/Remedies.def"
#undef REMEDY
};

ArrayRef<const Remedy *> all() { return Table; }

ArrayRef<RemedyRule> rules() {
  static const std::vector<RemedyRule> Rules = [] {
    std::vector<RemedyRule> Rules;
    for (const Remedy *R : Table)
      Rules.push_back({{R->Name.str(), R->Advice.str(), R->PriceOf.str()},
                       R->RegroupsBlock,
                       R->BoundAt});
    return Rules;
  }();
  return Rules;
}

std::vector<const RefusalKind *> refusals() {
  std::vector<const RefusalKind *> All;
  for (const Remedy *R : Table)
    append_range(All, R->Refusals);
  append_range(All, tied::All);
  return All;
}

const RefusalKind *refusalNamed(StringRef Code) {
  for (const RefusalKind *Kind : refusals())
    if (Code.equals_insensitive(Kind->code()))
      return Kind;
  return nullptr;
}

std::vector<Candidate> candidates(const KernelProfile &Seen) {
  std::vector<Candidate> All;
  for (const Remedy *R : Table)
    for (std::string &Parameters : R->Guess(Seen))
      All.push_back({R->Name.str(), std::move(Parameters)});
  return All;
}

static Expected<const Remedy *> find(const Candidate &What) {
  const auto *Found =
      find_if(Table, [&](const Remedy *R) { return R->Name == What.Remedy; });
  if (Found == std::end(Table))
    return userError("there is no remedy '" + What.Remedy + "'",
                     "This version has fewer or other remedies than the one "
                     "that made the decision; optimize the program again.");
  return *Found;
}

static Expected<bool> applyTo(Function &F, const Remedy &R,
                              StringRef Parameters, const Services &Services) {
  OptimizationRemarkEmitter Remarks(&F);
  return R.Apply(F, Parameters, Services, Remarks);
}

/// Afterwards: numbers, and whether what was made is valid.
static Error finish(const Candidate &What, Module &M, StringRef Name) {
  analysis::renumberBlocks(M);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    return internalError(What.text() + " made invalid code of " + Name + ": " +
                         Broken);
  return Error::success();
}

Error check(const Candidate &What) {
  auto Found = find(What);
  return Found ? (*Found)->Check(What.Parameters) : Found.takeError();
}

Error applyToModule(const Candidate &What, Module &M,
                    const Services &Services) {
  auto Found = find(What);
  if (!Found)
    return Found.takeError();
  bool Any = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    Expected<bool> Changed = applyTo(F, **Found, What.Parameters, Services);
    if (!Changed)
      return Changed.takeError();
    Any |= *Changed;
  }
  return Any ? finish(What, M, M.getSourceFileName()) : Error::success();
}

Expected<Applied> apply(const Candidate &What, Function &Kernel) {
  auto Found = find(What);
  if (!Found)
    return Found.takeError();
  Applied Result;
  LLVMContext &Context = Kernel.getContext();
  std::unique_ptr<DiagnosticHandler> Others = Context.getDiagnosticHandler();
  Context.setDiagnosticHandler(std::make_unique<MissedRemarks>(Result.Missed));
  Expected<bool> Changed = applyTo(Kernel, **Found, What.Parameters, {});
  Context.setDiagnosticHandler(std::move(Others));
  if (!Changed)
    return Changed.takeError();
  Result.Changed = *Changed;
  if (Result.Changed)
    if (Error E = finish(What, *Kernel.getParent(), Kernel.getName()))
      return std::move(E);
  return Result;
}

PreservedAnalyses RemedyPass::run(Function &F, FunctionAnalysisManager &AM) {
  if (!Triple(F.getParent()->getTargetTriple()).isNVPTX())
    return PreservedAnalyses::all();
  auto &Remarks = AM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  cantFail(Which->Apply(F, Parameters, {}, Remarks));
  // Even where nothing is done, blocks and instructions may have been replaced.
  return PreservedAnalyses::none();
}

} // namespace reconverge::remedies
