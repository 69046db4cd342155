//===- remedies/common/Requests.cpp - What the source asks for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pragma is about the statement after it; a branch comes of that statement if
// its debug location is in the lines from `if` to the condition's end. A loop
// does if the place in its metadata (llvm.loop), which clang has put there and
// which passes keep, is on the statement's first line. Inlined and unrolled
// copies are all meant. Of a condition with && or ||, all branches
// are; it is enough that one of them can have the remedy.
//
// Attributes come after pragmas, which go before them (Attributes.cpp).
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Requests.h"

#include "core/Error.h"
#include "remedies/common/Attributes.h"
#include "remedies/common/RequestFormat.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace reconverge::remedies {

namespace {
struct Pragma {
  unsigned Line = 0, First = 0, Last = 0;
  StringRef Remedy, Choice, File;
  bool Matched = false;
};
} // namespace

static bool read(StringRef Text, Pragma &P) {
  return !Text.consumeInteger(10, P.Line) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.First) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.Last) && Text.consume_front(" ") &&
         (std::tie(P.Remedy, Text) = Text.split(' '),
          std::tie(P.Choice, P.File) = Text.split(' '), !P.File.empty()) &&
         requestWordsOf(P.Remedy);
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

/// On a branch, what is said of a remedy and by whom.
static std::string kindOf(StringRef Remedy) {
  return ("rc.request." + Remedy).str();
}

void hangRequest(Instruction &Branch, StringRef Remedy, StringRef What,
                 const Twine &Place) {
  LLVMContext &C = Branch.getContext();
  Metadata *Words[] = {MDString::get(C, What), MDString::get(C, Place.str())};
  Branch.setMetadata(kindOf(Remedy), MDNode::get(C, Words));
}

bool hasRequest(const Instruction &Branch, StringRef Remedy) {
  return Branch.getMetadata(kindOf(Remedy));
}

std::optional<SourceRequest> requestOf(const BasicBlock &BB, StringRef Remedy) {
  const MDNode *Node = BB.getTerminator()->getMetadata(kindOf(Remedy));
  if (!Node)
    return std::nullopt;
  auto [What, Parameters] =
      cast<MDString>(Node->getOperand(0))->getString().split(':');
  return SourceRequest{What != "off", What == "on", Parameters.str(), Node};
}

StringRef SourceRequest::valueOf(StringRef Key) const {
  SmallVector<StringRef, 4> Words;
  StringRef(Parameters).split(Words, ';');
  for (StringRef Word : Words)
    if (auto [Name, Value] = Word.split('='); Name == Key)
      return Value;
  return "";
}

bool isAskedFor(const Function &F, StringRef Remedy) {
  return any_of(F, [&](const BasicBlock &BB) {
    const auto Said = requestOf(BB, Remedy);
    return Said && Said->On;
  });
}

/// Where \p L begins in the source, as its metadata says. The rest of an unrolled
/// loop has lost that: there its way back has the line of a `for` or `while`.
static const DILocation *beginOf(const Loop &L, const Instruction &Back) {
  if (const MDNode *Id = L.getLoopID())
    for (const MDOperand &Each : Id->operands())
      if (const auto *At = dyn_cast<DILocation>(Each))
        return At;
  return Back.getDebugLoc();
}

SmallVector<RequestPlace> requestPlaces(Function &F, StringRef Remedy) {
  SmallVector<RequestPlace> All;
  if (!requestWordsOf(Remedy)->isOfLoops()) {
    for (BasicBlock &BB : F)
      if (Instruction *Term = BB.getTerminator();
          Term->getNumSuccessors() > 1 && isa<BranchInst, SwitchInst>(Term))
        All.push_back({Term, Term->getDebugLoc()});
    return All;
  }
  if (F.isDeclaration())
    return All;
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *> Latches;
    L->getLoopLatches(Latches);
    for (BasicBlock *BB : Latches)
      All.push_back({BB->getTerminator(), beginOf(*L, *BB->getTerminator())});
  }
  return All;
}

/// Hangs \p All on the branches of \p F; says which remedies these ask for.
static void mark(Function &F, MutableArrayRef<Pragma> All,
                 std::set<std::string> &Asked) {
  for (Pragma &P : All) {
    for (auto [Term, At] : requestPlaces(F, P.Remedy)) {
      if (!At || At->getLine() < P.First || P.Last < At->getLine() ||
          hasRequest(*Term, P.Remedy) || pathOf(*At) != P.File)
        continue;
      hangRequest(*Term, P.Remedy, P.Choice, P.File + ":" + Twine(P.Line));
      P.Matched = true;
      if (P.Choice != "off")
        Asked.insert(P.Remedy.str());
    }
  }
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
                            SettledRequests &Result) {
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
    mark(F, All, Result.Asked);
  for (const Pragma &P : All)
    if (!P.Matched)
      Result.Unmatched.push_back(
          (P.File + ":" + Twine(P.Line) +
           (requestWordsOf(P.Remedy)->isOfLoops() ? ": no loop"
                                                  : ": no branch") +
           " is left of the statement after this pragma")
              .str());
  removeFromUsedLists(
      M, [&](Constant *C) { return C->stripPointerCasts() == Variable; });
  if (Variable->use_empty())
    Variable->eraseFromParent();
  return Error::success();
}

Expected<SettledRequests> settleRequests(Module &M) {
  SettledRequests Result;
  for (GlobalVariable *Variable : variablesOf(M))
    if (Error E = settleVariable(M, Variable, Result))
      return std::move(E);
  if (Error E = settleAttributes(M, Result.Asked))
    return std::move(E);
  return Result;
}

std::set<std::string> settleRequestsHere(Module &M) {
  auto Result = settleRequests(M);
  if (!Result) {
    M.getContext().emitError(toString(Result.takeError()));
    return {};
  }
  for (const std::string &Each : Result->Unmatched)
    M.getContext().emitError(Each + ". " + UnmatchedHelp);
  return Result->Asked;
}

PreservedAnalyses SettleRequestsPass::run(Module &M, ModuleAnalysisManager &) {
  settleRequestsHere(M);
  return PreservedAnalyses::all();
}

} // namespace reconverge::remedies
