//===- frontend/Features.cpp - reconverge::feature() ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel does to know its features early is no part of what it does. So its
// code is parted before anything is optimised:
//
//   kernel k: ... feature(x) ... f()      f: ... feature(y) ...
//
//   kernel k: ... f()                     f: ...
//   twin of k: ... mark(0, x) ... f'()    f': ... mark(1, y) ...
//
// All that comes to a mark by calls is copied, and the copies call one another, and
// are inlined. Without marks k is optimised as if they had never been there.
//
// A function that did nothing but mark does nothing now, and calls of it go while it
// is not inlined: after that its loops would have to be found dead one by one, each
// behind the one that needs it, and those that fill an array of its own never are.
//
// A mark is a call that accesses nothing a program can see, so that it stays, and
// stays under its conditions, while it keeps nothing else from moving. Two marks
// are not merged: a mark's number is a constant.
//
//===----------------------------------------------------------------------===//

#include "frontend/Features.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Marks.h"
#include "analysis/device/Annotations.h"
#include "core/Remedied.h"
#include "frontend/SourceAnnotations.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/FunctionAttrs.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::frontend {

/// As include/reconverge/device/feature.cuh has it.
static constexpr StringLiteral Annotation = "reconverge.feature";

/// reconverge::feature() itself; null: nobody calls it. The list of annotations
/// has it no longer.
static Function *takeAnnotated(Module &M) {
  Function *Found = nullptr;
  takeAnnotations(M, [&](Function &F, StringRef Name, const Constant *) {
    const bool IsIt = Name == Annotation;
    if (IsIt)
      Found = &F;
    return IsIt;
  });
  return Found;
}

static FunctionCallee markIn(Module &M) {
  LLVMContext &C = M.getContext();
  FunctionCallee Mark =
      M.getOrInsertFunction(analysis::MarkName, Type::getVoidTy(C),
                            Type::getInt32Ty(C), Type::getFloatTy(C));
  auto *F = cast<Function>(Mark.getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  F->setNoSync();
  F->setOnlyAccessesInaccessibleMemory();
  return Mark;
}

/// Functions that come to \p To by calls, callees first.
static SmallSetVector<Function *, 8> comingTo(Function &To) {
  SmallSetVector<Function *, 8> All;
  SmallVector<Function *> Work{&To};
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users())
      if (auto *Call = dyn_cast<CallBase>(U))
        if (All.insert(Call->getFunction()))
          Work.push_back(Call->getFunction());
  return All;
}

/// A copy of \p F beside it.
static Function &copyOf(Function &F) {
  ValueToValueMapTy Map;
  Function *Copy = CloneFunction(&F, Map);
  Copy->setComdat(nullptr);
  if (!analysis::isKernel(F)) {
    Copy->setLinkage(GlobalValue::InternalLinkage);
    // A twin's marks are looked for in the twin alone.
    Copy->removeFnAttr(Attribute::NoInline);
    Copy->removeFnAttr(Attribute::OptimizeNone);
    Copy->addFnAttr(Attribute::AlwaysInline);
    return *Copy;
  }
  Copy->setName(F.getName() + "$marked" + HelperSuffix);
  analysis::copyAnnotations(F, *Copy);
  Copy->addFnAttr(analysis::IsTwinAttribute);
  F.addFnAttr(analysis::TwinAttribute, Copy->getName());
  return *Copy;
}

using Place = std::tuple<StringRef, unsigned, unsigned>;

/// Where a call stands: marks are numbered in the order of the source, not as
/// functions happen to be used.
static Place placeOf(const CallBase &Call) {
  const DILocation *Where = Call.getDebugLoc().get();
  return Where
             ? Place(Where->getFilename(), Where->getLine(), Where->getColumn())
             : Place();
}

void separateFeatures(Module &M) {
  Function *Feature = takeAnnotated(M);
  if (!Feature)
    return;
  MapVector<Function *, Function *> Copies;
  for (Function *F : comingTo(*Feature))
    Copies[F] = &copyOf(*F);
  std::multimap<Place, CallBase *> Named;
  for (auto [F, Copy] : Copies) {
    for (Instruction &I : instructions(*Copy)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (Callee && Copies.contains(Callee))
        Call->setCalledFunction(Copies[Callee]);
      if (Callee == Feature)
        Named.emplace(placeOf(*Call), Call);
    }
    for (Instruction &I : make_early_inc_range(instructions(*F)))
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->getCalledFunction() == Feature)
        Call->eraseFromParent();
  }
  const FunctionCallee Mark = markIn(M);
  uint32_t Next = 0;
  for (auto [Where, Call] : Named) {
    IRBuilder<> B(Call);
    B.CreateCall(Mark, {B.getInt32(Next++), Call->getArgOperand(0)})
        ->addFnAttr(Attribute::NoMerge);
    Call->eraseFromParent();
  }
  if (Feature->use_empty())
    Feature->eraseFromParent();
}

void dropIdleCalls(Module &M) {
  if (none_of(M, [](const Function &F) {
        return F.hasFnAttribute(analysis::TwinAttribute);
      }))
    return;
  analysis::AnalysisManagers Analyses;
  ModulePassManager Passes;
  Passes.addPass(
      createModuleToPostOrderCGSCCPassAdaptor(PostOrderFunctionAttrsPass()));
  Passes.run(M, Analyses.Modules);
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (isa<CallInst>(I) && isInstructionTriviallyDead(&I))
        I.eraseFromParent();
}

} // namespace reconverge::frontend
