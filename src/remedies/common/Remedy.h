//===- remedies/common/Remedy.h - A remedy as one value ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_COMMON_REMEDY_H
#define RECONVERGE_REMEDIES_COMMON_REMEDY_H

#include "core/Cost.h"
#include "core/Forecast.h"
#include "core/Profile.h"
#include "core/Promise.h"
#include "core/Races.h"
#include "core/Recipe.h"
#include "core/RegisterUse.h"
#include "remedies/common/Names.h"
#include "remedies/common/Refusal.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace reconverge::analysis {
struct MachineLimits;
} // namespace reconverge::analysis

namespace reconverge::remedies {

/// Registers that a thread of the one kernel of a module takes, as the last
/// compiler says; none if it does not.
using RegisterCounter =
    std::function<std::optional<RegisterUse>(const llvm::Module &)>;

/// What a remedy may ask while it is applied.
struct Services {
  /// Null: nobody can say.
  RegisterCounter CountRegisters = nullptr;
  /// Hash of the module's code before any remedy; empty: not known.
  std::string CodeHash = {};
  /// Whether the module is all the device code that is being built.
  bool IsWhole = false;
};

/// All that the rest of the project knows of a remedy. Parameters are
/// "key=value;key=value".
struct Remedy {
  llvm::StringLiteral Name, Does, Parameters; ///< Remedies.def, with - for _
  /// Why it may not apply: All of its Refusals.h.
  llvm::ArrayRef<const RefusalKind *> Refusals;

  /// What a line of advice begins with: "meld its sides".
  llvm::StringLiteral Advice;
  /// What its price is for, in that line, after "for": "rounds". Empty: BoundAt
  /// knows none.
  llvm::StringLiteral PriceOf;
  /// Threads of a block change places: what that gives back need not be sorted.
  bool RegroupsBlock;
  /// What it may give back at a branch, and what that costs, as far as counts
  /// tell. Null: nothing, as it is not about branches.
  RemedyRule::Bound BoundAt;

  /// Parameters that are worth a trial on a kernel that diverges, best guess
  /// first. Null: none.
  std::vector<std::string> (*Guess)(const KernelProfile &Seen);
  /// The UserError names the parameter that is wrong.
  llvm::Error (*Check)(llvm::StringRef Parameters);
  /// Applies the remedy to \p F, whose blocks are numbered and whose address
  /// spaces are known. Returns what is launched in place of \p F, or none if it
  /// was left alone; remarks say where, and why not elsewhere. Fails for
  /// parameters that Check refuses alone.
  llvm::Expected<std::optional<Recipe>> (*Apply)(
      llvm::Function &F, llvm::StringRef Parameters, const Services &Services,
      llvm::OptimizationRemarkEmitter &Remarks);
  /// What is promised of a kernel with it.
  Promise Promises = Promise::Bytes;
  /// Parameters that do what both do, at the places of both; none: there are no
  /// such. Null: never.
  std::optional<std::string> (*Join)(llvm::StringRef A,
                                     llvm::StringRef B) = nullptr;
  /// \p Parameters, with launches that stop where one drops more than \p Share of
  /// its threads (core/Recipe.h, RecipeStop). Null: there are no such.
  std::string (*Stopping)(llvm::StringRef Parameters, double Share) = nullptr;
  /// What changes places with these parameters; null: nothing. Trials prove
  /// first that it may (runtime/trial/Protocol.h).
  Moved (*Moves)(llvm::StringRef Parameters) = nullptr;
  /// Whether, with these parameters, it also orders what memory is asked for: no
  /// forecast knows what that gains. Null: never.
  bool (*OrdersMemory)(llvm::StringRef Parameters) = nullptr;
  /// Parameters by which it proves that what moves may. Null: it is no proof. A proof is neither
  /// timed nor kept.
  std::vector<std::string> (*ProofsOf)(Moved What) = nullptr;
  /// What the code of \p Seen tells of the candidate with \p Parameters, but for
  /// its name: \p Copy is that code, and may be changed, or gone afterwards with
  /// another kernel of its name in its place. Null: it tells whether the pass
  /// applies, and BoundAt all else.
  Foreseen (*Foresee)(llvm::Function &Copy, const KernelProfile &Seen,
                      llvm::StringRef Parameters) = nullptr;
  /// The same of any kernel, for how its thread blocks fill a GPU. Null: none.
  std::vector<std::string> (*GuessBySchedule)(
      const KernelProfile &Seen, const analysis::MachineLimits &Of) = nullptr;
  /// It works on kernels alone, and its recipes are not plain: in place of the
  /// kernel stands one of the same name and other parameters, and there may be
  /// kernels more.
  bool ChangesLaunch = false;
  /// With which parameters it does so, if it does not always. Null: with none.
  bool (*ChangesLaunchBy)(llvm::StringRef Parameters) = nullptr;

  bool changesLaunch(llvm::StringRef By) const {
    return ChangesLaunch || (ChangesLaunchBy && ChangesLaunchBy(By));
  }
};

/// For Remedy::Apply: the launch stays as it was, if anything was \p Changed.
inline std::optional<Recipe> asBefore(bool Changed) {
  return Changed ? std::optional<Recipe>(Recipe()) : std::nullopt;
}

/// For Remedy::Check: what \p Parse says of the parameters.
template <auto Parse> llvm::Error checkBy(llvm::StringRef Parameters) {
  return Parse(Parameters).takeError();
}

// Each folder's own constants, and the remedy that it defines.
#define REMEDY(NAME, DOES, PARAMETERS, STATEMENTS, WORDS)                      \
  namespace NAME {                                                             \
  inline constexpr llvm::StringLiteral Does = DOES;                            \
  inline constexpr llvm::StringLiteral Parameters = PARAMETERS;                \
  extern const Remedy Itself;                                                  \
  }
#include "remedies/Remedies.def"
#undef REMEDY

} // namespace reconverge::remedies

#endif
