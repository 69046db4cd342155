//===- transform/remap/Pragmas.cpp - What the source asks for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pragma is about the statement after it; a branch comes of that statement if
// its debug location is in the lines from `if` to the condition's end. Inlined
// and unrolled copies are all meant. Of a condition with && or ||, all branches
// are; it is enough that one of them can be remapped.
//
// Attributes come after pragmas, which go before them (Attributes.cpp).
//
//===----------------------------------------------------------------------===//

#include "transform/remap/Pragmas.h"

#include "core/Error.h"
#include "transform/remap/Attributes.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace reconverge::transform {

using namespace remap;

namespace {
struct Pragma {
  unsigned Line = 0, First = 0, Last = 0;
  StringRef Choice, File;
  bool Matched = false;
};
} // namespace

static bool read(StringRef Text, Pragma &P) {
  return !Text.consumeInteger(10, P.Line) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.First) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.Last) && Text.consume_front(" ") &&
         (std::tie(P.Choice, P.File) = Text.split(' '), !P.File.empty());
}

static std::string pathOf(const DILocation &At) {
  SmallString<128> Path(At.getFilename());
  if (sys::path::is_relative(Path)) {
    Path = At.getDirectory();
    sys::path::append(Path, At.getFilename());
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// Hangs \p All on the branches of \p F; returns how many are to be remapped.
static unsigned mark(Function &F, MutableArrayRef<Pragma> All) {
  unsigned Asked = 0;
  for (BasicBlock &BB : F) {
    Instruction &Term = *BB.getTerminator();
    const DILocation *At = Term.getDebugLoc();
    if (!At || Term.getNumSuccessors() < 2 ||
        !isa<BranchInst, SwitchInst>(Term))
      continue;
    for (Pragma &P : All)
      if (P.First <= At->getLine() && At->getLine() <= P.Last &&
          pathOf(*At) == P.File) {
        hangWish(Term, P.Choice, P.File + ":" + Twine(P.Line));
        P.Matched = true;
        Asked += P.Choice != "off";
        break;
      }
  }
  return Asked;
}

std::optional<Wish> wishOf(const BasicBlock &BB) {
  const MDNode *Node = BB.getTerminator()->getMetadata(WishKind);
  if (!Node)
    return std::nullopt;
  auto [What, Algorithm] =
      cast<MDString>(Node->getOperand(0))->getString().split(':');
  return Wish{What != "off", What == "on", Algorithm.str(), Node};
}

/// The variables that our plugin for clang leaves: one a unit, to which the
/// linker of modules gives numbers.
static SmallVector<GlobalVariable *> variablesOf(Module &M) {
  SmallVector<GlobalVariable *> Found;
  for (GlobalVariable &G : M.globals())
    if (StringRef Name = G.getName();
        Name.consume_front(PragmaVariable) && all_of(Name, isDigit))
      Found.push_back(&G);
  return Found;
}

static Error settleVariable(Module &M, GlobalVariable *Variable,
                            SettledPragmas &Result) {
  const auto *Text =
      Variable->hasInitializer()
          ? dyn_cast<ConstantDataSequential>(Variable->getInitializer())
          : nullptr;
  if (!Text || !Text->isCString())
    return userError("variable " + Twine(PragmaVariable) +
                         " is not what our plugin for clang writes",
                     "Its name is ours; choose another.");
  SmallVector<StringRef, 8> Lines;
  Text->getAsCString().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  SmallVector<Pragma, 8> All(Lines.size());
  for (auto [Line, P] : zip(Lines, All))
    if (!read(Line, P))
      return userError("pragma '" + Line + "' is of another version",
                       "Use the plugins of one version.");
  for (Function &F : M)
    Result.Asked += mark(F, All);
  for (const Pragma &P : All)
    if (!P.Matched)
      Result.Unmatched.push_back(
          (P.File + ":" + Twine(P.Line) +
           ": no branch is left of the statement after this pragma")
              .str());
  removeFromUsedLists(
      M, [&](Constant *C) { return C->stripPointerCasts() == Variable; });
  if (Variable->use_empty())
    Variable->eraseFromParent();
  return Error::success();
}

Expected<SettledPragmas> settlePragmas(Module &M) {
  SettledPragmas Result;
  for (GlobalVariable *Variable : variablesOf(M))
    if (Error E = settleVariable(M, Variable, Result))
      return std::move(E);
  auto Asked = settleAttributes(M);
  if (!Asked)
    return Asked.takeError();
  Result.Asked += *Asked;
  return Result;
}

bool settlePragmasHere(Module &M) {
  auto Result = settlePragmas(M);
  if (!Result) {
    M.getContext().emitError(toString(Result.takeError()));
    return false;
  }
  for (const std::string &Each : Result->Unmatched)
    M.getContext().emitError(Each + ". " + UnmatchedRemedy);
  return Result->Asked != 0;
}

PreservedAnalyses RemapPragmasPass::run(Module &M, ModuleAnalysisManager &) {
  settlePragmasHere(M);
  return PreservedAnalyses::all();
}

} // namespace reconverge::transform
