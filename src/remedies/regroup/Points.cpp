//===- remedies/regroup/Points.cpp - What a key is noted of ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Notes (common/Notes.h), a slot each:
//
//   side     at the branch: which successor, the same ones counted once
//   count    of rounds, where SCEV knows their number, in front of the loop;
//            else one more at each entry of the header. Of a branch in a loop,
//            one more where it does not take its first side
//   line     at the gather: the sector of its address
//   feature  at a load of the estimate, the tree or the net: what it reads
//
// The key is made of the slots at the end of the kernel. Where an estimate is all
// that there is, its coarse logarithm is the class, so that one thread which takes
// very long does not leave all others to one place, and a probe sees a change.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Points.h"

#include "analysis/AnalysisManagers.h"
#include "analysis/Numbering.h"
#include "core/Memory.h"
#include "remedies/common/Notes.h"
#include "remedies/regroup/Predictor.h"
#include "remedies/regroup/Refusals.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::remedies::regroup {

static constexpr unsigned CountBits = 6;

static SmallVector<uint32_t, 4> loadsOf(const Key &Of) {
  SmallVector<uint32_t, 4> Loads;
  for (const EstimateTerm &T : Of.Estimate)
    if (T.Of == EstimateTerm::Load)
      Loads.push_back(T.Access);
  append_range(Loads, Of.Tree.loads());
  if (Of.Net)
    append_range(Loads, Of.Net->loads());
  return Loads;
}

Points::Points(Function &F, const Key &Of, bool Marked)
    : F(F), Of(Of), Loads(loadsOf(Of)), Features(F, Loads, Marked) {}

void Points::noteRounds(AllocaInst &Slot, Loop &L, ScalarEvolution &Rounds) {
  forRounds(L, Rounds, [&](IRBuilderBase &B, Value *More) {
    Noting.push_back(addTo(B, Slot, More));
  });
}

void Points::noteBranch(uint32_t Number, LoopInfo &Loops,
                        ScalarEvolution &Rounds) {
  SmallVector<BasicBlock *> Here;
  for (BasicBlock &BB : F)
    if (analysis::branchNumber(BB) == Number)
      Here.push_back(&BB);
  if (Here.empty())
    return;
  Point &P = All.emplace_back(
      Point{makeSlot(F, Type::getInt32Ty(F.getContext()), "way"), 0, false});
  SmallPtrSet<Loop *, 4> Left;
  for (BasicBlock *BB : Here) {
    Instruction &Branch = *BB->getTerminator();
    if (Loop *L = loopLeftBy(*BB, Loops)) {
      P.Counts = true;
      if (Left.insert(L).second)
        noteRounds(*P.Slot, *L, Rounds);
      continue;
    }
    IRBuilder<> B(&Branch);
    Value *Side = sideOf(B, Branch);
    if (Loops.getLoopFor(BB)) {
      P.Counts = true;
      Noting.push_back(addTo(
          B, *P.Slot, B.CreateZExt(B.CreateIsNotNull(Side), B.getInt32Ty())));
    } else {
      P.Bits = std::max(P.Bits,
                        std::min(Log2_32_Ceil(unsigned(sidesOf(Branch).size())),
                                 MostClassBits));
      Noting.push_back(B.CreateStore(Side, P.Slot));
    }
  }
  if (P.Counts)
    P.Bits = CountBits;
}

void Points::noteGather(uint32_t Number) {
  for (Instruction &I : instructions(F)) {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || analysis::accessNumber(I) != Number)
      continue;
    Line = makeSlot(F, Type::getInt32Ty(F.getContext()), "line");
    IRBuilder<> B(Load);
    Value *Address =
        B.CreatePtrToInt(Load->getPointerOperand(), B.getInt64Ty());
    LineNoted = B.CreateStore(
        B.CreateTrunc(B.CreateUDiv(Address, B.getInt64(SectorBytes)),
                      B.getInt32Ty()),
        Line);
    return;
  }
}

std::optional<Refusal> Points::note() {
  const Instruction &Start = *F.getEntryBlock().getTerminator();
  analysis::AnalysisManagers Analyses;
  LoopSimplifyPass().run(F, Analyses.Functions);
  Analyses.Functions.clear();
  auto &Loops = Analyses.Functions.getResult<LoopAnalysis>(F);
  auto &Rounds = Analyses.Functions.getResult<ScalarEvolutionAnalysis>(F);
  for (uint32_t Number : Of.Branches) {
    const size_t Before = All.size();
    noteBranch(Number, Loops, Rounds);
    if (All.size() == Before)
      return refusal(refuse::Branch, Start, std::to_string(Number));
  }
  if (Of.Gather)
    noteGather(*Of.Gather);
  if (Of.Gather && !Line)
    return refusal(refuse::Gather, Start, std::to_string(*Of.Gather));
  if (const auto None = Features.note())
    return refusal(refuse::Feature, Start, std::to_string(*None));
  IsNoted = true;
  return std::nullopt;
}

unsigned Points::classBits() const {
  unsigned Sum = classIsEstimate() ? CountBits : predictedBits();
  for (const Point &P : All)
    Sum += P.Bits;
  return Sum;
}

/// 6 bits of \p Number, a greater one's being less: for e = log2, 4 (e - 1) and
/// the two bits below the highest.
static Value *rankOf(IRBuilderBase &B, Value *Number) {
  Value *Log =
      B.CreateSub(B.getInt32(31),
                  B.CreateBinaryIntrinsic(
                      Intrinsic::ctlz, B.CreateOr(Number, 1u), B.getFalse()));
  Value *IsSmall = B.CreateICmpULT(Number, B.getInt32(4));
  Value *Shift =
      B.CreateSelect(IsSmall, B.getInt32(0), B.CreateSub(Log, B.getInt32(2)));
  Value *Coarse = B.CreateAdd(B.CreateShl(B.CreateSub(Log, B.getInt32(1)), 2),
                              B.CreateAnd(B.CreateLShr(Number, Shift), 3u));
  Value *Step = B.CreateSelect(IsSmall, Number, Coarse);
  Value *Most = B.getInt32((1u << CountBits) - 1);
  return B.CreateSub(Most,
                     B.CreateBinaryIntrinsic(Intrinsic::umin, Step, Most));
}

/// As u32: a number above 2^32 - 256 is that, what is none is 0.
static Value *wholePartOf(IRBuilderBase &B, Value *Estimate) {
  Constant *Zero = ConstantFP::get(B.getFloatTy(), 0),
           *Most = ConstantFP::get(B.getFloatTy(), 0x1p32 - 256);
  Value *Least =
      B.CreateSelect(B.CreateFCmpOGT(Estimate, Zero), Estimate, Zero);
  return B.CreateFPToUI(
      B.CreateSelect(B.CreateFCmpOLT(Least, Most), Least, Most),
      B.getInt32Ty());
}

Value *Points::estimate(IRBuilderBase &B, Value *Item) const {
  Value *Sum = ConstantFP::get(B.getFloatTy(), 0);
  size_t Load = 0;
  for (const EstimateTerm &T : Of.Estimate) {
    Value *Weight = ConstantFP::get(B.getFloatTy(), T.Weight);
    Value *Term =
        T.Of == EstimateTerm::Base ? Weight
        : T.Of == EstimateTerm::Load
            ? B.CreateFMul(Features.valueOf(B, Load++), Weight)
            : B.CreateFMul(B.CreateUIToFP(Item, B.getFloatTy()), Weight);
    Sum = B.CreateFAdd(Sum, Term);
  }
  return wholePartOf(B, Sum);
}

unsigned Points::predictedBits() const {
  if (!hasPrediction())
    return 0;
  return Of.Net ? bitsOf(*Of.Net) : bitsOf(Of.Tree);
}

Value *Points::predicted(IRBuilderBase &B, Value *Item) const {
  SmallDenseMap<uint32_t, Value *> Read;
  for (auto [I, Load] : enumerate(Loads))
    if (Value *&V = Read[Load]; !V)
      V = Features.valueOf(B, I);
  const auto ReadOf = [&](uint32_t Load) { return Read.lookup(Load); };
  if (Of.Net)
    return Of.OnTensorCores ? classByTiles(*Of.Net, B, ReadOf)
                            : classBy(*Of.Net, B, ReadOf);
  return rankBy(Of.Tree, B, ReadOf, B.CreateUIToFP(Item, B.getFloatTy()));
}

Value *Points::classOf(IRBuilderBase &B, Value *Item) const {
  if (classIsEstimate())
    return rankOf(B, estimate(B, Item));
  Value *Class = B.getInt32(0);
  for (const Point &P : All) {
    Value *Noted = B.CreateFreeze(B.CreateLoad(B.getInt32Ty(), P.Slot));
    Value *Part =
        P.Counts ? rankOf(B, Noted) : B.CreateAnd(Noted, (1u << P.Bits) - 1);
    Class = B.CreateOr(B.CreateShl(Class, P.Bits), Part);
  }
  if (hasPrediction())
    Class = B.CreateOr(B.CreateShl(Class, predictedBits()), predicted(B, Item));
  return Class;
}

Value *Points::lineOf(IRBuilderBase &B, Value *Item) const {
  if (!Of.Estimate.empty())
    return B.CreateNot(estimate(B, Item));
  return B.CreateFreeze(B.CreateLoad(B.getInt32Ty(), Line));
}

Instruction *Points::lastNeeded() const {
  if (!LineNoted)
    return behindAll(Features.stores(), Noting);
  SmallVector<Instruction *> Others(Noting);
  append_range(Others, Features.stores());
  return behindAll(LineNoted, Others);
}

} // namespace reconverge::remedies::regroup
