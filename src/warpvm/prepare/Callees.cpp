//===- warpvm/prepare/Callees.cpp - Functions that stay functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call costs the VM a return to the scheduler, a frame and the loss of all
// that is uniform, so every call that can be inlined is. What stays a function:
//
//   - by name: a function on a cycle of calls by name
//   - by pointer: a function whose address is taken, of the type of some call
//     through a pointer. Virtual functions are such: vtables hold addresses.
//     Where it is called by name and is on no cycle, it is inlined all the
//     same.
//
//   1. colour the functions that the kernel reaches; a call to one on the path
//      closes a cycle, and everything on that path segment stays a function
//   2. inline, in the kernel and in each function that stays, round by round,
//      the calls of all others
//   3. whoever takes new functions into reach (a call through a pointer came
//      up) repeats this until nothing is new
//
// Numbers (analysis/Numbering.h) sit on terminators. LLVM's inliner erases the
// callee's `ret`, folds branches on constants and joins a block with its only
// successor. So each block of a callee first gets a call that keeps its number,
// and the blocks that the inliner joined are split there again.
//
// Limitation: a branch that inlining folds, since its condition is a constant
// for this call, is not counted as a branch there; its blocks are.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Callees.h"
#include "analysis/Numbering.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::warpvm {

namespace {
constexpr StringLiteral ResultName = "rcvm.call.result";
constexpr StringLiteral NumberName = "rcvm.number";
} // namespace

SmallVector<Function *, 8> addressedFunctions(Module &M) {
  SmallVector<Function *, 8> Functions;
  for (Function &F : M)
    if (!F.isIntrinsic() && F.hasAddressTaken())
      Functions.push_back(&F);
  return Functions;
}

SmallVector<Function *, 8> Callees::all(Module &M) const {
  SmallVector<Function *, 8> All;
  for (Function &F : M)
    if (!F.isDeclaration() && (ByName.contains(&F) || ByPointer.contains(&F)))
      All.push_back(&F);
  return All;
}

bool isCall(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  if (!Call || Call->isInlineAsm())
    return false;
  const Function *Callee = Call->getCalledFunction();
  return !Callee || !Callee->isDeclaration();
}

bool endsInCall(const BasicBlock &BB) {
  return BB.size() >= 2 && isCall(*BB.getTerminator()->getPrevNode());
}

//===----------------------------------------------------------------------===//
// Which functions stay
//===----------------------------------------------------------------------===//

namespace {
/// Tarjan's algorithm over calls by name, from a few roots.
class Cycles {
public:
  SetVector<Function *> On; ///< functions that can call themselves

  void visit(Function &F) {
    if (Number.contains(&F))
      return;
    const unsigned Mine = Number[&F] = Low[&F] = ++Last;
    Path.push_back(&F);
    Open.insert(&F);
    bool Itself = false;
    for (Instruction &I : instructions(F)) {
      Function *Callee =
          isCall(I) ? cast<CallInst>(I).getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      Itself |= Callee == &F;
      visit(*Callee);
      if (Open.contains(Callee))
        Low[&F] = std::min(Low[&F], Low[Callee]);
    }
    if (Low[&F] != Mine)
      return;
    const bool Cycle = Itself || Path.back() != &F;
    Function *Member;
    do {
      Member = Path.pop_back_val();
      Open.erase(Member);
      if (Cycle)
        On.insert(Member);
    } while (Member != &F);
  }

private:
  DenseMap<Function *, unsigned> Number, Low;
  SmallVector<Function *> Path;
  DenseSet<Function *> Open;
  unsigned Last = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// Leaves a call at the end of each block of \p F that has its number, too.
static void markNumbers(Function &F) {
  auto Marker = F.getParent()->getOrInsertFunction(
      NumberName, Type::getVoidTy(F.getContext()));
  for (BasicBlock &BB : F) {
    Instruction *Term = BB.getTerminator();
    auto *Mark = CallInst::Create(Marker, "", Term->getIterator());
    for (StringRef Kind : {analysis::BlockKind, analysis::CountKind})
      Mark->setMetadata(Kind, Term->getMetadata(Kind));
  }
}

/// Replaces the marks in \p F by numbers: where one is not that of the block's
/// end, the block is split.
static void takeNumbersFromMarks(Function &F) {
  SmallVector<CallInst *> Marks;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (const Function *Callee = Call->getCalledFunction();
          Callee && Callee->getName() == NumberName)
        Marks.push_back(Call);
  for (CallInst *Mark : Marks) {
    BasicBlock *BB = Mark->getParent();
    Instruction *Next = Mark->getNextNode();
    if (!Next->isTerminator() || Next->getMetadata(analysis::BlockKind) !=
                                     Mark->getMetadata(analysis::BlockKind)) {
      BB->splitBasicBlock(Next);
      for (StringRef Kind : {analysis::BlockKind, analysis::CountKind})
        BB->getTerminator()->setMetadata(Kind, Mark->getMetadata(Kind));
    }
    Mark->eraseFromParent();
  }
}

static Error inlineInto(Function &F, const SetVector<Function *> &Staying) {
  // A round for each level of calls: what a round inlines brings the next.
  for (bool Changed = true; Changed;) {
    Changed = false;
    SmallVector<CallBase *> Round;
    for (Instruction &I : instructions(F))
      if (isCall(I))
        if (Function *Callee = cast<CallBase>(I).getCalledFunction();
            Callee && !Staying.contains(Callee))
          Round.push_back(cast<CallBase>(&I));
    for (CallBase *Call : Round) {
      InlineFunctionInfo Info;
      InlineResult R = InlineFunction(*Call, Info);
      if (!R.isSuccess())
        return userError(placeOf(*Call) + "function " + demangle(F.getName()) +
                         ": a call that cannot be inlined (" +
                         Twine(R.getFailureReason()) +
                         ") cannot run on the CPU executor");
      Changed = true;
    }
  }
  return Error::success();
}

Expected<Callees> inlineCalls(Function &Kernel,
                              ArrayRef<Function *> Addressed) {
  Module &M = *Kernel.getParent();
  Callees Result;
  for (Function &F : M)
    if (&F != &Kernel && !F.isDeclaration())
      markNumbers(F);
  SmallVector<Function *> Work{&Kernel};
  SmallPtrSet<Function *, 16> Seen{&Kernel};
  Cycles Recursive;
  while (!Work.empty()) {
    Function *F = Work.pop_back_val();
    Recursive.visit(*F);
    if (Error E = inlineInto(*F, Recursive.On))
      return std::move(E);
    for (Instruction &I : instructions(*F)) {
      if (!isCall(I))
        continue;
      auto &Call = cast<CallInst>(I);
      if (Function *Callee = Call.getCalledFunction())
        Result.ByName.insert(Callee);
      else
        Result.Types.insert(Call.getFunctionType());
    }
    for (Function *Target : Addressed)
      if (!Target->isDeclaration() && !analysis::isKernel(*Target) &&
          Result.Types.contains(Target->getFunctionType()))
        Result.ByPointer.insert(Target);
    for (Function *Callee : Result.all(M))
      if (Seen.insert(Callee).second)
        Work.push_back(Callee);
  }
  takeNumbersFromMarks(Kernel);
  for (Function *F : Result.all(M))
    takeNumbersFromMarks(*F);
  return Result;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void splitAtCalls(Function &F) {
  SmallVector<CallInst *> Calls;
  for (Instruction &I : instructions(F))
    if (isCall(I))
      Calls.push_back(cast<CallInst>(&I));
  for (CallInst *Call : Calls) {
    BasicBlock *Behind =
        Call->getParent()->splitBasicBlock(Call->getNextNode());
    if (Call->use_empty())
      continue;
    // A declaration for each: types differ.
    auto *Reader = Function::Create(FunctionType::get(Call->getType(), false),
                                    GlobalValue::ExternalLinkage, ResultName,
                                    F.getParent());
    IRBuilder<> B(Behind, Behind->getFirstInsertionPt());
    B.SetCurrentDebugLocation(Call->getDebugLoc());
    Call->replaceAllUsesWith(B.CreateCall(Reader));
  }
}

const CallBase *callBehind(const Instruction &I) {
  auto *Reader = dyn_cast<CallInst>(&I);
  if (!Reader || !Reader->getCalledFunction() ||
      !Reader->getCalledFunction()->getName().starts_with(ResultName))
    return nullptr;
  const BasicBlock *Before = I.getParent()->getSinglePredecessor();
  assert(Before && "a call's result is read right behind it");
  return cast<CallBase>(Before->getTerminator()->getPrevNode());
}

} // namespace reconverge::warpvm
