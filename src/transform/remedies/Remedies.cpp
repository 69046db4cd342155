//===- transform/remedies/Remedies.cpp - All transforms, by name ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new transform becomes a candidate of every trial, and a build's choice, by
// one entry in the table below.
//
//===----------------------------------------------------------------------===//

#include "transform/remedies/Remedies.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "transform/meld/Meld.h"
#include "transform/remap/Remap.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::transform {

namespace {

struct Entry {
  Remedy Facts;
  Error (*Check)(StringRef Parameters);
  /// Whether the function was changed.
  Expected<bool> (*Apply)(Function &F, StringRef Parameters,
                          const RegisterCounter &Registers);
};

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

/// A transform with the reader of its parameters.
template <auto Parse, auto Run> struct Transform {
  static Error check(StringRef Parameters) {
    return Parse(Parameters).takeError();
  }
  static Expected<bool> apply(Function &F, StringRef Parameters,
                              const RegisterCounter &Registers) {
    auto Options = Parse(Parameters);
    if (!Options)
      return Options.takeError();
    if constexpr (requires { Options->CountRegisters; })
      Options->CountRegisters = Registers;
    OptimizationRemarkEmitter Remarks(&F);
    return Run(F, *Options, Remarks);
  }
};

static bool meld(Function &F, const MeldOptions &Options,
                 OptimizationRemarkEmitter &Remarks) {
  return meldFunction(F, Options, Remarks).Branches != 0;
}

static bool remap(Function &F, const RemapOptions &Options,
                  OptimizationRemarkEmitter &Remarks) {
  return remapFunction(F, Options, Remarks) != 0;
}

template <auto Parse, auto Run>
static constexpr Entry entry(StringLiteral Name,
                             ArrayRef<StringLiteral> Parameters) {
  using T = Transform<Parse, Run>;
  return {{Name, Parameters}, T::check, T::apply};
}

static constexpr StringLiteral MeldParameters[] = {"", "threshold=0"};
/// For kernels of small blocks, less shared memory; for two paths, the fewest
/// registers.
static constexpr StringLiteral RemapParameters[] = {"", "threads=256",
                                                    "algorithm=head_or_tail"};

static const Entry Table[] = {
    entry<parseMeldOptions, meld>("meld", MeldParameters),
    entry<parseRemapOptions, remap>("remap", RemapParameters),
};

ArrayRef<Remedy> remedies() {
  static const std::vector<Remedy> All = [] {
    std::vector<Remedy> Facts;
    for (const Entry &E : Table)
      Facts.push_back(E.Facts);
    return Facts;
  }();
  return All;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> All;
  for (const Remedy &R : remedies())
    for (StringRef Parameters : R.Parameters)
      All.push_back({R.Name.str(), Parameters.str()});
  return All;
}

static Expected<const Entry *> find(const Candidate &What) {
  const Entry *Found = find_if(
      Table, [&](const Entry &E) { return E.Facts.Name == What.Remedy; });
  if (Found == std::end(Table))
    return userError("there is no remedy '" + What.Remedy + "'",
                     "This version has fewer or other remedies than the one "
                     "that made the decision; optimize the program again.");
  return Found;
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
                    const RegisterCounter &Registers) {
  auto Found = find(What);
  if (!Found)
    return Found.takeError();
  bool Any = false;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    Expected<bool> Changed = (*Found)->Apply(F, What.Parameters, Registers);
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
  Expected<bool> Changed = (*Found)->Apply(Kernel, What.Parameters, nullptr);
  Context.setDiagnosticHandler(std::move(Others));
  if (!Changed)
    return Changed.takeError();
  Result.Changed = *Changed;
  if (Result.Changed)
    if (Error E = finish(What, *Kernel.getParent(), Kernel.getName()))
      return std::move(E);
  return Result;
}

} // namespace reconverge::transform
