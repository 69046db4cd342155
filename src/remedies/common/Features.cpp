//===- remedies/common/Features.cpp - What foretells a thread -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From each condition that parts a warp, back along operands. A load ends the
// walk: what it reads is a feature, where it reads is not, for no sum of weights
// makes sense of an address. Unsigned is what the kernel extends with zeros or
// converts so. What a thread reads from a variable of its own, it has computed:
// the walk goes on with what it stores there. The sine of a large angle is such a
// case, and to read that early would be to compute it.
//
// Many kernels go over their items in a loop, by strides as long as the grid, and
// are launched with a thread for each item or few. What a thread reads in its
// first round of such a loop is known before as well. So features are looked for,
// and noted, in a copy whose threads end behind that round.
//
//===----------------------------------------------------------------------===//

#include "remedies/common/Features.h"

#include "analysis/Marks.h"
#include "analysis/Numbering.h"
#include "analysis/Uniformity.h"
#include "analysis/device/AddressSpace.h"
#include "core/Remedied.h"
#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"
#include "remedies/common/Loops.h"
#include "remedies/common/Notes.h"
#include "remedies/common/Slice.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <set>

using namespace llvm;

namespace reconverge::remedies {

/// One value that a float can hold, if not exactly.
static bool isNumber(const Type &T) {
  return T.isFloatingPointTy() ||
         (T.isIntegerTy() && T.getIntegerBitWidth() <= 64);
}

/// The thread's own variable that \p Pointer leads to, or null.
static const Value *ownVariable(const Value *Pointer) {
  const Value *Of = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  return isa<AllocaInst>(Of) ? Of : nullptr;
}

/// What is stored to each of the thread's own variables.
static DenseMap<const Value *, SmallVector<const Value *>>
storedToOwn(const Function &F) {
  DenseMap<const Value *, SmallVector<const Value *>> Stored;
  for (const Instruction &I : instructions(F))
    if (const auto *S = dyn_cast<StoreInst>(&I))
      if (const Value *Own = ownVariable(S->getPointerOperand()))
        Stored[Own].push_back(S->getValueOperand());
  return Stored;
}

/// Loads from which the conditions that part a warp follow.
static SmallPtrSet<const Instruction *, 8>
leadingToConditions(Function &F, const analysis::UniformityResult &Known) {
  SmallPtrSet<const Instruction *, 32> Seen;
  SmallPtrSet<const Instruction *, 8> Loads;
  SmallVector<const Instruction *> Work;
  const auto Stored = storedToOwn(F);
  auto Visit = [&](const Value *V) {
    const auto *I = dyn_cast<Instruction>(V);
    if (I && Seen.insert(I).second)
      Work.push_back(I);
  };
  for (const BasicBlock &BB : F)
    if (Known.isDivergentBranch(BB))
      Visit(BB.getTerminator());
  while (!Work.empty()) {
    const Instruction *I = Work.pop_back_val();
    if (const auto *Load = dyn_cast<LoadInst>(I)) {
      const Value *Own = ownVariable(Load->getPointerOperand());
      if (!Own)
        Loads.insert(I);
      for (const Value *V : Stored.lookup(Own))
        Visit(V);
      continue;
    }
    for (const Use &U : I->operands())
      Visit(U);
  }
  return Loads;
}

/// Ends the threads of \p F behind the first round of loops over items.
static void endBehindItems(Function &F) {
  const auto Known = analysis::computeUniformity(F);
  BasicBlock &End = joinEnds(F);
  const DominatorTree Dominance(F);
  const LoopInfo Loops(Dominance);
  for (const Loop *L : Loops)
    if (goesOverItems(*L, Known))
      endBehindFirstRound(*L, End);
}

/// featuresOf() of a kernel without loops over items.
static SmallVector<uint32_t, MostFeatures> featuresOfOne(Function &Kernel) {
  const auto Known = analysis::computeUniformity(Kernel);
  const auto Leading = leadingToConditions(Kernel, Known);
  const SmallVector<Instruction *> Written = readsOfWritten(Kernel);
  const DominatorTree Dominance(Kernel);
  const LoopInfo Loops(Dominance);
  SmallVector<uint32_t, MostFeatures> Numbers;
  for (Instruction &I : instructions(Kernel)) {
    const auto Number = analysis::accessNumber(I);
    if (Number && Leading.contains(&I) && isNumber(*I.getType()) &&
        Known.of(I).L > analysis::Level::Warp &&
        !Loops.getLoopFor(I.getParent()) && !is_contained(Written, &I) &&
        !is_contained(Numbers, *Number) && Numbers.size() != MostFeatures)
      Numbers.push_back(*Number);
  }
  return Numbers;
}

static SmallVector<uint32_t, MostFeatures> marksOf(const Function &Twin) {
  std::set<uint32_t> All;
  for (const Instruction &I : instructions(Twin))
    if (const auto Number = analysis::markNumber(I))
      All.insert(*Number);
  SmallVector<uint32_t, MostFeatures> Numbers(All.begin(), All.end());
  Numbers.truncate(std::min<size_t>(Numbers.size(), MostFeatures));
  return Numbers;
}

Function &withFeatures(Function &Kernel) {
  Function *Twin = analysis::twinOf(Kernel);
  return Twin ? *Twin : Kernel;
}

SmallVector<uint32_t, MostFeatures> featuresOf(Function &Kernel) {
  if (const Function *Twin = analysis::twinOf(Kernel))
    return marksOf(*Twin);
  ValueToValueMapTy Map;
  Function &Copy = copyToReduce(Kernel, Kernel.getName() + "$items", Map);
  endBehindItems(Copy);
  const auto Numbers = featuresOfOne(Copy);
  Copy.eraseFromParent();
  return Numbers;
}

static Value *asFloat(IRBuilderBase &B, Instruction &Read) {
  Type *Float = B.getFloatTy();
  if (Read.getType()->isFloatingPointTy())
    return B.CreateFPCast(&Read, Float);
  const bool Unsigned = any_of(
      Read.users(), [](const User *U) { return isa<ZExtInst, UIToFPInst>(U); });
  return Unsigned || Read.getType()->isIntegerTy(1)
             ? B.CreateUIToFP(&Read, Float)
             : B.CreateSIToFP(&Read, Float);
}

/// The number of \p I as a mark or as what may be a feature without.
static std::optional<uint32_t> numberOf(const Instruction &I, bool Marked) {
  if (Marked)
    return analysis::markNumber(I);
  return isa<LoadInst>(I) && isNumber(*I.getType()) ? analysis::accessNumber(I)
                                                    : std::nullopt;
}

/// Ends the threads of \p F behind the first round of outermost loops that have
/// a feature of \p Numbers which is in no inner loop, nor anywhere else.
static void endBehindFeatures(Function &F, ArrayRef<uint32_t> Numbers,
                              bool Marked) {
  const DominatorTree Dominance(F);
  const LoopInfo Loops(Dominance);
  MapVector<uint32_t, SmallPtrSet<Loop *, 1>> Around;
  SmallDenseSet<uint32_t> Outside;
  BasicBlock *End = nullptr;
  for (Instruction &I : instructions(F)) {
    End = isa<ReturnInst>(I) ? I.getParent() : End;
    const auto Number = numberOf(I, Marked);
    if (!Number || !is_contained(Numbers, *Number))
      continue;
    Loop *L = Loops.getLoopFor(I.getParent());
    if (!L)
      Outside.insert(*Number);
    else if (L->isOutermost())
      Around[*Number].insert(L);
  }
  SmallPtrSet<Loop *, 2> Ended;
  for (const auto &[Number, In] : Around)
    for (Loop *L : In)
      if (!Outside.contains(Number) && Ended.insert(L).second)
        endBehindFirstRound(*L, *End);
}

std::optional<uint32_t> FeatureNotes::note() {
  endBehindFeatures(F, Loads, Marked);
  for (uint32_t Number : Loads) {
    SmallVector<Instruction *, 2> Here;
    for (Instruction &I : instructions(F))
      if (numberOf(I, Marked) == Number)
        Here.push_back(&I);
    if (Here.empty())
      return Number;
    Slots.push_back(makeSlot(F, Type::getFloatTy(F.getContext()), "feature"));
    for (Instruction *I : Here) {
      IRBuilder<> B(I->getNextNode());
      Stores.push_back(B.CreateStore(
          Marked ? &analysis::markedValue(*I) : asFloat(B, *I), Slots.back()));
    }
  }
  return std::nullopt;
}

Value *FeatureNotes::valueOf(IRBuilderBase &B, size_t I) const {
  return B.CreateFreeze(B.CreateLoad(B.getFloatTy(), Slots[I]));
}

std::string featureKernelName(StringRef Kernel) {
  return (Kernel + "$features" + HelperSuffix).str();
}

std::optional<FeatureKernel> addFeatureKernel(Function &Kernel) {
  const auto Loads = featuresOf(Kernel);
  if (Loads.empty())
    return std::nullopt;
  ValueToValueMapTy Map;
  const unsigned OfProgram = unsigned(Kernel.arg_size());
  Function &Whole = withFeatures(Kernel);
  Function &Copy =
      copyToReduce(Whole, featureKernelName(Kernel.getName()), Map);
  Function &F = addParameters(
      Copy, {PointerType::getUnqual(Kernel.getContext())}, {"rows"});
  FeatureNotes Noted(F, Loads, /*Marked=*/&Whole != &Kernel);
  std::optional<Refusal> Why = reduceTo(
      F, Kernel,
      [&]() -> std::optional<Refusal> {
        [[maybe_unused]] const auto None = Noted.note();
        assert(!None && "featuresOf() has said so");
        return std::nullopt;
      },
      [&] { return behindAll(Noted.stores()); },
      [&](BasicBlock &End) {
        IRBuilder<> B(End.getTerminator());
        Value *Rows = B.CreateAddrSpaceCast(
            F.getArg(OfProgram),
            PointerType::get(B.getContext(), analysis::GlobalSpace));
        Value *First = B.CreateMul(readItem(B), B.getInt64(Loads.size()));
        for (size_t I = 0; I != Loads.size(); ++I)
          B.CreateStore(Noted.valueOf(B, I),
                        B.CreateGEP(B.getFloatTy(), Rows,
                                    B.CreateAdd(First, B.getInt64(I))));
      });
  if (Why)
    return std::nullopt;
  return FeatureKernel{&F, {Loads.begin(), Loads.end()}};
}

} // namespace reconverge::remedies
