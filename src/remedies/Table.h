//===- remedies/Table.h - All remedies --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_TABLE_H
#define RECONVERGE_REMEDIES_TABLE_H

#include "analysis/MachineCode.h"
#include "core/Cost.h"
#include "core/Decision.h"
#include "core/Forecast.h"
#include "remedies/common/Remedy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>

namespace reconverge::remedies {

/// In the order in which they are tried.
llvm::ArrayRef<const Remedy *> all();

/// How the model finds what they may give back at branches, in the same order;
/// what is not about branches has no rule.
llvm::ArrayRef<RemedyRule> rules();

/// Why remedies may not apply: of each what is its own, in the same order, then
/// what several may say.
std::vector<const RefusalKind *> refusals();

/// Of "RC101" or "rc101"; null: there is none.
const RefusalKind *refusalNamed(llvm::StringRef Code);

/// The candidates of remedies that change launches which the source of
/// \p Kernel asks for.
std::vector<Candidate> asked(const llvm::Function &Kernel);

/// Every candidate that changes code and is worth a trial on a kernel, with
/// proofs in front. \p Diverges: it wastes enough for what is done about that.
/// \p Limits: of the GPU; null: not known, and nobody asks how thread blocks
/// fill it. \p Asked are worth a trial in any case.
std::vector<Candidate> candidates(const KernelProfile &Seen, bool Diverges,
                                  const analysis::MachineLimits *Limits,
                                  llvm::ArrayRef<Candidate> Asked = {});

/// How forecasts know the machine code of candidates.
struct LastCompiler {
  /// What it makes of a module; none if it does not. Null: there is none. It is
  /// asked by several threads.
  std::function<std::optional<analysis::MachineCode>(const llvm::Module &)>
      Compile = nullptr;
  const analysis::MachineModel *Prices = nullptr; ///< of that; null: unknown
};

/// What the code of \p Kernel, which \p Seen is of, tells of each candidate of
/// remedies that ask it; by \p Ptxas how many registers more the kernel takes with
/// it than \p Seen says, and what its machine code keeps busy, where counts of the
/// original tell that (common/Runs.h).
std::vector<Foreseen> foreseen(const llvm::Function &Kernel,
                               const KernelProfile &Seen,
                               const LastCompiler &Ptxas = {});

/// The UserError names a remedy or a parameter that there is not.
llvm::Error check(const Candidate &What);

/// Whether its remedy, if there is such a one, changes launches with its
/// parameters.
bool changesLaunch(const Candidate &What);
/// What changes places by it; nothing where there is no such remedy.
Moved movedBy(const Candidate &What);
/// Whether it only proves that what moves may.
bool isProof(const Candidate &What);
/// Whether no forecast knows all that it may gain: Remedy::OrdersMemory.
bool isUnforeseen(const Candidate &What);
/// The candidate that does what \p A and \p B do, if they are of one remedy and
/// go together.
std::optional<Candidate> joined(const Candidate &A, const Candidate &B);
/// \p What, with launches that stop where one drops more than \p Share of its
/// threads; none: its remedy has no such.
std::optional<Candidate> stopping(const Candidate &What, double Share);
/// \p All, and in front of them the proofs that those ask for that move
/// something.
std::vector<Candidate> withProofs(std::vector<Candidate> All);

/// What a remedy came to on one kernel.
struct Applied {
  bool Changed = false;
  /// Why branches were left alone, as remarks say it ("app.cu:12: not melded:
  /// ... [RC121]"), in program order.
  std::vector<std::string> Missed;
};

/// Applies \p What to every function of \p M, whose blocks are numbered, and
/// numbers the blocks anew. Remarks go where the context's handler sends them.
llvm::Error applyToModule(const Candidate &What, llvm::Module &M,
                          const Services &Services = {});

/// Applies \p What to \p Kernel of its module, whose blocks are numbered, and
/// numbers the module's blocks anew. The UserError names a remedy or a
/// parameter that there is not.
llvm::Expected<Applied> applyWith(const Services &Services,
                                  const Candidate &What,
                                  llvm::Function &Kernel);
/// The same, where nobody counts registers.
llvm::Expected<Applied> apply(const Candidate &What, llvm::Function &Kernel);

/// `reconverge-<name>`. To be run last: SimplifyCFG would undo melding, and
/// inlining has to come first. Does nothing to a host's code.
class RemedyPass : public llvm::PassInfoMixin<RemedyPass> {
public:
  /// \p Which accepts \p Parameters.
  RemedyPass(const Remedy &Which, std::string Parameters)
      : Which(&Which), Parameters(std::move(Parameters)) {}
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &AM);

private:
  const Remedy *Which;
  std::string Parameters;
};

/// The same for a remedy that changes launches, to look at what it makes: it
/// takes the place of each kernel, and no host code knows of it.
class RecipePass : public llvm::PassInfoMixin<RecipePass> {
public:
  RecipePass(const Remedy &Which, std::string Parameters)
      : Which(&Which), Parameters(std::move(Parameters)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);

private:
  const Remedy *Which;
  std::string Parameters;
};

} // namespace reconverge::remedies

#endif
