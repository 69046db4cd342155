//===- remedies/Table.cpp - All remedies ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remedies.def is the list. Here is what is the same for all of them.
//
//===----------------------------------------------------------------------===//

#include "remedies/Table.h"

#include "analysis/MachineCode.h"
#include "analysis/Marks.h"
#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/Remedied.h"
#include "launch/RecipeText.h"
#include "remedies/common/ItemRefusals.h"
#include "remedies/common/KernelCopy.h"
#include "remedies/common/Requests.h"
#include "remedies/common/Runs.h"
#include "remedies/common/Slice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <limits>

using namespace llvm;

namespace reconverge::remedies {

namespace {

/// Keeps what remedies say about code that they left alone, and passes on the
/// remarks of remedies that \p Others wants; but nothing of what LLVM's passes
/// say while registers are counted.
class MissedRemarks : public DiagnosticHandler {
public:
  MissedRemarks(std::vector<std::string> &Into, DiagnosticHandler *Others)
      : Into(Into), Others(Others) {}
  bool isAnyRemarkEnabled() const override { return true; }
  bool isMissedOptRemarkEnabled(StringRef) const override { return true; }
  bool isPassedOptRemarkEnabled(StringRef Pass) const override {
    return Others && Others->isPassedOptRemarkEnabled(Pass);
  }
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    const auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info);
    if (!Remark || !Remark->getPassName().starts_with("reconverge-"))
      return Remark != nullptr;
    if (Others && (!Remark->isMissed() ||
                   Others->isMissedOptRemarkEnabled(Remark->getPassName())))
      Others->handleDiagnostics(Info);
    if (!Remark->isMissed())
      return true;
    std::string Place;
    if (Remark->isLocationAvailable()) {
      StringRef File;
      unsigned Line = 0, Column = 0;
      Remark->getLocation(File, Line, Column);
      Place = (sys::path::filename(File) + ":" + Twine(Line) + ": ").str();
    }
    // Copies of a branch, as inlining and unrolling make, say it once.
    if (std::string Why = Place + Remark->getMsg(); !is_contained(Into, Why))
      Into.push_back(std::move(Why));
    return true;
  }

private:
  std::vector<std::string> &Into;
  DiagnosticHandler *Others;
};

} // namespace

static const Remedy *const Table[] = {
#define REMEDY(NAME, DOES, PARAMETERS, STATEMENTS, WORDS) &NAME::Itself,
#include "remedies/Remedies.def"
#undef REMEDY
};

ArrayRef<const Remedy *> all() { return Table; }

ArrayRef<RemedyRule> rules() {
  static const std::vector<RemedyRule> Rules = [] {
    std::vector<RemedyRule> Rules;
    for (const Remedy *R : Table)
      if (R->BoundAt)
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
  append_range(All, sliced::All);
  return All;
}

const RefusalKind *refusalNamed(StringRef Code) {
  for (const RefusalKind *Kind : refusals())
    if (Code.equals_insensitive(Kind->code()))
      return Kind;
  return nullptr;
}

std::vector<Candidate> asked(const Function &Kernel) {
  std::vector<Candidate> All;
  for (const Remedy *R : Table)
    if (R->ChangesLaunch && requestWordsOf(R->Name) &&
        isAskedFor(Kernel, R->Name))
      All.push_back({R->Name.str(), OnlyWhereAsked.str(), R->Promises});
  return All;
}

std::vector<Candidate> candidates(const KernelProfile &Seen, bool Diverges,
                                  const analysis::MachineLimits *Limits,
                                  ArrayRef<Candidate> Asked) {
  std::vector<Candidate> All(Asked.begin(), Asked.end());
  for (const Remedy *R : Table) {
    auto Add = [&](std::vector<std::string> Ways) {
      for (std::string &Parameters : Ways)
        All.push_back({R->Name.str(), std::move(Parameters), R->Promises});
    };
    if (R->Guess && Diverges)
      Add(R->Guess(Seen));
    if (R->GuessBySchedule && Limits)
      Add(R->GuessBySchedule(Seen, *Limits));
  }
  return withProofs(std::move(All));
}

namespace {
/// The code of a candidate that is to be compiled.
struct ToCompile {
  size_t Candidate;
  SmallVector<char, 0> Bitcode;
};
} // namespace

/// Compiles all of \p Codes, of one kernel each, at once: ptxas takes long.
static void compile(ArrayRef<ToCompile> Codes, unsigned RegistersBefore,
                    const LastCompiler &Ptxas, std::vector<Foreseen> &All) {
  DefaultThreadPool Pool;
  for (const ToCompile &Code : Codes)
    Pool.async([&] {
      LLVMContext Context;
      auto M = parseBitcodeFile(
          {{Code.Bitcode.data(), Code.Bitcode.size()}, "candidate"}, Context);
      if (!M)
        return consumeError(M.takeError());
      const auto Made = Ptxas.Compile(**M);
      if (!Made || Made->Registers.size() != 1)
        return;
      const auto Kernel = Made->Registers.begin();
      AddedWork &Added = *All[Code.Candidate].Added;
      Added.Registers = int(Kernel->second) - int(RegistersBefore);
      if (Ptxas.Prices)
        Added.Machine =
            workOf(*(*M)->getFunction(Kernel->first()), *Made, *Ptxas.Prices);
    });
}

/// As Remedy::Foresee, of a remedy whose rule knows all that counts and code
/// tell, but for whether the pass makes anything of \p Copy.
static Foreseen foreseeByRule(const Remedy &R, Function &Copy,
                              const KernelProfile &Seen,
                              const std::string &Parameters) {
  Foreseen F;
  F.Slots.assign(Seen.Info.Branches.size(),
                 std::numeric_limits<double>::infinity());
  auto Made = apply({R.Name.str(), Parameters}, Copy);
  F.IsRefused = !Made || !Made->Changed;
  if (!Made)
    consumeError(Made.takeError()); // it is tried, and says so itself
  return F;
}

std::vector<Foreseen> foreseen(const Function &Kernel,
                               const KernelProfile &Seen,
                               const LastCompiler &Ptxas) {
  std::vector<Foreseen> All;
  std::vector<ToCompile> Codes;
  for (const Remedy *R : Table)
    if (R->BoundAt && R->Guess)
      for (std::string &Parameters : R->Guess(Seen)) {
        const std::unique_ptr<Module> M = CloneModule(*Kernel.getParent());
        Function &Copy = *M->getFunction(Kernel.getName());
        All.push_back(R->Foresee ? R->Foresee(Copy, Seen, Parameters)
                                 : foreseeByRule(*R, Copy, Seen, Parameters));
        if (Ptxas.Compile && Seen.Info.Registers && All.back().Added &&
            !All.back().IsRefused) {
          // There may be another one of that name now.
          const auto Alone = copyAlone(*M->getFunction(Kernel.getName()));
          raw_svector_ostream OS(
              Codes.emplace_back(ToCompile{All.size() - 1, {}}).Bitcode);
          WriteBitcodeToFile(*Alone.first, OS);
        }
        All.back().Remedy = R->Name.str();
        All.back().Parameters = std::move(Parameters);
      }
  if (!Codes.empty())
    compile(Codes, Seen.Info.Registers, Ptxas, All);
  return All;
}

/// Null: there is no such remedy.
static const Remedy *remedyOf(const Candidate &What) {
  const auto *Found =
      find_if(Table, [&](const Remedy *R) { return R->Name == What.Remedy; });
  return Found == std::end(Table) ? nullptr : *Found;
}

bool changesLaunch(const Candidate &What) {
  const Remedy *R = remedyOf(What);
  return R && R->changesLaunch(What.Parameters);
}

Moved movedBy(const Candidate &What) {
  const Remedy *R = remedyOf(What);
  return R && R->Moves ? R->Moves(What.Parameters) : Moved::Nothing;
}

bool isProof(const Candidate &What) {
  const Remedy *R = remedyOf(What);
  return R && R->ProofsOf;
}

bool isUnforeseen(const Candidate &What) {
  const Remedy *R = remedyOf(What);
  return R && R->OrdersMemory && R->OrdersMemory(What.Parameters);
}

std::optional<Candidate> joined(const Candidate &A, const Candidate &B) {
  const Remedy *R = remedyOf(A);
  if (!R || R != remedyOf(B) || !R->Join)
    return std::nullopt;
  Candidate Both = A;
  if (auto Parameters = R->Join(A.Parameters, B.Parameters))
    Both.Parameters = *Parameters;
  else
    return std::nullopt;
  return Both;
}

std::optional<Candidate> stopping(const Candidate &What, double Share) {
  const Remedy *R = remedyOf(What);
  if (!R || !R->Stopping)
    return std::nullopt;
  Candidate Stops = What;
  Stops.Parameters = R->Stopping(What.Parameters, Share);
  return Stops;
}

std::vector<Candidate> withProofs(std::vector<Candidate> All) {
  std::vector<Candidate> Proofs;
  for (Moved Unit : {Moved::Threads, Moved::Blocks}) {
    if (none_of(All, [&](const Candidate &C) { return movedBy(C) == Unit; }))
      continue;
    for (const Remedy *R : Table)
      if (R->ProofsOf)
        for (std::string &Parameters : R->ProofsOf(Unit))
          Proofs.push_back({R->Name.str(), std::move(Parameters)});
  }
  All.insert(All.begin(), Proofs.begin(), Proofs.end());
  return All;
}

static Expected<const Remedy *> find(const Candidate &What) {
  if (const Remedy *R = remedyOf(What))
    return R;
  return userError("there is no remedy '" + What.Remedy + "'",
                   "This version has fewer or other remedies than the one "
                   "that made the decision; optimize the program again.");
}

/// As Remedy::Apply; the kernel that a recipe is for carries it afterwards.
static Expected<std::optional<Recipe>>
applyTo(Function &F, const Remedy &R, StringRef Parameters,
        const Services &Services, OptimizationRemarkEmitter &Remarks) {
  if (R.changesLaunch(Parameters) && !analysis::isKernel(F))
    return std::nullopt;
  Module &M = *F.getParent();
  const std::string Name = F.getName().str();
  auto Made = R.Apply(F, Parameters, Services, Remarks); // F may be gone
  if (Made && *Made && !(*Made)->isPlain())
    M.getFunction(Name)->addFnAttr(RecipeAttribute,
                                   launch::printRecipe(**Made));
  return Made;
}

/// The functions of \p M with a body, as they are now.
static std::vector<Function *> definitions(Module &M) {
  std::vector<Function *> All;
  for (Function &F : M)
    if (!F.isDeclaration() && !analysis::isTwin(F))
      All.push_back(&F);
  return All;
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
  for (Function *F : definitions(M)) {
    OptimizationRemarkEmitter Remarks(F);
    auto Made = applyTo(*F, **Found, What.Parameters, Services, Remarks);
    if (!Made)
      return Made.takeError();
    Any |= Made->has_value();
  }
  return Any ? finish(What, M, M.getSourceFileName()) : Error::success();
}

Expected<Applied> applyWith(const Services &Services, const Candidate &What,
                            Function &Kernel) {
  auto Found = find(What);
  if (!Found)
    return Found.takeError();
  Applied Result;
  Module &M = *Kernel.getParent();
  const std::string Name = Kernel.getName().str();
  LLVMContext &Context = Kernel.getContext();
  std::unique_ptr<DiagnosticHandler> Others = Context.getDiagnosticHandler();
  Context.setDiagnosticHandler(
      std::make_unique<MissedRemarks>(Result.Missed, Others.get()));
  auto Made = [&] {
    OptimizationRemarkEmitter Remarks(&Kernel);
    return applyTo(Kernel, **Found, What.Parameters, Services, Remarks);
  }();
  Context.setDiagnosticHandler(std::move(Others));
  if (!Made)
    return Made.takeError();
  Result.Changed = Made->has_value();
  if (Result.Changed)
    if (Error E = finish(What, M, Name))
      return std::move(E);
  return Result;
}

Expected<Applied> apply(const Candidate &What, Function &Kernel) {
  return applyWith({}, What, Kernel);
}

PreservedAnalyses RemedyPass::run(Function &F, FunctionAnalysisManager &AM) {
  if (!Triple(F.getParent()->getTargetTriple()).isNVPTX())
    return PreservedAnalyses::all();
  auto &Remarks = AM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  cantFail(applyTo(F, *Which, Parameters, {}, Remarks));
  // Even where nothing is done, blocks and instructions may have been replaced.
  return PreservedAnalyses::none();
}

PreservedAnalyses RecipePass::run(Module &M, ModuleAnalysisManager &) {
  if (!Triple(M.getTargetTriple()).isNVPTX())
    return PreservedAnalyses::all();
  for (Function *F : definitions(M)) {
    OptimizationRemarkEmitter Remarks(F);
    cantFail(applyTo(*F, *Which, Parameters, {}, Remarks));
  }
  return PreservedAnalyses::none();
}

} // namespace reconverge::remedies
