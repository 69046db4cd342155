//===- remedies/common/Requests.cpp - What the source asks for -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pragma is about the statement after it; a branch comes of that statement if
// its debug location is in the lines from `if` to the condition's end. A loop
// does if the place in its metadata (llvm.loop), which clang has put there and
// which passes keep, is on the statement's first line. Inlined and unrolled
// copies are all meant. Of a condition with && or ||, all branches
// are; it is enough that one of them can have the remedy. A kernel is meant, in
// all its instances, if its debug information has it on the lines before its
// body.
//
// Attributes come after pragmas, which go before them (Attributes.cpp).
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Requests.h"

#include "analysis/Places.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "remedies/common/Attributes.h"

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
  Subject Of = Subject::Branch;
  StringRef Remedy, Choice, File;
};
} // namespace

static bool readSubject(StringRef Name, Subject &Into) {
  for (Subject S : {Subject::Branch, Subject::Loop, Subject::Kernel})
    if (nameOf(S) == Name) {
      Into = S;
      return true;
    }
  return false;
}

static bool read(StringRef Text, Pragma &P) {
  StringRef Of;
  return !Text.consumeInteger(10, P.Line) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.First) && Text.consume_front(" ") &&
         !Text.consumeInteger(10, P.Last) && Text.consume_front(" ") &&
         (std::tie(Of, Text) = Text.split(' '), readSubject(Of, P.Of)) &&
         (std::tie(P.Remedy, Text) = Text.split(' '),
          std::tie(P.Choice, P.File) = Text.split(' '), !P.File.empty()) &&
         requestWordsOf(P.Remedy);
}

/// Of a DILocation or a DISubprogram.
template <class PlaceT> static std::string pathOf(const PlaceT &At) {
  SmallString<128> Path(analysis::sourcePath(At));
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// On a branch or a kernel, what is said of a remedy and by whom.
static std::string kindOf(StringRef Remedy) {
  return ("rc.request." + Remedy).str();
}

static MDNode *nodeOf(LLVMContext &C, StringRef What, const Twine &Place) {
  Metadata *Words[] = {MDString::get(C, What), MDString::get(C, Place.str())};
  return MDNode::get(C, Words);
}

void hangRequest(Instruction &Branch, StringRef Remedy, StringRef What,
                 const Twine &Place) {
  Branch.setMetadata(kindOf(Remedy), nodeOf(Branch.getContext(), What, Place));
}

void hangRequest(Function &Kernel, StringRef Remedy, StringRef What,
                 const Twine &Place) {
  Kernel.setMetadata(kindOf(Remedy), nodeOf(Kernel.getContext(), What, Place));
}

bool hasRequest(const Instruction &Branch, StringRef Remedy) {
  return Branch.getMetadata(kindOf(Remedy));
}

/// \p Node may be null.
static std::optional<SourceRequest> readRequest(const MDNode *Node) {
  if (!Node)
    return std::nullopt;
  auto [What, Parameters] =
      cast<MDString>(Node->getOperand(0))->getString().split(':');
  return SourceRequest{What != "off", What == "on", Parameters.str(), Node};
}

std::optional<SourceRequest> requestOf(const BasicBlock &BB, StringRef Remedy) {
  return readRequest(BB.getTerminator()->getMetadata(kindOf(Remedy)));
}

std::optional<SourceRequest> requestOf(const Function &F, StringRef Remedy) {
  return readRequest(F.getMetadata(kindOf(Remedy)));
}

StringRef SourceRequest::valueOf(StringRef Key) const {
  SmallVector<StringRef, 4> Words;
  StringRef(Parameters).split(Words, ';');
  for (StringRef Word : Words)
    if (auto [Name, Value] = Word.split('='); Name == Key)
      return Value;
  return "";
}

SmallVector<SourceRequest> requestsIn(const Function &F, StringRef Remedy) {
  SmallVector<SourceRequest> All;
  for (const BasicBlock &BB : reverse(F))
    if (auto Said = requestOf(BB, Remedy); Said && Said->On)
      All.push_back(std::move(*Said));
  if (auto Said = requestOf(F, Remedy); Said && Said->On)
    All.push_back(std::move(*Said));
  return All;
}

bool isAskedFor(const Function &F, StringRef Remedy) {
  return !requestsIn(F, Remedy).empty();
}

void dropRequests(Function &F, StringRef Remedy) {
  F.setMetadata(kindOf(Remedy), nullptr);
  for (BasicBlock &BB : F)
    BB.getTerminator()->setMetadata(kindOf(Remedy), nullptr);
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
  const RequestWords &Words = *requestWordsOf(Remedy);
  if (F.isDeclaration())
    return All;
  if (Words.isOf(Subject::Branch))
    for (BasicBlock &BB : F)
      if (Instruction *Term = BB.getTerminator();
          Term->getNumSuccessors() > 1 && isa<BranchInst, SwitchInst>(Term))
        All.push_back({Subject::Branch, Term, Term->getDebugLoc()});
  if (!Words.isOf(Subject::Loop))
    return All;
  DominatorTree Dominance(F);
  LoopInfo Loops(Dominance);
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *> Latches;
    L->getLoopLatches(Latches);
    for (BasicBlock *BB : Latches)
      All.push_back({Subject::Loop, BB->getTerminator(),
                     beginOf(*L, *BB->getTerminator())});
  }
  return All;
}

/// Whether \p At is of the lines that \p P is about.
template <class PlaceT> static bool isAbout(const Pragma &P, const PlaceT *At) {
  return At && P.First <= At->getLine() && At->getLine() <= P.Last &&
         pathOf(*At) == P.File;
}

/// Hangs what \p P says on \p F, if it is about that, or its branches or loops.
/// Whether it is about any.
static bool mark(Function &F, const Pragma &P) {
  const std::string Place = (P.File + ":" + Twine(P.Line)).str();
  if (P.Of == Subject::Kernel) {
    if (F.isDeclaration() || !analysis::isKernel(F) ||
        !isAbout(P, F.getSubprogram()))
      return false;
    hangRequest(F, P.Remedy, P.Choice, Place);
    return true;
  }
  bool IsAny = false;
  for (auto [Of, Term, At] : requestPlaces(F, P.Remedy)) {
    if (Of != P.Of || hasRequest(*Term, P.Remedy) || !isAbout(P, At))
      continue;
    hangRequest(*Term, P.Remedy, P.Choice, Place);
    IsAny = true;
  }
  return IsAny;
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
  for (const Pragma &P : All) {
    bool IsMatched = false;
    for (Function &F : M)
      IsMatched |= mark(F, P);
    if (IsMatched && P.Choice != "off")
      Result.Asked.insert(P.Remedy.str());
    if (!IsMatched)
      Result.Unmatched.push_back((P.File + ":" + Twine(P.Line) + ": no " +
                                  nameOf(P.Of) +
                                  " is left of the statement after this pragma")
                                     .str());
  }
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
